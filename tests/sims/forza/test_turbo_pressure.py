"""Boost of cars with and without a turbocharger, by closed forms, and on the wire."""

import math

import pytest

from trailbrake.cars.car_library import load_car
from trailbrake.sims.forza.turbo_pressure import ATMOSPHERE, TurboPressure, boost_pressure


def test_without_a_turbocharger_the_throttle_lets_in_its_share_of_the_atmosphere():
    engine = load_car("gt3").engine
    turbo = TurboPressure(engine)
    turbo.update(1.0, 10.0)
    assert turbo.share == 0.0
    assert [boost_pressure(engine, throttle, turbo.share) for throttle in (0.0, 0.5, 1.0)] == [
        -ATMOSPHERE, -0.5 * ATMOSPHERE, 0.0
    ]  # fmt: skip


@pytest.mark.parametrize("name", ["hatchback", "sports_awd"])
def test_a_turbocharger_builds_up_pressure_with_the_car_s_lag(name):
    engine = load_car(name).engine
    turbo = TurboPressure(engine)
    for _ in range(1000):
        turbo.update(1.0, engine.turbo_lag / 1000.0)
    assert turbo.share == pytest.approx(1.0 - math.exp(-1.0), abs=1e-3)
    # air, and so torque, without boost is 1 - turbo_share of that with it
    full = boost_pressure(engine, 1.0, 1.0) + ATMOSPHERE
    assert (boost_pressure(engine, 1.0, 0.0) + ATMOSPHERE) / full == pytest.approx(1.0 - engine.turbo_share)
    assert 0.3e5 < boost_pressure(engine, 1.0, 1.0) < 1.2e5
    assert boost_pressure(engine, 0.0, 1.0) == -ATMOSPHERE
