import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trailbrake.frames import (
    angles_from_axes,
    assetto_from_iso,
    beamng_from_iso,
    direction,
    iso_from_assetto,
    iso_from_beamng,
    up_vector,
)

components = st.floats(-1e6, 1e6)
vectors = st.tuples(components, components, components)
X, Y, Z = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)


def cross(a, b):
    return (a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0])


def rotation(yaw, pitch, roll):
    """The ISO 8855 rotation by its definition, Rz(yaw) Ry(pitch) Rx(roll), column by column."""

    def about(axis, angle, v):
        c, s = math.cos(angle), math.sin(angle)
        i, j = [(1, 2), (2, 0), (0, 1)][axis]
        out = list(v)
        out[i], out[j] = c * v[i] - s * v[j], s * v[i] + c * v[j]
        return tuple(out)

    return [about(2, yaw, about(1, pitch, about(0, roll, v))) for v in (X, Y, Z)]


@given(vectors)
def test_the_assetto_map_is_undone_by_its_inverse(v):
    assert assetto_from_iso(iso_from_assetto(v)) == v
    assert iso_from_assetto(assetto_from_iso(v)) == v


def test_assetto_facing_plus_z_has_its_left_at_plus_x_and_up_at_plus_y():
    # Assetto's own axes, seen from a car that faces its +Z.
    forward, left, up = Z, X, Y
    assert iso_from_assetto(forward) == X
    assert iso_from_assetto(left) == Y
    assert iso_from_assetto(up) == Z


@given(vectors, vectors)
def test_the_assetto_map_is_a_rotation_and_no_mirror(a, b):
    turned = cross(iso_from_assetto(a), iso_from_assetto(b))
    assert turned == iso_from_assetto(cross(a, b))


def test_yaw_in_the_assetto_frame_is_the_protocol_page_s():
    look = (math.sin(0.3), 0.0, math.cos(0.3))  # 0.3 rad to the left of +Z
    ours = iso_from_assetto(look)
    assert math.atan2(ours[1], ours[0]) == pytest.approx(0.3)
    assert math.atan2(look[0], look[2]) == pytest.approx(0.3)


def test_signs_of_the_angles():
    assert direction(0.0) == X
    assert direction(0.5 * math.pi) == pytest.approx(Y)  # counter-clockwise: from X to Y
    assert direction(0.0, 0.1)[2] < 0.0  # positive pitch: nose down
    assert up_vector(0.0, 0.0, 0.1)[1] < 0.0  # positive roll: right side down, the roof leans right
    assert up_vector(0.0, 0.1, 0.0)[0] > 0.0  # nose down: the roof leans forward


angles = st.tuples(st.floats(-math.pi, math.pi), st.floats(-1.5, 1.5), st.floats(-3.1, 3.1))


@given(angles)
def test_the_axes_are_those_of_yaw_pitch_roll(ypr):
    forward, _, up = rotation(*ypr)
    assert direction(ypr[0], ypr[1]) == pytest.approx(forward, abs=1e-12)
    assert up_vector(*ypr) == pytest.approx(up, abs=1e-12)


@given(angles)
def test_angles_from_axes_undoes_direction_and_up_vector(ypr):
    yaw, pitch, roll = angles_from_axes(direction(ypr[0], ypr[1]), up_vector(*ypr))
    assert math.remainder(yaw - ypr[0], math.tau) == pytest.approx(0.0, abs=1e-9)
    assert pitch == pytest.approx(ypr[1], abs=1e-9)
    assert roll == pytest.approx(ypr[2], abs=1e-9)


def test_angles_from_axes_survives_a_nose_longer_than_one():
    # A wire's float32 unit vectors are a rounding longer than 1.
    assert angles_from_axes((0.0, 0.0, 1.0 + 1e-7), X)[1] == pytest.approx(-0.5 * math.pi)


@given(vectors)
def test_the_beamng_map_is_undone_by_its_inverse(v):
    assert beamng_from_iso(iso_from_beamng(v)) == v
    assert iso_from_beamng(beamng_from_iso(v)) == v


def test_beamng_has_its_left_at_plus_x_and_its_nose_at_minus_y():
    forward, left, up = (0.0, -1.0, 0.0), X, Z
    assert (iso_from_beamng(forward), iso_from_beamng(left), iso_from_beamng(up)) == (X, Y, Z)
