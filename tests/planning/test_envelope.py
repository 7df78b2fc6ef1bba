"""The g-g-v envelope, against closed forms."""

import dataclasses
import math

import msgspec
import numpy as np
import pytest

from trailbrake.cars.load import load
from trailbrake.planning.envelope import REAR_RESERVE, SHARES, envelope, resistance, thrust, top_speed
from trailbrake.units import G


@pytest.fixture(scope="module")
def gt3() -> object:
    return load("gt3")


def _simple(car: object) -> object:
    """A car without load sensitivity, air or roll centres: point-mass formulas hold for it."""
    replace = msgspec.structs.replace
    tyre = replace(car.tyre_front, mu_x=1.2, mu_y=1.2, mu_x_load=0.0, mu_y_load=0.0, rolling_resistance=0.0)
    return replace(
        car, tyre_front=tyre, tyre_rear=tyre,
        aero=replace(car.aero, drag_area=0.0, lift_area_front=0.0, lift_area_rear=0.0),
    )  # fmt: skip


def test_without_load_sensitivity_the_lateral_limit_is_mu_g(gt3: object) -> None:
    limits = envelope(_simple(gt3))
    # The top of the range is unreachable: without drag only the limiter ends it.
    # Less what a plan keeps back of the rear axle, and what drives it against the front's scrub.
    assert np.allclose(limits.lateral, REAR_RESERVE * 1.2 * G, rtol=5e-3)
    assert (limits.lateral < REAR_RESERVE * 1.2 * G).all()
    assert np.allclose(limits.load_factor, 1.0)


def test_braking_limit_is_mu_g_where_the_bias_fits_and_never_more(gt3: object) -> None:
    limits = envelope(_simple(gt3))
    assert (limits.brake[:, 0] <= 1.2 * G + 1e-6).all()
    assert limits.brake[0, 0] > 0.9 * 1.2 * G


def test_downforce_raises_and_cornering_cuts(gt3: object) -> None:
    limits = envelope(gt3)
    assert (np.diff(limits.lateral) > 0.0).all()
    assert (np.diff(limits.brake, axis=1) <= 0.02).all()  # the load iteration leaves a little
    assert (np.diff(limits.drive, axis=1) <= 1e-9).all()
    assert limits.steer[:, 0] == pytest.approx(0.0, abs=1e-6)
    assert limits.sideslip[5, SHARES // 2] < 0.0


def test_top_speed_balances_thrust_and_drag(gt3: object) -> None:
    speed = top_speed(gt3)
    margin = thrust(gt3, np.array([speed, speed + 1.0])) - resistance(gt3, np.array([speed, speed + 1.0]))
    assert margin[0] > 0.0 >= margin[1]
    assert 70.0 < speed < 80.0  # GT3 cars reach 255 to 285 km/h


def test_open_differential_halves_what_a_lifted_wheel_gives(gt3: object) -> None:
    replace = msgspec.structs.replace
    opened = replace(gt3, drive=replace(gt3.drive, differential_rear=replace(gt3.drive.differential_rear, kind="open")))
    assert envelope(opened).drive[5, SHARES - 3] < envelope(gt3).drive[5, SHARES - 3]


def test_envelope_is_frozen(gt3: object) -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        envelope(gt3).lateral = None
    assert math.isfinite(envelope(gt3).drive.sum())
