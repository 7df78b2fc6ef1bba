"""Brake force and its split, of braking by known forces."""

import dataclasses
from types import SimpleNamespace

import numpy as np
import pytest
from helpers.known_drives import make_table
from msgspec.structs import replace

from trailbrake.cars.car_checks import check_car
from trailbrake.cars.car_library import load_car
from trailbrake.learning.identification.braking import LEAST_BRAKES, find_braking, split_brakes
from trailbrake.learning.identification.class_priors import CLASSES, make_prior_car
from trailbrake.learning.identification.drive_table import join_tables
from trailbrake.learning.identification.powertrain import KNOTS, axle_inertia_share
from trailbrake.units import G

CAR = load_car("gt3")
SHARE, FORCE = 0.62, 22.0


def braking(pedal, most=None):
    """Return a table of straight braking at pedals (n,), with slips in proportion to force over load."""
    n, body = len(pedal), CAR.body
    v = np.full(n, 25.0)
    held = np.minimum(FORCE * pedal, np.inf if most is None else most)
    air = 0.5 * CAR.aero.air_density * CAR.aero.drag_area / body.mass * v**2
    fx = -held - air - 0.015 * G
    half = 0.5 * CAR.aero.air_density / body.mass * v**2
    pitch = fx * body.cg_height / body.wheelbase
    front = G * body.front_share + half * CAR.aero.lift_area_front - pitch
    rear = G * (1.0 - body.front_share) + half * CAR.aero.lift_area_rear + pitch
    slip = -0.03 * np.column_stack([held * SHARE / front, held * (1.0 - SHARE) / rear])
    spin = np.repeat((1.0 + slip) * v[:, None] / [CAR.tyre_front.radius, CAR.tyre_rear.radius], 2, axis=1)
    return make_table(n, vx=v, fx=fx, ax=0.0, brake=pedal, spin=spin)


def test_force_and_split_follow_from_gentle_braking():
    found = find_braking(braking(np.repeat([0.2, 0.3, 0.4], 60)), CAR, None)
    assert found.force.value == pytest.approx(FORCE, rel=0.02)
    assert found.front_share.value == pytest.approx(SHARE, abs=0.02)


def test_a_road_without_straights_tells_the_brakes():
    """A third of the persons at 97 % had the brakes of the class, up to three times too weak."""
    bends = dataclasses.replace(braking(np.repeat([0.2, 0.3, 0.4], 60)), fy=np.full(180, 3.5))
    assert find_braking(bends, CAR, None).force.value == pytest.approx(FORCE, rel=0.02)


def test_what_engine_and_wheels_need_to_lose_their_rotation_is_no_brake_of_the_rear_axle():
    pedal, v, gear, inertia, drag = np.repeat([0.2, 0.3, 0.4], 60), 25.0, 2, 0.25 / CAR.body.mass, 60.0 / CAR.body.mass
    body, lever = CAR.body, CAR.gearbox.overall_ratio(gear) / CAR.driven_radius
    held = FORCE * pedal
    engine = np.where(np.arange(len(pedal)) % 60 < 30, drag * lever / CAR.gearbox.efficiency, 0.0)  # or balanced
    air, rolling = 0.5 * CAR.aero.air_density * CAR.aero.drag_area / body.mass * v**2, 0.015
    half = 0.5 * CAR.aero.air_density * v**2 / body.mass
    lift = half * (CAR.aero.lift_area_front + CAR.aero.lift_area_rear)
    turning = [axle_inertia_share(CAR, tyre) for tyre in (CAR.tyre_front, CAR.tyre_rear)]
    slowing = (held + engine + air + rolling * (G + lift)) / (1.0 + sum(turning) + inertia * lever**2)
    pitch = slowing * body.cg_height / body.wheelbase
    front = G * body.front_share + half * CAR.aero.lift_area_front + pitch
    rear = G * (1.0 - body.front_share) + half * CAR.aero.lift_area_rear - pitch
    # On the road: the gt3 is driven at the rear.
    on_front = SHARE * held + rolling * front - turning[0] * slowing
    on_rear = (1.0 - SHARE) * held + engine + rolling * rear - (turning[1] + inertia * lever**2) * slowing
    slips = [
        -0.3 * CAR.tyre_front.peak_slip_ratio * on_front / front / 1.5,
        -0.3 * CAR.tyre_rear.peak_slip_ratio * on_rear / rear / 1.5,
    ]
    spin = np.repeat((1.0 + np.column_stack(slips)) * v / [CAR.tyre_front.radius, CAR.tyre_rear.radius], 2, axis=1)
    throttle = np.where(engine > 0.0, 0.0, drag / (300.0 / body.mass + drag))  # full torque 300 N m
    table = make_table(
        len(pedal), vx=v, fx=-slowing, ax=-slowing, brake=pedal, spin=spin, gear=gear, throttle=throttle,
        engine=lever * v, gear_age=9.0,
    )  # fmt: skip
    torques = np.full(KNOTS, 300.0 / body.mass / CAR.gearbox.efficiency**2)  # through the box, which loses as it brakes
    unknowns = np.concatenate([torques, [drag, drag, air / v**2, rolling, inertia]])
    powertrain = SimpleNamespace(speeds=np.linspace(50.0, 900.0, KNOTS), fit=SimpleNamespace(value=unknowns))
    found = find_braking(table, CAR, powertrain)
    assert found.force.value == pytest.approx(FORCE, rel=0.02)
    assert found.front_share.value == pytest.approx(SHARE, abs=0.03)  # slips in proportion to force: not the tyre law


def test_a_centre_differential_hides_the_split_in_gentle_braking():
    gentle, hard = braking(np.full(600, 0.3)), braking(np.full(300, 0.4))
    radii = np.repeat([CAR.tyre_front.radius, CAR.tyre_rear.radius], 2)
    alike = np.repeat(0.99 * gentle.vx[:, None], 4, axis=1) / radii
    gentle = dataclasses.replace(gentle, spin=alike)  # the axles turn alike, whatever their brakes do
    both = join_tables([gentle, hard])
    driven = replace(CAR, drive=replace(CAR.drive, layout="awd"))
    assert find_braking(both, driven, None).front_share.value == pytest.approx(SHARE, abs=0.03)
    assert find_braking(both, CAR, None).front_share.value < SHARE - 0.05


def test_no_braking_tells_nothing():
    assert find_braking(make_table(500, vx=20.0), CAR, None) is None


def test_brakes_are_split_and_never_none():
    car = split_brakes(CAR, FORCE, SHARE)
    assert car.full_brake_force / car.body.mass == pytest.approx(FORCE)
    assert car.brakes.torque_front / CAR.tyre_front.radius == pytest.approx(SHARE * FORCE * CAR.body.mass)
    assert car.front_brake_force_share == pytest.approx(SHARE)
    assert car.brakes.front_share < SHARE - 0.005  # the gt3's rear wheels are larger: of the torques it is less
    assert split_brakes(CAR, -0.3, SHARE).full_brake_force == pytest.approx(LEAST_BRAKES * CAR.body.mass)


def test_a_kart_that_brakes_behind_is_a_car_that_stays_on_the_road():
    kart = make_prior_car(next(kind for kind in CLASSES if kind.name == "kart"))
    for share in (0.0, 0.007, 0.3, 1.0):
        check_car(split_brakes(kart, FORCE, share), "kart")


def test_a_pedal_without_brakes_gives_no_force():
    found = find_braking(braking(np.repeat([0.2, 0.5, 0.9], 60), most=0.0), CAR, None)
    assert found.force.value == pytest.approx(0.0, abs=0.1)
