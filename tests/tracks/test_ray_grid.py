import math

import numpy as np
import pytest

from trailbrake.tracks.ray_grid import (
    GridFrame,
    Ray,
    SegmentGrid,
    cast_ray,
    cell_clearance,
    list_overlaps,
    sort_into_cells,
)


def grid(corners, nx, ny, x0=0.0, y0=0.0, cell=1.0):
    """Which shapes lie in which cell, by `list_overlaps` and `sort_into_cells`: starts and items."""
    cells, shapes = np.empty(10_000, np.int32), np.empty(10_000, np.int32)
    count = list_overlaps(np.asarray(corners, np.float64), GridFrame(x0, y0, cell, nx, ny), cells, shapes)
    starts, items = np.zeros(nx * ny + 1, np.int32), np.empty(count, np.int32)
    sort_into_cells(cells, shapes, count, starts, items)
    return starts, items


def in_cell(starts, items, nx, i, j):
    cell = j * nx + i
    return sorted(items[starts[cell] : starts[cell + 1]].tolist())


def test_shapes_are_listed_in_the_cells_that_they_touch():
    triangle = [(0.5, 0.5), (3.5, 0.5), (0.5, 3.5)]
    starts, items = grid([triangle], 5, 4)
    touched = {(i, j) for i in range(5) for j in range(4) if in_cell(starts, items, 5, i, j)}
    # The long side is x + y = 4: cells that begin beyond it are free.
    assert touched == {(i, j) for i in range(4) for j in range(4) if i + j <= 4}


def test_lines_are_listed_where_a_dense_row_of_their_points_is():
    rng = np.random.default_rng(3)
    lines = rng.uniform(0.2, 9.8, (40, 2, 2))
    starts, items = grid(lines, 10, 10)
    share = np.linspace(0.0, 1.0, 2001)[:, None]
    for k, (a, b) in enumerate(lines):
        on = {tuple(cell) for cell in np.floor(a + share * (b - a)).astype(int)}
        listed = {(i, j) for i in range(10) for j in range(10) if k in in_cell(starts, items, 10, i, j)}
        assert on <= listed
        assert len(listed) <= len(on) + 2  # a corner that the points jump over


def test_clearance_is_the_distance_in_king_s_moves():
    rng = np.random.default_rng(4)
    full = rng.random((23, 31)) < 0.01
    full[11, 5] = True
    starts = np.concatenate([[0], np.cumsum(full.ravel())]).astype(np.int32)
    free = np.zeros(full.shape, np.uint8)
    cell_clearance(starts, 31, 23, free)
    there = np.argwhere(full)
    for j in range(23):
        for i in range(31):
            assert free[j, i] == np.abs(there - (j, i)).max(axis=1).min()


def brute(segments, x, y, dx, dy, limit):
    best = limit
    for ax, ay, ex, ey in segments.tolist():
        system = np.array([[dx, -ex], [dy, -ey]])
        if abs(np.linalg.det(system)) > 1e-12:
            r, u = np.linalg.solve(system, [ax - x, ay - y])
            if r >= 0.0 and 0.0 <= u <= 1.0:
                best = min(best, r)
    return best


def casting(ends, nx, ny, x0, y0, cell):
    starts, items = grid(ends, nx, ny, x0, y0, cell)
    free = np.zeros((ny, nx), np.uint8)
    cell_clearance(starts, nx, ny, free)
    segments = np.concatenate([ends[:, 0], ends[:, 1] - ends[:, 0]], axis=1)
    return SegmentGrid(segments, np.array([x0, y0, cell]), free, starts, items)


@pytest.mark.parametrize("count", [3, 40])
def test_rays_meet_what_brute_force_meets(count):
    rng = np.random.default_rng(count)
    middle = rng.uniform(-40.0, 40.0, (count, 1, 2))
    world = casting(middle + rng.uniform(-5.0, 5.0, (count, 2, 2)), 25, 24, -50.0, -48.0, 4.0)
    met = 0
    for _ in range(300):
        x, y = rng.uniform(-90.0, 90.0, 2)  # outside the grid too
        angle = rng.choice([0.0, 0.5 * math.pi, math.pi, rng.uniform(-4.0, 4.0)], p=[0.1, 0.1, 0.1, 0.7])
        dx, dy = math.cos(angle), math.sin(angle)
        if angle == 0.0:
            dy = 0.0
        expected = brute(world.segments, x, y, dx, dy, 120.0)
        met += expected < 120.0
        assert cast_ray(world, Ray(x, y, dx, dy), 120.0) == pytest.approx(expected, abs=1e-9)
    assert 3 < met < 290


def test_a_segment_on_the_border_of_cells_is_met_from_both_sides():
    world = casting(np.array([[[4.0, 1.0], [4.0, 7.0]]]), 4, 4, -2.0, -2.0, 3.0)
    for y in (1.0, 1.5, 4.0, 7.0):  # 1, 4 and 7 are borders too
        assert cast_ray(world, Ray(0.0, y, 1.0, 0.0), 50.0) == pytest.approx(4.0)
        assert cast_ray(world, Ray(6.5, y, -1.0, 0.0), 50.0) == pytest.approx(2.5)
    assert cast_ray(world, Ray(0.0, 0.99, 1.0, 0.0), 50.0) == 50.0
    assert cast_ray(world, Ray(0.0, 4.0, -1.0, 0.0), 50.0) == 50.0
