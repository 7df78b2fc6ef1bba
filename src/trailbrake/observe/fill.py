"""Kernels that turn rows of `Seen` into observations, rewards and ends, as `Program` has put them together.

A program is two tables. Each line of `codes` (int64) and `values` (float64) is one number of the observation (row of
`Seen` or BEND, place in the observation; one over its usual size, distance ahead), then one reward (row, 0; weight,
0), then one end (row, 0; limit, reward).
"""

import math

import numpy as np
from numpy.typing import NDArray

from trailbrake.kernels import jit
from trailbrake.observe.columns import Seen
from trailbrake.observe.parts import MOST
from trailbrake.tracks.columns import Column

Array = NDArray[np.float64]
Rows = NDArray[np.float32]
Ints = NDArray[np.int64]

BEND = -1  # instead of a row: curvature of the centreline, so far ahead
SPEED = 20.0  # m/s, usual for the speed of one car against another


@jit
def bend(table: Array, closed: bool, position: float) -> float:
    """Return the curvature (1/m) at `position` rows, linear between rows: `frenet.at` without its divisions."""
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
    value: float = table[i, Column.CURVATURE] + u * (table[j, Column.CURVATURE] - table[i, Column.CURVATURE])
    return value


@jit
def fill(
    seen: Array, codes: Ints, values: Array, terms: int, table: Array, spacing: float, closed: bool, out: Rows,
    lo: int, hi: int,
) -> None:  # fmt: skip
    """Write the numbers of the parts `Columns` and `Bends` of the cars `lo`..`hi` - 1.

    Args:
        seen: (Seen.COUNT, n), worked out.
        codes: of the program.
        values: of the program.
        terms: how many of their lines are numbers of the observation.
        table: the road's table.
        spacing: m between its rows.
        closed: whether s wraps round.
        out: (n, width) float32, written at the places of the program.
        lo: first car.
        hi: one past the last.
    """
    per_spacing = 1.0 / spacing
    for k in range(terms):
        row, place, gain = codes[k, 0], codes[k, 1], values[k, 0]
        if row == BEND:
            ahead = values[k, 1]
            for car in range(lo, hi):
                value = bend(table, closed, (seen[Seen.S, car] + ahead) * per_spacing)
                out[car, place] = min(max(value * gain, -MOST), MOST)
        else:
            column = seen[row]
            for car in range(lo, hi):
                out[car, place] = min(max(column[car] * gain, -MOST), MOST)


@jit
def judge(
    seen: Array, codes: Ints, values: Array, terms: int, rewards: int, limit: float, reward: Array, ended: Ints,
    lo: int, hi: int,
) -> None:  # fmt: skip
    """Write the rewards and the ends of the cars `lo`..`hi` - 1.

    Args:
        seen: (Seen.COUNT, n), worked out.
        codes: of the program.
        values: of the program.
        terms: how many of their lines are numbers of the observation.
        rewards: how many of the lines after those are rewards; the rest are ends.
        limit: s since the start at which an episode is cut off.
        reward: (n,) written.
        ended: (n,) written: 0 goes on, k > 0 for the k-th end, the first that is met, -1 for cut off.
        lo: first car.
        hi: one past the last.
    """
    first = terms + rewards
    for car in range(lo, hi):
        total = 0.0
        for k in range(terms, first):
            total += values[k, 0] * seen[codes[k, 0], car]
        why = -1 if seen[Seen.TIME, car] >= limit else 0
        for k in range(first, codes.shape[0]):
            if seen[codes[k, 0], car] > values[k, 0]:
                why = k - first + 1
                total += values[k, 1]
                break
        reward[car] = total
        ended[car] = why


@jit
def others(seen: Array, group: int, count: int, reach: float, out: Rows, place: int, lo: int, hi: int) -> None:
    """Write the part `Others` of the cars `lo`..`hi` - 1.

    Args:
        seen: (Seen.COUNT, n).
        group: so many consecutive cars are in one world.
        count: how many of the nearest cars.
        reach: m.
        out: (n, width) float32, written from column
        place: on.
        lo: first car.
        hi: one past the last.
    """
    for car in range(lo, hi):
        begin = car // group * group
        x, y, yaw = seen[Seen.X, car], seen[Seen.Y, car], seen[Seen.YAW, car]
        c, s = math.cos(yaw), math.sin(yaw)
        passed, last = -1.0, -1  # what was written last: squared distance and car
        for k in range(count):
            best, nearest = reach * reach, -1
            for other in range(begin, begin + group):
                dx, dy = seen[Seen.X, other] - x, seen[Seen.Y, other] - y
                far = dx * dx + dy * dy
                later = far > passed or (far == passed and other > last)
                if other != car and later and far < best:
                    best, nearest = far, other
            at_k = place + 7 * k
            if nearest < 0:
                for i in range(at_k, place + 7 * count):
                    out[car, i] = 0.0
                break
            passed, last = best, nearest
            dx, dy = seen[Seen.X, nearest] - x, seen[Seen.Y, nearest] - y
            turned = seen[Seen.YAW, nearest] - yaw
            ct, st = math.cos(turned), math.sin(turned)
            vx, vy = seen[Seen.VELOCITY_X, nearest], seen[Seen.VELOCITY_Y, nearest]
            out[car, at_k] = 1.0
            out[car, at_k + 1] = (c * dx + s * dy) / reach
            out[car, at_k + 2] = (c * dy - s * dx) / reach
            out[car, at_k + 3] = min(max((ct * vx - st * vy - seen[Seen.VELOCITY_X, car]) / SPEED, -MOST), MOST)
            out[car, at_k + 4] = min(max((st * vx + ct * vy - seen[Seen.VELOCITY_Y, car]) / SPEED, -MOST), MOST)
            out[car, at_k + 5] = st
            out[car, at_k + 6] = ct
