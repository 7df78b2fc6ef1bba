"""Standing still, level and on slopes."""

import math

import numpy as np
import pytest

from trailbrake.units import G

CARS = ["gt3", "hatchback"]


@pytest.mark.parametrize("name", CARS)
def test_a_car_left_alone_does_not_move(rig, roads, name):
    r = rig(name, roads.straight(), x=100.0)
    r.run(5.0)
    assert (r.x, r.y, r.vx, r.vy, r.yaw_rate) == (100.0, 0.0, 0.0, 0.0, 0.0)


@pytest.mark.parametrize("name", CARS)
@pytest.mark.parametrize("yaw", [0.0, 0.6, math.pi])
def test_the_brake_holds_a_car_on_a_slope(rig, roads, name, yaw):
    r = rig(name, roads.straight(grade=0.15, bank=0.08), x=500.0, yaw=yaw)
    r.run(4.0, brake=1.0)
    x, y, heading = r.x, r.y, r.yaw
    assert math.hypot(x - 500.0, y) < 0.01
    r.run(10.0, brake=1.0)
    assert math.hypot(r.x - x, r.y - y) < 1e-3
    assert abs(r.yaw - heading) < 1e-3
    assert math.hypot(r.vx, r.vy) < 1e-5


def test_the_handbrake_holds_too(rig, roads):
    r = rig("hatchback", roads.straight(grade=0.1), x=500.0)
    r.run(4.0, handbrake=1.0)
    assert abs(r.vx) < 1e-5


def test_braking_to_a_stop_ends_at_rest(rig, roads):
    r = rig("gt3", roads.straight())
    r.roll_at(20.0)
    r.run(3.0, brake=1.0, steer=0.05)
    x = r.x
    r.run(3.0, brake=1.0, steer=0.05)
    assert r.x == pytest.approx(x, abs=1e-4)
    assert abs(r.vx) < 1e-6


def test_rolling_down_a_slope_follows_the_closed_form(rig, roads):
    grade = -0.06
    r = rig("hatchback", roads.straight(grade=grade))
    r.run(3.0, gear=0)
    car, angle = r.car, math.atan(-grade)
    wheels = 2.0 * (car.tyre_front.inertia / car.tyre_front.radius**2 + car.tyre_rear.inertia / car.tyre_rear.radius**2)
    pull = car.body.mass * G * (math.sin(angle) - car.tyre_front.rolling_resistance * math.cos(angle))
    assert r.vx == pytest.approx(3.0 * pull / (car.body.mass + wheels), rel=0.01)
    assert r.road_pitch == pytest.approx(math.sin(angle))  # nose down is positive


def test_surface_angles(rig, roads):
    r = rig("gt3", roads.straight(bank=0.1), x=100.0)
    assert r.road_roll == pytest.approx(math.sin(0.1))
    assert r.road_pitch == pytest.approx(0.0)
    left, right = r.four("load")[[0, 2]].sum(), r.four("load")[[1, 3]].sum()
    assert left == pytest.approx(right)  # the tyres do not push sideways yet
    r.run(3.0, brake=1.0)
    left, right = r.four("load")[[0, 2]].sum(), r.four("load")[[1, 3]].sum()
    assert right > left  # right side down
    assert np.all(r.four("load") > 0.0)
