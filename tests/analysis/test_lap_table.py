import math

import pytest
from synthetic_drives import LapDone

from trailbrake.analysis.lap_table import clock, lap_table, lap_text

LAPS = [
    LapDone(1, 95.0, True, (33.0, 31.0, 31.0)),
    LapDone(2, 89.0, False, (29.0, 30.0, 30.0), "hit a wall"),
    LapDone(3, 92.5, True, (30.5, 32.0, 30.0)),
]


def test_best_lap_best_sectors_and_what_they_make():
    table = lap_table(LAPS)
    assert table.best == 2
    assert table.sector_best == (2, 0, 2)
    assert table.theoretical_s == 30.5 + 31.0 + 30.0
    assert [row.gap for row in table.rows] == [2.5, -3.5, 0.0]


def test_without_a_valid_lap_all_count():
    table = lap_table([LapDone(1, 95.0, False, ()), LapDone(2, 94.0, False, ())])
    assert table.best == 1
    assert math.isnan(table.theoretical_s)


def test_a_lap_with_fewer_sectors_does_not_compare():
    table = lap_table([LapDone(1, 60.0, True, (30.0, 30.0)), LapDone(2, 61.0, True, (10.0,))])
    assert table.sector_best == (0, 0)


def test_no_laps():
    table = lap_table([])
    assert table.best is None
    assert lap_text(table) == "no finished lap"


def test_the_terminal_table():
    lines = lap_text(lap_table(LAPS)).splitlines()
    assert lines[0].split() == ["lap", "time", "gap", "sector", "1", "sector", "2", "sector", "3"]
    assert lines[1].split() == ["1", "1:35.000", "+2.500", "33.000", "31.000*", "31.000"]
    assert lines[2].endswith("invalid: hit a wall")
    assert lines[3].split() == ["3", "1:32.500*", "+0.000", "30.500*", "32.000", "30.000*"]
    assert lines[4].split() == ["best", "sectors", "1:31.500"]


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0.0, "0.000"), (59.9994, "59.999"), (59.9996, "1:00.000"), (83.456, "1:23.456"), (3725.0, "62:05.000"),
     (-0.25, "-0.250"), (math.nan, "-"), (math.inf, "-")],
)  # fmt: skip
def test_clock(seconds, text):
    assert clock(seconds) == text
