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

from trailbrake.arrays import Array
from trailbrake.cars.ggv_envelope import Envelope
from trailbrake.kernels import internal_jit, jit
from trailbrake.planning.rival_prediction import HORIZON, STEP, STEPS, RivalColumn, find_follow_gap, is_standing
from trailbrake.planning.speed_profile import (
    PathShape,
    interpolate_speed,
    lateral_demand,
    reachable_speed,
    remaining_accelerations,
    row_shape,
    shape_between,
)
from trailbrake.tracks.frenet import RoadTable
from trailbrake.tracks.road_columns import RoadColumn

DRIVEN, LINE, HELD, PASS = 0, 1, 2, 3  # rows of `RaceRoad.paths`; lanes follow
STRIDE = 4  # rows of the line from one point of a path to the next
POINTS = 190  # of a path at most
NO_RETURN = POINTS + 2  # point of a path
STEP_TIMES = (2.0, 3.5)  # s, over which paths change to their target, by turn of plans, ...
HELD_SHARE = 0.6  # ... or this share, to stay where the car is across the road
LEAST_STEP = 40.0  # m, the same, ...
WALKING_STEP, WALKING_SPEED = 12.0, 5.0  # ... m, or this below that speed, m/s, behind a car that stands
RETURN_STEP_TIME = 2.5  # s, over which it is expected to come back to the line after a pass
OFF_LINE_GRIP = 0.03  # share of the grip that is not planned with, a metre or more from the line that laps taught
STEP_GRIP = 0.08  # the same where a path bends away from the line: a car that turns in has not yet its side force
ON_PATH = 0.1  # m, from a path past another, within which it is driven without a step to it
STRAIGHT = 0.003  # 1/m, curvature below which a path asks little of the tyres
CORNER_ROUNDS = 3  # of the iteration for the speed of a bend
COLLISION_COST = 300.0  # m of way, for an overlap of the cars themselves
RISK_COST = 40.0  # m, for an overlap of the places where they may be
CHANGE_COST = 2.0  # m, for another path than the driven one
BEGIN_RISK = 10.0  # m of risk, that count twice for a path past another that is not driven yet; with the square
REVISION_COST = 20.0  # m, the same while a step or a pass is under way: a car that swerves to and fro slides
OFFSET_COST = 0.2  # m for each m from the line at the end
SPEED_VALUE = 1.0  # s: m of way that 1 m/s more at the end of the horizon is worth
RISK_TIME = 4.0  # s, within which overlap counts; with a car that was passed it does up to the horizon, ...
LATE_RISK = 0.25  # ... at least this share
PASS_VALUE = 20.0  # m of way, that it is worth to get past the car ahead: behind it more is lost after the horizon
BEHIND_COST = 40.0  # m, for a path beside the line that does not get past a car ahead within the horizon
OFF_LINE = 0.5  # m, from which a path is beside the line
TOO_FAST_COST = 15.0  # m for each m/s by which the car is too fast for a path
TOO_FAST = 0.2  # m/s, up to which it is not
SIDE_MARGIN = 0.35  # m between the sides of two cars, besides what is not known
NOSE_MARGIN = 0.5  # m between noses and tails, the same
STANDING_GAP = 9.0  # m more, to wait behind one that stands: from there a car can go round it
FOLLOW_BRAKING = 4.0  # m/s^2, by which it is approached, beside its own
FOLLOW_RETURN = 1.0  # 1/s, by which a gap that is too small opens
PASS_SHARE = 0.6  # of the gap to a car ahead, that is kept while a path leads past it
BRAKE_USE = 0.9  # share of the braking limit, for others
YIELD_SPEED = 3.0  # m/s slower than a car beside, to drop behind it
HOLD_RATE = 0.7  # 1/s, by which a gap opens that is held for an attack
HOLD_DROP = 4.0  # m/s slower than the rival at most, for that


class RaceRoad(NamedTuple):
    """What paths are planned on.

    Attributes:
        line: the line, its GRIP column the friction that is planned with.
        shapes: (n, 6) `PathShape` of its rows.
        paths: (PASS + 1 + lanes, n) m left of the line: driven, the line (0), where the car is, past a car, the lanes.
        limits: envelope of the car.
        margin: share of the envelope to use.
        size: m, length and width of the car; others are taken to be as large.
        speeds: (n,) m/s, at which the car drives the line alone; may change.
        pace: share of the speeds that the car could drive.
    """

    line: RoadTable
    shapes: Array
    paths: Array
    limits: Envelope
    margin: float
    size: tuple[float, float]
    speeds: Array
    pace: float = 1.0


class PathBuffers(NamedTuple):
    """A path while it is planned, at each STRIDE of rows.

    Attributes:
        offset: (POINTS + 2,) m left of the line; the first is a point behind the car.
        shapes: (POINTS, 6) `PathShape`.
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


class RaceTraffic(NamedTuple):
    """The others of a plan.

    Attributes:
        rivals: (cars, STEPS, len(RivalColumn)).
        ahead: row of the nearest that is not yet passed; -1 = none.
        hold: (POINTS,) s by which it is followed later than it could be, to have a run on it.
        has_path: whether row PASS of the paths leads past it.
    """

    rivals: Array
    ahead: int
    hold: Array
    has_path: bool


class RaceStart(NamedTuple):
    """Where a plan begins.

    Attributes:
        row: of the line, at the car.
        points: of the path.
        speed: m/s, of the car.
        error: m left of the driven path, of the car.
        target: row of `RaceRoad.paths` that the driven path leads to.
        is_stepping: whether the step to it is under way.
        step_time: s, over which the path changes to another target.
    """

    row: int
    points: int
    speed: float
    error: float
    target: int
    is_stepping: bool
    step_time: float


class RaceChoice(NamedTuple):
    """A path that was chosen.

    Attributes:
        target: row of `RaceRoad.paths`.
        blend: points of the step to it.
        back: point from which on the path is expected to lead back to the line.
        cost: m.
        risk: m, the part of the cost that is overlap.
        is_held_up: whether others make it slower.
    """

    target: int
    blend: int
    back: int
    cost: float
    risk: float
    is_held_up: bool


def make_buffers() -> PathBuffers:
    """Return room for one path."""
    return PathBuffers(np.zeros(POINTS + 2), np.zeros((POINTS, 6)), np.zeros(POINTS), np.zeros(POINTS),
                       np.zeros(POINTS), np.zeros(POINTS))  # fmt: skip


@internal_jit
def wrap_row(row: int, count: int, closed: bool) -> int:
    """Return a row within `count`: wrapped around on a closed line, else clamped to its ends."""
    return row % count if closed else min(max(row, 0), count - 1)


@internal_jit
def smooth_step(u: float) -> float:
    """Return a step from 0 to 1 over u = 0..1 whose slope and curvature are 0 at both ends."""
    if u <= 0.0:
        return 0.0
    return u * u * u * (10.0 + u * (6.0 * u - 15.0)) if u < 1.0 else 1.0


@internal_jit
def _shape_path(road: RaceRoad, start: RaceStart, target: int, steps: tuple[int, int], path: PathBuffers) -> None:
    """Fill in offset, shape and steps of the way from the driven path to row `target` of all.

    Args:
        road: that is driven.
        start: of the path.
        target: row of `RaceRoad.paths`.
        steps: points of the step to it; the point from which on it leads back to the line.
        path: out.
    """
    table, spacing, closed = road.line
    n, h = table.shape[0], STRIDE * spacing
    blend, back = steps
    home = max(int(max(RETURN_STEP_TIME * start.speed, LEAST_STEP) / h), 2)
    for k in range(start.points + 2):
        i = wrap_row(start.row + (k - 1) * STRIDE, n, closed)
        w = smooth_step((k - 1.0) / blend)
        path.offset[k] = (1.0 - w) * road.paths[DRIVEN, i] + w * road.paths[target, i]
        if k > back:
            path.offset[k] *= 1.0 - smooth_step((k - back - 1.0) / home)
    fill_shapes(road, start, path)


@internal_jit
def fill_shapes(road: RaceRoad, start: RaceStart, path: PathBuffers) -> None:
    """Fill in shapes, steps and slopes of the path with the offsets that `path` has."""
    table, spacing, closed = road.line
    n, h = table.shape[0], STRIDE * spacing
    for k in range(start.points):
        i = wrap_row(start.row + k * STRIDE, n, closed)
        before, here, after = path.offset[k], path.offset[k + 1], path.offset[k + 2]
        slope, bend = (after - before) / (2.0 * h), (after - 2.0 * here + before) / (h * h)
        stretch = max(1.0 - road.shapes[i, 0] * here, 0.2)
        for column in range(1, 6):
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
def shape_at(path: PathBuffers, k: int) -> PathShape:
    """Return the shape of a path at its point k."""
    return row_shape(path.shapes, k)


@internal_jit
def fill_free_speeds(road: RaceRoad, start: RaceStart, path: PathBuffers) -> None:
    """Fill in the speeds that the car could drive without others.

    On the line it brakes where it does alone: laps have taught that, and its rows are finer.
    """
    limits, margin, v, begin = road.limits, road.margin, path.free, start.speed / road.pace
    guess, n = max(begin, 10.0), road.speeds.shape[0]
    for k in range(start.points):
        guess = v[k] = _bend_speed(shape_at(path, k), limits, margin, guess)
        row = wrap_row(start.row + k * STRIDE, n, road.line.closed)
        alone = road.speeds[row]
        is_braking = road.speeds[wrap_row(row + 1, n, road.line.closed)] < alone
        if is_braking and abs(path.offset[k + 1]) < ON_PATH:
            v[k] = min(v[k], alone)
    v[0] = min(v[0], max(begin, 1.0))
    for k in range(start.points - 1):
        v[k + 1] = min(
            v[k + 1], reachable_speed(v[k], shape_between(path.shapes, k, k + 1), path.steps[k], limits, margin)
        )
    _brake_in_time(road, start, path)
    for k in range(start.points):
        v[k] *= road.pace


@internal_jit
def _brake_in_time(road: RaceRoad, start: RaceStart, path: PathBuffers) -> None:
    """Lower the free speeds to those from which each later one can be reached by braking."""
    v, limits, margin = path.free, road.limits, road.margin
    for k in range(start.points - 1, 0, -1):
        shape = shape_between(path.shapes, k, k - 1)
        v[k - 1] = min(v[k - 1], reachable_speed(v[k], shape, -path.steps[k - 1], limits, margin))


@internal_jit
def predict_at(rivals: Array, r: int, t: float, column: int) -> float:
    """Return a column of the prediction of rival r after t (s)."""
    position = min(t / STEP, STEPS - 1.001)
    i = int(position)
    value: float = rivals[r, i, column] + (position - i) * (rivals[r, i + 1, column] - rivals[r, i, column])
    return value


@internal_jit
def _blocked_speed(room: float, rival_speed: float) -> float:
    """Return the most speed (m/s) with `room` (m), beyond the gap to hold, to a car ahead."""
    if room > 0.0:
        return max(rival_speed, 0.0) + math.sqrt(2.0 * FOLLOW_BRAKING * room)
    return max(rival_speed + FOLLOW_RETURN * room, 0.0)


@internal_jit
def drive_path(
    road: RaceRoad, start: RaceStart, path: PathBuffers, traffic: RaceTraffic, ways: tuple[int, bool, bool, bool]
) -> tuple[float, float, bool, int]:
    """Fill in the speeds among others; return what became of it.

    That is the worth (m) of the horizon, the risk (m), whether it is held up, and the point from which on the car
    ahead is behind (-1: never). The worth is the way along the line, and the speed at its end. Part of the risk is
    that the car is too fast already.

    Args:
        road: that is driven.
        start: of the path.
        path: with its free speeds; `speed` is filled in.
        traffic: the others.
        ways: row of `RaceRoad.paths` that it leads to (on the line it waits further behind who stands, and on a path
            past another it comes up to that one as closely as is sure); whether it stays behind those that are not
            behind now, wherever they are across the road; whether it keeps the gap that is held for an attack; whether
            it lowers the free speeds of points where it would have to be slower than it can brake to.
    """
    rivals, ahead, hold = traffic.rivals, traffic.ahead, traffic.hold
    goal, yields, holds, plans = ways
    limits, h = road.limits, STRIDE * road.line.spacing
    length, width = road.size
    t, end, risk, held_up, cleared, widest, moved, now = 0.0, 0.0, 0.0, False, -1, 0.0, 0.0, math.inf
    v = path.speed[0] = min(path.free[0], max(start.speed, 1.0))
    for k in range(start.points - 1):
        limit, s, widest = path.free[k + 1], k * h, max(widest, abs(path.offset[k + 1]))
        aside = path.offset[k + 1] + start.error * math.exp(-s / (0.7 * max(v, 10.0)))
        row = wrap_row(start.row + k * STRIDE, road.paths.shape[1], road.line.closed)
        moved = max(moved, abs(path.offset[k + 1] - road.paths[DRIVEN, row]))
        is_followed = moved < OFF_LINE and not start.is_stepping
        for r in range(rivals.shape[0]):
            if is_followed and rivals[r, 0, RivalColumn.AHEAD] < -length:
                continue  # it looks after itself, as long as no other car comes across before it
            gap = predict_at(rivals, r, t, RivalColumn.AHEAD) - s
            beside = max(predict_at(rivals, r, t, RivalColumn.RIGHTMOST) - aside,
                         aside - predict_at(rivals, r, t, RivalColumn.LEFTMOST))  # fmt: skip
            its_speed = predict_at(rivals, r, t, RivalColumn.SPEED)
            nose_gap = NOSE_MARGIN + predict_at(rivals, r, t, RivalColumn.DISTANCE_ERROR)
            blocks = beside < width + SIDE_MARGIN
            if gap > 0.0 and (blocks or yields):
                closed = h * max(1.0 - its_speed / max(v, 1.0), 0.0)  # up to the next point
                kept = find_follow_gap(rivals[r], v)
                room = gap - length - (max(nose_gap, PASS_SHARE * kept) if goal == PASS and r == ahead else kept)
                if goal == LINE and is_standing(rivals, r):
                    room -= STANDING_GAP
                limit = min(limit, _blocked_speed(room - closed, its_speed))
                if k == 0:
                    now = min(now, _blocked_speed(room, its_speed))
            elif yields and rivals[r, 0, RivalColumn.AHEAD] > -0.5 * length and gap > -length:
                limit = min(limit, max(its_speed - YIELD_SPEED, 0.0))
            if r == ahead:
                if cleared < 0 and t < HORIZON and -gap > length + nose_gap:
                    cleared = k
                missing = length + find_follow_gap(rivals[r], v) + hold[k] * v - gap
                if holds and hold[k] > 0.0 and missing > 0.0:
                    limit = min(limit, max(path.free[k + 1] - HOLD_RATE * missing, its_speed - HOLD_DROP))
            apart = abs(gap) - length
            until = HORIZON if gap < 0.0 < rivals[r, 0, RivalColumn.AHEAD] else RISK_TIME
            if t < until and blocks and apart < nose_gap:
                share = max(1.0 - 0.5 * t / RISK_TIME, LATE_RISK)
                if apart < 0.0 and beside < width:
                    risk = max(risk, share * COLLISION_COST)
                elif gap < 0.0 or apart < 0.0:  # behind a car the law of following keeps the gap
                    deep = min((width + SIDE_MARGIN - beside) / SIDE_MARGIN, 1.0)
                    risk = max(risk, share * RISK_COST * deep)
        _, brake = remaining_accelerations(v, shape_at(path, k), limits, 1.0)
        slowest = math.sqrt(max(v * v - 2.0 * BRAKE_USE * max(brake, 0.0) * path.steps[k], 0.0025))
        held_up = held_up or limit < path.free[k + 1] - 0.05
        following = max(min(limit, reachable_speed(v, shape_at(path, k), path.steps[k], limits, road.margin)), slowest)
        took = path.steps[k] / max(0.5 * (v + following), 0.3)
        if plans and following > limit + 0.05:  # too fast for what is ahead there: it has to brake before
            path.free[k + 1] = limit
        if t < HORIZON <= t + took:
            end = s + h * (HORIZON - t) / took
        t += took
        v = path.speed[k + 1] = following
    path.speed[0] = min(path.speed[0], max(start.speed, path.speed[1]), now)  # no creeping to who stands in the way
    if t < HORIZON:
        end = (start.points - 1) * h + v * (HORIZON - t)
    if widest > OFF_LINE and not yields and cleared < 0 and ahead >= 0 and rivals[ahead, 0, RivalColumn.AHEAD] > 0.0:
        risk += BEHIND_COST
    way = end + SPEED_VALUE * v + (PASS_VALUE if cleared >= 0 else 0.0)
    risk += TOO_FAST_COST * max(start.speed - path.free[0] - TOO_FAST, 0.0)
    return way, risk, held_up, cleared


@jit
def plan_race_path(road: RaceRoad, start: RaceStart, traffic: RaceTraffic, path: PathBuffers) -> RaceChoice:
    """Choose a path and leave it, with its speeds, in `path`.

    Each is driven as it leads, staying behind (if it leads to no lane), and back to the line after the car ahead.

    Args:
        road: that is driven.
        start: where the plan begins.
        traffic: the others.
        path: out.
    """
    h, targets = STRIDE * road.line.spacing, road.paths.shape[0]
    home = DRIVEN if start.target == LINE else LINE
    change_cost = REVISION_COST if start.is_stepping or start.target == PASS else CHANGE_COST
    best, best_yields, best_passed = RaceChoice(DRIVEN, 1, NO_RETURN, math.inf, 0.0, False), False, -1
    walks = start.speed < WALKING_SPEED and traffic.ahead >= 0 and is_standing(traffic.rivals, traffic.ahead)
    step = max(int(max(start.step_time * start.speed, WALKING_STEP if walks else LEAST_STEP) / h), 2)
    for target in range(targets):
        if target == start.target and target != DRIVEN:
            continue  # the driven path leads there
        if (target == PASS and not traffic.has_path) or (target == HELD and best.risk == 0.0):
            continue  # there is none, or nothing is to be evaded
        back, cleared = NO_RETURN, -1
        blend = max(int(HELD_SHARE * step), 2) if target == HELD else step
        if target == PASS and abs(road.paths[PASS, start.row] - road.paths[DRIVEN, start.row]) < ON_PATH:
            blend = 2  # it begins here
        for attempt in range(3):
            if (attempt == 1 and target > HELD) or (attempt == 2 and (target == home or cleared < 0)):
                continue
            back = cleared if attempt == 2 else back
            if attempt != 1:
                _shape_path(road, start, target, (blend, back), path)
                fill_free_speeds(road, start, path)
            yields, goal = attempt == 1, start.target if target == DRIVEN else target
            way, risk, held_up, passed = drive_path(road, start, path, traffic, (goal, yields, False, False))
            if yields and risk > 0.0:  # who follows brakes in time
                drive_path(road, start, path, traffic, (goal, True, False, True))
                _brake_in_time(road, start, path)
                way, risk, held_up, passed = drive_path(road, start, path, traffic, (goal, True, False, False))
            cleared = passed if attempt == 0 else cleared
            cost = risk - way + OFFSET_COST * abs(path.offset[start.points])
            cost += change_cost if target != DRIVEN else 0.0
            if target > HELD:
                cost += risk * risk / BEGIN_RISK + (BEHIND_COST if traffic.ahead < 0 else 0.0)
            leads_home = target == home and (target == DRIVEN or not start.is_stepping)
            if leads_home and risk == 0.0 and not held_up:  # nothing is in the way
                return RaceChoice(target, blend, back, cost, risk, held_up)
            if cost < best.cost:
                best, best_yields = RaceChoice(target, blend, back, cost, risk, held_up), yields
                best_passed = passed
    _shape_path(road, start, best.target, (best.blend, best.back), path)
    fill_free_speeds(road, start, path)
    holds = best_passed < 0 and best.risk == 0.0  # no choice is made for the gap that is held
    goal = start.target if best.target == DRIVEN else best.target
    drive_path(road, start, path, traffic, (goal, best_yields, holds, True))
    _brake_in_time(road, start, path)
    drive_path(road, start, path, traffic, (goal, best_yields, holds, False))
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
        shapes: (n, 6) `PathShape`.
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
        for column in range(6):
            rows.shapes[i, column] = (1.0 - u) * path.shapes[j, column] + u * path.shapes[j + 1, column]
        slope = (1.0 - u) * path.slopes[j] + u * path.slopes[j + 1]
        rows.line.table[i, RoadColumn.YAW] = table[i, RoadColumn.YAW] + math.atan(slope)
        rows.line.table[i, RoadColumn.CURVATURE] = rows.shapes[i, 0]
        rows.line.table[i, RoadColumn.GRIP] = rows.shapes[i, 4]
    return count
