"""A uniform grid over the plane: which convex shapes lie in which cell, and exact ray casting through it.

The shapes of all cells stand in one array: those of `cell` at `start[cell]` to `start[cell + 1]` of `items`. For each
empty cell the grid holds the distance to the nearest cell with shapes, so that a ray crosses empty land in large steps:
the traversal of J. Amanatides and A. Woo, A fast voxel traversal algorithm for ray tracing (Eurographics 1987), over
boxes as large as that distance allows.
"""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from trailbrake.arrays import Array, Bytes
from trailbrake.kernels import jit

Ints = NDArray[np.int32]

_SLACK = 1e-6  # m by which shapes are grown, so that a ray between two cells meets what lies on their border
_FARTHEST = 255  # cells, the longest step of a ray


class GridFrame(NamedTuple):
    """Where a grid lies.

    Attributes:
        x, y: m, world, its corner.
        cell: m, edge of a cell.
        nx, ny: cells along X and Y; cell (i, j) has the number j * nx + i.
    """

    x: float
    y: float
    cell: float
    nx: int
    ny: int


class CellLists(NamedTuple):
    """Which shapes lie in which cell.

    Attributes:
        starts: (cells + 1,) where the shapes of each cell start in `items`.
        items: numbers of the shapes.
    """

    starts: Ints
    items: Ints


class SegmentGrid(NamedTuple):
    """Line segments and the grid that lists them.

    Attributes:
        segments: (m, 4) x, y of one end and the vector to the other, m, world.
        frame: (3,) x, y of the grid's corner and the edge of its cells, m.
        free: (ny, nx) from `cell_clearance`.
        starts: (cells + 1,) from `sort_into_cells`.
        items: numbers of the segments in the cells.
    """

    segments: Array
    frame: Array
    free: Bytes
    starts: Ints
    items: Ints


class Ray(NamedTuple):
    """A ray: origin x, y (m, world) and direction, a unit vector."""

    x: float
    y: float
    dx: float
    dy: float


@jit
def list_overlaps(corners: Array, frame: GridFrame, cells: Ints, items: Ints) -> int:
    """List the cells that each convex shape touches; return the number of pairs written.

    Args:
        corners: (m, v, 2) corners, counter-clockwise, m, world; two corners are a line.
        frame: where the grid lies.
        cells: (p,) written: the cell of each pair; p >= the number of cells in all bounding boxes together.
        items: (p,) written: the shape of each pair, ascending.
    """
    x0, y0, cell, nx, ny = frame
    count = 0
    half = 0.5 * cell
    for k in range(corners.shape[0]):
        left, right, bottom, top = math.inf, -math.inf, math.inf, -math.inf
        for v in range(corners.shape[1]):
            left = min(left, corners[k, v, 0])
            right = max(right, corners[k, v, 0])
            bottom = min(bottom, corners[k, v, 1])
            top = max(top, corners[k, v, 1])
        for j in range(max(0, int((bottom - _SLACK - y0) / cell)), min(ny - 1, int((top + _SLACK - y0) / cell)) + 1):
            for i in range(
                max(0, int((left - _SLACK - x0) / cell)), min(nx - 1, int((right + _SLACK - x0) / cell)) + 1
            ):
                # Outside if some edge has the whole cell on its right.
                cx = x0 + i * cell + half
                cy = y0 + j * cell + half
                outside = False
                for v in range(corners.shape[1]):
                    w = v + 1 if v + 1 < corners.shape[1] else 0
                    ax = corners[k, v, 0]
                    ay = corners[k, v, 1]
                    ex = corners[k, w, 0] - ax
                    ey = corners[k, w, 1] - ay
                    size = abs(ex) + abs(ey)
                    if ex * (cy - ay) - ey * (cx - ax) + (half + _SLACK) * size < 0.0:
                        outside = True
                if not outside:
                    cells[count] = j * nx + i
                    items[count] = k
                    count += 1
    return count


@jit
def sort_into_cells(cells: Ints, items: Ints, count: int, start: Ints, sorted_items: Ints) -> None:
    """Sort the first `count` pairs by cell; write `start` (cells + 1,), zeros before, and `sorted_items` (count,)."""
    for k in range(count):
        start[cells[k] + 1] += 1
    for c in range(1, start.shape[0]):
        start[c] += start[c - 1]
    for k in range(
        count - 1, -1, -1
    ):  # backwards, with each cell's end as its cursor, which finishes at the cell's start
        cell = cells[k] + 1
        start[cell] -= 1
        sorted_items[start[cell]] = items[k]
    for c in range(1, start.shape[0] - 1):
        start[c] = start[c + 1]
    start[start.shape[0] - 1] = count


@jit
def cell_clearance(start: Ints, nx: int, ny: int, free: Bytes) -> None:
    """Write into `free` (ny, nx) the distance in cells (king's moves) to the nearest cell with items, at most 255.

    Two sweeps, each with the minimum over the neighbours that it has passed: exact for king's moves.
    """
    for j in range(ny):
        for i in range(nx):
            value = _FARTHEST
            if start[j * nx + i + 1] > start[j * nx + i]:
                value = 0
            if i > 0:
                value = min(value, int(free[j, i - 1]) + 1)
            if j > 0:
                for k in range(max(0, i - 1), min(nx, i + 2)):
                    value = min(value, int(free[j - 1, k]) + 1)
            free[j, i] = value
    for j in range(ny - 1, -1, -1):
        for i in range(nx - 1, -1, -1):
            value = int(free[j, i])
            if i + 1 < nx:
                value = min(value, int(free[j, i + 1]) + 1)
            if j + 1 < ny:
                for k in range(max(0, i - 1), min(nx, i + 2)):
                    value = min(value, int(free[j + 1, k]) + 1)
            free[j, i] = value


@jit
def cast_ray(grid: SegmentGrid, ray: Ray, limit: float) -> float:
    """Return the distance (m) along `ray` to the nearest segment, at most `limit` (m, finite)."""
    segments, frame, free, start, items = grid
    x, y, dx, dy = ray
    ny, nx = free.shape
    x0, y0, cell = frame[0], frame[1], frame[2]
    wide = 1.0 / dx if dx != 0.0 else math.inf
    high = 1.0 / dy if dy != 0.0 else math.inf
    # The ray enters the grid at t; it may start outside.
    t = 0.0
    if dx != 0.0:
        t = max(t, ((x0 if dx > 0.0 else x0 + nx * cell) - x) * wide)
    if dy != 0.0:
        t = max(t, ((y0 if dy > 0.0 else y0 + ny * cell) - y) * high)
    best = limit
    while t < best:
        t += 1e-9 * cell
        fx = (x + t * dx - x0) / cell
        fy = (y + t * dy - y0) / cell
        if not (0.0 <= fx < nx and 0.0 <= fy < ny):
            break
        i, j = int(fx), int(fy)
        span = int(free[j, i])
        if span == 0:
            span = 1
            c = j * nx + i
            for k in range(start[c], start[c + 1]):
                s = items[k]
                ax = segments[s, 0] - x
                ay = segments[s, 1] - y
                ex = segments[s, 2]
                ey = segments[s, 3]
                down = dx * ey - dy * ex
                if down != 0.0:
                    along = (ax * dy - ay * dx) / down
                    r = (ax * ey - ay * ex) / down
                    if 0.0 <= along <= 1.0 and 0.0 <= r < best:
                        best = r
        step = math.inf
        if dx != 0.0:
            step = (x0 + cell * (i + (span if dx > 0.0 else 1 - span)) - x) * wide
        if dy != 0.0:
            step = min(step, (y0 + cell * (j + (span if dy > 0.0 else 1 - span)) - y) * high)
        t = max(step, t)
    return best
