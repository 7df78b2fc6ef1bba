"""The same traces through the judging of every verb: no two verbs give two verdicts on one trace."""

from typing import NamedTuple

import numpy as np
import pytest
from helpers.roads import straight

from trailbrake.driving.goals import Goal, Laps
from trailbrake.driving.road_monitor import RoadMonitor
from trailbrake.driving.spec import DriveSpec, EmbeddedSite, parse_spec, write_spec
from trailbrake.evaluate.cell_task import make_cell_goal
from trailbrake.laps import LapTimer
from trailbrake.learning.recorded_drive import make_stage_goal
from trailbrake.learning.road_mapping import make_survey_goal
from trailbrake.race.plan import RaceRules
from trailbrake.state import CarState, Controls, WheelState
from trailbrake.tracks.track_library import load_track
from trailbrake.tuning.gain_search import TRIAL_GOAL

CIRCUIT, OPEN = load_track("kartwerk").road, straight(800.0).road
SPEED, DT = 20.0, 0.02  # m/s, s
SECONDS = 600.0
BESIDE = 12.0  # m from the middle: off every road here, with all wheels


class Judging(NamedTuple):
    """How a verb judges: by the states and laps of the world, or by those of the wire."""

    goal: Goal
    by_world: bool


VERBS = {
    "drive": Judging(Laps(1), by_world=False),
    "evaluate": Judging(make_cell_goal(1, SECONDS), by_world=True),
    "race": Judging(RaceRules(seconds=SECONDS).make_goal(1), by_world=True),
    "tune": Judging(TRIAL_GOAL, by_world=False),
    "learn car": Judging(make_stage_goal(1.0, SECONDS), by_world=False),
    "learn track": Judging(make_survey_goal(0.0), by_world=False),
}


def move(road, way, offset=0.0, wheels_off=0):
    """Return the states of a trace: `way` (n,) m along the road every DT, `offset` m from the middle, wheels off."""
    way = np.asarray(way, float)
    places = road.points(way, np.broadcast_to(offset, way.shape))
    off = np.broadcast_to(wheels_off, way.shape)
    speeds = np.abs(np.gradient(way, DT))
    timer = LapTimer(road.length, road.closed)  # the world's
    for k, (x, y, z, yaw) in enumerate(places):
        state = CarState(time=k * DT, sequence=k, x=x, y=y, z=z, yaw=yaw, speed=speeds[k], contacts=0.0, fuel=5.0)
        state.wheels = tuple(WheelState(on_track=float(number >= off[k])) for number in range(4))
        timer.update(state.time, float(way[k]), int(off[k]), 0.0)
        state.lap_progress = timer.progress
        yield state, list(timer.laps)


def judge_trace(road, trace):
    """Return each verb's verdict on a trace, and its monitor."""
    verdicts, monitors = {}, {}
    for name, (goal, by_world) in VERBS.items():
        # The road is not known to a survey, but where an embedded open one ends.
        monitor = RoadMonitor(None if name == "learn track" and road.closed else road)
        verdict = None
        for state, laps in trace:
            if by_world:
                monitor.observe_state(state, laps)
            else:
                monitor.tick(state, Controls())
            verdict = goal.judge(monitor)
            if verdict is not None:
                break
        verdicts[name], monitors[name] = verdict, monitor
    return verdicts, monitors


def drive_round(road, metres):
    return np.arange(0.0, metres, SPEED * DT)


def list_going_on(verdicts, verdict):
    """Return the verbs that go on, after asserting that all others give one verdict."""
    assert {given for given in verdicts.values() if given is not None} == {verdict}, verdicts
    return {name for name, given in verdicts.items() if given is None}


def test_a_lap_is_reached():
    verdicts, monitors = judge_trace(CIRCUIT, list(move(CIRCUIT, drive_round(CIRCUIT, CIRCUIT.length + 5.0))))
    assert list_going_on(verdicts, "") == set()
    for name in ("drive", "evaluate", "race"):
        assert [lap.valid for lap in monitors[name].laps] == [True]
    assert monitors["drive"].laps == monitors["evaluate"].laps == monitors["race"].laps


def test_the_end_of_an_open_road_is_reached():
    verdicts, monitors = judge_trace(OPEN, list(move(OPEN, drive_round(OPEN, OPEN.length + 1.0))))
    assert list_going_on(verdicts, "") == set()
    assert monitors["tune"].clock == monitors["learn car"].clock == monitors["learn track"].clock
    assert monitors["drive"].clock == monitors["evaluate"].clock == monitors["race"].clock


def test_a_car_that_stands_has_30_s():
    way = np.concatenate([drive_round(CIRCUIT, 100.0), np.full(int(40.0 / DT), 100.0)])
    verdicts, monitors = judge_trace(CIRCUIT, list(move(CIRCUIT, way)))
    # A drive lasts as its user says, and a cell of evaluate has the 120 s of a car that makes no headway.
    assert list_going_on(verdicts, "stood still for 30 s") == {"drive", "evaluate"}
    assert {monitors[name].standing_s for name in ("tune", "learn car", "race")} == {monitors["learn track"].standing_s}
    assert monitors["drive"].standing_s == monitors["evaluate"].standing_s == pytest.approx(40.0, abs=0.1)


@pytest.mark.parametrize("speed", [0.0, 0.6], ids=["goes to and fro", "reverses"])
def test_a_car_without_headway_has_120_s(speed):
    k = np.arange(int(125.0 / DT))
    away = -speed * DT * k if speed else 1.0 * np.sin(0.5 * DT * k)
    way = np.concatenate([drive_round(CIRCUIT, 200.0), 200.0 + away])
    verdicts, monitors = judge_trace(CIRCUIT, list(move(CIRCUIT, way)))
    assert verdicts["evaluate"].startswith("stuck in lap 1, ")
    assert list_going_on(verdicts, verdicts["evaluate"]) == {"drive", "race", "learn track"}  # moving is not standing
    assert {monitors[name].without_headway_s for name in ("tune", "learn car")} == {
        monitors["evaluate"].without_headway_s
    }


@pytest.mark.parametrize(("seconds", "ends"), [(0.06, False), (0.5, True)])
def test_a_car_off_the_road_has_a_tenth_of_a_second(seconds, ends):
    way = drive_round(CIRCUIT, CIRCUIT.length + 5.0)
    is_off = (np.arange(len(way)) * DT >= 10.0 - 1e-9) & (np.arange(len(way)) * DT < 10.0 + seconds - 1e-9)
    trace = list(move(CIRCUIT, way, np.where(is_off, BESIDE, 0.0), np.where(is_off, 4, 0)))
    verdicts, monitors = judge_trace(CIRCUIT, trace)
    learning = {name: verdicts.pop(name) for name in ("tune", "learn car")}
    assert set(learning.values()) == {"off the road for 0.1 s" if ends else ""}
    assert list_going_on(verdicts, "") == set()  # a lap that does not count is a lap
    for name in ("drive", "evaluate", "race"):
        assert [lap.invalid_reason for lap in monitors[name].laps] == ["more than two wheels off the road"]
        assert monitors[name].off_track_s == pytest.approx(seconds, abs=0.011)
        assert monitors[name].off_track_count == 1


def test_a_car_on_its_roof_ends_every_drive():
    trace = list(move(CIRCUIT, drive_round(CIRCUIT, 300.0)))
    for state, _ in trace:
        state.roll = np.pi * (state.time >= 5.0)
    verdicts, _ = judge_trace(CIRCUIT, trace)
    assert verdicts.pop("learn track") == "rolled over in lap 1, 0 m after the line"  # a survey has no road
    assert list_going_on(verdicts, "rolled over in lap 1, 120 m after the line") == set()


def test_what_a_verb_drives_for_is_plain_data():
    for goal, _ in VERBS.values():
        spec = DriveSpec(site=EmbeddedSite(), goal=goal)
        assert parse_spec(write_spec(spec), "there") == spec
