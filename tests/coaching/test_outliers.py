import numpy as np
import pytest

from trailbrake.coaching.outliers import (
    combine_chances,
    find_large_variances,
    find_outliers,
    fisher_tail,
    student_tail,
)


@pytest.mark.parametrize(
    ("t", "freedom", "above"),
    [(6.314, 1, 0.05), (2.015, 5, 0.05), (2.764, 10, 0.01), (0.0, 7, 0.5), (-2.015, 5, 0.95)],
)
def test_the_tail_is_that_of_the_printed_tables(t, freedom, above):
    assert student_tail(t, freedom) == pytest.approx(above, abs=1.5e-3)


def test_two_chances_are_combined_as_printed():
    assert combine_chances(0.05, 0.05) == pytest.approx(0.0175, abs=1e-4)  # chi-squared of 11.98, 4 degrees of freedom
    assert combine_chances(1.0, 1.0) == 1.0


def test_a_clue_names_a_value_that_is_not_sure_alone_and_no_other():
    values, quiet = np.random.default_rng(4).standard_normal(12), np.zeros(12)
    values[3] = 3.3
    clues = np.ones(12)
    assert not find_outliers(values, quiet, 1.0, clues)
    clues[3] = 1e-3
    assert [place for place, _ in find_outliers(values, quiet, 1.0, clues)] == [3]
    clues[3], clues[int(np.argsort(values)[-4])] = 1.0, 1e-9
    assert not find_outliers(values, quiet, 1.0, clues)
    second = int(np.argsort(values)[-2])
    values[second], clues[second] = 2.8, 1e-4
    assert [place for place, _ in find_outliers(values, quiet, 1.0, clues)] == [second]  # not the larger one before it


def test_independent_clues_leave_at_most_one_outlier_in_twenty_draws():
    rng, quiet = np.random.default_rng(1), np.zeros(10)
    found = [bool(find_outliers(rng.standard_normal(10), quiet, 1.0, rng.random(10))) for _ in range(1000)]
    assert np.mean(found) <= 0.05


def test_values_that_are_alike_have_an_outlier_in_at_most_one_of_twenty_draws():
    rng, quiet = np.random.default_rng(1), np.zeros(10)
    found = [bool(find_outliers(rng.standard_normal(10), quiet, 1.0)) for _ in range(1000)]
    assert np.mean(found) <= 0.05


def test_two_large_values_do_not_hide_each_other():
    values = np.random.default_rng(2).standard_normal(12)
    values[3], values[8] = 9.0, 10.0
    assert [place for place, _ in find_outliers(values, np.zeros(12), 1.0)] == [8, 3]
    assert all(chance > 0.95 for _, chance in find_outliers(values, np.zeros(12), 1.0))


def test_a_value_far_on_the_other_side_hides_none():
    values = np.random.default_rng(2).standard_normal(12)
    values[3], values[8] = 6.5, -15.0
    assert [place for place, _ in find_outliers(values, np.zeros(12), 1.0)] == [3]


def test_a_value_that_is_not_sure_itself_is_no_outlier():
    values = np.random.default_rng(3).standard_normal(12)
    values[5] = 9.0
    noise = np.zeros(12)
    noise[5] = 8.0
    assert find_outliers(values, np.zeros(12), 1.0)
    assert not find_outliers(values, noise, 1.0)


@pytest.mark.parametrize(
    ("ratio", "freedom", "other", "above"),
    [(4.35, 1, 20, 0.05), (5.19, 4, 5, 0.05), (15.21, 4, 6, 0.0027), (1.0, 10, 10, 0.5), (0.0, 3, 5, 1.0)],
)
def test_the_tail_of_f_is_that_of_the_printed_tables(ratio, freedom, other, above):
    assert fisher_tail(ratio, freedom, other) == pytest.approx(above, abs=1e-3)


def test_variances_of_like_things_have_an_outlier_in_at_most_one_of_twenty_draws_and_a_large_one_is_found():
    rng = np.random.default_rng(4)
    found = 0
    for _ in range(300):
        own = 0.01 * np.sqrt(6.0 / rng.chisquare(6.0, 12))  # things differ by themselves
        variances = (own * rng.standard_normal((5, 12))).var(axis=0, ddof=1)
        found += bool(find_large_variances(variances, 4, 1e-4))
    assert found <= 15
    variances = np.full(12, 1e-4)
    variances[7] = 1e-2
    assert [place for place, _ in find_large_variances(variances, 4, 1e-4)] == [7]
