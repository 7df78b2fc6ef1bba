import numpy as np
import pytest

from trailbrake.analysis.corners import find_corners, measure_curvature, set_zones


def road(*pieces, step=1.0):
    """Return s and the curvature of a road of (length, curvature) pieces."""
    values = np.concatenate([np.full(round(length / step), curvature) for length, curvature in pieces])
    return np.arange(len(values)) * step, values


def test_bends_of_both_signs_are_corners_and_kinks_are_not():
    s, curvature = road((100, 0), (60, 0.02), (100, 0), (60, -0.02), (80, 0), (8, 0.01), (80, 0))
    found = find_corners(s, curvature)
    assert [(c.name, c.sign) for c in found] == [("T1", 1.0), ("T2", -1.0)]
    assert (found[0].entry, found[0].exit) == (100.0, 159.0)
    assert found[0].entry <= found[0].apex <= found[0].exit


def test_a_double_apex_is_one_corner_and_a_chicane_two():
    s, curvature = road((50, 0), (40, 0.03), (10, 0.0), (40, 0.03), (50, 0), (30, 0.02), (5, 0), (30, -0.02), (50, 0))
    assert [c.sign for c in find_corners(s, curvature)] == [1.0, 1.0, -1.0]


def test_a_straight_has_no_corners():
    assert find_corners(*road((500, 0))) == []


@pytest.mark.parametrize("closed", [True, False])
def test_the_curvature_of_a_circle(closed):
    s = np.arange(0.0, 2 * np.pi * 80.0, 1.0)
    curvature = measure_curvature(s, 80.0 * np.cos(s / 80.0), 80.0 * np.sin(s / 80.0), closed, 12.0)
    inner = curvature if closed else curvature[15:-15]
    assert inner == pytest.approx(np.full(len(inner), 1 / 80.0), rel=0.1)


def test_zones_cover_the_lap():
    s, curvature = road((100, 0), (60, 0.02), (100, 0), (60, -0.02), (80, 0))
    zones = set_zones(find_corners(s, curvature), [70.0, 220.0], 400.0)
    assert [(z.name, z.start, z.end) for z in zones] == [
        ("start", 0.0, 70.0),
        ("T1", 70.0, 220.0),
        ("T2", 220.0, 400.0),
    ]
    assert [z.name for z in set_zones([], [], 400.0)] == ["start"]
