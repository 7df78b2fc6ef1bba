"""A stadium: the replay completes its lap with little feedback, and finds a line that is not one."""

from dataclasses import replace

import pytest
from helpers.stadiums import build_stadium

from trailbrake.cars.car_library import load_car
from trailbrake.optimal.interior_point import LEVELS
from trailbrake.optimal.minimum_time import plan_minimum_time
from trailbrake.optimal.replay import MAX_STEP_S, replay_solution
from trailbrake.optimal.stage import UNKNOWN_COUNT, UNKNOWNS
from trailbrake.optimal.vehicle_model import vehicle_from_car
from trailbrake.tracks.road import Road

pytest.importorskip("casadi", reason='CasADi is not installed: pip install "trailbrake[limit]"')

CAR = vehicle_from_car(load_car("gt3"))
QUICK = (LEVELS[1]._replace(coarseness=1.0, push=1e-2, barrier=1e-2),)
STEP = 6.0


@pytest.fixture(scope="module")
def line():
    return plan_minimum_time(build_stadium(), CAR, step=STEP, levels=QUICK)


def test_the_plant_completes_the_lap(line):
    replay = replay_solution(build_stadium(), CAR, line.solution)
    assert replay.completed
    assert replay.distance == pytest.approx(build_stadium().length)
    # The trapezoidal rule with steps of 6 m against steps below 1 ms.
    assert replay.time == pytest.approx(line.time, rel=3e-3)
    assert replay.steps > replay.time / MAX_STEP_S
    assert replay.steer_correction[0] < 0.01
    assert replay.offset_error < 0.8  # the stadium's curvature jumps between two stages


def test_a_line_that_the_car_cannot_hold_is_found(line):
    table = line.solution.x.reshape(-1, UNKNOWN_COUNT).copy()
    table[:, UNKNOWNS.index("speed")] *= 1.3
    hurried = replace(line.solution, x=table.ravel())
    assert not replay_solution(build_stadium(), CAR, hurried).completed


def test_an_open_road_is_replayed():
    road = build_stadium()
    open_road = Road(road.table[: len(road.table) // 2].copy(), road.spacing, False)
    line = plan_minimum_time(open_road, CAR, step=STEP, levels=(QUICK[0], LEVELS[2]))
    replay = replay_solution(open_road, CAR, line.solution)
    assert replay.completed
    assert replay.time == pytest.approx(line.time, rel=1e-2)
