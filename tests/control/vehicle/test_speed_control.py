"""Speed control against cars of one line each, one of which has a closed-form solution."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trailbrake.control.vehicle import speed_control
from trailbrake.control.vehicle.speed_control import (
    ASSUMED_DECELERATION,
    MAX_TORQUE,
    STANDSTILL_GAP,
    TIME_HEADWAY,
    SpeedController,
    SpeedGains,
    TorqueSpeedController,
    hold_speed_controller,
    limit_pedals_to_speed,
    safe_following_speed,
)

DT = 0.005


def drive(slope, seconds=60, dt=1 / 60, start=0.0, wanted=20.0):
    """3 m/s^2 of throttle, 9 of brake, drag 0.0005 v^2, gravity along `slope` (m/m uphill)."""
    pace, speed, speeds, pedals = SpeedController(SpeedGains()), start, [], []
    for k in range(int(seconds / dt)):
        throttle, brake = pace.compute_pedals(wanted, speed, dt if k else 0.0)
        speed = max(speed + (3.0 * throttle - 9.0 * brake - 0.0005 * speed**2 - 9.81 * slope) * dt, 0.0)
        speeds.append(speed)
        pedals.append((throttle, brake))
    return speeds, pedals


@pytest.mark.parametrize("slope", [-0.12, 0.0, 0.12])
def test_it_holds_the_speed_on_any_slope(slope):
    speeds, _ = drive(slope)
    assert speeds[-1] == pytest.approx(20.0, abs=0.01)
    assert max(speeds) < 22.0
    assert max(abs(v - 20.0) for v in speeds[40 * 60 :]) < 0.5


def test_it_brakes_when_too_fast():
    speeds, pedals = drive(0.0, start=30.0, seconds=5)
    assert pedals[0][1] > 0.3
    assert speeds[-1] < 22.0


def test_never_both_pedals_and_never_beyond_them():
    for slope in (-0.3, 0.0, 0.3):
        for throttle, brake in drive(slope, start=25.0)[1]:
            assert throttle == 0.0 or brake == 0.0
            assert 0.0 <= throttle <= 1.0
            assert 0.0 <= brake <= 1.0
    assert all(math.isfinite(p) for pair in drive(0.0)[1] for p in pair)


def mass_speeds(control, force, target, speed, seconds, mass=1300.0, drag=300.0):
    """Return the speeds of a mass on wheels; `control` and `force` take it from a speed to newtons."""
    speeds = []
    for _ in range(round(seconds / DT)):
        speed += (force(*control(target, speed, DT)) - drag) / mass * DT
        speeds.append(speed)
    return speeds


def test_the_hold_controller_settles_on_the_speed_against_drag():
    pedals = hold_speed_controller().compute_pedals
    speeds = mass_speeds(pedals, lambda throttle, brake: 4000.0 * throttle - 12000.0 * brake, 22.0, 0.0, 60.0)
    assert speeds[-1] == pytest.approx(22.0, abs=0.01)
    assert max(speeds) < 22.5  # a wound-up integral would overshoot by several m/s


def test_torque_follows_the_second_order_closed_form():
    """m v' = k e + i integral(e): the poles of m s^2 + k s + i, k and i for four wheels of radius r."""
    mass, radius = 1300.0, 0.31
    k, i = (
        4.0 * MAX_TORQUE * speed_control.TORQUE_GAIN / radius,
        4.0 * MAX_TORQUE * speed_control.TORQUE_INTEGRAL_GAIN / radius,
    )
    step = 1.0  # m/s, far from the limits
    torques = TorqueSpeedController().compute_torques
    speeds = mass_speeds(torques, lambda drive, brake: 4.0 * (drive - brake) / radius, step, 0.0, 6.0, mass, 0.0)
    root = math.sqrt(k * k - 4.0 * mass * i)
    fast, slow = (-k - root) / (2.0 * mass), (-k + root) / (2.0 * mass)
    # e(0) = 1, e'(0) = -k / m
    a = (-k / mass - slow) / (fast - slow)
    for n in (100, 300, 600, 1199):
        t = (n + 1) * DT
        error = step * (a * math.exp(fast * t) + (1.0 - a) * math.exp(slow * t))
        assert step - speeds[n] == pytest.approx(error, abs=0.005)


def test_limits_and_signs():
    assert TorqueSpeedController().compute_torques(100.0, 0.0, DT) == (MAX_TORQUE, 0.0)
    assert TorqueSpeedController().compute_torques(0.0, 100.0, DT) == (0.0, MAX_TORQUE)
    assert hold_speed_controller().compute_pedals(100.0, 0.0, DT) == (1.0, 0.0)
    throttle, brake = hold_speed_controller().compute_pedals(0.0, 100.0, DT)
    assert throttle == 0.0
    assert 0.9 < brake <= 1.0


def test_a_little_too_fast_is_coasting():
    assert hold_speed_controller().compute_pedals(20.0, 20.1, 0.0) == (0.0, 0.0)


@pytest.mark.parametrize(
    "make", [lambda: hold_speed_controller().compute_pedals, lambda: TorqueSpeedController().compute_torques]
)
def test_no_time_moves_no_memory(make):
    one, other = make(), make()
    for _ in range(50):
        one(5.0, 0.0, 0.0)
    assert one(0.1, 0.0, DT) == other(0.1, 0.0, DT)


def test_at_the_distance_it_keeps_the_speed_of_the_one_ahead():
    assert safe_following_speed(STANDSTILL_GAP + TIME_HEADWAY * 20.0, 20.0, 20.0) == pytest.approx(20.0)
    assert safe_following_speed(STANDSTILL_GAP, 0.0, 0.0) == 0.0
    assert safe_following_speed(0.0, 10.0, 0.0) == 0.0


@given(st.floats(0.0, 60.0), st.floats(0.0, 100.0))
def test_braking_from_that_speed_ends_at_the_speed_ahead_and_the_distance(ahead, room):
    speed = safe_following_speed(STANDSTILL_GAP + TIME_HEADWAY * 30.0 + room, 30.0, ahead)
    # Closing from `speed` to `ahead` at BRAKING takes (v^2 - u^2) / 2a metres of room.
    assert (speed**2 - ahead**2) / (2 * ASSUMED_DECELERATION) == pytest.approx(room, abs=1e-6)


def test_a_car_that_comes_backwards_leaves_less():
    assert safe_following_speed(30.0, 5.0, -5.0) < safe_following_speed(30.0, 5.0, 0.0) < math.inf


def test_only_who_is_too_fast_is_held_back():
    assert limit_pedals_to_speed(0.7, 0.0, 20.0, math.inf) == (0.7, 0.0)
    assert limit_pedals_to_speed(0.7, 0.1, 20.0, 20.0) == (0.7, 0.1)
    throttle, brake = limit_pedals_to_speed(0.7, 0.0, 20.0, 19.0)
    assert throttle == 0.0 < brake < 1.0
    assert limit_pedals_to_speed(0.7, 0.0, 20.0, 0.0) == (0.0, 1.0)
    assert limit_pedals_to_speed(0.0, 1.0, 20.0, 19.9) == (0.0, 1.0)
