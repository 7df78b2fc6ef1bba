"""The mass of a made-up car on a straight, from the power of its engine."""

from dataclasses import replace

import numpy as np
import pytest
from helpers.known_drives import straight_drive
from msgspec.structs import replace as replace_fields

from trailbrake.cars.car_library import load_car
from trailbrake.learning.identification.engine_power import MASS_FLOOR, find_mass

CAR = load_car("gt3")


def powered_drive(car=CAR):
    """Return pulls and coasting of a car whose wire tells the engine's power."""
    table, _, _ = straight_drive(car, (1.0, 0.0))
    rpm = table.engine * 30.0 / np.pi
    torque = [t * car.engine.full_torque(r) - (1.0 - t) * car.engine.drag_torque(r)
              for t, r in zip(table.throttle, rpm, strict=True)]  # fmt: skip
    return replace(table, engine_power=np.array(torque) * table.engine)


@pytest.mark.parametrize("share", [0.6, 1.0, 1.7])
def test_the_mass_is_found_whatever_the_class_has(share):
    believed = replace_fields(CAR, body=replace_fields(CAR.body, mass=share * CAR.body.mass))
    found = find_mass(powered_drive(), believed)
    # The inertia of the wheels is a share of the mass, by the class.
    assert found.value == pytest.approx(CAR.body.mass, rel=0.05)
    assert found.source == "identified"
    assert MASS_FLOOR * found.value <= found.sigma < 0.1 * found.value


def test_the_gearbox_s_loss_is_in_the_uncertainty():
    lossless = replace_fields(CAR, gearbox=replace_fields(CAR.gearbox, efficiency=1.0))
    found = find_mass(powered_drive(), lossless)
    low, high = found.interval
    assert low < CAR.body.mass < high


def test_nothing_is_said_where_the_wire_tells_no_power_or_the_wheels_spin():
    table = powered_drive()
    assert find_mass(replace(table, engine_power=np.full(len(table), np.nan)), CAR) is None
    assert find_mass(replace(table, spin=1.1 * table.spin), CAR) is None
    assert find_mass(replace(table, fy=np.full(len(table), 5.0)), CAR) is None
