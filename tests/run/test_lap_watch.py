"""When a stage of laps is over, and what counts as leaving the road."""

import math

import numpy as np
import pytest

from trailbrake.run.lap_watch import LapWatch, SteadyWatch
from trailbrake.state import CarState, Controls, WheelState
from trailbrake.tracks.track_library import load_track

ROAD = load_track("kartwerk").road
CENTRE = ROAD.table[:, :2]


def ride(watch, places, dt=0.1, speed=20.0, on_track=math.nan, controls=None):
    for k, (x, y) in enumerate(places):
        wheels = [WheelState(on_track=on_track) for _ in range(4)]
        state = CarState(time=k * dt, x=float(x), y=float(y), speed=speed, velocity_x=speed, wheels=wheels)
        watch.tick(state, controls or Controls())
        if getattr(watch, "ended", False):
            return k
    return None


def test_a_stage_ends_after_its_laps_off_the_road_or_at_a_stand():
    lap = ride(LapWatch(ROAD, 1.0, math.inf), np.vstack([CENTRE, CENTRE[:50]]))
    assert lap == pytest.approx(len(CENTRE), abs=2)
    off = LapWatch(ROAD, 2.0, math.inf)
    beside = [ROAD.point(float(s), 12.0)[:2] for s in range(0, 40, 2)]
    assert ride(off, beside) is not None
    assert off.left_road
    still = LapWatch(ROAD, 2.0, math.inf)
    assert ride(still, [CENTRE[0]] * 200, speed=0.0) == pytest.approx(121, abs=2)
    assert still.stood
    assert still.find_fault().phase == "standstill"


def test_a_lap_on_the_road_has_no_fault():
    watch = LapWatch(ROAD, 1.0, math.inf)
    assert ride(watch, np.vstack([CENTRE, CENTRE[:50]]), on_track=1.0) is not None
    assert watch.find_fault() is None


def test_laps_that_take_too_long_are_late():
    watch = LapWatch(ROAD, 1.0, 5.0)
    assert ride(watch, CENTRE) == pytest.approx(51, abs=1)
    assert watch.late
    assert watch.find_fault() is None


def test_leaving_the_road_keeps_what_the_pedals_did():
    places = [ROAD.point(float(s), 0.0 if s < 40 else 12.0)[:2] for s in range(0, 60, 2)]
    watch = LapWatch(ROAD, 1.0, math.inf)
    ride(watch, places, controls=Controls(brake=0.9))
    assert watch.find_fault().phase == "braking"


def test_wheels_that_the_wire_sees_off_the_track_count_where_the_map_does_not():
    watch = LapWatch(ROAD, 1.0, math.inf, leaving_time=0.1)
    assert ride(watch, CENTRE, on_track=0.0) == pytest.approx(2, abs=1)
    assert watch.left_road


def test_a_brief_excursion_fails_a_verification_and_no_lap_of_learning():
    places = [ROAD.point(float(s), 12.0 if 20 <= s < 26 else 0.0)[:2] for s in range(0, 60, 2)]
    learning, verifying = LapWatch(ROAD, 1.0, math.inf), LapWatch(ROAD, 1.0, math.inf, leaving_time=0.1)
    assert ride(learning, places) is None
    assert ride(verifying, places) is not None


def test_a_test_drive_goes_on_beside_the_road():
    inner = LapWatch(ROAD, math.inf, math.inf)
    steady = SteadyWatch(inner)
    steady.start({})
    ride(steady, [ROAD.point(float(s), 12.0)[:2] for s in range(0, 40, 2)])
    steady.close()
    assert inner.left_road
