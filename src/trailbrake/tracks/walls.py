"""`Walls`: the walls of a track in the plane, as a strip of convex quads that a ray walks through, and as a grid.

The walls stand at the ends of the run-off. Between two rows of a road, they and the two cross-sections make a quad.
A ray that enters a convex quad through one cross-section leaves it through the other or hits a wall: inside the walls
nothing else has to be looked at (`world/scanner.py`). Quads where that would be wrong have no link from quad to quad:
those that another stretch's wall stands in, and the ends of open roads, beyond which there is no wall. There, and
outside the walls, the grid answers.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from trailbrake.errors import DataError
from trailbrake.kernels import jit, part
from trailbrake.tracks.grid import Bytes, Ints, bucket, clearance, overlaps
from trailbrake.tracks.road import Column, Road

Array = NDArray[np.float64]

MERGED = 2e-4  # m that a wall may be moved where rows of a straight become one quad
_LONGEST = 64  # rows that become one quad at most
_CELL = 4.0  # m
_MOST_CELLS = 4_000_000
_LOOP = 6.0  # times the distance to the wall: how far before and after a folded row its fold may reach
_INSET = 1e-6  # m that a foreign wall must reach into a quad: neighbours touch its corners


@jit
def unfold(wall: Array, heading: Array, closed: bool, left: bool, window: int) -> None:
    """Cut off the loops of a wall that lies beyond the centre of its own bend: all their points become the crossing.

    Such a wall runs backwards along the loop, which stands in the run-off before and after the bend, where nothing
    stops a car. A wall that goes round an island and crosses itself turns the other way and is left alone.

    Args:
        wall: (n, 2) points at the rows, m, world; changed.
        heading: (n, 2) unit vectors of the road at the rows.
        closed: whether row n is row 0.
        left: whether it is the left wall.
        window: rows that a loop may reach before and after.
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


@part
def _straight(wall: Array, first: int, last: int) -> bool:
    # Whether all points between two rows lie within MERGED of the line between them, in order.
    n = wall.shape[0]
    ax, ay = wall[first, 0], wall[first, 1]
    ex, ey = wall[last % n, 0] - ax, wall[last % n, 1] - ay
    size = math.sqrt(ex * ex + ey * ey)
    reached = 0.0
    for k in range(first + 1, last):
        dx, dy = wall[k, 0] - ax, wall[k, 1] - ay
        along = ex * dx + ey * dy
        if abs(ex * dy - ey * dx) > MERGED * size or along < reached or along > size * size:
            return False
        reached = along
    return True


@jit
def thin(left: Array, right: Array, closed: bool, rows: Ints) -> int:
    """Choose the rows to keep of two walls (n, 2) so that none moves by more than MERGED; return how many `rows`."""
    n = left.shape[0]
    end = n if closed else n - 1
    k, count = 0, 0
    while k < end:
        rows[count] = k
        count += 1
        last = min(k + 1, end)
        while last < end and last - k < _LONGEST:
            if not (_straight(left, k, last + 1) and _straight(right, k, last + 1)):
                break
            last += 1
        k = last
    if not closed:
        rows[count] = n - 1
        count += 1
    return count


@jit
def block(quads: Array, segments: Array, own: Ints, starts: Ints, quad_items: Ints,
          segment_starts: Ints, segment_items: Ints, blocked: Bytes) -> None:  # fmt: skip
    """Mark the quads that are not convex and those that a wall of another quad reaches into.

    Args:
        quads: (m, 4, 2) corners, counter-clockwise, m.
        segments: (p, 4) x, y and vector to the other end, m.
        own: (p,) the quad whose wall a segment is.
        starts: (cells + 1,) where the quads of each cell start in `quad_items`.
        quad_items: the quads of the cells.
        segment_starts: the same for the segments.
        segment_items: the segments of the cells.
        blocked: (m,) written with 1.
    """
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


@dataclass(frozen=True, eq=False)
class Walls:
    """The walls of one or more roads, seen from above. Make it with `Walls.of(*track.roads)`.

    Attributes:
        strip: (m, 5) left wall x, y, right wall x, y (m, world) of each cross-section, and the square of its length.
        links: (m, 2) the cross-section ahead and the one behind; -1 where the quad between must not be walked.
        segments: (p, 4) x, y of one end of each piece of wall and the vector to the other, m, world.
        frame: (3,) x, y of the grid's corner and the edge of its cells, m.
        free: (ny, nx) distance in cells to the nearest piece of wall.
        starts: (cells + 1,) where the pieces of wall of each cell start in `items`; cells run along x first.
        items: numbers of pieces of wall.
        quad_starts: the same for the quads.
        quad_items: numbers of quads, which are those of their rear cross-sections.
    """

    strip: Array
    links: Ints
    segments: Array
    frame: Array
    free: Bytes
    starts: Ints
    items: Ints
    quad_starts: Ints
    quad_items: Ints

    @classmethod
    def of(cls, *roads: Road) -> "Walls":
        """Build the walls of `roads`.

        Walls keep within MERGED (0.2 mm) of the straight lines between the rows of `Road.walls`, but for the loops
        that `unfold` cuts off.

        Raises:
            DataError: no road, or a wall that is not finite.
        """
        if not roads:
            raise DataError("no walls without a road", where="Walls.of", expected="one road at least", got="none")
        strips, aheads, first = [], [], 0
        for road in roads:
            strip = _strip(road)
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
        frame, nx, ny = _frame(quads)
        starts, items = _sorted_cells(ends, frame, nx, ny)
        quad_starts, quad_items = _sorted_cells(quads, frame, nx, ny)
        free = np.zeros((ny, nx), np.uint8)
        clearance(starts, nx, ny, free)
        blocked = np.zeros(len(quads), np.uint8)
        block(quads, segments, own, quad_starts, quad_items, starts, items, blocked)
        links = np.full((len(strip), 2), -1, np.int32)
        links[rear, 0] = np.where(blocked == 1, -1, front)
        links[front[blocked == 0], 1] = rear[blocked == 0]
        return cls(
            np.column_stack([strip, np.sum((strip[:, :2] - strip[:, 2:]) ** 2, axis=1)]), links, segments, frame,
            free, starts, items, quad_starts, rear.astype(np.int32)[quad_items],
        )  # fmt: skip

    @property
    def arrays(self) -> tuple[Array, Ints, Array, Array, Bytes, Ints, Ints, Ints, Ints]:
        """All arrays in the order in which the kernels of the scanner take them."""
        return (self.strip, self.links, self.segments, self.frame, self.free, self.starts, self.items,
                self.quad_starts, self.quad_items)  # fmt: skip


def _strip(road: Road) -> Array:
    # (m, 4) left x, y and right x, y of the cross-sections that are kept.
    sides = [np.ascontiguousarray(wall[:, :2]) for wall in road.walls()]
    if not all(np.isfinite(side).all() for side in sides):
        raise DataError("a wall that is not finite", where="Walls.of", expected="finite places and widths")
    heading = np.ascontiguousarray(road.table[:, [Column.TANGENT_X, Column.TANGENT_Y]])
    reach = max(
        float(np.max(road.column(Column.WIDTH_LEFT) + road.column(Column.RUNOFF_LEFT))),
        float(np.max(road.column(Column.WIDTH_RIGHT) + road.column(Column.RUNOFF_RIGHT))),
    )
    window = min(len(heading) // 2, math.ceil(_LOOP * reach / road.spacing))
    for side, left in zip(sides, (True, False), strict=True):
        unfold(side, heading, road.closed, left, window)
    rows = np.empty(len(heading), np.int32)
    count = thin(sides[0], sides[1], road.closed, rows)
    return np.concatenate(sides, axis=1)[rows[:count]]


def _frame(corners: Array) -> tuple[Array, int, int]:
    # Corner and cell of the grid, and its cells along x and y; one cell of margin all round.
    low, high = corners.min(axis=(0, 1)), corners.max(axis=(0, 1))
    size = high - low
    cell = max(_CELL, math.sqrt(float(size[0] * size[1]) / _MOST_CELLS), float(size.max()) / 100_000.0)
    nx, ny = (math.ceil(float(extent) / cell) + 2 for extent in size)
    return np.array([low[0] - cell, low[1] - cell, cell]), nx, ny


def _sorted_cells(corners: Array, frame: Array, nx: int, ny: int) -> tuple[Ints, Ints]:
    # Which shapes (m, v, 2) lie in each cell: starts (cells + 1,) and items.
    boxes = np.ptp(corners, axis=1) / frame[2] + 2.1
    most = int(np.sum(np.floor(boxes[:, 0]) * np.floor(boxes[:, 1])))
    cells, shapes = np.empty(most, np.int32), np.empty(most, np.int32)
    count = overlaps(
        np.ascontiguousarray(corners), float(frame[0]), float(frame[1]), float(frame[2]), nx, ny, cells, shapes
    )
    starts, items = np.zeros(nx * ny + 1, np.int32), np.empty(count, np.int32)
    bucket(cells, shapes, count, starts, items)
    return starts, items
