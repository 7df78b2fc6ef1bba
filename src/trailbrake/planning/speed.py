"""A speed profile for a line: forward and backward passes under the car's g-g-v envelope.

Grade, banking and vertical curvature change what the tyres carry: accelerations are those in the road's plane,
and grip scales with the load normal to it. After Subosits and Gerdes, "From the racetrack to the road", IEEE
Transactions on Intelligent Vehicles 4 (2019), for three-dimensional roads.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from trailbrake.kernels import jit, part
from trailbrake.planning.envelope import Envelope
from trailbrake.units import G

Array = NDArray[np.float64]

TRAIL_BRAKING = 0.12  # share of the braking limit not planned with at full cornering: turning in needs yaw acceleration

PRESSED = 0.75  # grip over load where a road presses the car down: friction falls with load (about 0.1 per load)


@dataclass(frozen=True, eq=False)
class Profile:
    """Speeds along a line.

    Attributes:
        speed: (n,) m/s at the line's rows.
        acceleration: (n,) m/s^2 along the path from each row to the next.
        lap_time: s, one flying lap (closed) or the run from rest to the end (open).
        grip: (n,) 1, share of the steady lateral limit that the lateral acceleration uses.
    """

    speed: Array
    acceleration: Array
    lap_time: float
    grip: Array


@part
def _cell(value: float, first: float, step: float, count: int) -> tuple[int, float]:
    """Return the grid cell of `value` and the share within it, held at the ends."""
    position = (value - first) / step
    if position <= 0.0:
        return 0, 0.0
    if position >= count - 1:
        return count - 2, 1.0
    i = int(position)
    return i, position - i


@jit
def lookup(table: Array, speeds: Array, v: float) -> float:
    """Return table (n,) at speed v, linear."""
    i, u = _cell(v, speeds[0], speeds[1] - speeds[0], speeds.shape[0])
    value: float = (1.0 - u) * table[i] + u * table[i + 1]
    return value


@jit
def lookup2(table: Array, speeds: Array, v: float, share: float) -> float:
    """Return table (n, m) at speed v and share 0..1, bilinear."""
    i, u = _cell(v, speeds[0], speeds[1] - speeds[0], speeds.shape[0])
    j, w = _cell(share, 0.0, 1.0 / (table.shape[1] - 1), table.shape[1])
    low: float = (1.0 - w) * table[i, j] + w * table[i, j + 1]
    high: float = (1.0 - w) * table[i + 1, j] + w * table[i + 1, j + 1]
    return (1.0 - u) * low + u * high


@jit
def demand(
    v: float,
    curvature: float,
    climb: float,
    slope_curvature: float,
    bank: float,
    grip: float,
    speeds: Array,
    load: Array,
) -> tuple[float, float]:
    """Return what a bend asks of the tyres: (lateral acceleration in its plane, factor on grip by load and road).

    Args:
        v: m/s.
        curvature: 1/m, of the path seen from above, positive left.
        climb: dz/ds.
        slope_curvature: 1/m, d(climb)/ds: positive in a dip, which presses the car down.
        bank: rad, ISO 8855 roll, positive right side down: gravity then pulls to the right, against a left bend.
        grip: friction factor of the surface, 1 = dry asphalt.
        speeds: the envelope's grid; with load.
        load: Envelope.load_factor.
    """
    cos_bank, sin_bank = math.cos(bank), math.sin(bank)
    level = G * math.cos(math.atan(climb))
    lateral = v * v * curvature * cos_bank + level * sin_bank
    normal = level * cos_bank - v * v * curvature * sin_bank + v * v * slope_curvature
    air = (lookup(load, speeds, v) - 1.0) * G
    factor = max(normal + air, 0.05 * G) / (G + air)
    return lateral, grip * (factor if factor < 1.0 else factor**PRESSED)


@part
def _corner_speed(
    curvature: float, climb: float, bend: float, bank: float, grip: float, speeds: Array, lateral: Array, load: Array,
    margin: float,
) -> float:  # fmt: skip
    """Return the largest speed (m/s) below which every speed can hold the bend."""
    lo = 0.0
    for k in range(speeds.shape[0]):
        v = speeds[k]
        need, factor = demand(v, curvature, climb, bend, bank, grip, speeds, load)
        if abs(need) > margin * factor * lookup(lateral, speeds, v):
            hi = v
            for _ in range(30):
                mid = 0.5 * (lo + hi)
                need, factor = demand(mid, curvature, climb, bend, bank, grip, speeds, load)
                if abs(need) > margin * factor * lookup(lateral, speeds, mid):
                    hi = mid
                else:
                    lo = mid
            return lo
        lo = v
    return lo


@part
def _reach(
    v: float, row: int, other: int, step: float, rows: Array, speeds: Array, lateral: Array, load: Array, table: Array,
    margin: float, braking: bool,
) -> float:  # fmt: skip
    """Return the speed one row on (braking: one row back) at the limit of drive or brake."""
    # Midway between the rows; what a row alone says would start to brake or to drive a row late.
    curvature, climb = 0.5 * (rows[row, 0] + rows[other, 0]), 0.5 * (rows[row, 1] + rows[other, 1])
    need, factor = demand(v, curvature, climb, rows[row, 2], rows[row, 3], rows[row, 4], speeds, load)
    share = abs(need) / (factor * lookup(lateral, speeds, v))
    limit = lookup2(table, speeds, v, share / margin)
    if braking:
        limit *= 1.0 - TRAIL_BRAKING * min(share, 1.0)
    # Drive may be below 0 (drag at top speed); only what the tyres give scales with load and margin.
    limit = limit * factor * margin if limit > 0.0 else limit
    gravity = G * math.sin(math.atan(climb))
    a = limit + gravity if braking else limit - gravity
    return math.sqrt(max(v * v + 2.0 * a * step, 0.25))


@jit
def passes(
    rows: Array, v: Array, grip: Array, spacing: float, closed: bool, start: float, speeds: Array, lateral: Array,
    load: Array, drive: Array, brake: Array, margin: float,
) -> None:  # fmt: skip
    """Fill in the speeds and grip shares along a line.

    Args:
        rows: (n, 5) curvature 1/m, grade, dgrade/ds 1/m, bank rad, grip of the surface.
        v: (n,) out, m/s.
        grip: (n,) out, share of the lateral limit used.
        spacing: m between rows.
        closed: whether the line closes.
        start: m/s at row 0; negative = flying (closed) or as fast as the row allows (open).
        speeds: the envelope's grid; with lateral, load, drive and brake.
        lateral: see Envelope.
        load: see Envelope.load_factor.
        drive: see Envelope.
        brake: see Envelope.
        margin: share of the envelope to use, 0..1.
    """
    n = rows.shape[0]
    for i in range(n):
        v[i] = _corner_speed(
            rows[i, 0], rows[i, 1], rows[i, 2], rows[i, 3], rows[i, 4], speeds, lateral, load, margin
        )  # fmt: skip
    if start >= 0.0:
        v[0] = min(v[0], start)
    laps = 2 if closed and start < 0.0 else 1  # a flying lap meets its own beginning
    for k in range(laps * n - 1):
        i, j = k % n, (k + 1) % n
        if not closed and j == 0:
            continue
        v[j] = min(v[j], _reach(v[i], i, j, spacing, rows, speeds, lateral, load, drive, margin, False))
    for k in range(laps * n - 1, 0, -1):
        i, j = k % n, (k - 1) % n
        if i == 0 and laps == 1:
            continue  # an open end; and from rest, the standstill at row 0 is no place to brake for
        v[j] = min(v[j], _reach(v[i], i, j, spacing, rows, speeds, lateral, load, brake, margin, True))
    for i in range(n):
        need, factor = demand(v[i], rows[i, 0], rows[i, 1], rows[i, 2], rows[i, 3], rows[i, 4], speeds, load)
        grip[i] = abs(need) / (factor * lookup(lateral, speeds, v[i]))


def profile(rows: Array, spacing: float, closed: bool, car: Envelope, *, start: float, margin: float) -> Profile:
    """Return the fastest speeds along a line within `margin` of the car's envelope.

    Args:
        rows: (n, 5) curvature (1/m), grade (dz/ds), its change (1/m), bank (rad, ISO 8855 roll) and grip (friction
            factor of the surface) per row.
        spacing: m between rows.
        closed: whether the last row is followed by the first.
        car: the envelope.
        start: m/s at the first row; negative for a flying lap.
        margin: share of the envelope to use, 0..1.
    """
    table = np.ascontiguousarray(rows, np.float64)
    speed, grip = np.empty(len(table)), np.empty(len(table))
    passes(
        table,
        speed,
        grip,
        spacing,
        closed,
        start,
        car.speeds,
        car.lateral,
        car.load_factor,
        car.drive,
        car.brake,
        margin,
    )
    following = np.roll(speed, -1) if closed else np.append(speed[1:], speed[-1])
    acceleration = (following**2 - speed**2) / (2.0 * spacing)
    mean = np.maximum(0.5 * (speed + following), 0.1)
    lap_time = float(np.sum(spacing / mean)) if closed else float(np.sum(spacing / mean[:-1]))
    return Profile(speed, acceleration, lap_time, grip)
