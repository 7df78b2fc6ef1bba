"""The linearised car against differences of the plant's equations, and the regulator's signs."""

import numpy as np
import pytest
from helpers.stadiums import build_stadium
from line_replay import compute_gains, linearise_stages

from trailbrake.cars.car_library import load_car
from trailbrake.optimal.interior_point import LEVELS
from trailbrake.optimal.minimum_time import plan_minimum_time
from trailbrake.optimal.stage import STATES
from trailbrake.optimal.vehicle_model import vehicle_from_car

pytest.importorskip("casadi", reason='CasADi is not installed: pip install "trailbrake[limit]"')

CAR = vehicle_from_car(load_car("gt3"))
OFFSET, HEADING, YAW_RATE = STATES.index("offset"), STATES.index("heading"), STATES.index("yaw_rate")
STEER, PEDAL = 0, 1


@pytest.fixture(scope="module")
def solution():
    level = LEVELS[1]._replace(coarseness=1.0, push=1e-2, barrier=1e-2)
    return plan_minimum_time(build_stadium(), CAR, step=11.0, levels=(level,)).solution


def test_the_linearised_car_has_the_signs_of_a_car(solution):
    slopes, effects = linearise_stages(CAR, solution)
    assert np.all(slopes[:, OFFSET, HEADING] > 0.0)  # a car that heads left moves left
    assert np.all(effects[:, YAW_RATE, STEER] > 0.0)  # steer to the left turns left
    assert np.median(effects[:, STATES.index("speed"), PEDAL]) > 0.0


def test_the_feedback_steers_back(solution):
    gains = compute_gains(CAR, solution)
    assert gains.shape == (len(solution.mesh.s), 2, len(STATES))
    assert np.isfinite(gains).all()
    # Left of the line, or heading left: steer to the right.
    assert np.mean(gains[:, STEER, OFFSET] < 0.0) > 0.9
    assert np.mean(gains[:, STEER, HEADING] < 0.0) > 0.9
