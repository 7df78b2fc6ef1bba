"""Loads of a car of known mass, made by the two-track formulas."""

import numpy as np
import pytest
from helpers.known_drives import make_table

from trailbrake.learning.identification.wheel_loads import find_load_model
from trailbrake.units import G

MASS, SHARE, HEIGHT_OVER_BASE, LIFT, MOVED = 1200.0, 0.46, 0.17, (0.9, 1.1), (300.0, 250.0)


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


def test_a_wire_without_loads_tells_no_mass():
    assert find_load_model(make_table(1000, vx=10.0)) is None
