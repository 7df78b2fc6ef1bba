import pytest
from msgspec.structs import replace

from trailbrake.cars.car_library import load_car
from trailbrake.cars.learned import Uncertainty
from trailbrake.cars.random_car import CarFactors, build_random_car
from trailbrake.evaluate.car_comparison import FIGURES, compare_cars, summarize_coverage
from trailbrake.units import G

SAME = CarFactors("gt3", 1.0, 1.0, "rwd", 0.4, 1.0, 1.0, 1.0, 1.0, 1.0, 0.0, 0.0)


def changed(**values):
    return build_random_car(load_car("gt3"), SAME._replace(**values), "x")


def test_a_true_file_has_no_errors():
    errors = compare_cars(changed(), load_car("gt3"))
    assert all(abs(errors[name]) < 1e-9 for name in FIGURES)
    assert (errors["within"], errors["numbers"], errors["planned_share"]) == ({}, 0, 1.0)


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


def doubtful(car, deviation=None, **shares):
    zero = dict.fromkeys(("lateral_grip", "braking", "drive_force", "downforce", "steer_angle", "delay"), 0.01)
    return replace(car, uncertainty=Uncertainty(**{**zero, **shares}, deviation=deviation or {}))


def test_intervals_are_those_of_the_file():
    truth = load_car("gt3")
    file = doubtful(changed(lock=0.9), {"steering.max_angle": 0.03, "body.mass": 1.0, "gearbox.overall_ratio.2": 0.1})
    errors = compare_cars(file, truth)
    assert errors["within"] == {**dict.fromkeys(FIGURES, True), "steer_angle": False}
    assert (errors["numbers_within"], errors["numbers"]) == (3, 3)
    narrow = compare_cars(doubtful(changed(lock=0.9), {"steering.max_angle": 0.01}), truth)
    assert (narrow["numbers_within"], narrow["numbers"]) == (0, 1)
    coverage = summarize_coverage([errors, narrow, compare_cars(truth, truth)])
    assert (coverage["files"], coverage["steer_angle"], coverage["braking"]) == (2, 0.0, 1.0)
    assert coverage["numbers"] == 0.75
    assert summarize_coverage([]) == {}


def test_grip_that_a_file_holds_back_was_found_all_the_same():
    truth = load_car("gt3")
    errors = compare_cars(doubtful(changed(grip=0.9), planned_share=0.9), truth)
    assert abs(errors["lateral_grip"]) < 0.02
    assert compare_cars(changed(grip=0.9), truth)["lateral_grip"] < -0.08


def test_friction_is_compared_at_the_weight_of_each_car():
    truth = load_car("gt3")
    tyre = truth.tyre_front
    share = 0.25 * truth.body.mass * G / tyre.nominal_load
    mu = tyre.mu_y * (1.0 - tyre.mu_y_load * (share - 1.0)) / (1.0 - tyre.mu_y_load * (0.5 * share - 1.0))
    other = replace(tyre, nominal_load=2.0 * tyre.nominal_load, mu_y=mu)
    file = doubtful(replace(truth, tyre_front=other), {"tyre_front.mu_y": 0.01})
    assert compare_cars(file, truth)["numbers_within"] == 1


def test_speeds_that_the_car_cannot_reach_count_for_no_drive_force():
    truth = load_car("random:23")  # 55 kW: its highest gear would reach 65 m/s, the air lets it reach 47
    box = replace(truth.gearbox, ratios=truth.gearbox.ratios[:-1])
    assert compare_cars(replace(truth, gearbox=box), truth)["drive_force"] < 0.02


def test_drive_force_that_the_tyres_do_not_carry_is_counted_apart():
    truth = changed(power=4.0)  # more than its tyres carry in the lower gears
    errors = compare_cars(replace(truth, engine=replace(truth.engine, torque=weaker(truth, 0.75))), truth)
    assert errors["drive_force"] == pytest.approx(0.25)
    assert 0.0 < errors["usable_drive_force"] < 0.15


def weaker(car, share):
    return tuple(share * torque for torque in car.engine.torque)
