"""When a stage of laps is over, and how it went wrong."""

import math

import numpy as np
import pytest

from trailbrake.driving.goals import Seconds
from trailbrake.driving.road_monitor import RoadMonitor
from trailbrake.driving.session.progress import SilentListener
from trailbrake.driving.spec import make_spec
from trailbrake.learning.recorded_drive import DriveEnd, DriveTarget, FaultMonitor, make_stage_goal, record_drive
from trailbrake.sims.registry import find
from trailbrake.state import CarState, Controls, WheelState
from trailbrake.tracks.track_library import load_track

ROAD = load_track("kartwerk").road
CENTRE = ROAD.table[:, :2]


class Coast:
    NEEDS = frozenset()

    def reset(self, course):
        """Nothing to prepare."""

    def act(self, state, dt):
        return Controls()


@pytest.mark.parametrize("sim", ["assetto", "beamng", "forza"])
def test_a_drive_is_recorded_through_each_wire_with_its_usual_options(sim, tmp_path, monkeypatch):
    """BeamNG's wire asked options that nobody had given for their contract."""
    monkeypatch.setenv("TRAILBRAKE_RECORDINGS", str(tmp_path))
    target = DriveTarget(find(sim), make_spec(sim=sim, driver="car_test", track="kartwerk", car="kart"), None)
    end = DriveEnd(RoadMonitor(ROAD), Seconds(0.3))
    drive = record_drive(target, Coast(), end, "coast", SilentListener())
    assert drive.path.is_file()
    assert drive.reason == ""


def ride(places, rounds=1.0, seconds=1e6, dt=0.1, speed=20.0, on_track=lambda k: math.nan, controls=None):
    """Return the verdict on laps through `places`, its tick, and their fault."""
    monitor, goal = FaultMonitor(ROAD), make_stage_goal(rounds, seconds)
    for k, (x, y) in enumerate(places):
        wheels = [WheelState(on_track=on_track(k)) for _ in range(4)]
        state = CarState(time=k * dt, x=float(x), y=float(y), speed=speed, velocity_x=speed, wheels=wheels)
        monitor.tick(state, controls or Controls())
        verdict = goal.judge(monitor)
        if verdict is not None:
            return verdict, k, monitor.find_fault()
    return None, len(places), monitor.find_fault()


def test_a_lap_on_the_road_has_no_fault():
    verdict, tick, fault = ride(np.vstack([CENTRE, CENTRE[:50]]), on_track=lambda k: 1.0)
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
    verdict, tick, _ = ride(CENTRE, on_track=lambda k: k < 10)
    assert verdict.startswith("off the road")
    assert tick == pytest.approx(12, abs=1)


def test_a_car_that_begins_beside_the_road_has_not_left_it():
    """In a game it stands where it has left the road: each later drive ended at once, and lowered the grip."""
    places = [ROAD.point(float(s), 12.0 if s < 20 else 0.0)[:2] for s in range(0, 60, 2)]
    assert ride(places)[2] is None
    assert ride([*places, *places])[2] is not None


def test_a_brief_excursion_is_none():
    one = [ROAD.point(float(s), 12.0 if s == 20 else 0.0)[:2] for s in range(0, 60, 2)]
    assert ride(one)[0] is None
    two = [ROAD.point(float(s), 12.0 if 20 <= s < 26 else 0.0)[:2] for s in range(0, 60, 2)]
    assert ride(two)[0].startswith("off the road")
