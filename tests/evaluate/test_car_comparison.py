import pytest
from msgspec.structs import replace

from trailbrake.cars.car_library import load_car
from trailbrake.cars.random_car import CarFactors, build_random_car
from trailbrake.evaluate.car_comparison import compare_cars
from trailbrake.units import G

SAME = CarFactors("gt3", 1.0, 1.0, "rwd", 0.4, 1.0, 1.0, 1.0, 1.0, 1.0, 0.0, 0.0)


def changed(**values):
    return build_random_car(load_car("gt3"), SAME._replace(**values), "x")


def test_a_true_file_has_no_errors():
    assert all(abs(value) < 1e-9 for value in compare_cars(changed(), load_car("gt3")).values())


def test_each_figure_shows_what_is_wrong_in_the_file():
    truth = load_car("gt3")
    grip = compare_cars(changed(grip=1.1), truth)
    assert grip["lateral_grip"] == pytest.approx(0.1, abs=0.02)
    assert 0.03 < grip["braking"] < 0.12  # more load moves to the front, and the bias stays
    late = compare_cars(changed(delay=0.03), truth)
    assert late["delay_s"] == pytest.approx(0.03)
    assert late["lateral_grip"] == pytest.approx(0.0)
    assert compare_cars(changed(lock=0.9), truth)["steer_angle"] == pytest.approx(-0.1)
    lift = 0.5 * 1.2 * 3.2 * 50.0**2 / (truth.body.mass * G)
    assert compare_cars(changed(aero=0.5), truth)["downforce"] == pytest.approx(-0.5 * lift)
    engine = replace(truth.engine, torque=tuple(0.9 * torque for torque in truth.engine.torque))
    assert compare_cars(replace(truth, engine=engine), truth)["drive_force"] == pytest.approx(0.1)


def test_forces_count_per_mass():
    truth = load_car("gt3")
    heavy = changed(mass=1.3, power=1.3)  # tyres, brakes and engine suit the mass
    errors = compare_cars(heavy, truth)
    assert abs(errors["lateral_grip"]) < 0.02
    assert errors["drive_force"] < 0.15  # the gears are others
