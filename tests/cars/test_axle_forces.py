"""Axles of the planner's car, against closed forms."""

import math

import pytest

from trailbrake.cars.axle_forces import (
    MAX_SLIP,
    held_brake_forces,
    load_parameters,
    max_lateral_force,
    max_longitudinal_force,
    peak_tyre_forces,
    planning_car,
    required_brake_pedal,
    required_slip_angle,
    wheel_loads,
)
from trailbrake.cars.car_library import car_names, load_car
from trailbrake.cars.tyre_params import TyreLaw
from trailbrake.units import G

# mu 1.2 along, 1.0 across; peaks at a slip ratio of 0.1 and tan 0.15; no load sensitivity
LAW = TyreLaw(4000.0, 1.2, 1.0, 0.0, 0.0, 0.1, 0.15, slip_load=0.0, b=1.2, c=1.4, e=-0.6)


def magic(slip):
    """Return the force over its peak at a slip over that of the peak, by the formula as published."""
    b, c, e = LAW[8:]
    return math.sin(c * math.atan(b * slip - e * (b * slip - math.atan(b * slip))))


@pytest.mark.parametrize("name", car_names())
@pytest.mark.parametrize(("ax", "ay", "v"), [(0.0, 0.0, 0.0), (3.0, 2.0, 20.0), (-6.0, 3.0, 30.0)])
def test_loads_balance_weight_air_and_both_moments(name, ax, ay, v):
    car = load_car(name)
    body, air = car.body, 0.5 * car.aero.air_density * v * v
    fl, fr, rl, rr = wheel_loads(ax, ay, v, load_parameters(car))
    if min(fl, fr, rl, rr) == 0.0:
        return  # a wheel in the air: what it would pull is left out
    down_front, down_rear = air * car.aero.lift_area_front, air * car.aero.lift_area_rear
    assert fl + fr + rl + rr == pytest.approx(body.mass * G + down_front + down_rear)
    pitch = (fl + fr - down_front) * body.cg_to_front - (rl + rr - down_rear) * body.cg_to_rear
    assert pitch == pytest.approx(-body.mass * ax * body.cg_height, abs=1e-6)
    roll = 0.5 * ((fr - fl) * body.track_front + (rr - rl) * body.track_rear)
    assert roll == pytest.approx(body.mass * ay * body.cg_height)


def test_an_axle_s_limits_lie_on_the_ellipse():
    assert peak_tyre_forces(3000.0, LAW) == pytest.approx((3600.0, 3000.0))
    along, across = 0.6 * 1.2 * 6000.0, 0.8 * 6000.0
    assert max_lateral_force(2000.0, 4000.0, along, LAW) == pytest.approx(across)
    assert max_longitudinal_force(2000.0, 4000.0, across, LAW, False) == pytest.approx(along)
    assert max_longitudinal_force(2000.0, 4000.0, across, LAW, True) == pytest.approx(along * 4000.0 / 6000.0)
    assert max_lateral_force(2000.0, 4000.0, 1e5, LAW) == 0.0


@pytest.mark.parametrize("slip", [0.05, 0.3, 0.7, 0.95])
@pytest.mark.parametrize("direction", [0.0, 0.4, 1.2])
@pytest.mark.parametrize("inner", [500.0, 3000.0])
def test_slip_angle_is_the_inverse_of_the_magic_formula(slip, direction, inner):
    """`direction` is that of the force over its peaks, from across the wheels to along them."""
    whole = magic(slip) * 6000.0
    force, fx = whole * math.cos(direction), whole * math.sin(direction) * 1.2
    wanted = math.atan(slip * math.cos(direction) * 0.15)
    assert required_slip_angle(inner, 6000.0 - inner, force, fx, LAW) == pytest.approx(wanted, rel=1e-5)
    assert required_slip_angle(inner, 6000.0 - inner, force, -fx, LAW) == pytest.approx(wanted, rel=1e-5)


def test_no_force_across_takes_no_slip_angle_and_too_much_ends_at_the_bound():
    assert required_slip_angle(3000.0, 3000.0, 0.0, 0.0, LAW) == 0.0
    assert required_slip_angle(3000.0, 3000.0, 0.0, 5000.0, LAW) == 0.0
    assert required_slip_angle(3000.0, 3000.0, 1e6, 0.0, LAW) == pytest.approx(math.atan(MAX_SLIP * 0.15), rel=1e-6)
    assert math.isfinite(required_slip_angle(0.0, 0.0, 100.0, 100.0, LAW))


def test_anti_lock_brakes_release_the_inner_wheels_alone_and_turn_the_car_out():
    car, loads, sides = planning_car(load_car("gt3")), (2000.0, 6000.0, 1000.0, 5000.0), (4000.0, 5000.0)
    front, rear, moved = held_brake_forces(16000.0, loads, sides, car)
    # Each outer wheel has its half of the pedal's share; each inner one what the side force of its axle leaves.
    inner, outer = [], []
    for share, low, high, side, law in (
        (car.brake_front, *loads[:2], sides[0] + moved, car.front),
        (1.0 - car.brake_front, *loads[2:], sides[1] - moved, car.rear),
    ):
        outer.append(0.5 * share * 16000.0)
        inner.append(max_longitudinal_force(low, high, side, law, True) / 2.0)
        assert inner[-1] < outer[-1]
    assert (front, rear) == pytest.approx((inner[0] + outer[0], inner[1] + outer[1]), rel=1e-2)
    body = car.body
    turning = body.track_front * (outer[0] - inner[0]) + body.track_rear * (outer[1] - inner[1])
    assert moved * body.wheelbase == pytest.approx(0.5 * turning, rel=1e-2)
    assert required_brake_pedal(front + rear, loads, sides, car) == pytest.approx(16000.0, rel=1e-3)


def test_brakes_that_release_nothing_need_the_pedal_of_their_force():
    car, loads = planning_car(load_car("gt3")), (4000.0, 4000.0, 3500.0, 3500.0)
    assert held_brake_forces(5000.0, loads, (0.0, 0.0), car) == pytest.approx(
        (5000.0 * car.brake_front, 5000.0 * (1.0 - car.brake_front), 0.0)
    )
    assert required_brake_pedal(5000.0, loads, (0.0, 0.0), car) == pytest.approx(5000.0, rel=1e-3)
