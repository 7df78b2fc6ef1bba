import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trailbrake.sims.beamng.convert import iso_from_beamng, yaw_from_wire, yaw_to_wire

X, Y, Z = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)


def test_left_is_plus_x_and_the_nose_minus_y():
    forward, left, up = (0.0, -1.0, 0.0), X, Z
    assert (iso_from_beamng(forward), iso_from_beamng(left), iso_from_beamng(up)) == (X, Y, Z)


@given(st.floats(-math.pi, math.pi))
def test_the_map_of_yaw_is_undone_by_its_inverse(yaw):
    assert -math.pi < yaw_to_wire(yaw) <= math.pi
    assert math.remainder(yaw_from_wire(yaw_to_wire(yaw)) - yaw, math.tau) == pytest.approx(0.0, abs=1e-12)


def test_yaw_is_zero_on_the_wire_facing_minus_y():
    assert yaw_from_wire(0.0) == -0.5 * math.pi
    assert yaw_from_wire(4.0 * math.pi) == pytest.approx(-0.5 * math.pi)  # whole turns make no difference
