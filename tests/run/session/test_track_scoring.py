import math

import numpy as np
import pytest

from trailbrake.run.session.track_scoring import TrackScorer
from trailbrake.state import CarState, Controls
from trailbrake.tracks.road import RoadColumn
from trailbrake.tracks.track_library import load_track

DT = 0.01


def drive(scorer, track, speed, laps, offset=0.0, wheels=None, contacts=0.0):
    """Move along the centreline (or beside it) at a steady speed."""
    road = track.road
    stations = np.arange(0.0, laps * road.length, speed * DT)
    for k, (x, y, z, yaw) in enumerate(road.points(stations, offset)):
        state = CarState(time=k * DT, sequence=k, x=x, y=y, z=z, yaw=yaw, speed=speed, contacts=contacts)
        if wheels is not None:
            for wheel in state.wheels:
                wheel.on_track = wheels
        scorer.tick(state, Controls())


@pytest.fixture
def track():
    return load_track("kartwerk")


def test_laps_errors_and_mean_speed(track):
    done = []
    scorer = TrackScorer(track, track.road, done.append)
    drive(scorer, track, 25.0, 2.02, offset=0.7, wheels=1.0)
    assert [lap.valid for lap in scorer.laps] == [True, True]
    assert done == scorer.laps
    assert scorer.laps[1].time_s == pytest.approx(track.road.length / 25.0, abs=0.02)
    assert scorer.max_error == pytest.approx(0.7, abs=0.02)
    assert scorer.mean_speed == pytest.approx(25.0)
    assert scorer.time == pytest.approx(2.02 * track.road.length / 25.0, abs=0.02)
    assert scorer.timer.off_track_s == 0.0


def test_before_the_first_tick_there_is_nothing(track):
    scorer = TrackScorer(track, track.road, lambda lap: None)
    scorer.start({})
    scorer.close()
    assert (scorer.laps, scorer.max_error, scorer.time) == ([], 0.0, 0.0)
    assert math.isnan(scorer.mean_speed)


def test_wheels_that_the_simulator_calls_off_the_track_spoil_a_lap(track):
    scorer = TrackScorer(track, track.road, lambda lap: None)
    drive(scorer, track, 25.0, 1.02, wheels=0.0)
    assert [lap.valid for lap in scorer.laps] == [False]
    assert scorer.timer.off_track_s == pytest.approx(1.02 * track.road.length / 25.0, abs=0.1)


@pytest.mark.parametrize(("beyond", "valid"), [(-0.3, True), (0.5, True), (1.3, False)])
@pytest.mark.parametrize("side", [1.0, -1.0])
def test_where_the_wire_does_not_tell_the_centre_of_the_car_decides(track, side, beyond, valid):
    width = float(track.road.column(RoadColumn.WIDTH_LEFT)[0])
    scorer = TrackScorer(track, track.road, lambda lap: None)
    drive(scorer, track, 20.0, 1.05, offset=side * (width + beyond))
    assert [lap.valid for lap in scorer.laps] == [valid]
    assert (scorer.timer.off_track_s > 0.0) is not valid


def test_contacts_are_those_since_the_start(track):
    scorer = TrackScorer(track, track.road, lambda lap: None)
    drive(scorer, track, 25.0, 0.5, wheels=1.0, contacts=3.0)
    assert scorer.timer.contacts == 0
    assert scorer.timer.valid


@pytest.mark.parametrize("start", [0.0, -0.5])
def test_the_way_from_the_grid_to_the_line_is_no_error(track, start):
    road, length = track.road, track.road.length
    scorer = TrackScorer(track, road, lambda lap: None)
    for k, s in enumerate(np.arange(start, 1.5 * length, 0.5)):
        offset = 2.0 if s < 20.0 else 0.3
        x, y, _ = road.point(s % length, offset)
        scorer.tick(CarState(time=k * 0.02, x=x, y=y, speed=25.0), Controls())
    assert scorer.max_error == pytest.approx(0.3, abs=0.02)
    x, y, _ = road.point(0.5 * length, 1.5)
    scorer.tick(CarState(time=1e3, x=x, y=y, speed=25.0), Controls())
    assert scorer.max_error == pytest.approx(1.5, abs=0.02)


def test_without_a_line_laps_are_counted_and_nothing_is_far_from_it(track):
    scorer = TrackScorer(track, None, lambda lap: None)
    drive(scorer, track, 25.0, 1.02, offset=0.7, wheels=1.0)
    assert [lap.valid for lap in scorer.laps] == [True]
    assert math.isnan(scorer.max_error)
