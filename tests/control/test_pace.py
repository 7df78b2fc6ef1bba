"""Holding a speed, against a car that is one line long."""

import math

import pytest

from trailbrake.control.pace import Pace, PaceGains


def drive(slope, seconds=60, dt=1 / 60, start=0.0, wanted=20.0):
    """3 m/s^2 of throttle, 9 of brake, drag 0.0005 v^2, gravity along `slope` (m/m uphill)."""
    pace, speed, speeds, pedals = Pace(PaceGains()), start, [], []
    for k in range(int(seconds / dt)):
        throttle, brake = pace.pedals(wanted, speed, dt if k else 0.0)
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
