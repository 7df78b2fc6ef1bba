"""Settings act as the physics says they must; a car without the thing drives as before."""

import math

import numpy as np
import pytest

from trailbrake.cars.car_library import load_car
from trailbrake.state import Controls
from trailbrake.world.car_scaling import scale_car
from trailbrake.world.car_settings import apply_settings
from trailbrake.world.plant import World
from trailbrake.world.row_layout import StateRow


def world_of(roads, *names):
    world = World(roads.straight(), [load_car(name) for name in names])
    for i in range(len(names)):
        world.batch.place_cars(i, 200.0 + 50.0 * i, 0.0, 0.0, 40.0)
    return world


def after(world, seconds, **controls):
    """Drive all cars alike; return the last state of car 0."""
    for _ in range(round(seconds * 333)):
        world.step([Controls(**controls)] * len(world.cars))
    return world.car_state(0)


def test_all_the_brake_force_goes_where_the_bias_says(roads):
    # Light braking: far from locking, so the deceleration stays and only its place moves.
    own = after(world_of(roads, "gt3"), 0.5, brake=0.15, gear=0)
    rear = after(world_of(roads, "gt3"), 0.5, brake=0.15, gear=0, brake_bias=0.0)
    front = after(world_of(roads, "gt3"), 0.5, brake=0.15, gear=0, brake_bias=1.0)
    assert rear.acceleration_x == pytest.approx(own.acceleration_x, rel=0.03)
    assert front.acceleration_x == pytest.approx(own.acceleration_x, rel=0.03)
    assert abs(rear.wheels[0].slip_ratio) < 0.002 < 0.01 < -rear.wheels[2].slip_ratio
    assert abs(front.wheels[2].slip_ratio) < 0.002 < 0.01 < -front.wheels[0].slip_ratio


def test_without_abs_the_wheels_lock(roads):
    assert min(w.angular_velocity for w in after(world_of(roads, "gt3"), 0.6, brake=1.0, gear=0).wheels) > 20.0
    locked = after(world_of(roads, "gt3"), 0.6, brake=1.0, gear=0, abs_level=0.0)
    assert min(w.angular_velocity for w in locked.wheels) == 0.0
    assert locked.abs_active == 0.0
    half = after(world_of(roads, "gt3"), 0.6, brake=1.0, gear=0, abs_level=0.5)
    own = after(world_of(roads, "gt3"), 0.6, brake=1.0, gear=0, abs_level=1.0)
    assert -half.wheels[0].slip_ratio > -1.5 * own.wheels[0].slip_ratio  # aims at twice the slip


def test_without_traction_control_the_wheels_spin(roads):
    def most(**controls):
        world = World(roads.straight(), [scale_car(load_car("gt3"), grip=0.4)])
        world.batch.place_cars(0, 200.0, 0.0, 0.0, 15.0)
        return max(after(world, 0.02, throttle=1.0, gear=1, **controls).wheels[2].combined_slip for _ in range(40))

    own = most()
    assert own < 1.6
    assert most(tc_level=0.0) > 1.5 * own


def test_engine_brake_is_a_share_of_the_car_s_own(roads):
    pull = {level: after(world_of(roads, "gt3"), 0.5, gear=3, engine_brake_level=level).acceleration_x
            for level in (0.0, 0.5, 1.0)}  # fmt: skip
    assert pull[0.0] > pull[0.5] > pull[1.0]
    # What the engine drags is linear in its level; the small rest is the speed that differs by then.
    assert pull[0.5] == pytest.approx((pull[0.0] + pull[1.0]) / 2, rel=0.03)


def test_boost_is_a_share_of_the_torque():
    car = load_car("sports_awd")
    share = car.engine.turbo_share
    without = apply_settings(car, Controls(turbo_level=0.0)).engine
    assert without.turbo_share == 0.0
    assert without.torque == pytest.approx([(1.0 - share) * t for t in car.engine.torque])
    half = apply_settings(car, Controls(turbo_level=0.5)).engine
    # Full boost: what is there without, and half of what boost adds. No boost: what was there without.
    assert half.torque[3] == pytest.approx(car.engine.torque[3] * (1.0 - share + 0.5 * share))
    assert half.torque[3] * (1.0 - half.turbo_share) == pytest.approx(car.engine.torque[3] * (1.0 - share))


def test_delivery_and_recovery_are_shares_of_the_motor_s(roads):
    def used(**controls):
        world = world_of(roads, "f1")
        before = world.batch.view_car(0)[StateRow.CHARGE]
        after(world, 0.5, **controls)
        return before - world.batch.view_car(0)[StateRow.CHARGE]

    full = used(throttle=1.0, boost=1.0)
    assert full > 1000.0
    assert used(throttle=1.0, boost=1.0, delivery_level=0.5) == pytest.approx(0.5 * full, rel=0.02)
    assert used(throttle=1.0, boost=1.0, delivery_level=0.0) == 0.0


def test_recovery_fills_what_was_used(roads):
    def gained(level):
        world = world_of(roads, "f1")
        world.batch.set_row(StateRow.CHARGE, 1000.0)
        after(world, 0.3, brake=0.3, gear=0, recovery_level=level)
        return world.batch.view_car(0)[StateRow.CHARGE] - 1000.0

    assert gained(1.0) > 1000.0
    assert gained(0.25) == pytest.approx(0.25 * gained(1.0), rel=0.02)


def test_a_setting_is_of_one_car_and_ends_with_its_wish(roads):
    world, untouched = world_of(roads, "gt3", "hatchback", "f1"), world_of(roads, "gt3", "hatchback", "f1")
    for step in range(200):
        wish = Controls(throttle=0.5, brake=0.1)
        tried = Controls(throttle=0.5, brake=0.1, brake_bias=0.9, engine_brake_level=0.2, turbo_level=0.1)
        world.step([wish, tried if step < 100 else wish, wish])
        untouched.step([wish] * 3)
    for car in (0, 2):
        assert np.array_equal(world.batch.view_car(car), untouched.batch.view_car(car), equal_nan=True)
    assert not np.array_equal(world.batch.view_car(1), untouched.batch.view_car(1), equal_nan=True)
    rows = np.s_[:, :]
    fresh = world_of(roads, "gt3", "hatchback", "f1")
    fresh.batch.change_car(1, fresh.cars[1])
    assert np.array_equal(world.batch.params[rows], fresh.batch.params[rows])  # all as the car's file has it


def test_a_reset_takes_settings_back(roads):
    world = world_of(roads, "gt3")
    after(world, 0.01, abs_level=0.0)
    world.reset(0)
    world.batch.place_cars(0, 200.0, 0.0, 0.0, 40.0)
    assert min(w.angular_velocity for w in after(world, 0.6, brake=1.0, gear=0).wheels) > 20.0


def test_nothing_set_is_the_car_itself():
    for name in ("gt3", "kart", "f1", "sports_awd"):
        car, same = load_car(name), apply_settings(load_car(name), Controls())
        assert same.brakes.torque_front == pytest.approx(car.brakes.torque_front)
        assert (same.brakes.abs_slip, same.brakes.tc_slip) == (car.brakes.abs_slip, car.brakes.tc_slip)
        assert same.engine.torque == pytest.approx(car.engine.torque)
        assert same.engine.turbo_share == pytest.approx(car.engine.turbo_share)
        assert same.hybrid == car.hybrid
        assert math.isnan(Controls().brake_bias)
