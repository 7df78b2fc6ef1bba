import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trailbrake.frames import (
    angles_from_axes,
    iso_from_left_handed,
    left_handed_from_iso,
    left_handed_from_turn,
    nose_direction,
    turn_from_left_handed,
    up_vector,
)

X, Y, Z = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)


def rotation(yaw, pitch, roll):
    """The ISO 8855 rotation by its definition, Rz(yaw) Ry(pitch) Rx(roll), column by column."""

    def about(axis, angle, v):
        c, s = math.cos(angle), math.sin(angle)
        i, j = [(1, 2), (2, 0), (0, 1)][axis]
        out = list(v)
        out[i], out[j] = c * v[i] - s * v[j], s * v[i] + c * v[j]
        return tuple(out)

    return [about(2, yaw, about(1, pitch, about(0, roll, v))) for v in (X, Y, Z)]


def test_signs_of_the_angles():
    assert nose_direction(0.0) == X
    assert nose_direction(0.5 * math.pi) == pytest.approx(Y)  # counter-clockwise: from X to Y
    assert nose_direction(0.0, 0.1)[2] < 0.0  # positive pitch: nose down
    assert up_vector(0.0, 0.0, 0.1)[1] < 0.0  # positive roll: right side down, the roof leans right
    assert up_vector(0.0, 0.1, 0.0)[0] > 0.0  # nose down: the roof leans forward


angles = st.tuples(st.floats(-math.pi, math.pi), st.floats(-1.5, 1.5), st.floats(-3.1, 3.1))


@given(angles)
def test_the_axes_are_those_of_yaw_pitch_roll(ypr):
    forward, _, up = rotation(*ypr)
    assert nose_direction(ypr[0], ypr[1]) == pytest.approx(forward, abs=1e-12)
    assert up_vector(*ypr) == pytest.approx(up, abs=1e-12)


@given(angles)
def test_angles_from_axes_undoes_direction_and_up_vector(ypr):
    yaw, pitch, roll = angles_from_axes(nose_direction(ypr[0], ypr[1]), up_vector(*ypr))
    assert math.remainder(yaw - ypr[0], math.tau) == pytest.approx(0.0, abs=1e-9)
    assert pitch == pytest.approx(ypr[1], abs=1e-9)
    assert roll == pytest.approx(ypr[2], abs=1e-9)


def test_angles_from_axes_survives_a_nose_longer_than_one():
    # A wire's float32 unit vectors are a rounding longer than 1.
    assert angles_from_axes((0.0, 0.0, 1.0 + 1e-7), X)[1] == pytest.approx(-0.5 * math.pi)


RIGHT, UP, AHEAD = X, Y, Z  # of left-handed axes with Y up, as Unity and Forza have them
components = st.floats(-1e6, 1e6)
vectors = st.tuples(components, components, components)


def test_right_up_and_ahead_of_left_handed_axes():
    assert iso_from_left_handed(AHEAD) == X
    assert iso_from_left_handed(RIGHT) == (0.0, -1.0, 0.0)
    assert iso_from_left_handed(UP) == Z
    assert turn_from_left_handed(UP) == (0.0, 0.0, -1.0)  # about up, by the left hand: to the right


def cross(a, b):
    return (a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0])


@given(vectors, vectors)
def test_the_left_handed_map_is_a_mirror_so_that_turns_map_with_the_opposite_sign(a, b):
    assert turn_from_left_handed(cross(a, b)) == cross(iso_from_left_handed(a), iso_from_left_handed(b))


@given(vectors)
def test_both_left_handed_maps_are_undone(vector):
    assert iso_from_left_handed(left_handed_from_iso(vector)) == vector
    assert turn_from_left_handed(left_handed_from_turn(vector)) == vector
