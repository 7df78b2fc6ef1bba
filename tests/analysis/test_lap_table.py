import math

import pytest
from helpers.synthetic_drives import LapDone

from trailbrake.analysis.lap_table import compare_laps, format_lap_time

LAPS = [
    LapDone(1, 95.0, True, (33.0, 31.0, 31.0)),
    LapDone(2, 89.0, False, (29.0, 30.0, 30.0), "hit a wall"),
    LapDone(3, 92.5, True, (30.5, 32.0, 30.0)),
]


def test_best_lap_best_sectors_and_what_they_make():
    table = compare_laps(LAPS)
    assert table.best == 2
    assert table.sector_best == (2, 0, 2)
    assert table.theoretical_s == 30.5 + 31.0 + 30.0
    assert [row.gap for row in table.rows] == [2.5, -3.5, 0.0]


def test_without_a_valid_lap_the_quickest_is_the_reference_but_no_sector_is_the_best():
    table = compare_laps([LapDone(1, 95.0, False, (45.0, 50.0)), LapDone(2, 94.0, False, (50.0, 44.0))])
    assert (table.best, table.sector_best) == (1, ())
    assert math.isnan(table.theoretical_s)


def test_a_lap_with_fewer_sectors_does_not_compare():
    table = compare_laps([LapDone(1, 60.0, True, (30.0, 30.0)), LapDone(2, 61.0, True, (10.0,))])
    assert table.sector_best == (0, 0)


def test_no_laps():
    table = compare_laps([])
    assert table.best is None


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0.0, "0.000"), (59.9994, "59.999"), (59.9996, "1:00.000"), (83.456, "1:23.456"), (3725.0, "62:05.000"),
     (-0.25, "-0.250"), (None, "-"), (math.nan, "-"), (math.inf, "-"), (1e308, "-")],
)  # fmt: skip
def test_clock(seconds, text):
    assert format_lap_time(seconds) == text
