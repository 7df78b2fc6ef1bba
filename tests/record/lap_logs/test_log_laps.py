"""Where laps of a log begin and end."""

import numpy as np
import pytest
from helpers.lap_log_files import make_laps

from trailbrake.laps import JUMP
from trailbrake.record.lap_logs.log_laps import find_laps

LAPS = make_laps(10.0)


def columns(*names, laps=LAPS):
    return {"time": laps.time, "speed": laps.speed, **{name: np.array(getattr(laps, name)) for name in names}}


def times(found):
    return [lap.time_s for lap in found.laps if lap.valid]


def test_by_the_lap_number_at_the_line_that_all_passages_share():
    found = find_laps(columns("lap", "x", "y"), [], {})
    assert times(found) == pytest.approx(LAPS.lap_times, abs=0.01)
    assert [lap.number for lap in found.laps] == [1, 2, 3]


def test_by_the_lap_clock_and_without_places():
    assert times(find_laps(columns("lap", "lap_time"), [], {})) == pytest.approx(LAPS.lap_times, abs=1e-9)
    assert times(find_laps(columns("lap"), [], {})) == pytest.approx(LAPS.lap_times, abs=0.1)  # a sample


def test_a_line_that_is_passed_there_and_back_has_no_direction():
    """Numbers change half way between two samples."""
    back = {"time": np.arange(6.0), "speed": np.ones(6), "lap": np.array([0.0, 1, 1, 1, 1, 2]),
            "x": np.array([0.0, 1, 2, 2, 1, 0]), "y": np.zeros(6)}  # fmt: skip
    assert [lap.time_s for lap in find_laps(back, [], {}).laps][-1] == 4.0


def test_by_the_share_of_the_lap():
    share = columns() | {"lap_share": LAPS.along % LAPS.length / LAPS.length}
    assert times(find_laps(share, [], {})) == pytest.approx(LAPS.lap_times, abs=0.01)


def test_by_beacons():
    line = float(np.interp(0.0, LAPS.along, LAPS.time))
    found = find_laps(columns("x", "y"), [line, *(line + np.cumsum(LAPS.lap_times)), 1e4], {})
    assert times(found) == pytest.approx(LAPS.lap_times, abs=1e-9)


def test_by_a_channel_of_the_beacon():
    """It is a pulse, or the number of the lap; some exports leave it 0 throughout."""
    at = columns("x", "y")
    starts = np.flatnonzero(np.diff(LAPS.lap, prepend=LAPS.lap[0]) > 0.0)
    pulse = np.isin(np.arange(len(LAPS.time)), np.add.outer(starts, np.arange(3))).astype(float)
    assert times(find_laps(at | {"lap": pulse}, [], {})) == pytest.approx(LAPS.lap_times, abs=0.01)
    empty = find_laps(at | {"lap": np.zeros(len(LAPS.time))}, [], {})
    assert "chosen" in empty.notes[0]
    assert len(times(empty)) >= 2


def test_stated_times_count_where_they_agree():
    found = find_laps(columns("lap", "x", "y"), [], {1: LAPS.lap_times[0] + 0.02, 2: 99.0})
    assert found.laps[0].time_s == LAPS.lap_times[0] + 0.02
    assert found.laps[1].time_s == pytest.approx(LAPS.lap_times[1], abs=0.01)
    shown = columns("lap", "x", "y") | {"last_lap_time": np.where(LAPS.time > 60.0, LAPS.lap_times[0] - 0.03, 0.0)}
    row = int(np.flatnonzero(LAPS.lap == 2)[0])
    shown["last_lap_time"][row + 5 :] = LAPS.lap_times[0] - 0.03
    shown["last_lap_time"][: row + 5] = 0.0
    assert find_laps(shown, [], {}).laps[0].time_s == LAPS.lap_times[0] - 0.03


def test_a_lap_that_was_begun_before_the_log_does_not_count():
    first = int(np.flatnonzero((LAPS.lap == 1) & (LAPS.lap_time > 10.0))[0])  # 10 s into lap 1
    for late, known in ((first, [2, 3]), (first - 97, [1, 2, 3])):
        cut = {name: values[late:] for name, values in columns("lap", "lap_time", "x", "y").items()}
        found = find_laps(cut, [], {})
        assert [lap.number for lap in found.laps] == known
        assert times(found) == pytest.approx(LAPS.lap_times[known[0] - 1 :], abs=1e-9)


def test_a_standing_start_at_the_line_is_a_lap():
    laps = make_laps(10.0, laps=2, start=0.0)
    moved = columns("lap", "x", "y", laps=laps)
    moved["speed"] = np.where(laps.time < 0.05, 0.0, laps.speed)
    found = find_laps(moved, [], {})
    assert [lap.number for lap in found.laps] == [1, 2]
    assert times(found) == pytest.approx(laps.lap_times, abs=0.1)  # it is not known how far before the line


def test_a_lap_with_a_jump_or_a_hole_does_not_count():
    jumped = columns("lap", "x", "y")
    row = int(np.flatnonzero(LAPS.lap == 2)[100])
    jumped["x"][row : row + 30] += 300.0
    found = find_laps(jumped, [], {})
    assert (found.laps[0].valid, found.laps[1].invalid_reason) == (True, JUMP)
    hole = columns("lap", "x", "y")
    hole["x"][row : row + 200] = np.nan
    assert find_laps(hole, [], {}).laps[1].invalid_reason == "positions are missing"
    short = columns("lap", "x", "y")
    short["x"][row : row + 40] = np.nan
    assert find_laps(short, [], {}).laps[1].invalid_reason == "a gap in the log"


def test_a_lap_that_is_broken_off_in_the_pits_is_none():
    """The number goes back to 0, which is no lap, far from the line."""
    broken = columns("lap", "x", "y")
    row = int(np.flatnonzero(LAPS.lap == 3)[150])
    broken["lap"][row:] = np.nan
    found = find_laps(broken, [], {})
    assert [lap.number for lap in found.laps] == [1, 2]
    assert times(found) == pytest.approx(LAPS.lap_times[:2], abs=0.01)


def test_without_anything_there_are_no_laps():
    found = find_laps(columns(), [], {})
    assert found.laps == []
    assert "there are no laps" in found.notes[0]
    half = make_laps(10.0, laps=0, start=-700.0, beyond=0.0)
    found = find_laps(columns("x", "y", laps=half), [], {})
    assert found.laps == []
    assert "no place that the car passed twice" in found.notes[0]


def test_noisy_places_and_late_lap_numbers_cost_less_than_half_a_sample():
    """Places with 0.3 m of noise; the number changes two samples late, as of a logger that polls."""
    random = np.random.default_rng(7)
    for late in (0, 2):
        noisy = columns("lap", "x", "y")
        noisy["lap"] = np.concatenate([np.repeat(noisy["lap"][0], late), noisy["lap"]])[: len(LAPS.time)]
        for name in ("x", "y"):
            noisy[name] = noisy[name] + random.normal(0.0, 0.3, len(LAPS.time))
        assert times(find_laps(noisy, [], {})) == pytest.approx(LAPS.lap_times, abs=0.05)


def test_a_lap_that_ends_elsewhere_does_not_move_the_line():
    broken = columns("lap", "x", "y")
    broken["lap"][int(np.flatnonzero(LAPS.lap == 3)[150]) :] = np.nan
    assert times(find_laps(broken, [], {})) == pytest.approx(LAPS.lap_times[:2], abs=0.002)


def test_laps_off_the_track_and_through_the_pits_do_not_count():
    """As iRacing has it: the out lap leaves the pits before the line."""
    marked = columns("lap", "lap_time", "x", "y") | {"surface": np.where(LAPS.lap < 1, 2.0, 3.0)}
    assert len(times(find_laps(marked, [], {}))) == 3
    row = int(np.flatnonzero(LAPS.lap == 2)[50])
    marked["surface"][row : row + 4] = 0.0
    marked["surface"][-40:] = 1.0
    marked["surface"][int(np.flatnonzero(LAPS.lap == 3)[20])] = 2.0
    reasons = [lap.invalid_reason for lap in find_laps(marked, [], {}).laps]
    assert reasons == ["", "off the track", "in the pits"]
