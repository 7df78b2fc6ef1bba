"""Paths beside the line, their speeds, and what they cost among others: the planner of `race_line`.

A path is an offset from the line at each of its rows. From the path that is driven, a smooth step leads to a target:
the line itself, or a lane along the road. Each such path gets the speeds that the envelope of the car allows, then the
speeds that keep it behind a car that blocks it, over a horizon of a few seconds; it costs the way that it loses, and
overlap with the places where others may be. Lattices in this sense: Werling et al., "Optimal trajectory generation for
dynamic street scenarios in a Frenet frame", ICRA 2010.
"""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from trailbrake.kernels import internal_jit, jit
from trailbrake.planning.envelope import Envelope
from trailbrake.planning.path_room import find_path_bounds, make_inside_room
from trailbrake.planning.rival_tracking import HORIZON, STEP, STEPS, RivalColumn
from trailbrake.planning.speed_profile import (
    PathShape,
    interpolate_speed,
    lateral_demand,
    reachable_speed,
    remaining_accelerations,
)
from trailbrake.tracks.frenet import RoadTable
from trailbrake.tracks.road import Road
from trailbrake.tracks.road_columns import RoadColumn

Array = NDArray[np.float64]

DRIVEN, LINE = 0, 1  # rows of `RaceRoad.paths`
STRIDE = 4  # rows of the line from one point of a path to the next
POINTS = 160  # of a path at most
LANES = (-1.0, -0.66, -0.33, 0.0, 0.33, 0.66, 1.0)  # shares of the room from the middle of the road to its side
LANE_SMOOTHING = 3.0  # m, of the lanes: edges of measured roads are not smooth; with more, lanes cut bends
STEP_TIMES = (2.0, 3.5)  # s, over which a path changes to its target
LEAST_STEP = 20.0  # m, the same
OFF_LINE_GRIP = 0.12  # share of the grip that is not planned with, a metre or more from the line that laps taught
STEP_GRIP = 0.25  # the same where a path bends away from the line: a car that turns in has not yet its side force
STRAIGHT = 0.003  # 1/m, curvature below which a path asks little of the tyres
CORNER_ROUNDS = 4  # of the iteration for the speed of a bend
COLLISION_COST = 300.0  # m of way, for an overlap of the cars themselves
RISK_COST = 40.0  # m, for an overlap of the places where they may be
CHANGE_COST = 2.0  # m, for another path than the driven one
REVISION_COST = 20.0  # m, the same while a step is under way: a car that swerves to and fro slides
OFFSET_COST = 0.2  # m for each m from the line at the end
SPEED_VALUE = 1.0  # s: m of way that 1 m/s more at the end of the horizon is worth
RISK_TIME = 4.0  # s, within which overlap counts
BEHIND_COST = 40.0  # m, for a path beside the line that does not get past the car ahead within the horizon
OFF_LINE = 0.5  # m, from which a path is beside the line
TOO_FAST_COST = 15.0  # m for each m/s by which the car is too fast for a path
TOO_FAST = 0.2  # m/s, up to which it is not
SIDE_MARGIN = 0.35  # m between the sides of two cars, besides what is not known
NOSE_MARGIN = 0.5  # m between noses and tails, the same
FOLLOW_GAP = 1.0, 0.13  # m, and s of own speed, behind a car that blocks the path
FOLLOW_BRAKING = 7.0  # m/s^2, by which it is approached
FOLLOW_RETURN = 1.0  # 1/s, by which a gap that is too small opens
BRAKE_USE = 0.9  # share of the braking limit, for others
YIELD_SPEED = 3.0  # m/s slower than a car beside, to drop behind it


class RaceRoad(NamedTuple):
    """What paths are planned on.

    Attributes:
        line: the line, its GRIP column the friction that is planned with.
        shapes: (n, 5) `PathShape` of its rows.
        paths: (LINE + 1 + lanes, n) m left of the line: the driven path, the line itself (0) and the lanes.
        limits: envelope of the car.
        margin: share of the envelope to use.
        size: m, length and width of the car; others are taken to be as large.
    """

    line: RoadTable
    shapes: Array
    paths: Array
    limits: Envelope
    margin: float
    size: tuple[float, float]


class PathBuffers(NamedTuple):
    """A path while it is planned, at each STRIDE of rows.

    Attributes:
        offset: (POINTS + 2,) m left of the line; the first is a point behind the car.
        shapes: (POINTS, 5) `PathShape`.
        steps: (POINTS,) m along the path to the next point.
        slopes: (POINTS,) d offset / ds over the stretch of the line there.
        free: (POINTS,) m/s, without others.
        speed: (POINTS,) m/s, with them.
    """

    offset: Array
    shapes: Array
    steps: Array
    slopes: Array
    free: Array
    speed: Array


class RaceStart(NamedTuple):
    """Where a plan begins.

    Attributes:
        row: of the line, at the car.
        points: of the path.
        speed: m/s, of the car.
        error: m left of the driven path, of the car.
        target: row of `RaceRoad.paths` that the driven path leads to.
        is_stepping: whether the step to it is under way.
    """

    row: int
    points: int
    speed: float
    error: float
    target: int
    is_stepping: bool


class RaceChoice(NamedTuple):
    """A path that was chosen.

    Attributes:
        target: row of `RaceRoad.paths`.
        blend: points of the step to it.
        cost: m.
        risk: m, the part of the cost that is overlap.
        is_held_up: whether others make it slower.
    """

    target: int
    blend: int
    cost: float
    risk: float
    is_held_up: bool


def make_buffers() -> PathBuffers:
    """Return room for one path."""
    return PathBuffers(np.zeros(POINTS + 2), np.zeros((POINTS, 5)), np.zeros(POINTS), np.zeros(POINTS),
                       np.zeros(POINTS), np.zeros(POINTS))  # fmt: skip


def build_lanes(line: Road, width: float) -> Array:
    """Return `RaceRoad.paths`, (LINE + 1 + len(LANES), n) m left of the line; the line is driven.

    Args:
        line: whose widths reach to the edges of the road.
        width: m, of the car.
    """
    bounds = find_path_bounds(line, line.stations(), make_inside_room(width))
    rightmost, leftmost = (_smooth(bound, line) for bound in bounds)
    room = np.maximum(0.5 * (leftmost - rightmost), 0.0)
    lanes = [0.5 * (leftmost + rightmost) + share * room for share in LANES]
    return np.ascontiguousarray([np.zeros(len(room)), np.zeros(len(room)), *lanes])


def _smooth(values: Array, line: Road) -> Array:
    reach = int(3.0 * LANE_SMOOTHING / line.spacing)
    weights = np.exp(-0.5 * (np.arange(-reach, reach + 1) * line.spacing / LANE_SMOOTHING) ** 2)
    padded = np.pad(values, reach, mode="wrap" if line.closed else "edge")
    smoothed: Array = np.convolve(padded, weights / weights.sum(), mode="valid")
    return smoothed


@internal_jit
def _wrap_row(row: int, count: int, closed: bool) -> int:
    return row % count if closed else min(max(row, 0), count - 1)


@internal_jit
def smooth_step(u: float) -> float:
    """Return a step from 0 to 1 over u = 0..1 whose slope and curvature are 0 at both ends."""
    if u <= 0.0:
        return 0.0
    return u * u * u * (10.0 + u * (6.0 * u - 15.0)) if u < 1.0 else 1.0


@internal_jit
def _shape_path(road: RaceRoad, target: int, start: RaceStart, blend: int, path: PathBuffers) -> None:
    """Fill in offset, shape and steps of the way from the driven path to row `target` of all over `blend` points."""
    table, spacing, closed = road.line
    n, h = table.shape[0], STRIDE * spacing
    for k in range(start.points + 2):
        i = _wrap_row(start.row + (k - 1) * STRIDE, n, closed)
        w = smooth_step((k - 1.0) / blend)
        path.offset[k] = (1.0 - w) * road.paths[DRIVEN, i] + w * road.paths[target, i]
    for k in range(start.points):
        i = _wrap_row(start.row + k * STRIDE, n, closed)
        before, here, after = path.offset[k], path.offset[k + 1], path.offset[k + 2]
        slope, bend = (after - before) / (2.0 * h), (after - 2.0 * here + before) / (h * h)
        stretch = max(1.0 - road.shapes[i, 0] * here, 0.2)
        for column in range(1, 4):
            path.shapes[k, column] = road.shapes[i, column]
        path.shapes[k, 0] = road.shapes[i, 0] / stretch + bend / (stretch * stretch)
        bent = min(abs(bend) / max(abs(path.shapes[k, 0]), STRAIGHT), 1.0)
        path.shapes[k, 4] = table[i, RoadColumn.GRIP] * (1.0 - OFF_LINE_GRIP * min(abs(here), 1.0) - STEP_GRIP * bent)
        path.steps[k] = h * math.sqrt(stretch * stretch + slope * slope)
        path.slopes[k] = slope / stretch


@internal_jit
def _bend_speed(shape: PathShape, limits: Envelope, margin: float, guess: float) -> float:
    """Return about the largest speed (m/s) within `margin` of the lateral limit, by fixed-point iteration."""
    v, top = guess, limits.speeds[-1]
    for _ in range(CORNER_ROUNDS):
        need, factor = lateral_demand(v, shape, limits)
        used = abs(need) / (margin * factor * interpolate_speed(limits.lateral, limits.speeds, v))
        v = min(max(v / math.sqrt(max(used, 0.05)), 2.0), top)
    return v


@internal_jit
def _shape_at(path: PathBuffers, k: int) -> PathShape:
    rows = path.shapes
    return PathShape(rows[k, 0], rows[k, 1], rows[k, 2], rows[k, 3], rows[k, 4])


@internal_jit
def _fill_free_speeds(road: RaceRoad, start: RaceStart, path: PathBuffers) -> None:
    limits, margin, v, guess = road.limits, road.margin, path.free, max(start.speed, 10.0)
    for k in range(start.points):
        guess = v[k] = _bend_speed(_shape_at(path, k), limits, margin, guess)
    v[0] = min(v[0], max(start.speed, 1.0))
    for k in range(start.points - 1):
        v[k + 1] = min(v[k + 1], reachable_speed(v[k], _shape_at(path, k), path.steps[k], limits, margin))
    for k in range(start.points - 1, 0, -1):
        v[k - 1] = min(v[k - 1], reachable_speed(v[k], _shape_at(path, k - 1), -path.steps[k - 1], limits, margin))


@internal_jit
def _between(rivals: Array, r: int, t: float, column: int) -> float:
    position = min(t / STEP, STEPS - 1.001)
    i = int(position)
    value: float = rivals[r, i, column] + (position - i) * (rivals[r, i + 1, column] - rivals[r, i, column])
    return value


@internal_jit
def _blocked_speed(room: float, v: float, rival_speed: float) -> float:
    """Return the most speed (m/s) with `room` (m) to a car ahead."""
    room -= FOLLOW_GAP[0] + FOLLOW_GAP[1] * v
    if room > 0.0:
        return math.sqrt(max(rival_speed, 0.0) ** 2 + 2.0 * FOLLOW_BRAKING * room)
    return max(rival_speed + FOLLOW_RETURN * room, 0.0)


@internal_jit
def _drive_path(
    road: RaceRoad, start: RaceStart, path: PathBuffers, rivals: Array, yields: bool
) -> tuple[float, float, bool]:
    """Fill in the speeds among others; return the worth (m) of the horizon, the risk (m), and whether it is held up.

    The worth is the way along the line, and the speed at its end. Part of the risk is that the car is too fast already.

    Args:
        road: that is driven.
        start: of the path.
        path: with its free speeds; `speed` is filled in.
        rivals: (cars, STEPS, len(RivalColumn)).
        yields: whether it stays behind those that are not behind now, wherever they are across the road.
    """
    limits, h = road.limits, STRIDE * road.line.spacing
    length, width = road.size
    t, end, risk, held_up = 0.0, 0.0, 0.0, False
    v = path.speed[0] = min(path.free[0], max(start.speed, 1.0))
    for k in range(start.points - 1):
        limit, s = path.free[k + 1], k * h
        aside = path.offset[k + 1] + start.error * math.exp(-s / (0.7 * max(v, 10.0)))
        for r in range(rivals.shape[0]):
            gap = _between(rivals, r, t, RivalColumn.AHEAD) - s
            beside = max(_between(rivals, r, t, RivalColumn.RIGHTMOST) - aside,
                         aside - _between(rivals, r, t, RivalColumn.LEFTMOST))  # fmt: skip
            its_speed = _between(rivals, r, t, RivalColumn.SPEED)
            blocks = beside < width + SIDE_MARGIN
            if gap > 0.0 and (blocks or yields):
                limit = min(limit, _blocked_speed(gap - length, v, its_speed))
            elif yields and rivals[r, 0, RivalColumn.AHEAD] > -0.5 * length and gap > -length:
                limit = min(limit, max(its_speed - YIELD_SPEED, 0.0))
            apart = abs(gap) - length
            if t < RISK_TIME and blocks and apart < NOSE_MARGIN + _between(rivals, r, t, RivalColumn.DISTANCE_ERROR):
                share = 1.0 - 0.5 * t / RISK_TIME
                if apart < 0.0 and beside < width:
                    risk = max(risk, share * COLLISION_COST)
                elif gap < 0.0 or apart < 0.0:  # behind a car the law of following keeps the gap
                    deep = min((width + SIDE_MARGIN - beside) / SIDE_MARGIN, 1.0)
                    risk = max(risk, share * RISK_COST * deep)
        _, brake = remaining_accelerations(v, _shape_at(path, k), limits, 1.0)
        slowest = math.sqrt(max(v * v - 2.0 * BRAKE_USE * max(brake, 0.0) * path.steps[k], 0.25))
        held_up = held_up or limit < path.free[k + 1] - 0.05
        following = max(min(limit, reachable_speed(v, _shape_at(path, k), path.steps[k], limits, road.margin)), slowest)
        took = path.steps[k] / max(0.5 * (v + following), 0.3)
        if t < HORIZON <= t + took:
            end = s + h * (HORIZON - t) / took
        t += took
        v = path.speed[k + 1] = following
    if t < HORIZON:
        end = (start.points - 1) * h + v * (HORIZON - t)
    passing = max(abs(path.offset[1]), abs(path.offset[start.points // 3]), abs(path.offset[2 * start.points // 3]))
    if passing > OFF_LINE and not yields:
        nearest, ahead = -1, math.inf
        for r in range(rivals.shape[0]):
            if 0.0 < rivals[r, 0, RivalColumn.AHEAD] < ahead:
                nearest, ahead = r, rivals[r, 0, RivalColumn.AHEAD]
        if nearest >= 0 and rivals[nearest, STEPS - 1, RivalColumn.AHEAD] - end > length:
            risk += BEHIND_COST
    way = end + SPEED_VALUE * v
    risk += TOO_FAST_COST * max(start.speed - path.free[0] - TOO_FAST, 0.0)
    return way, risk, held_up


@jit
def plan_race_path(road: RaceRoad, start: RaceStart, rivals: Array, path: PathBuffers) -> RaceChoice:
    """Choose a path and leave it, with its speeds, in `path`.

    Args:
        road: that is driven.
        start: where the plan begins.
        rivals: (cars, STEPS, len(RivalColumn)).
        path: out.
    """
    h, targets = STRIDE * road.line.spacing, road.paths.shape[0]
    home = DRIVEN if start.target == LINE else LINE
    change_cost = REVISION_COST if start.is_stepping else CHANGE_COST
    best, best_yields = RaceChoice(DRIVEN, 1, math.inf, 0.0, False), False
    for candidate in range(1 + (targets - 1) * len(STEP_TIMES)):
        target, step_time = DRIVEN, 0.0
        if candidate > 0:
            target = LINE + (candidate - 1) // len(STEP_TIMES)
            if target == start.target:  # the driven path leads there
                continue
            step_time = STEP_TIMES[len(STEP_TIMES) - 1 - (candidate - 1) % len(STEP_TIMES)]
        blend = max(int(max(step_time * start.speed, LEAST_STEP) / h), 2)
        _shape_path(road, target, start, blend, path)
        _fill_free_speeds(road, start, path)
        for attempt in range(2 if target <= LINE else 1):
            way, risk, held_up = _drive_path(road, start, path, rivals, attempt == 1)
            cost = risk - way + (change_cost if target != DRIVEN else 0.0)
            cost += OFFSET_COST * abs(path.offset[start.points])
            leads_home = target == home and (target == DRIVEN or not start.is_stepping)
            if leads_home and risk == 0.0 and not held_up:  # nothing is in the way
                return RaceChoice(target, blend, cost, risk, held_up)
            if cost < best.cost:
                best, best_yields = RaceChoice(target, blend, cost, risk, held_up), attempt == 1
    _shape_path(road, best.target, start, best.blend, path)
    _fill_free_speeds(road, start, path)
    _drive_path(road, start, path, rivals, best_yields)
    return best


@jit
def commit_path(road: RaceRoad, start: RaceStart, choice: RaceChoice) -> None:
    """Make a chosen path the driven one: a step to its target, and the target everywhere else."""
    n = road.paths.shape[1]
    for i in range(n):
        k = i - start.row
        if road.line.closed:
            k = (k + STRIDE) % n - STRIDE
        w = smooth_step(k / (choice.blend * STRIDE)) if k < choice.blend * STRIDE else 1.0
        road.paths[DRIVEN, i] = (1.0 - w) * road.paths[DRIVEN, i] + w * road.paths[choice.target, i]


class FineRows(NamedTuple):
    """The rows of a plan that a path is written to.

    Attributes:
        line: table of the line, with the path's YAW, CURVATURE and GRIP.
        shapes: (n, 5) `PathShape`.
        speed, acceleration: (n,) m/s, and m/s^2 to the next row.
    """

    line: RoadTable
    shapes: Array
    speed: Array
    acceleration: Array


@jit
def write_path(road: RaceRoad, start: RaceStart, path: PathBuffers, rows: FineRows) -> int:
    """Write a path to the rows of a plan from that of the car on; return how many."""
    table, _, closed = road.line
    n = table.shape[0]
    count = (start.points - 1) * STRIDE
    if not closed:
        count = min(count, n - start.row)
    for k in range(count):
        i = (start.row + k) % n
        j, u = k // STRIDE, (k % STRIDE) / STRIDE
        square = (1.0 - u) * path.speed[j] ** 2 + u * path.speed[j + 1] ** 2
        rows.speed[i] = math.sqrt(square)
        rows.acceleration[i] = (path.speed[j + 1] ** 2 - path.speed[j] ** 2) / (2.0 * path.steps[j])
        for column in range(5):
            rows.shapes[i, column] = (1.0 - u) * path.shapes[j, column] + u * path.shapes[j + 1, column]
        slope = (1.0 - u) * path.slopes[j] + u * path.slopes[j + 1]
        rows.line.table[i, RoadColumn.YAW] = table[i, RoadColumn.YAW] + math.atan(slope)
        rows.line.table[i, RoadColumn.CURVATURE] = rows.shapes[i, 0]
        rows.line.table[i, RoadColumn.GRIP] = rows.shapes[i, 4]
    return count
