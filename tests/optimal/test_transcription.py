"""The assembled derivatives against CasADi's own of the whole programme."""

import numpy as np
import pytest
from helpers.roads import circle
from helpers.stadiums import build_stadium

from trailbrake.cars.car_library import load_car
from trailbrake.optimal.mesh import GUESS_SHARE, guess_motion, mesh_road
from trailbrake.optimal.stage import build_stage
from trailbrake.optimal.transcription import build_programme, scale_unknowns, unscale_unknowns
from trailbrake.optimal.vehicle_model import vehicle_from_car
from trailbrake.tracks.road import Road
from trailbrake.units import G

ca = pytest.importorskip("casadi", reason='CasADi is not installed: pip install "trailbrake[limit]"')

CAR = vehicle_from_car(load_car("kart"))


@pytest.mark.parametrize("closed", [True, False])
def test_derivatives_are_exact(closed):
    road = build_stadium()
    mesh = mesh_road(Road(road.table, road.spacing, closed), 70.0, CAR.path_room(0.5))
    programme = build_programme(build_stage(CAR), mesh, 0.01)
    rng = np.random.default_rng(7)
    start = scale_unknowns(guess_motion(CAR, mesh, np.zeros(len(mesh.s))))
    x = start + rng.uniform(-0.02, 0.02, len(start))
    lam = rng.uniform(-1.0, 1.0, programme.size)
    symbol, f, g = (programme.problem[name] for name in ("x", "f", "g"))
    weights = ca.MX.sym("weights", programme.size)
    lagrangian = 0.7 * f + ca.dot(weights, g)
    reference = ca.Function(
        "reference",
        [symbol, weights],
        [ca.gradient(f, symbol), ca.jacobian(g, symbol), ca.triu(ca.hessian(lagrangian, symbol)[0])],
    )
    gradient, jacobian, hessian = (np.asarray(ca.DM(value)) for value in reference(x, lam))
    derivatives = programme.derivatives
    np.testing.assert_allclose(np.asarray(derivatives["grad_f"](x, [])[1]), gradient, atol=1e-10)
    np.testing.assert_allclose(np.asarray(ca.DM(derivatives["jac_g"](x, [])[1])), jacobian, atol=1e-10)
    found = np.asarray(ca.DM(derivatives["hess_lag"](x, [], 0.7, lam)))
    np.testing.assert_allclose(found, hessian, atol=1e-8 * np.abs(hessian).max())


def test_the_first_guess_of_a_circle_is_a_point_mass_on_its_friction_circle():
    """m v^2 / R = mu (m g + lift v^2), and the drive carries the drag."""
    radius, car = 40.0, vehicle_from_car(load_car("gt3"))
    mesh = mesh_road(circle(radius).road, 5.0, car.path_room(0.5))
    motion = guess_motion(car, mesh, np.zeros(len(mesh.s)))
    grip, body = GUESS_SHARE * car.grip_guess, car.body
    square = grip * G / (1.0 / radius - grip * (body.lift_front + body.lift_rear) / body.mass)
    for name, value in (
        ("speed", square**0.5), ("yaw_rate", square**0.5 / radius), ("accel_y", square / radius / G), ("accel_x", 0.0),
        ("pedal", car.drag * square / body.mass / G), ("steer", body.wheelbase / radius), ("offset", 0.0),
    ):  # fmt: skip
        np.testing.assert_allclose(motion[name], value, rtol=1e-3, atol=1e-6, err_msg=name)


def test_scaling_round_trips():
    road = build_stadium()
    mesh = mesh_road(road, 70.0, CAR.path_room(0.5))
    motion = guess_motion(CAR, mesh, np.zeros(len(mesh.s)))
    back = unscale_unknowns(scale_unknowns(motion))
    for name, values in motion.items():
        np.testing.assert_allclose(back[name], values, rtol=1e-14)
