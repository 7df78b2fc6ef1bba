"""What is put into a car file in the making, and what goes with a mass."""

import numpy as np
import pytest
from helpers.known_drives import make_table

from trailbrake.cars.car_checks import check_car
from trailbrake.learning.identification.car_draft import CarDraft, LoadModel, find_load_model, put_loads, put_mass
from trailbrake.learning.identification.class_priors import CLASSES, make_prior_car
from trailbrake.learning.identification.learned_value import identified
from trailbrake.units import G

CLASS_CAR = make_prior_car(next(kind for kind in CLASSES if kind.name == "touring"))
MASS, SHARE, HEIGHT_OVER_BASE, LIFT, MOVED = 1200.0, 0.46, 0.17, (0.9, 1.1), (300.0, 250.0)


def test_what_is_found_takes_the_prior_s_place_and_nothing_leaves_it():
    draft = CarDraft(CLASS_CAR)
    draft.put("body", wheelbase=identified(2.5, 0.02, "wheel speeds"), track_front=None)
    assert draft.car.body.wheelbase == 2.5
    assert draft.car.body.track_front == CLASS_CAR.body.track_front
    assert draft.values["body.wheelbase"].source == "identified"
    assert draft.values["body.track_front"].source == "prior"


def test_a_mass_scales_what_carries_it():
    draft = CarDraft(CLASS_CAR)
    put_mass(draft, identified(1.4 * CLASS_CAR.body.mass, 20.0, "power"))
    car = draft.car
    check_car(car, "draft")
    for section, key in [("body", "yaw_inertia"), ("suspension_front", "spring_rate"), ("tyre_rear", "nominal_load"),
                         ("engine", "inertia"), ("brakes", "torque_front")]:  # fmt: skip
        assert getattr(getattr(car, section), key) == pytest.approx(1.4 * getattr(getattr(CLASS_CAR, section), key))
    assert car.full_brake_force / car.body.mass == pytest.approx(CLASS_CAR.full_brake_force / CLASS_CAR.body.mass)


def test_a_mass_that_is_not_known_is_that_of_the_class():
    draft = CarDraft(CLASS_CAR)
    put_mass(draft, None)
    assert draft.car == CLASS_CAR
    assert draft.values["body.mass"].source == "prior"


def test_wheel_loads_tell_mass_height_and_downforce():
    draft = CarDraft(CLASS_CAR)
    draft.put("body", cg_to_front=None)
    put_loads(draft, LoadModel(
        mass=identified(1000.0, 3.0, "loads"), front_share=identified(0.45, 0.01, "loads"),
        height_over_base=identified(0.15, 0.01, "loads"), lift_front=identified(0.9, 0.1, "loads"),
        lift_rear=identified(1.2, 0.1, "loads"), transfer_front=identified(180.0, 5.0, "loads"),
        transfer_rear=identified(120.0, 5.0, "loads"),
    ))  # fmt: skip
    car = draft.car
    check_car(car, "draft")
    assert car.body.mass == 1000.0
    assert car.body.cg_height == pytest.approx(0.15 * car.body.wheelbase)
    assert 0.5 * car.aero.air_density * car.aero.lift_area_rear == pytest.approx(1.2)
    assert 0.5 < car.roll_stiffness_front / (car.roll_stiffness_front + car.roll_stiffness_rear) < 0.8


def test_crests_and_dips_are_in_the_doubt_of_downforce_by_loads():
    draft = CarDraft(CLASS_CAR)
    draft.put("body", cg_to_front=None)
    sure = identified(0.9, 1e-4, "loads")
    put_loads(draft, LoadModel(
        mass=identified(1000.0, 3.0, "loads"), front_share=identified(0.45, 0.01, "loads"),
        height_over_base=identified(0.15, 0.01, "loads"), lift_front=sure, lift_rear=sure,
        transfer_front=identified(180.0, 5.0, "loads"), transfer_rear=identified(120.0, 5.0, "loads"),
    ))  # fmt: skip
    half = 0.5 * draft.car.aero.air_density
    pressed = half * draft.values["aero.lift_area_rear"].sigma * 50.0**2
    assert pressed == pytest.approx(0.003 * 1000.0 * G, rel=0.02)


def loads_of(v, fx, fy):
    front = MASS * G * SHARE + LIFT[0] * v**2 - MASS * fx * HEIGHT_OVER_BASE
    rear = MASS * G * (1.0 - SHARE) + LIFT[1] * v**2 + MASS * fx * HEIGHT_OVER_BASE
    pairs = zip((front, rear), MOVED, strict=True)
    return np.column_stack([side for axle, k in pairs for side in (0.5 * axle - k * fy, 0.5 * axle + k * fy)])


def test_mass_and_downforce_follow_from_loads():
    rng = np.random.default_rng(1)
    n = 3000
    v, fx, fy = rng.uniform(5.0, 50.0, n), rng.uniform(-10.0, 5.0, n), rng.uniform(-8.0, 8.0, n)
    load = loads_of(v, fx, fy) * (1.0 + 0.02 * rng.standard_normal((n, 4)))
    found = find_load_model(make_table(n, vx=v, fx=fx, fy=fy, load=load))
    for value, truth in (
        (found.mass, MASS), (found.front_share, SHARE), (found.height_over_base, HEIGHT_OVER_BASE),
        (found.lift_front, LIFT[0]), (found.lift_rear, LIFT[1]), (found.transfer_front, MOVED[0]),
    ):  # fmt: skip
        assert value.value == pytest.approx(truth, rel=0.02)
        assert value.interval[0] < truth < value.interval[1]


def test_a_dip_where_alone_a_road_is_fast_is_no_downforce():
    """Of a car of 1032 kg with 0.2 m2 of lift the file had 0.07 +- 0.08 on a circuit of 750 m."""
    rng = np.random.default_rng(2)
    v = rng.uniform(5.0, 35.0, 3000)
    az = np.where(v > 25.0, 0.6, -0.1) + 0.3 * rng.standard_normal(len(v))
    load = loads_of(v, 0.0 * v, 0.0 * v) + 0.5 * np.array([SHARE, SHARE, 1.0 - SHARE, 1.0 - SHARE]) * MASS * az[:, None]
    found = find_load_model(make_table(len(v), vx=v, az=az, load=load))
    assert found.lift_front.value == pytest.approx(LIFT[0], rel=0.02)
    assert found.mass.value == pytest.approx(MASS, rel=0.005)


def test_a_wire_without_loads_tells_no_mass():
    assert find_load_model(make_table(1000, vx=10.0)) is None


def test_a_car_slides_before_it_rolls_over():
    draft = CarDraft(CLASS_CAR)
    draft.keep_upright()
    assert draft == CarDraft(CLASS_CAR)
    draft.put("body", cg_height=identified(0.7, 0.02, "wheel loads"))
    draft.keep_upright()
    body, tyre = draft.car.body, draft.car.tyre_rear
    assert body.cg_height == pytest.approx(0.5 * body.track_rear / (tyre.mu_y * (1.0 - tyre.mu_y_load)))
    assert draft.missing == ["height of the centre of mass: 0.70 m would roll the car over"]
