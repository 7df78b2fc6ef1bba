"""Where others are along a line, what they have shown, and where they are expected."""

import math

import numpy as np
import pytest
from helpers.roads import circle

from trailbrake.planning.rival_prediction import (
    LOST_TIME,
    START_TIME,
    STEP,
    STEPS,
    RivalColumn,
    RivalTracker,
    find_follow_gap,
    hold_behind,
    is_standing,
)
from trailbrake.state import OtherCar
from trailbrake.tracks.road_columns import RoadColumn


@pytest.fixture
def line():
    return circle(200.0).road


def other_at(line, s, offset=0.0, speed=30.0, index=1):
    """Return a car with a `speed` along the line; beside it a car drives more or less than that."""
    x, y, z, yaw = line.points(s, offset)[0].tolist()
    v = speed * (1.0 - float(line.column(RoadColumn.CURVATURE)[0]) * offset)
    return OtherCar(index, x, y, z, yaw, v * math.cos(yaw), v * math.sin(yaw), abs(v))


def track_constant(line, tracker, speed, offset, seconds, start=0.0):
    time = 0.0
    while time < seconds:
        tracker.observe_cars([other_at(line, (start + speed * time) % line.length, offset, speed)], time, 30.0)
        time += 1.0 / 60.0
    return (start + speed * (time - 1.0 / 60.0)) % line.length


def predict(tracker, s):
    out = np.zeros((STEPS, len(RivalColumn)))
    (rival,) = tracker.list_present()
    tracker.predict(rival, s, out)
    return out


def test_a_rival_is_expected_on_the_line_and_at_the_speed_of_its_last_lap(line):
    tracker = RivalTracker(line, np.full(len(line.table), 40.0), (4.6, 2.0))  # the plan says 40 m/s on the line
    s = track_constant(line, tracker, 25.0, 3.0, 1.2 * line.length / 25.0)
    out = predict(tracker, s - 10.0)
    at_4s = out[round(4.0 / STEP)]
    assert at_4s[RivalColumn.AHEAD] == pytest.approx(10.0 + 25.0 * 4.0, abs=1.0)
    assert at_4s[RivalColumn.RIGHTMOST] < 3.0 < at_4s[RivalColumn.LEFTMOST]
    assert at_4s[RivalColumn.LEFTMOST] - at_4s[RivalColumn.RIGHTMOST] < 1.5


def test_where_it_was_not_seen_it_may_come_back_to_the_line_or_stay_beside_it(line):
    tracker = RivalTracker(line, np.full(len(line.table), 30.0), (4.6, 2.0))
    tracker.observe_cars([other_at(line, 50.0, 3.0)], 0.0, 30.0)
    out = predict(tracker, 40.0)
    assert out[0, RivalColumn.AHEAD] == pytest.approx(10.0, abs=0.1)
    last = out[round(4.0 / STEP)]
    assert last[RivalColumn.RIGHTMOST] < 0.5
    assert last[RivalColumn.LEFTMOST] > 3.0
    widths = out[:, RivalColumn.LEFTMOST] - out[:, RivalColumn.RIGHTMOST]
    assert (np.diff(widths) >= -1e-12).all()  # what is not known never shrinks


def test_it_is_behind_across_the_start_line(line):
    tracker = RivalTracker(line, np.full(len(line.table), 30.0), (4.6, 2.0))
    tracker.observe_cars([other_at(line, line.length - 5.0)], 0.0, 30.0)
    (rival,) = tracker.list_present()
    assert tracker.measure_ahead(rival, 10.0) == pytest.approx(-15.0, abs=0.1)


def test_a_car_that_is_not_supplied_any_more_is_forgotten_and_comes_back(line):
    tracker = RivalTracker(line, np.full(len(line.table), 30.0), (4.6, 2.0))
    tracker.observe_cars([other_at(line, 50.0)], 0.0, 30.0)
    tracker.observe_cars([], LOST_TIME + 0.1, 30.0)
    assert tracker.list_present() == []
    tracker.observe_cars([other_at(line, 80.0)], LOST_TIME + 0.2, 30.0)
    assert len(tracker.list_present()) == 1


@pytest.mark.parametrize("field", ["x", "y", "velocity_x", "velocity_y"])
def test_a_car_without_a_finite_place_or_speed_is_skipped(line, field):
    tracker = RivalTracker(line, np.full(len(line.table), 30.0), (4.6, 2.0))
    broken = other_at(line, 50.0)
    setattr(broken, field, math.nan)
    tracker.observe_cars([broken, other_at(line, 90.0, index=2)], 0.0, 30.0)
    assert [rival.index for rival in tracker.list_present()] == [2]


def test_a_jump_teaches_nothing_of_the_places_between(line):
    tracker = RivalTracker(line, np.full(len(line.table), 30.0), (4.6, 2.0))
    tracker.observe_cars([other_at(line, 50.0)], 0.0, 30.0)
    known = np.isfinite(tracker.list_present()[0].memory.speeds).sum()
    tracker.observe_cars([other_at(line, 700.0)], 0.02, 30.0)
    (rival,) = tracker.list_present()
    assert np.isfinite(rival.memory.speeds).sum() == known
    assert tracker.measure_ahead(rival, 690.0) == pytest.approx(10.0, abs=0.6)


@pytest.mark.parametrize("speed", [0.0, -10.0])
def test_a_car_that_stands_or_drives_backwards_is_expected_to_go_on_so(line, speed):
    tracker = RivalTracker(line, np.full(len(line.table), 30.0), (4.6, 2.0))
    tracker.observe_cars([other_at(line, 60.0, 1.0, speed)], 0.0, 30.0)
    out = predict(tracker, 10.0)
    assert np.isfinite(out).all()
    assert out[round(2.0 / STEP), RivalColumn.AHEAD] == pytest.approx(50.0 + 2.0 * speed, abs=0.1)


def test_times_before_the_last_begin_anew(line):
    tracker = RivalTracker(line, np.full(len(line.table), 30.0), (4.6, 2.0))
    tracker.observe_cars([other_at(line, 50.0)], 100.0, 30.0)
    tracker.observe_cars([], 0.0, 30.0)
    assert tracker.list_present() == []


def test_a_car_across_the_road_is_as_wide_as_it_is_long(line):
    tracker = RivalTracker(line, np.full(len(line.table), 30.0), (4.6, 2.0))
    across = other_at(line, 60.0, 0.0, 0.0)
    across.yaw += 0.5 * math.pi
    tracker.observe_cars([across, other_at(line, 90.0, 0.0, 0.0, index=2)], 0.0, 30.0)
    widths = []
    for rival in tracker.list_present():
        out = np.zeros((STEPS, len(RivalColumn)))
        tracker.predict(rival, 10.0, out)
        widths.append(out[0, RivalColumn.LEFTMOST] - out[0, RivalColumn.RIGHTMOST])
    assert widths[0] - widths[1] == pytest.approx(4.6 - 2.0, abs=0.05)


def test_who_has_kept_its_habit_is_expected_there_more_surely_than_who_has_not(line):
    spreads = []
    for wander in (0.0, 3.0):
        tracker, s = RivalTracker(line, np.full(len(line.table), 40.0), (4.6, 2.0)), 0.0
        for lap in range(3):
            s = track_constant(line, tracker, 25.0 + wander * lap, 0.4 * wander * lap, line.length / 25.0, start=s)
        spreads.append(predict(tracker, s - 10.0)[round(4.0 / STEP)])
    steady, other = spreads
    assert steady[RivalColumn.DISTANCE_ERROR] < 0.8 < 2.0 < other[RivalColumn.DISTANCE_ERROR]
    assert np.ptp(steady[[RivalColumn.RIGHTMOST, RivalColumn.LEFTMOST]]) < 1.5


def test_a_rival_without_power_is_expected_to_gain_speed_as_slowly_as_it_did(line):
    planned = np.minimum(20.0 + 0.05 * np.arange(len(line.table)), 40.0)  # rises by about 0.5 to 1 m/s^2
    tracker = RivalTracker(line, planned, (4.6, 2.0))
    track_constant(line, tracker, 18.0, 0.0, 8.0)
    out = predict(tracker, 100.0)
    assert out[round(4.0 / STEP), RivalColumn.SPEED] == pytest.approx(18.0, abs=0.4)


def test_a_grid_is_expected_to_start_and_a_car_that_stalls_is_not_for_long(line):
    tracker = RivalTracker(line, np.full(len(line.table), 40.0), (4.6, 2.0))
    grid = [other_at(line, 60.0, 3.0, 0.0)]
    tracker.observe_cars(grid, 10.0, 0.0)
    out = predict(tracker, 50.0)
    assert out[round(3.0 / STEP), RivalColumn.AHEAD] > 25.0
    assert out[round(1.0 / STEP), RivalColumn.RIGHTMOST] > 2.0  # by its way it is still beside the line
    tracker.observe_cars(grid, 10.1, 2.0)
    grid[0].x += 0.01
    tracker.observe_cars(grid, 10.2 + START_TIME, 30.0)
    assert predict(tracker, 50.0)[-1, RivalColumn.AHEAD] == pytest.approx(10.0, abs=0.1)


def test_the_speeds_of_a_start_are_no_habit(line):
    speeds = np.linspace(20.0, 60.0, len(line.table))  # it rises up to a bend at the start line
    tracker, time, way, v = RivalTracker(line, speeds, (4.6, 2.0)), 0.0, 0.0, 0.0
    while way < line.length + 200.0:
        tracker.observe_cars([other_at(line, way % line.length, 0.0, v)], time, 30.0)
        time, way, v = time + 0.05, way + 0.05 * v + 1e-6, min(v + 0.25, 30.0)
    (rival,) = tracker.list_present()
    known = np.flatnonzero(np.isfinite(rival.memory.speeds))
    assert rival.memory.speeds[known] == pytest.approx(30.0, rel=1e-4)
    assert len(known)


def test_a_car_beside_the_line_is_expected_to_be_pushed_to_it_by_the_edge(line):
    line.table[50:, RoadColumn.WIDTH_LEFT] = 2.0  # from 100 m on
    tracker = RivalTracker(line, np.full(len(line.table), 30.0), (4.6, 2.0))
    tracker.observe_cars([other_at(line, 50.0, 3.0)], 0.0, 30.0)
    out = predict(tracker, 40.0)
    assert out[round(1.0 / STEP), RivalColumn.LEFTMOST] > 3.0
    assert out[round(3.0 / STEP), RivalColumn.RIGHTMOST] < 1.0 < out[round(3.0 / STEP), RivalColumn.LEFTMOST] < 2.0


def test_a_car_that_stands_across_the_road_is_expected_to_stay_there(line):
    tracker = RivalTracker(line, np.full(len(line.table), 40.0), (4.6, 2.0))
    spun = other_at(line, 60.0, 1.0, 0.0)
    spun.yaw += 0.5 * math.pi
    tracker.observe_cars([spun], 0.0, 30.0)
    out = predict(tracker, 0.0)
    assert np.ptp(out, axis=0) == pytest.approx(0.0)


def expect_steadily(*rivals):
    """Return predictions of cars that keep their speeds, from (m ahead, m/s, m left of the line) each."""
    rows, times = np.zeros((len(rivals), STEPS, len(RivalColumn))), STEP * np.arange(STEPS)
    for row, (ahead, speed, offset) in zip(rows, rivals, strict=True):
        row[:, RivalColumn.AHEAD], row[:, RivalColumn.SPEED] = ahead + speed * times, speed
        row[:, RivalColumn.RIGHTMOST], row[:, RivalColumn.LEFTMOST] = offset - 0.3, offset + 0.3
    return rows


def test_a_rival_is_expected_to_stay_behind_a_slower_one_and_not_behind_one_beside_it():
    free = expect_steadily((20.0, 40.0, 0.0), (50.0, 20.0, 0.0), (45.0, 30.0, 5.0), (-20.0, 20.0, 0.0))
    held = free.copy()
    hold_behind(held, free, np.zeros(len(free)), (4.6, 2.0))
    assert (held[1:] == free[1:]).all()
    gaps = held[1, :, RivalColumn.AHEAD] - held[0, :, RivalColumn.AHEAD]
    assert gaps.min() > 4.6
    assert held[0, -1, RivalColumn.SPEED] == pytest.approx(20.0, abs=0.5)
    assert (np.diff(held[0, :, RivalColumn.SPEED]) >= -1.3).all()  # by braking that a car can do


def test_the_gap_to_follow_at_is_smaller_the_better_a_rival_is_known():
    known, unknown = expect_steadily((20.0, 30.0, 0.0)), expect_steadily((20.0, 30.0, 0.0))
    unknown[0, :, RivalColumn.DISTANCE_ERROR] = STEP * np.arange(STEPS)  # 1 m/s
    assert 0.0 < find_follow_gap(known[0], 30.0) < find_follow_gap(unknown[0], 30.0) - 3.0


def test_who_creeps_does_not_stand():
    rivals = expect_steadily((20.0, 0.0, 0.0), (20.0, 0.5, 0.0))
    assert [is_standing(rivals, r) for r in range(2)] == [True, False]
