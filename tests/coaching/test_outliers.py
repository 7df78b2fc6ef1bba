import numpy as np
import pytest

from trailbrake.coaching.outliers import find_outliers, student_tail


@pytest.mark.parametrize(
    ("t", "freedom", "above"),
    [(6.314, 1, 0.05), (2.015, 5, 0.05), (2.764, 10, 0.01), (0.0, 7, 0.5), (-2.015, 5, 0.95)],
)
def test_the_tail_is_that_of_the_printed_tables(t, freedom, above):
    assert student_tail(t, freedom) == pytest.approx(above, abs=1.5e-3)


def test_values_that_are_alike_have_an_outlier_in_at_most_one_of_twenty_draws():
    rng, quiet = np.random.default_rng(1), np.zeros(10)
    found = [bool(find_outliers(rng.standard_normal(10), quiet, 1.0)) for _ in range(1000)]
    assert np.mean(found) <= 0.05


def test_two_large_values_do_not_hide_each_other():
    values = np.random.default_rng(2).standard_normal(12)
    values[3], values[8] = 9.0, 10.0
    assert [place for place, _ in find_outliers(values, np.zeros(12), 1.0)] == [8, 3]
    assert all(chance > 0.95 for _, chance in find_outliers(values, np.zeros(12), 1.0))


def test_a_value_that_is_not_sure_itself_is_no_outlier():
    values = np.random.default_rng(3).standard_normal(12)
    values[5] = 9.0
    noise = np.zeros(12)
    noise[5] = 8.0
    assert find_outliers(values, np.zeros(12), 1.0)
    assert not find_outliers(values, noise, 1.0)
