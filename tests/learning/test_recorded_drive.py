"""When a stage of laps is over, and how it went wrong."""

import math

import numpy as np
import pytest

from trailbrake.learning.recorded_drive import FaultMonitor, make_stage_goal
from trailbrake.state import CarState, Controls, WheelState
from trailbrake.tracks.track_library import load_track

ROAD = load_track("kartwerk").road
CENTRE = ROAD.table[:, :2]


def ride(places, rounds=1.0, seconds=1e6, dt=0.1, speed=20.0, on_track=math.nan, controls=None):
    """Return the verdict on laps through `places`, its tick, and their fault."""
    monitor, goal = FaultMonitor(ROAD), make_stage_goal(rounds, seconds)
    for k, (x, y) in enumerate(places):
        wheels = [WheelState(on_track=on_track) for _ in range(4)]
        state = CarState(time=k * dt, x=float(x), y=float(y), speed=speed, velocity_x=speed, wheels=wheels)
        monitor.tick(state, controls or Controls())
        verdict = goal.judge(monitor)
        if verdict is not None:
            return verdict, k, monitor.find_fault()
    return None, len(places), monitor.find_fault()


def test_a_lap_on_the_road_has_no_fault():
    verdict, tick, fault = ride(np.vstack([CENTRE, CENTRE[:50]]), on_track=1.0)
    assert (verdict, fault) == ("", None)
    assert tick == pytest.approx(len(CENTRE), abs=2)


def test_leaving_the_road_keeps_what_the_pedals_did():
    places = [ROAD.point(float(s), 0.0 if s < 40 else 12.0)[:2] for s in range(0, 60, 2)]
    verdict, _, fault = ride(places, controls=Controls(brake=0.9))
    assert verdict == "off the road for 0.1 s"
    assert fault.phase == "braking"


def test_a_stand_is_a_fault_and_laps_that_take_too_long_are_none_of_the_car():
    verdict, tick, fault = ride([CENTRE[0]] * 400, speed=0.0)
    assert (verdict, fault.phase) == ("stood still for 30 s", "standstill")
    assert tick == pytest.approx(301, abs=1)
    verdict, tick, fault = ride(CENTRE, seconds=5.0)
    assert (verdict, fault) == ("out of time after 5 s", None)
    assert tick == pytest.approx(50, abs=1)


def test_wheels_that_the_wire_sees_off_the_track_count_where_the_map_does_not():
    verdict, tick, _ = ride(CENTRE, on_track=0.0)
    assert verdict.startswith("off the road")
    assert tick == pytest.approx(2, abs=1)


def test_a_brief_excursion_is_none():
    one = [ROAD.point(float(s), 12.0 if s == 20 else 0.0)[:2] for s in range(0, 60, 2)]
    assert ride(one)[0] is None
    two = [ROAD.point(float(s), 12.0 if 20 <= s < 26 else 0.0)[:2] for s in range(0, 60, 2)]
    assert ride(two)[0].startswith("off the road")
