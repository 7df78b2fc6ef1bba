import math

import pytest

from trailbrake.histogram import DurationHistogram


@pytest.mark.parametrize("values", [[1e-3] * 10, [k * 1e-5 for k in range(1, 2001)], [1e-9, 1e-8], [100.0, 1e6]])
def test_percentiles_are_those_of_the_sorted_list_within_a_bin(values):
    durations = DurationHistogram()
    for value in values:
        durations.add_duration(value)
    ordered = sorted(values)
    for share in (0.01, 0.5, 0.9, 0.99, 1.0):
        exact = ordered[max(math.ceil(share * len(ordered)) - 1, 0)]
        if 1e-7 <= exact <= 1000.0:
            assert durations.percentile(share) == pytest.approx(exact, rel=0.011)
        assert durations.percentile(share) <= durations.longest
    assert durations.longest == max(values)
    assert durations.count == len(values)


def test_no_durations_have_no_percentile():
    assert math.isnan(DurationHistogram().percentile(0.5))
