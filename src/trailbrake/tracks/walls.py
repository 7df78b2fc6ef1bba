"""`Walls`: the walls of a track in the plane, as a strip of convex quads for rays to pass through, and as a grid.

The walls stand at the outer ends of the run-off. Between two rows of a road, they and the two cross-sections make a
quad. A ray that enters a convex quad through one cross-section leaves it through the other or hits a wall: inside the
walls a ray needs no other test (`world/wall_rays.py`). Quads where that would be wrong have no link from quad to quad:
those that the wall of another stretch reaches into, and the ends of open roads, which have no wall. There, and outside
the walls, rays go through the grid.
"""

import math
from typing import NamedTuple

import numpy as np

from trailbrake.arrays import Array, Bytes
from trailbrake.errors import DataError
from trailbrake.kernels import internal_jit, jit
from trailbrake.tracks.ray_grid import (
    CellLists,
    GridFrame,
    Ints,
    SegmentGrid,
    cell_clearance,
    list_overlaps,
    sort_into_cells,
)
from trailbrake.tracks.road import Road, RoadColumn

MERGE_TOLERANCE = 2e-4  # m that a wall may be moved where rows of a straight become one quad
_LONGEST = 64  # rows, the most that become one quad
_CELL = 4.0  # m
_MOST_CELLS = 4_000_000
_LOOP_REACH = 6.0  # times the distance to the wall: the reach of a loop before and after a folded row
_INSET = 1e-6  # m that the wall of another quad must reach into a quad: neighbours touch its corners


@jit
def cut_wall_loops(wall: Array, heading: Array, closed: bool, left: bool, window: int) -> None:
    """Cut off the loops of a wall beyond the centre of its own bend: all points of a loop move to its crossing.

    Such a wall runs backwards along the loop, inside the run-off before and after the bend, where it stops no car. A
    wall that goes round an island and crosses itself turns the other way and stays as it is.

    Args:
        wall: (n, 2) points at the rows, m, world; changed in place.
        heading: (n, 2) unit vectors of the road at the rows.
        closed: whether row n is row 0.
        left: whether it is the left wall.
        window: rows, the most that a loop reaches before and after.
    """
    n = wall.shape[0]
    k = 0
    while k < n - 1 + closed:
        j = (k + 1) % n
        if (wall[j, 0] - wall[k, 0]) * heading[k, 0] + (wall[j, 1] - wall[k, 1]) * heading[k, 1] >= 0.0:
            k += 1
            continue
        done = False
        for before in range(1, window):
            p = k - before
            if p < 0 and not closed:
                break
            p %= n
            ax, ay = wall[p, 0], wall[p, 1]
            ex, ey = wall[(p + 1) % n, 0] - ax, wall[(p + 1) % n, 1] - ay
            for after in range(1, window):
                q = k + after
                if q + 1 >= n and not closed:
                    break
                q %= n
                if before + after + 2 >= n:
                    break
                cx, cy = wall[q, 0], wall[q, 1]
                fx, fy = wall[(q + 1) % n, 0] - cx, wall[(q + 1) % n, 1] - cy
                down = ex * fy - ey * fx
                if down == 0.0:
                    continue
                u = ((cx - ax) * fy - (cy - ay) * fx) / down
                v = ((cx - ax) * ey - (cy - ay) * ex) / down
                if not (0.0 <= u <= 1.0 and 0.0 <= v <= 1.0):
                    continue
                x, y = ax + u * ex, ay + u * ey
                area = 0.0
                for m in range(before + after - 1):
                    a, b = (p + 1 + m) % n, (p + 2 + m) % n
                    area += (wall[a, 0] - x) * (wall[b, 1] - y) - (wall[a, 1] - y) * (wall[b, 0] - x)
                if (area < 0.0) != left:
                    continue
                for m in range(before + after):
                    wall[(p + 1 + m) % n, 0] = x
                    wall[(p + 1 + m) % n, 1] = y
                done = True
                break
            if done:
                break
        k += 1


@internal_jit
def _is_straight(wall: Array, first: int, last: int) -> bool:
    # Whether all points between two rows lie within MERGE_TOLERANCE of the line between them, in order.
    n = wall.shape[0]
    ax, ay = wall[first, 0], wall[first, 1]
    ex, ey = wall[last % n, 0] - ax, wall[last % n, 1] - ay
    size = math.sqrt(ex * ex + ey * ey)
    reached = 0.0
    for k in range(first + 1, last):
        dx, dy = wall[k, 0] - ax, wall[k, 1] - ay
        along = ex * dx + ey * dy
        if abs(ex * dy - ey * dx) > MERGE_TOLERANCE * size or along < reached or along > size * size:
            return False
        reached = along
    return True


@jit
def choose_rows(left: Array, right: Array, closed: bool, rows: Ints) -> int:
    """Write into `rows` the rows to keep of two walls (n, 2), so that neither moves by more than MERGE_TOLERANCE.

    Returns:
        The number of rows to keep.
    """
    n = left.shape[0]
    end = n if closed else n - 1
    k, count = 0, 0
    while k < end:
        rows[count] = k
        count += 1
        last = min(k + 1, end)
        while last < end and last - k < _LONGEST:
            if not (_is_straight(left, k, last + 1) and _is_straight(right, k, last + 1)):
                break
            last += 1
        k = last
    if not closed:
        rows[count] = n - 1
        count += 1
    return count


@jit
def mark_blocked_quads(quads: Array, quad_cells: CellLists, grid: SegmentGrid, own: Ints, blocked: Bytes) -> None:
    """Mark the quads that are not convex and those that a wall of another quad reaches into.

    Args:
        quads: (m, 4, 2) corners, counter-clockwise, m.
        quad_cells: the quads in the cells of `grid`.
        grid: the pieces of wall.
        own: (p,) the quad to which each piece of wall belongs.
        blocked: (m,) written: 1 for the marked quads.
    """
    starts, quad_items = quad_cells
    segments, segment_starts, segment_items = grid.segments, grid.starts, grid.items
    for q in range(quads.shape[0]):
        for v in range(4):
            a, b, c = quads[q, v], quads[q, (v + 1) % 4], quads[q, (v + 2) % 4]
            if (b[0] - a[0]) * (c[1] - b[1]) - (b[1] - a[1]) * (c[0] - b[0]) < -1e-9:
                blocked[q] = 1
    for cell in range(starts.shape[0] - 1):
        for i in range(starts[cell], starts[cell + 1]):
            q = quad_items[i]
            if blocked[q]:
                continue
            for k in range(segment_starts[cell], segment_starts[cell + 1]):
                s = segment_items[k]
                if own[s] == q:
                    continue
                # Clip the segment by the four edges (M. Cyrus, J. Beck, Computers & Graphics 3, 1978).
                lo, hi = 0.0, 1.0
                for v in range(4):
                    ax, ay = quads[q, v, 0], quads[q, v, 1]
                    ex, ey = quads[q, (v + 1) % 4, 0] - ax, quads[q, (v + 1) % 4, 1] - ay
                    inside = ex * (segments[s, 1] - ay) - ey * (segments[s, 0] - ax)
                    inside -= _INSET * (abs(ex) + abs(ey))
                    turn = ex * segments[s, 3] - ey * segments[s, 2]
                    if turn > 0.0:
                        lo = max(lo, -inside / turn)
                    elif turn < 0.0:
                        hi = min(hi, -inside / turn)
                    elif inside < 0.0:
                        hi = -1.0
                if lo <= hi:
                    blocked[q] = 1
                    break


class Walls(NamedTuple):
    """The walls of one or more roads, seen from above, as kernels take them. `Walls.from_roads(*track.roads)` makes it.

    Attributes:
        cross_sections: (m, 5) left wall x, y, right wall x, y (m, world) and the square of its length (m^2).
        links: (m, 2) the cross-section ahead and the one behind; -1 where a ray must not use the quad between.
        grid: the pieces of wall.
        quads: the quads in the cells of `grid`; a quad has the number of its rear cross-section.
    """

    cross_sections: Array
    links: Ints
    grid: SegmentGrid
    quads: CellLists

    @classmethod
    def from_roads(cls, *roads: Road) -> "Walls":
        """Build the walls of `roads`.

        They keep within MERGE_TOLERANCE (0.2 mm) of the straight lines between the rows of `Road.wall_lines`, except
        for the loops that `cut_wall_loops` removes.

        Raises:
            DataError: no road, or a wall that is not finite.
        """
        if not roads:
            raise DataError(
                "no walls without a road", where="Walls.from_roads", expected="one road at least", got="none"
            )
        strips, aheads, first = [], [], 0
        for road in roads:
            strip = _cross_sections(road)
            ahead = np.arange(first + 1, first + 1 + len(strip))
            ahead[-1] = first if road.closed else -1
            strips.append(strip)
            aheads.append(ahead)
            first += len(strip)
        strip, ahead = np.concatenate(strips), np.concatenate(aheads)
        rear = np.flatnonzero(ahead >= 0)
        front = ahead[rear]
        # Counter-clockwise: right rear, right front, left front, left rear.
        quads = np.stack([strip[rear, 2:4], strip[front, 2:4], strip[front, :2], strip[rear, :2]], axis=1)
        ends = np.concatenate([quads[:, [3, 2]], quads[:, [0, 1]]])
        own = np.concatenate([np.arange(len(quads))] * 2).astype(np.int32)
        real = np.any(ends[:, 0] != ends[:, 1], axis=1)
        ends, own = np.ascontiguousarray(ends[real]), own[real]
        segments = np.concatenate([ends[:, 0], ends[:, 1] - ends[:, 0]], axis=1)
        frame = _grid_frame(quads)
        wall_cells, quad_cells = _index_cells(ends, frame), _index_cells(quads, frame)
        free = np.zeros((frame.ny, frame.nx), np.uint8)
        cell_clearance(wall_cells.starts, frame.nx, frame.ny, free)
        grid = SegmentGrid(segments, np.array([frame.x, frame.y, frame.cell]), free, *wall_cells)
        blocked = np.zeros(len(quads), np.uint8)
        mark_blocked_quads(quads, quad_cells, grid, own, blocked)
        links = np.full((len(strip), 2), -1, np.int32)
        links[rear, 0] = np.where(blocked == 1, -1, front)
        links[front[blocked == 0], 1] = rear[blocked == 0]
        sections = np.column_stack([strip, np.sum((strip[:, :2] - strip[:, 2:]) ** 2, axis=1)])
        return cls(sections, links, grid, CellLists(quad_cells.starts, rear.astype(np.int32)[quad_cells.items]))

    @property
    def kernel_arrays(self) -> tuple[Array, Ints, Array, Array, Bytes, Ints, Ints, Ints, Ints]:
        """All arrays in the order in which the kernels of the scanner take them."""
        return (self.cross_sections, self.links, *self.grid, *self.quads)


def _cross_sections(road: Road) -> Array:
    # The cross-sections that are kept: (m, 4) left x, y and right x, y, m.
    sides = [np.ascontiguousarray(wall[:, :2]) for wall in road.wall_lines()]
    if not all(np.isfinite(side).all() for side in sides):
        raise DataError("a wall that is not finite", where="Walls.from_roads", expected="finite places and widths")
    heading = np.ascontiguousarray(road.table[:, [RoadColumn.TANGENT_X, RoadColumn.TANGENT_Y]])
    reach = max(
        float(np.max(road.column(RoadColumn.WIDTH_LEFT) + road.column(RoadColumn.RUNOFF_LEFT))),
        float(np.max(road.column(RoadColumn.WIDTH_RIGHT) + road.column(RoadColumn.RUNOFF_RIGHT))),
    )
    window = min(len(heading) // 2, math.ceil(_LOOP_REACH * reach / road.spacing))
    for side, left in zip(sides, (True, False), strict=True):
        cut_wall_loops(side, heading, road.closed, left, window)
    rows = np.empty(len(heading), np.int32)
    count = choose_rows(sides[0], sides[1], road.closed, rows)
    return np.concatenate(sides, axis=1)[rows[:count]]


def _grid_frame(corners: Array) -> GridFrame:
    # A grid around all corners (m, v, 2), with one cell of margin on every side.
    low, high = corners.min(axis=(0, 1)), corners.max(axis=(0, 1))
    size = high - low
    cell = max(_CELL, math.sqrt(float(size[0] * size[1]) / _MOST_CELLS), float(size.max()) / 100_000.0)
    nx, ny = (math.ceil(float(extent) / cell) + 2 for extent in size)
    return GridFrame(float(low[0] - cell), float(low[1] - cell), cell, nx, ny)


def _index_cells(corners: Array, frame: GridFrame) -> CellLists:
    # The shapes (m, v, 2) in each cell.
    boxes = np.ptp(corners, axis=1) / frame.cell + 2.1
    most = int(np.sum(np.floor(boxes[:, 0]) * np.floor(boxes[:, 1])))
    cells, shapes = np.empty(most, np.int32), np.empty(most, np.int32)
    count = list_overlaps(np.ascontiguousarray(corners), frame, cells, shapes)
    starts, items = np.zeros(frame.nx * frame.ny + 1, np.int32), np.empty(count, np.int32)
    sort_into_cells(cells, shapes, count, starts, items)
    return CellLists(starts, items)
