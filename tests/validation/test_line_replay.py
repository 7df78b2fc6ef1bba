"""A stadium: the replay completes its lap with little feedback, and finds a line that is not one."""

from dataclasses import replace

import numpy as np
import pytest
from helpers.stadiums import build_stadium
from line_replay import MAX_STEP_S, TUBE, replay_solution, solve_curvature_line

from trailbrake.cars.car_library import load_car
from trailbrake.optimal.interior_point import LEVELS
from trailbrake.optimal.minimum_time import START_WEIGHTS, find_start_offsets, plan_minimum_time
from trailbrake.optimal.stage import UNKNOWN_COUNT, UNKNOWNS
from trailbrake.optimal.transcription import unscale_unknowns
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


def test_the_minimum_curvature_line_is_slower_in_the_same_model():
    road, car = build_stadium(), CAR
    usual = solve_curvature_line(road, car, 8.0, car.path_room(0.6))
    assert usual.converged
    offset = find_start_offsets(road, usual.mesh, car.path_room(0.6), START_WEIGHTS[0])
    assert np.abs(unscale_unknowns(usual.x)["offset"] - offset).max() <= TUBE + 1e-6
    free = LEVELS[1]._replace(coarseness=1.0, push=1e-2, barrier=1e-2)
    line = plan_minimum_time(road, car, step=8.0, margin=0.6, levels=(free,))
    assert line.time < usual.time
