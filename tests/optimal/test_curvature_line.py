import numpy as np
import pytest
from helpers.stadiums import build_stadium

from trailbrake.cars.car_library import load_car
from trailbrake.optimal.curvature_line import TUBE, solve_curvature_line
from trailbrake.optimal.interior_point import LEVELS
from trailbrake.optimal.minimum_time import START_WEIGHTS, find_start_offsets, plan_minimum_time
from trailbrake.optimal.transcription import unscale_unknowns
from trailbrake.optimal.vehicle_model import vehicle_from_car

pytest.importorskip("casadi", reason='CasADi is not installed: pip install "trailbrake[limit]"')

STEP = 8.0


def test_the_minimum_curvature_line_is_slower_in_the_same_model():
    road, car = build_stadium(), vehicle_from_car(load_car("gt3"))
    usual = solve_curvature_line(road, car, STEP, car.path_room(0.6))
    assert usual.converged
    offset = find_start_offsets(road, usual.mesh, car.path_room(0.6), START_WEIGHTS[0])
    assert np.abs(unscale_unknowns(usual.x)["offset"] - offset).max() <= TUBE + 1e-6
    free = LEVELS[1]._replace(coarseness=1.0, push=1e-2, barrier=1e-2)
    line = plan_minimum_time(road, car, step=STEP, margin=0.6, levels=(free,))
    assert line.time < usual.time
