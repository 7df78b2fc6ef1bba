import math

import numpy as np
import pytest

from trailbrake.dashboard.lap_follower import GHOST_INDEX, LapFollower, LapPath
from trailbrake.laps import LapRecord
from trailbrake.state import CarState
from trailbrake.tracks.track_library import load_track


def drive(follower, road, speed, until, start=0.0):
    """Drive the centre line from `start` to `until` (m) at one speed, sampled at 30 Hz."""
    for clock in np.arange(0.0, (until - start) / speed, 1 / 30):
        x, y, z, yaw = road.points([start + speed * clock], 0.0)[0]
        follower.add_sample(CarState(time=clock, x=x, y=y, z=z, yaw=yaw, speed=speed), clock)


@pytest.fixture
def road():
    return load_track("pinegrove").road


def test_time_is_lost_to_the_best_lap_along_the_road(road):
    follower = LapFollower(road)
    drive(follower, road, 40.0, road.length)
    assert np.isnan(follower.pace.delta)
    corners = follower.finish_lap(LapRecord(1, road.length / 40.0, True, (), "", 0.0, 0))
    assert sum(corner["time_s"] for corner in corners) == pytest.approx(road.length / 40.0, abs=0.1)
    drive(follower, road, 20.0, 500.0)
    assert follower.pace.lap_distance == pytest.approx(500.0, abs=1.0)
    assert follower.pace.delta == pytest.approx(500.0 / 20.0 - 500.0 / 40.0, abs=0.1)
    ghost = follower.ghosts_at(5.0)[0]
    assert road.locate(ghost.x, ghost.y)[0] == pytest.approx(200.0, abs=0.5)


def test_a_slower_or_invalid_lap_is_not_the_best(road):
    follower = LapFollower(road)
    for number, (speed, valid) in enumerate([(40.0, True), (50.0, False), (30.0, True)], 1):
        drive(follower, road, speed, road.length)
        follower.finish_lap(LapRecord(number, road.length / speed, valid, (), "", 0.0, 0))
    assert follower.best.number == 1


def test_a_lap_that_begins_before_the_line(road):
    follower = LapFollower(road)
    x, y, _, _ = road.points([road.length - 8.0], 0.0)[0]
    follower.add_sample(CarState(x=x, y=y, speed=0.0), 0.0)
    assert follower.pace.lap_distance == pytest.approx(-8.0, abs=0.1)


def test_a_lap_that_was_not_seen_from_its_start_has_no_path(road):
    follower = LapFollower(road)
    drive(follower, road, 40.0, 300.0)
    assert follower.finish_lap(LapRecord(1, 60.0, True, (), "", 0.0, 0)) == []
    assert follower.best is None


def test_without_a_road_the_way_driven_is_the_distance():
    follower = LapFollower(None)
    for k in range(60):
        follower.add_sample(CarState(x=2.0 * k, y=0.0, speed=60.0), k / 30)
    assert follower.pace.lap_distance == pytest.approx(118.0)


@pytest.fixture
def circle():
    """A lap of a circle of 100 m radius in 20 s: yaw passes pi."""
    t = np.linspace(0.0, 20.0, 401)
    angle = 2.0 * np.pi * t / 20.0
    yaw = np.remainder(angle + 1.5 * np.pi, 2.0 * np.pi) - np.pi
    speed = np.full_like(t, 10.0 * np.pi)
    return LapPath.from_samples(
        3, 20.0, np.column_stack([t, 100.0 * angle, 100.0 * np.cos(angle), 100.0 * np.sin(angle), 0.0 * t, yaw, speed,
                                  0.0 * t])
    )  # fmt: skip


def test_a_ghost_drives_between_the_samples(circle):
    for clock in (0.0, 3.333, 12.3456, 20.0):
        ghost, angle = circle.ghost_at(clock), 2.0 * math.pi * clock / 20.0
        assert ghost.index == GHOST_INDEX + 3
        assert math.hypot(ghost.x - 100.0 * math.cos(angle), ghost.y - 100.0 * math.sin(angle)) < 0.02
        assert math.remainder(ghost.yaw - angle - 0.5 * math.pi, 2.0 * math.pi) == pytest.approx(0.0, abs=1e-6)


def test_there_is_no_ghost_outside_of_its_lap(circle):
    assert circle.ghost_at(-1.0) is None
    assert circle.ghost_at(21.0) is None


def test_the_clock_of_a_place(circle):
    assert circle.clock_at(50.0 * math.pi) == pytest.approx(5.0)
    assert math.isnan(circle.clock_at(-1.0))
    assert math.isnan(circle.clock_at(700.0))


def test_a_car_that_rolls_back_passes_each_place_once():
    rows = np.zeros((4, 8))
    rows[:, 0], rows[:, 1] = (0.0, 1.0, 2.0, 3.0), (0.0, 10.0, 9.5, 20.0)
    assert LapPath.from_samples(1, 3.0, rows).samples[:, 1].tolist() == [0.0, 10.0, 10.0, 20.0]
