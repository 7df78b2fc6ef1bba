"""The axis map: a rotation, and the one of the protocol page."""

import numpy as np

from trailbrake.sims.assetto.axes import assetto_points_from_iso, iso_from_assetto, iso_points_from_assetto

X, Y, Z = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)


def test_assetto_facing_plus_z_has_its_left_at_plus_x_and_up_at_plus_y():
    # Assetto's own axes, seen from a car that faces its +Z.
    forward, left, up = Z, X, Y
    assert iso_from_assetto(forward) == X
    assert iso_from_assetto(left) == Y
    assert iso_from_assetto(up) == Z


def test_points_map_as_single_vectors_do():
    points = np.arange(12.0).reshape(4, 3)
    assert iso_points_from_assetto(points).tolist() == [list(iso_from_assetto(tuple(p))) for p in points.tolist()]
    assert np.array_equal(assetto_points_from_iso(iso_points_from_assetto(points)), points)
