"""The quickest line of a road and a car by the quasi-steady model, in about a second and without a solver of others.

The lap time of a path follows from its curvature by `speed_profile`. Differentiating that backwards gives what a
little more curvature costs at each place, in s; so does the length of the path, which costs 1 / speed. A path of least
weighted squared curvature whose weights repeat these costs has the same first-order conditions as the quickest path.
Weights and path are therefore found in turn, as in iteratively reweighted least squares (Daubechies et al.,
Communications on Pure and Applied Mathematics 63, 2010), each step held near the last path as far as the true lap time
asks for. The curvature that speeds are planned with is smoothed along the path, first over more road than a car needs
to turn in, then over less: otherwise the lap time hangs on single places, and the nearest of many minima is found.
"""

from typing import NamedTuple

import numpy as np

from trailbrake.arrays import Array
from trailbrake.cars.ggv_envelope import Envelope
from trailbrake.kernels import jit
from trailbrake.planning.minimum_curvature import (
    Centreline,
    DiscretePath,
    find_stations,
    linearise_cost,
    minimise_curvature,
    road_through,
)
from trailbrake.planning.path_room import PathRoom
from trailbrake.planning.quadratic_program import Bounds, CyclicMatrix, multiply_cyclic, solve_box_qp
from trailbrake.planning.speed_profile import PathShape, corner_speed, reachable_speed, row_shape, shape_between
from trailbrake.tracks.road import Road, RoadColumn

SMOOTHING = (10, 5)  # stations to either side over which the curvature is averaged (Hann), one pass after another
COST_SMOOTHING = 4  # stations to either side, of the costs of curvature
LEAST_WEIGHT = 0.02  # of a place, over the mean: where curvature costs nothing, the path bends little all the same
LEAST_CURVATURE = 2e-4  # 1/m, that a cost is divided by
MOST_STEPS = 60  # of a pass
LEAST_GAIN = 2e-5  # share of the lap time below which a step is the last
HOLD = 1.0  # weight of the change of curvature in the first step, over the mean weight of curvature
HOLD_UP, HOLD_DOWN, MOST_TRIES = 4.0, 3.0, 7
SPEED_STEP = 1e-3  # m/s, of differences
CURVATURE_STEP = (1e-5, 1e-3)  # 1/m and share, of differences: the larger one
REST_SPEED = 0.5  # m/s, at the start of an open road


class _PathTime(NamedTuple):
    """The speeds along a path and what they say of it.

    Attributes:
        time: s.
        path: the path.
        cost: (n,) s m, of curvature at each point.
        pace: (n,) s/m, of each segment.
    """

    time: float
    path: DiscretePath
    cost: Array
    pace: Array


def plan_quickest_line(road: Road, room: PathRoom, limits: Envelope, margin: float) -> Road:
    """Return the line on which a car that needs `room` is quickest at a share `margin` of its `limits`, as a Road."""
    s, centre, bounds = find_stations(road, room)
    offset = minimise_curvature(centre, bounds)
    grade = road.column_at(s, RoadColumn.GRADE)
    around = (np.roll(grade, -1) - np.roll(grade, 1)) / (2.0 * road.length / len(s))
    bend = around if road.closed else np.gradient(grade, s)
    shapes = np.column_stack([np.zeros_like(s), grade, bend, road.column_at(s, RoadColumn.BANK),
                              road.column_at(s, RoadColumn.GRIP), np.zeros_like(s)])  # fmt: skip
    for reach in SMOOTHING:
        search = _Search(centre, bounds, shapes, limits, margin, reach)
        offset = search.minimise_time(offset)
    return road_through(road, centre.x + offset * centre.nx, centre.y + offset * centre.ny)


class _Search(NamedTuple):
    """One pass of the search: the points of the centreline, their bounds and surface, and the car."""

    centre: Centreline
    bounds: Bounds
    shapes: Array
    limits: Envelope
    margin: float
    reach: int

    def minimise_time(self, offset: Array) -> Array:
        """Return the offsets (n,) m of the quickest path near those given."""
        now, hold = self.time_path(offset), HOLD
        for _ in range(MOST_STEPS):
            weight = self._weigh_bends(now)
            if not weight.any():  # no bend asks for less than the road gives
                return offset
            matrix, linear = linearise_cost(now.path, self.centre, offset, now.pace, 2.0 * weight)
            near, _ = linearise_cost(now.path, self.centre, offset, 0.0, 2.0 * float(np.mean(weight)))
            for _ in range(MOST_TRIES):
                held = CyclicMatrix(*(hold * diagonal for diagonal in near))
                both = CyclicMatrix(*(a + b for a, b in zip(matrix, held, strict=True)))
                trial = solve_box_qp(both, linear - multiply_cyclic(held, offset), self.bounds, offset, 1e-7)
                tried = self.time_path(trial)
                if tried.time < now.time:
                    break
                hold *= HOLD_UP
            else:
                return offset
            gain = now.time - tried.time
            offset, now, hold = trial, tried, hold / HOLD_DOWN
            if gain < LEAST_GAIN * now.time:
                break
        return offset

    def time_path(self, offset: Array) -> _PathTime:
        """Return the speeds along the path at `offset` (n,) m, and their slopes."""
        centre = self.centre
        path = DiscretePath.from_points(centre.x + offset * centre.nx, centre.y + offset * centre.ny, centre.closed)
        shapes, count = self.shapes.copy(), len(offset)
        shapes[:, 0] = _smooth(path.turn / path.share, self.reach, centre.closed)
        speed, cost, pace = np.empty(count), np.zeros(count), np.zeros(count)
        time = fill_time_slopes(shapes, path.length, (centre.closed, self.margin), self.limits,
                                (speed, cost, pace, np.zeros((9, count))))  # fmt: skip
        return _PathTime(time, path, _smooth(cost, self.reach, centre.closed), pace)

    def _weigh_bends(self, now: _PathTime) -> Array:
        """Return the weights (n,) of the squared curvature under which it costs what it costs in time."""
        closed = self.centre.closed
        cost = np.maximum(now.cost * np.sign(now.path.turn), 0.0) / now.path.share
        bend = _smooth(np.abs(now.path.turn / now.path.share), COST_SMOOTHING, closed)
        weight = _smooth(cost, COST_SMOOTHING, closed) / (2.0 * np.maximum(bend, LEAST_CURVATURE))
        kept: Array = np.maximum(weight, LEAST_WEIGHT * np.mean(weight))
        return kept


def _smooth(values: Array, reach: int, closed: bool) -> Array:
    kernel = np.hanning(2 * reach + 3)[1:-1]
    padded = np.pad(values, reach, mode="wrap" if closed else "edge")
    smoothed: Array = np.convolve(padded, kernel / kernel.sum(), "valid")
    return smoothed


@jit
def fill_time_slopes(
    rows: Array, length: Array, plan: tuple[bool, float], limits: Envelope, out: tuple[Array, Array, Array, Array]
) -> float:
    """Plan the speeds along points and return the time, s, with its derivatives.

    Args:
        rows: (n, 6) the `PathShape` of each point.
        length: (n,) m from each point to the next.
        plan: whether the last point is followed by the first, else the path starts at rest; and the share of the
            envelope to use, 0..1.
        limits: of the car.
        out: speeds (n,) m/s; derivatives (n,) s m of the time by the curvature, and (n,) s/m by the lengths at the same
            speeds; and (9, n) to work with.
    """
    v, slope, pace, work = out
    closed, margin = plan
    car = (limits, margin)
    n = rows.shape[0]
    first = 0
    for i in range(n):
        step = max(CURVATURE_STEP[0], CURVATURE_STEP[1] * abs(rows[i, 0]))
        v[i] = corner_speed(row_shape(rows, i), limits, margin)
        more = PathShape(rows[i, 0] + step, rows[i, 1], rows[i, 2], rows[i, 3], rows[i, 4], rows[i, 5])
        work[0, i] = (corner_speed(more, limits, margin) - v[i]) / step
        if closed and v[i] < v[first]:
            first = i
    if not closed:
        v[0] = min(v[0], REST_SPEED)
        work[0, 0] = 0.0
    # From the slowest point, which no other one limits, once around each way.
    for k in range(n - 1):
        i = (first + k) % n
        _limit_speed(rows, (i, (i + 1) % n, length[i]), car, v, work[1:4])
    for k in range(n - 1):
        i = (first - k) % n
        if closed or i > 1:
            _limit_speed(rows, (i, (i - 1) % n, -length[(i - 1) % n]), car, v, work[4:7])
    time = 0.0
    push = work[7]
    for i in range(n if closed else n - 1):
        j = (i + 1) % n
        mean = 0.5 * (v[i] + v[j])
        pace[i] = 1.0 / mean
        time += length[i] * pace[i]
        push[i] -= 0.5 * length[i] * pace[i] * pace[i]
        push[j] -= 0.5 * length[i] * pace[i] * pace[i]
    # Backwards through both passes, the last one first.
    for k in range(n):
        j = (first + k) % n
        _return_slope((j, (j + 1) % n), work[4:7], push, slope)
    for k in range(n):
        j = (first - k) % n
        _return_slope((j, (j - 1) % n), work[1:4], push, slope)
    for i in range(n):
        slope[i] += push[i] * work[0, i]
    return time


@jit
def _limit_speed(rows: Array, step: tuple[int, int, float], car: tuple[Envelope, float], v: Array, link: Array) -> None:
    """Limit the speed of a point to what its neighbour lets it have, and keep how it hangs on that one.

    Args:
        rows: of all points.
        step: from, to, and m in between: positive for driving there, negative for braking back from there.
        car: its limits, and the share of them to use.
        v: (n,) m/s, in and out.
        link: (3, n) out: 1 where the neighbour decides, and the derivatives by its speed and by the curvature between.
    """
    i, j, length = step
    limits, margin = car
    shape = shape_between(rows, i, j)
    reached = reachable_speed(v[i], shape, length, limits, margin)
    if reached < v[j]:
        more = max(CURVATURE_STEP[0], CURVATURE_STEP[1] * abs(shape.curvature))
        bent = PathShape(shape.curvature + more, shape.climb, shape.climb_rate, shape.bank, shape.grip, shape.push)
        link[0, j] = 1.0
        link[1, j] = (reachable_speed(v[i] + SPEED_STEP, shape, length, limits, margin) - reached) / SPEED_STEP
        link[2, j] = (reachable_speed(v[i], bent, length, limits, margin) - reached) / more
        v[j] = reached


@jit
def _return_slope(pair: tuple[int, int], link: Array, push: Array, slope: Array) -> None:
    """Hand the derivative of the time by a point's speed on to the neighbour that decides it, and to the curvature."""
    j, i = pair
    if link[0, j] > 0.0:
        push[i] += push[j] * link[1, j]
        slope[i] += 0.5 * push[j] * link[2, j]
        slope[j] += 0.5 * push[j] * link[2, j]
        push[j] = 0.0
