"""Kernels that turn rows of `Feature` into observations, rewards and ends, as a `TaskSpec` declares them."""

import math
from typing import NamedTuple

from trailbrake.arrays import Array, Ints, Rows
from trailbrake.kernels import jit
from trailbrake.observe.features import Feature
from trailbrake.observe.parts import MAX_SCALED
from trailbrake.tracks.frenet import RoadTable
from trailbrake.tracks.road_columns import RoadColumn

CURVATURE_TERM = -1  # in place of a row of `Feature`: curvature of the centreline at a distance ahead
RELATIVE_SPEED_SCALE = 20.0  # m/s, for the velocity of another car relative to the own car


class TaskTables(NamedTuple):
    """A `TaskSpec` as its kernels take it: two tables, and how many of their lines are what.

    First come the numbers of the observation that are features or curvatures ahead, then the rewards, then the ends.

    Attributes:
        codes: (lines, 2) int64: row of `Feature` or CURVATURE_TERM, and place in the observation (0 for rewards, ends).
        values: (lines, 2) float64: of a number the reciprocal of its scale and the distance ahead (m), of a reward its
            weight and 0, of an end its limit and the reward added to that of the step.
        feature_count: number of lines that are numbers of the observation.
        reward_count: number of lines behind those that are rewards.
        time_limit: s since the start, at which an episode is truncated.
        remembers: whether an observation has what the car felt (`felt_features`).
    """

    codes: Ints
    values: Array
    feature_count: int
    reward_count: int
    time_limit: float
    remembers: bool


class NearestCars(NamedTuple):
    """The part `NearestCarsPart` of an observation.

    Attributes:
        group_size: number of consecutive cars that share a world.
        nearest: number of nearest cars to describe, 7 numbers each.
        reach: m; cars further away do not count.
        first_column: place of the first number in the observation.
    """

    group_size: int
    nearest: int
    reach: float
    first_column: int


@jit
def curvature_at(table: Array, closed: bool, position: float) -> float:
    """Return the curvature (1/m) at `position` (rows): `frenet.column_at` without its divisions."""
    n = table.shape[0]
    if closed:
        while position >= n:
            position -= n
        while position < 0.0:
            position += n
        i = min(int(position), n - 1)
        j = i + 1 if i + 1 < n else 0
    else:
        position = min(max(position, 0.0), n - 1.0)
        i = min(int(position), n - 2)
        j = i + 1
    u = position - i
    value: float = table[i, RoadColumn.CURVATURE] + u * (
        table[j, RoadColumn.CURVATURE] - table[i, RoadColumn.CURVATURE]
    )
    return value


@jit
def write_features(features: Array, task: TaskTables, road: RoadTable, out: Rows, lo: int, hi: int) -> None:
    """Write the numbers of the parts `FeaturePart` and `CurvaturePart` of the cars `lo`..`hi` - 1.

    Args:
        features: (Feature.COUNT, n or more), all rows up to date.
        task: the numbers to write.
        road: the road.
        out: (n, width) written at the places in `task`.
        lo: first car.
        hi: last car + 1.
    """
    per_spacing = 1.0 / road.spacing
    for k in range(task.feature_count):
        row, place, gain = task.codes[k, 0], task.codes[k, 1], task.values[k, 0]
        if row == CURVATURE_TERM:
            ahead = task.values[k, 1]
            for car in range(lo, hi):
                value = curvature_at(road.table, road.closed, (features[Feature.S, car] + ahead) * per_spacing)
                out[car, place] = min(max(value * gain, -MAX_SCALED), MAX_SCALED)
        else:
            column = features[row]
            for car in range(lo, hi):
                out[car, place] = min(max(column[car] * gain, -MAX_SCALED), MAX_SCALED)


@jit
def compute_rewards(features: Array, task: TaskTables, rewards: Array, ends: Ints, lo: int, hi: int) -> None:
    """Write the rewards and the ends of the cars `lo`..`hi` - 1.

    Args:
        features: (Feature.COUNT, n or more), all rows up to date.
        task: the rewards and ends.
        rewards: (n,) written.
        ends: (n,) written: 0 while the episode goes on, k > 0 for the k-th end, the first whose limit is exceeded, -1
            where the time limit truncates the episode.
        lo: first car.
        hi: last car + 1.
    """
    codes, values = task.codes, task.values
    first = task.feature_count + task.reward_count
    for car in range(lo, hi):
        total = 0.0
        for k in range(task.feature_count, first):
            total += values[k, 0] * features[codes[k, 0], car]
        end = -1 if features[Feature.TIME, car] >= task.time_limit else 0
        for k in range(first, codes.shape[0]):
            if features[codes[k, 0], car] > values[k, 0]:
                end = k - first + 1
                total += values[k, 1]
                break
        rewards[car] = total
        ends[car] = end


@jit
def write_nearest_cars(features: Array, part: NearestCars, out: Rows, lo: int, hi: int) -> None:
    """Write the part `NearestCarsPart` of the cars `lo`..`hi` - 1.

    Args:
        features: (Feature.COUNT, n or more) of all cars of their worlds.
        part: what to write.
        out: (n, width) written, `7 * part.nearest` columns.
        lo: first car.
        hi: last car + 1.
    """
    group_size, count, reach, first_column = part
    for car in range(lo, hi):
        begin = car // group_size * group_size
        x, y, yaw = features[Feature.X, car], features[Feature.Y, car], features[Feature.YAW, car]
        c, s = math.cos(yaw), math.sin(yaw)
        passed, last = -1.0, -1  # squared distance and number of the car written last
        for k in range(count):
            best, nearest = reach * reach, -1
            for other in range(begin, begin + group_size):
                dx, dy = features[Feature.X, other] - x, features[Feature.Y, other] - y
                far = dx * dx + dy * dy
                later = far > passed or (far == passed and other > last)
                if other != car and later and far < best:
                    best, nearest = far, other
            at_k = first_column + 7 * k
            if nearest < 0:
                for i in range(at_k, first_column + 7 * count):
                    out[car, i] = 0.0
                break
            passed, last = best, nearest
            dx, dy = features[Feature.X, nearest] - x, features[Feature.Y, nearest] - y
            turned = features[Feature.YAW, nearest] - yaw
            ct, st = math.cos(turned), math.sin(turned)
            vx, vy = features[Feature.VELOCITY_X, nearest], features[Feature.VELOCITY_Y, nearest]
            out[car, at_k] = 1.0
            out[car, at_k + 1] = (c * dx + s * dy) / reach
            out[car, at_k + 2] = (c * dy - s * dx) / reach
            out[car, at_k + 3] = min(
                max((ct * vx - st * vy - features[Feature.VELOCITY_X, car]) / RELATIVE_SPEED_SCALE, -MAX_SCALED),
                MAX_SCALED,
            )
            out[car, at_k + 4] = min(
                max((st * vx + ct * vy - features[Feature.VELOCITY_Y, car]) / RELATIVE_SPEED_SCALE, -MAX_SCALED),
                MAX_SCALED,
            )
            out[car, at_k + 5] = st
            out[car, at_k + 6] = ct
