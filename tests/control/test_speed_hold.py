"""Speed control against a mass on wheels, whose answer is a closed form."""

import math

import pytest

from trailbrake.control import speed_hold
from trailbrake.control.speed_hold import MOST, SpeedByPedals, SpeedByTorque

DT = 0.005


def drive(controller, force, target, speed, seconds, mass=1300.0, drag=300.0):
    speeds = []
    for _ in range(round(seconds / DT)):
        speed += (force(*controller.update(target - speed, DT)) - drag) / mass * DT
        speeds.append(speed)
    return speeds


def test_pedals_settle_on_the_speed_against_drag():
    speeds = drive(SpeedByPedals(), lambda throttle, brake: 4000.0 * throttle - 12000.0 * brake, 22.0, 0.0, 60.0)
    assert speeds[-1] == pytest.approx(22.0, abs=0.01)
    assert max(speeds) < 22.5  # a wound-up integral would overshoot by several m/s


def test_torque_follows_the_second_order_closed_form():
    """m v' = k e + i integral(e): the poles of m s^2 + k s + i, k and i for four wheels of radius r."""
    mass, radius = 1300.0, 0.31
    k, i = 4.0 * MOST * speed_hold.TORQUE_GAIN / radius, 4.0 * MOST * speed_hold.TORQUE_RESET / radius
    step = 1.0  # m/s, far from the limits
    speeds = drive(SpeedByTorque(), lambda drive, brake: 4.0 * (drive - brake) / radius, step, 0.0, 6.0, mass, 0.0)
    root = math.sqrt(k * k - 4.0 * mass * i)
    fast, slow = (-k - root) / (2.0 * mass), (-k + root) / (2.0 * mass)
    # e(0) = 1, e'(0) = -k / m
    a = (-k / mass - slow) / (fast - slow)
    for n in (100, 300, 600, 1199):
        t = (n + 1) * DT
        error = step * (a * math.exp(fast * t) + (1.0 - a) * math.exp(slow * t))
        assert step - speeds[n] == pytest.approx(error, abs=0.005)


def test_limits_and_signs():
    assert SpeedByTorque().update(100.0, DT) == (MOST, 0.0)
    assert SpeedByTorque().update(-100.0, DT) == (0.0, MOST)
    assert SpeedByPedals().update(100.0, DT) == (1.0, 0.0)
    throttle, brake = SpeedByPedals().update(-100.0, DT)
    assert throttle == 0.0
    assert 0.9 < brake <= 1.0


def test_a_little_too_fast_is_coasting():
    assert SpeedByPedals().update(-0.1, 0.0) == (0.0, 0.0)


@pytest.mark.parametrize("make", [SpeedByPedals, SpeedByTorque])
def test_no_time_moves_no_memory(make):
    one, other = make(), make()
    for _ in range(50):
        one.update(5.0, 0.0)
    assert one.update(0.1, DT) == other.update(0.1, DT)
