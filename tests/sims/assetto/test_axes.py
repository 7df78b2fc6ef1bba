"""The axis map: a rotation, and the one of the protocol page."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from trailbrake.sims.assetto.axes import (
    assetto_from_iso,
    assetto_points_from_iso,
    iso_from_assetto,
    iso_points_from_assetto,
)

components = st.floats(-1e6, 1e6)
vectors = st.tuples(components, components, components)
X, Y, Z = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)


def cross(a, b):
    return (a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0])


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


def test_points_map_as_single_vectors_do():
    points = np.arange(12.0).reshape(4, 3)
    assert iso_points_from_assetto(points).tolist() == [list(iso_from_assetto(tuple(p))) for p in points.tolist()]
    assert np.array_equal(assetto_points_from_iso(iso_points_from_assetto(points)), points)
