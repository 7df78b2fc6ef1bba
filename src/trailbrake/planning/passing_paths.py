"""Paths beside the line: lanes along the whole road, and a path past one car.

A lane keeps to one side of the line as far as the road allows, and bends as little as it can beside it: a line moved
aside has a kink where it meets the edge. It minimises the square of what its curvature differs from the line's, and of
its distance from a line moved aside; where hairpins are tight, the path of least curvature lies outside on every lane.

A path past a car is on one side of it on a stretch of the line, and else the quickest that leads there and back.
At the limit of the tyres a = v^2 k, so that the time of a metre, 1 / v, grows with the square of the curvature k: a
path minimises the sum of v^3 k^2 / (4 a^2) and of its length over v, within the edges of the road and beside the car.
Where the tyres have grip to spare curvature costs less: path and speeds are found in turn, as in iteratively reweighted
least squares (`quickest_line.py`). Whether the car is passed follows from the time that the stretch takes.
"""

import math
from typing import NamedTuple

import numpy as np

from trailbrake.arrays import Array
from trailbrake.kernels import internal_jit, jit
from trailbrake.planning.path_room import PathRoom, find_path_bounds
from trailbrake.planning.quadratic_program import Bounds, CyclicMatrix, solve_box_qp
from trailbrake.planning.race_lattice import (
    NOSE_MARGIN,
    PASS,
    POINTS,
    SIDE_MARGIN,
    STRIDE,
    PathBuffers,
    RaceRoad,
    RaceStart,
    fill_free_speeds,
    fill_shapes,
    make_buffers,
    shape_at,
    wrap_row,
)
from trailbrake.planning.rival_prediction import STEP, RivalColumn
from trailbrake.planning.speed_profile import interpolate_speed, lateral_demand
from trailbrake.tracks.road import Road
from trailbrake.tracks.road_columns import RoadColumn

LANES = (-9.0, -4.5, -3.2, -2.2, -1.2, 1.2, 2.2, 3.2, 4.5, 9.0)  # m left of the line, the last along the edges
REACH_TIME, REACH = 0.8, (8.0, 25.0)  # s, and m least and most, over which a lane approaches its distance from the line
TOLERANCE = 1e-4  # of the programme of a lane
LEAST_ROOM = 0.02  # m between the bounds of a path, where the road is narrower than the car with its margins
SIDE_ROOM = 0.05  # m between cars, besides SIDE_MARGIN: bounds are a little soft
HOLD = 0.1  # weight of the change of curvature from the line's, over the mean weight of curvature
STIFFNESS = 1e4  # of a bound, over the mean of the matrix
NEWTON_STEPS = 60  # of a path at most: before they end it may leave the road by metres
MOST_BEYOND = 0.1  # m beyond a bound, from which a path is none
ROUNDS = 10  # of path and speeds
MOST_USE = 1.2  # of the lateral limit, that raises the weight of a place


class PassingCosts(NamedTuple):
    """What a path beside the line costs, and how far it may go, at the rows of the line; (n,) each.

    Attributes:
        lower, upper: m left of the line.
        weight: s m, of half the squared curvature.
        pace: s/m, of length.
    """

    lower: Array
    upper: Array
    weight: Array
    pace: Array


class PassingBuffers(NamedTuple):
    """Room for the programme of a path; columns are points, the first one is behind its start.

    Attributes:
        system: (4, POINTS + 2) the diagonals of the matrix, and the linear term.
        bounds: (2, POINTS + 2) m, least and most.
        share: (POINTS + 2,) of the weight of curvature.
        best: (POINTS + 2,) m, the quickest offsets so far.
        work: (5, POINTS + 2).
        passage: (4, POINTS) at each point, as `fill_passage` writes it.
        path: that is planned.
    """

    system: Array
    bounds: Array
    share: Array
    best: Array
    work: Array
    passage: Array
    path: PathBuffers


def make_passing_buffers() -> PassingBuffers:
    """Return room for one programme."""
    n = POINTS + 2
    return PassingBuffers(np.zeros((4, n)), np.zeros((2, n)), np.zeros(n), np.zeros(n), np.zeros((5, n)),
                          np.zeros((4, POINTS)), make_buffers())  # fmt: skip


def build_paths(line: Road, speeds: Array, room: PathRoom) -> Array:
    """Return `RaceRoad.paths`, (PASS + 1 + len(LANES), n) m left of the line at its rows; the line is driven.

    Args:
        line: whose widths reach to the edges of the road.
        speeds: (n,) m/s, at its rows.
        room: of the car.
    """
    n = len(line.table)
    rows = np.linspace(0, n, n // STRIDE, endpoint=False).astype(int) if line.closed else np.arange(0, n, STRIDE)
    spacing = line.spacing * n / len(rows) if line.closed else line.spacing * STRIDE
    rightmost, leftmost = (bound[rows] for bound in find_path_bounds(line, line.stations(), room))
    middle = 0.5 * (rightmost + leftmost)
    bounds = Bounds(np.minimum(rightmost, middle - LEAST_ROOM), np.maximum(leftmost, middle + LEAST_ROOM))
    weight = np.ones(len(rows))  # of the bend at a row
    if not line.closed:
        weight[[0, -1]] = 0.0
    before, after = np.roll(weight, 1), np.roll(weight, -1)
    pull = (spacing / np.clip(REACH_TIME * speeds[rows], *REACH)) ** 4
    matrix = CyclicMatrix(before + 4.0 * weight + after + pull, -2.0 * (weight + after), after)
    distances = [np.full(len(rows), aside) for aside in LANES]
    offsets = [solve_box_qp(matrix, -pull * aside, bounds, aside, TOLERANCE) for aside in distances]
    period = float(n) if line.closed else None
    lanes = [np.interp(np.arange(n), rows, offset, period=period) for offset in offsets]
    return np.array([np.zeros(n)] * (PASS + 1) + lanes)


def weigh_paths(line: Road, road: RaceRoad, speeds: Array, room: PathRoom) -> PassingCosts:
    """Return what paths beside a line cost.

    Args:
        line: whose widths reach to the edges of the road.
        road: what is planned on: the line with the friction that is planned with.
        speeds: (n,) m/s, at its rows.
        room: of the car.
    """
    lower, upper = find_path_bounds(line, line.stations(), room)
    lateral = np.interp(speeds, road.limits.speeds, road.limits.lateral) * road.line.table[:, RoadColumn.GRIP]
    pace = 1.0 / np.maximum(speeds, 1.0)
    return PassingCosts(np.minimum(lower, -LEAST_ROOM), np.maximum(upper, LEAST_ROOM),
                        0.5 / (pace**3 * lateral**2), pace)  # fmt: skip


@jit
def find_arrival(prediction: Array, distance: float) -> float:
    """Return when (s) a predicted rival is `distance` (m) ahead of where we are now; infinity if not in its rows.

    Where it has been before now, the time is negative, by its speed of now.
    """
    before = prediction[0, RivalColumn.AHEAD]
    if before >= distance:
        ago: float = (distance - before) / max(prediction[0, RivalColumn.SPEED], 1.0)
        return ago
    for j in range(1, prediction.shape[0]):
        after = prediction[j, RivalColumn.AHEAD]
        if after >= distance:
            share: float = (distance - before) / max(after - before, 1e-9)
            return (j - 1 + share) * STEP
        before = after
    return math.inf


@jit
def find_speed_at(prediction: Array, distance: float) -> float:
    """Return the speed (m/s) of a predicted rival where it is `distance` (m) ahead of where we are now."""
    row = 0
    while row < prediction.shape[0] - 1 and prediction[row, RivalColumn.AHEAD] < distance:
        row += 1
    speed: float = prediction[row, RivalColumn.SPEED]
    return speed


@jit
def fill_passage(prediction: Array, way: float, spacing: float, out: Array) -> None:
    """Write when a predicted rival is at each point of a path, and where across the road.

    Args:
        prediction: (steps, len(RivalColumn)) of the rival.
        way: m from where we are now to the first point.
        spacing: m between points.
        out: (4, points) s, RIGHTMOST, LEFTMOST and DISTANCE_ERROR; s is infinite where it does not come to.
    """
    steps = prediction.shape[0]
    for k in range(out.shape[1]):
        t = out[0, k] = find_arrival(prediction, way + k * spacing)
        j = min(int(max(t, 0.0) / STEP + 0.5), steps - 1) if t < math.inf else steps - 1
        out[1, k] = prediction[j, RivalColumn.RIGHTMOST]
        out[2, k] = prediction[j, RivalColumn.LEFTMOST]
        out[3, k] = prediction[j, RivalColumn.DISTANCE_ERROR]


@internal_jit
def _fill_bounds(
    road: RaceRoad, start: RaceStart, stretch: tuple[int, int, int], costs: PassingCosts, buffers: PassingBuffers
) -> bool:
    """Fill in the bounds of a path; return whether there is room on the stretch."""
    bounds, passage = buffers.bounds, buffers.passage
    first, last, side = stretch
    need = road.size[1] + SIDE_MARGIN + SIDE_ROOM
    for k in range(start.points + 2):
        i = wrap_row(start.row + (k - 1) * STRIDE, road.shapes.shape[0], road.line.closed)
        low, high = costs.lower[i], costs.upper[i]
        if first <= k - 1 <= last:
            if side > 0:
                low = max(low, passage[2, k - 1] + need)
            else:
                high = min(high, passage[1, k - 1] - need)
            if low > high:
                return False
        bounds[0, k], bounds[1, k] = low, high
    for k in range(start.points - 1, start.points + 2):
        bounds[0, k] = bounds[1, k] = 0.0
    return True


@internal_jit
def _fill_system(road: RaceRoad, start: RaceStart, costs: PassingCosts, buffers: PassingBuffers) -> None:
    """Fill in the diagonals of the matrix of the costs, and their linear term."""
    system, share = buffers.system, buffers.share
    n, h = road.shapes.shape[0], STRIDE * road.line.spacing
    held = HOLD * costs.weight.mean() / h**3
    system[:] = 0.0
    for k in range(1, start.points + 2):
        i = wrap_row(start.row + (k - 1) * STRIDE, n, road.line.closed)
        bend, along = road.shapes[i, 0], costs.pace[i] / h
        middle, weight = (bend * h) ** 2 - 2.0, share[k] * costs.weight[i] / h**3
        both, push = weight + held, weight * bend * h * h
        system[0, k - 1] += both + along
        system[0, k] += both * middle * middle + along
        system[1, k - 1] += both * middle - along
        system[3, k - 1] += push
        system[3, k] += push * middle - bend * h * costs.pace[i]
        if k < start.points + 1:
            system[0, k + 1] += both
            system[1, k] += both * middle
            system[2, k - 1] += both
            system[3, k + 1] += push


@internal_jit
def _solve_path(points: int, buffers: PassingBuffers, offset: Array) -> None:
    """Fill in the offsets (POINTS + 2,) of least cost, by Newton steps on it and stiff bounds; the first two stay.

    The bounds that are met are those of the path before to begin with.
    """
    system, bounds = buffers.system, buffers.bounds
    diag, l1, l2, x, active = buffers.work[0], buffers.work[1], buffers.work[2], buffers.work[3], buffers.work[4]
    m = points + 2
    stiff = 0.0
    for i in range(m):
        stiff += STIFFNESS * system[0, i] / m
    for _ in range(NEWTON_STEPS):
        for i in range(2, m):
            d, e, right = system[0, i], system[1, i], -system[3, i]
            if active[i] != 0.0:
                d += stiff
                right += stiff * bounds[0 if active[i] < 0.0 else 1, i]
            if i >= 3:
                d -= l1[i] * l1[i] * diag[i - 1]
                right -= l1[i] * x[i - 1]
            else:
                right -= system[1, 1] * offset[1]
            if i >= 4:
                d -= l2[i] * l2[i] * diag[i - 2]
                right -= l2[i] * x[i - 2]
            else:
                right -= system[2, i - 2] * offset[i - 2]
            diag[i], x[i] = d, right
            if i + 1 < m:
                l1[i + 1] = (e - (l2[i + 1] * l1[i] * diag[i - 1] if i >= 3 else 0.0)) / d
            if i + 2 < m:
                l2[i + 2] = system[2, i] / d
        changed = False
        for i in range(m - 1, 1, -1):
            value = x[i] / diag[i]
            if i + 1 < m:
                value -= l1[i + 1] * x[i + 1]
            if i + 2 < m:
                value -= l2[i + 2] * x[i + 2]
            x[i] = value
            now = -1.0 if value < bounds[0, i] else 1.0 if value > bounds[1, i] else 0.0
            changed = changed or now != active[i]
            active[i] = now
        if not changed:
            break
    for i in range(2, m):
        offset[i] = x[i]


@internal_jit
def _measure_beyond(points: int, buffers: PassingBuffers) -> float:
    """Return how far (m) the path is beyond its bounds."""
    bounds, offset, most = buffers.bounds, buffers.path.offset, 0.0
    for i in range(2, points + 2):
        most = max(most, bounds[0, i] - offset[i], offset[i] - bounds[1, i])
    return most


@internal_jit
def _time_path(
    road: RaceRoad, start: RaceStart, stretch: tuple[int, int, int], costs: PassingCosts, path: PathBuffers
) -> float:
    """Fill in shapes and free speeds; return the time (s) of the stretch and what the way there takes over the line."""
    first, last, _ = stretch
    h, took = STRIDE * road.line.spacing, 0.0
    fill_shapes(road, start, path)
    fill_free_speeds(road, start, path)
    for k in range(last):
        took += path.steps[k] / max(0.5 * (path.free[k] + path.free[k + 1]), 1.0)
        if k < first:
            row = wrap_row(start.row + k * STRIDE, costs.pace.shape[0], road.line.closed)
            took -= h * costs.pace[row]
    return took


@internal_jit
def _copy_values(values: Array, out: Array) -> None:
    for i in range(values.shape[0]):
        out[i] = values[i]


@internal_jit
def _weigh_use(road: RaceRoad, start: RaceStart, path: PathBuffers, share: Array) -> None:
    """Change the shares of the weight by the share of the lateral limit that the path uses."""
    for k in range(start.points):
        need, factor = lateral_demand(path.free[k], shape_at(path, k), road.limits)
        used = abs(need) / (factor * interpolate_speed(road.limits.lateral, road.limits.speeds, path.free[k]))
        share[k + 1] *= 0.5 * (1.0 + min(used, MOST_USE) ** 2)


@internal_jit
def _measure_surplus(road: RaceRoad, stretch: tuple[int, int, int], took: float, passage: Array) -> float:
    """Return by how much (m) more than needed is gained on a stretch that takes `took` (s)."""
    first, last, _ = stretch
    h = STRIDE * road.line.spacing
    reach = (road.size[0] + NOSE_MARGIN + passage[3, first]) / h
    k, u = first + int(reach), reach - int(reach)
    if k + 1 >= passage.shape[1] or not passage[0, k + 1] < math.inf:
        return -math.inf
    until = (1.0 - u) * passage[0, k] + u * passage[0, k + 1] + took
    while k < passage.shape[1] and passage[0, k] < until:
        k += 1
    if k >= passage.shape[1] or not passage[0, k] < math.inf:
        return -math.inf
    place = k - (passage[0, k] - until) / max(passage[0, k] - passage[0, k - 1], 1e-9)
    surplus: float = (last - reach - place) * h
    return surplus


@jit
def plan_passing_path(
    road: RaceRoad,
    start: RaceStart,
    stretch: tuple[int, int, int],
    costs: PassingCosts,
    buffers: PassingBuffers,
) -> float:
    """Plan a path past a car; return by how much (m) more than needed it gains on the stretch, -inf without room.

    Args:
        road: that is driven.
        start: of the path, on the line.
        stretch: the first and the last point on which it keeps beside the car, and the side: 1 left, -1 right. At the
            first the car is as far ahead as is needed, and at the last as far behind.
        costs: of paths.
        buffers: with the passage of the car; out: the path, with its free speeds.
    """
    path = buffers.path
    took = math.inf
    if not _fill_bounds(road, start, stretch, costs, buffers):
        return -math.inf
    path.offset[:] = 0.0
    buffers.work[4, :] = 0.0
    buffers.share[:] = 1.0
    for _ in range(ROUNDS):
        _fill_system(road, start, costs, buffers)
        _solve_path(start.points, buffers, path.offset)
        now = _time_path(road, start, stretch, costs, path)
        if now < took and _measure_beyond(start.points, buffers) < MOST_BEYOND:
            took = now
            _copy_values(path.offset, buffers.best)
        _weigh_use(road, start, path, buffers.share)
    if not took < math.inf:
        return -math.inf
    _copy_values(buffers.best, path.offset)
    _time_path(road, start, stretch, costs, path)
    return _measure_surplus(road, stretch, took, buffers.passage)


@jit
def write_offsets(start: RaceStart, path: PathBuffers, closed: bool, out: Array) -> None:
    """Write the offsets of a path to the rows of the line (n,), linear between points; 0 elsewhere."""
    n = out.shape[0]
    out[:] = 0.0
    for i in range((start.points - 1) * STRIDE):
        row = start.row + i
        if closed or row < n:
            k, u = i // STRIDE, (i % STRIDE) / STRIDE
            out[row % n] = (1.0 - u) * path.offset[k + 1] + u * path.offset[k + 2]
