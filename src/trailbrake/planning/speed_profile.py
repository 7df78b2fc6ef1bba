"""A speed profile for a line: forward and backward passes under the car's g-g-v envelope.

Grade, banking and vertical curvature change the tyre loads: accelerations are those in the road's plane, and grip
scales with the load normal to it. After Subosits and Gerdes, "From the racetrack to the road", IEEE
Transactions on Intelligent Vehicles 4 (2019), for three-dimensional roads.
"""

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from trailbrake.arrays import Array
from trailbrake.cars.ggv_envelope import Envelope
from trailbrake.kernels import internal_jit, jit
from trailbrake.units import G

COMPRESSION_EXPONENT = (
    0.75  # grip over load where a road presses the car down: friction falls with load (about 0.1 per load)
)


class PathShape(NamedTuple):
    """The shape of a path at one place, and the friction of its surface.

    Attributes:
        curvature: 1/m, of the path seen from above, positive left.
        climb: dz/ds.
        climb_rate: 1/m, d(climb)/ds: positive in a dip, which presses the car down.
        bank: rad, ISO 8855 roll, positive right side down: gravity then pulls to the right, against a left bend.
        grip: friction factor of the surface, 1 = dry asphalt.
        push: m/s^2, that an open rear wing and an electric motor add there to what the engine pulls.
    """

    curvature: float
    climb: float
    climb_rate: float
    bank: float
    grip: float
    push: float = 0.0


class ProfileSettings(NamedTuple):
    """How a profile is planned along the rows of a line.

    Attributes:
        spacing: m between rows.
        closed: whether the last row is followed by the first.
        start: m/s at the first row; negative for a flying lap, or on an open line for any speed that the row allows.
        margin: share of the envelope to use, 0..1.
    """

    spacing: float
    closed: bool
    start: float
    margin: float


@dataclass(frozen=True, eq=False)
class SpeedProfile:
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


@internal_jit
def _grid_cell(value: float, first: float, step: float, count: int) -> tuple[int, float]:
    """Return the grid cell of `value` and the share within it, clamped to the grid."""
    position = (value - first) / step
    if position <= 0.0:
        return 0, 0.0
    if position >= count - 1:
        return count - 2, 1.0
    i = int(position)
    return i, position - i


@jit
def interpolate_speed(table: Array, speeds: Array, v: float) -> float:
    """Return table (n,) at speed v (m/s), linear between the grid `speeds` (n,) and clamped to its ends."""
    i, u = _grid_cell(v, speeds[0], speeds[1] - speeds[0], speeds.shape[0])
    value: float = (1.0 - u) * table[i] + u * table[i + 1]
    return value


@jit
def interpolate_speed_share(table: Array, speeds: Array, v: float, share: float) -> float:
    """Return table (n, m) at speed v (m/s) and share 0..1, bilinear; the shares are an even grid."""
    i, u = _grid_cell(v, speeds[0], speeds[1] - speeds[0], speeds.shape[0])
    j, w = _grid_cell(share, 0.0, 1.0 / (table.shape[1] - 1), table.shape[1])
    low: float = (1.0 - w) * table[i, j] + w * table[i, j + 1]
    high: float = (1.0 - w) * table[i + 1, j] + w * table[i + 1, j + 1]
    return (1.0 - u) * low + u * high


@jit
def lateral_demand(v: float, shape: PathShape, limits: Envelope) -> tuple[float, float]:
    """Return the lateral acceleration (m/s^2) in the road's plane at v (m/s), and the factor on grip by load and road.

    The demand is positive in a left bend. The envelope's lateral limit times the factor is the limit there.
    """
    curvature, climb, climb_rate, bank, grip, _ = shape
    cos_bank, sin_bank = math.cos(bank), math.sin(bank)
    level = G * math.cos(math.atan(climb))
    lateral = v * v * curvature * cos_bank + level * sin_bank
    normal = level * cos_bank - v * v * curvature * sin_bank + v * v * climb_rate
    air = (interpolate_speed(limits.load_factor, limits.speeds, v) - 1.0) * G
    factor = max(normal + air, 0.05 * G) / (G + air)
    return lateral, grip * (factor if factor < 1.0 else factor**COMPRESSION_EXPONENT)


@jit
def remaining_accelerations(v: float, shape: PathShape, limits: Envelope, most_used: float) -> tuple[float, float]:
    """Return the drive and brake limits (m/s^2) beside the cornering at v (m/s) on a path with its grip.

    The brake limit is that beside no more than `most_used` (0..1) of the lateral limit.
    """
    need, factor = lateral_demand(v, shape, limits)
    used = abs(need) / (factor * interpolate_speed(limits.lateral, limits.speeds, v))
    drive = scaled_drive_limit(v, used, limits, shape.grip, shape.push)
    brake = interpolate_speed_share(limits.brake, limits.speeds, v, most_used if most_used < used else used)
    return drive, brake * shape.grip


@internal_jit
def scaled_drive_limit(v: float, share: float, limits: Envelope, factor: float, push: float) -> float:
    """Return the drive limit (m/s^2) at v (m/s) and a share of the lateral limit, with `factor` times the tyres' grip.

    Drag slows the car with any grip: a limit below 0 does not scale. `push` (m/s^2) adds to the engine's pull.
    """
    traction = interpolate_speed_share(limits.traction, limits.speeds, v, share)
    pull = interpolate_speed_share(limits.pull, limits.speeds, v, share)
    return min(traction * factor if traction > 0.0 else traction, pull + push)


@internal_jit
def row_shape(rows: Array, i: int) -> PathShape:
    """Return the shape at row i of `rows` (n, 6)."""
    return PathShape(rows[i, 0], rows[i, 1], rows[i, 2], rows[i, 3], rows[i, 4], rows[i, 5])


@internal_jit
def corner_speed(shape: PathShape, limits: Envelope, margin: float) -> float:
    """Return the largest speed (m/s) up to which every speed stays within `margin` of the lateral limit."""
    speeds, lo = limits.speeds, 0.0
    for k in range(speeds.shape[0]):
        v = speeds[k]
        need, factor = lateral_demand(v, shape, limits)
        if abs(need) > margin * factor * interpolate_speed(limits.lateral, speeds, v):
            hi = v
            for _ in range(30):
                mid = 0.5 * (lo + hi)
                need, factor = lateral_demand(mid, shape, limits)
                if abs(need) > margin * factor * interpolate_speed(limits.lateral, speeds, mid):
                    hi = mid
                else:
                    lo = mid
            return lo
        lo = v
    return lo


@internal_jit
def reachable_speed(v: float, shape: PathShape, step: float, limits: Envelope, margin: float) -> float:
    """Return the speed (m/s) `step` (m) further on at full drive, or, with a negative step, further back at full brake.

    Args:
        v: m/s, at the start of the step.
        shape: of the path there.
        step: m, its sign is the direction.
        limits: of the car.
        margin: share of the envelope to use, 0..1.
    """
    need, factor = lateral_demand(v, shape, limits)
    share = abs(need) / (factor * interpolate_speed(limits.lateral, limits.speeds, v))
    if step < 0.0:
        limit = interpolate_speed_share(limits.brake, limits.speeds, v, share / margin)
        limit *= factor * margin
    else:
        limit = scaled_drive_limit(v, share / margin, limits, factor * margin, shape.push)
    gravity = G * math.sin(math.atan(shape.climb))
    a = limit + gravity if step < 0.0 else limit - gravity
    return math.sqrt(max(v * v + 2.0 * a * abs(step), 0.25))


@internal_jit
def shape_between(rows: Array, i: int, j: int) -> PathShape:
    """Return the shape from row i to row j: midway in curvature and climb, else that of row i.

    With row i's alone, braking and driving would begin a row late.
    """
    curvature, climb = 0.5 * (rows[i, 0] + rows[j, 0]), 0.5 * (rows[i, 1] + rows[j, 1])
    return PathShape(curvature, climb, rows[i, 2], rows[i, 3], rows[i, 4], rows[i, 5])


@jit
def fill_profile(rows: Array, settings: ProfileSettings, limits: Envelope, v: Array, grip: Array) -> None:
    """Fill in the speeds and grip shares along a line.

    Args:
        rows: (n, 6) the `PathShape` of each row.
        settings: spacing and ends of the rows, start speed and margin.
        limits: of the car.
        v: (n,) out, m/s.
        grip: (n,) out, share of the lateral limit used.
    """
    n = rows.shape[0]
    spacing, closed, start, margin = settings
    for i in range(n):
        v[i] = corner_speed(row_shape(rows, i), limits, margin)
    if start >= 0.0:
        v[0] = min(v[0], start)
    laps = 2 if closed and start < 0.0 else 1  # the end of a flying lap meets its own beginning
    for k in range(laps * n - 1):
        i, j = k % n, (k + 1) % n
        if not closed and j == 0:
            continue
        v[j] = min(v[j], reachable_speed(v[i], shape_between(rows, i, j), spacing, limits, margin))
    for k in range(laps * n - 1, 0, -1):
        i, j = k % n, (k - 1) % n
        if i == 0 and laps == 1:
            continue  # an open end; and from rest, the car does not brake for the standstill at row 0
        v[j] = min(v[j], reachable_speed(v[i], shape_between(rows, i, j), -spacing, limits, margin))
    for i in range(n):
        need, factor = lateral_demand(v[i], row_shape(rows, i), limits)
        grip[i] = abs(need) / (factor * interpolate_speed(limits.lateral, limits.speeds, v[i]))


@jit
def refill_profile(
    rows: Array, settings: ProfileSettings, limits: Envelope, window: tuple[int, int], profile: tuple[Array, Array]
) -> None:
    """Plan a part of a line anew.

    Args:
        rows: (n, 6) the `PathShape` of each row.
        settings: as for `fill_profile`; the start speed is that at the part's first row.
        limits: of the car.
        window: first row of the part, and how many.
        profile: (n,) speeds at the part's rows, m/s, and accelerations from them to the next, m/s^2: in and out.
    """
    v, a = profile
    n = rows.shape[0]
    spacing, closed, start, margin = settings
    first, count = window
    count = min(count, n if closed else n - first)
    for k in range(count):
        i = (first + k) % n
        v[i] = corner_speed(row_shape(rows, i), limits, margin)
    v[first] = min(v[first], start)
    for k in range(count - 1):
        i, j = (first + k) % n, (first + k + 1) % n
        v[j] = min(v[j], reachable_speed(v[i], shape_between(rows, i, j), spacing, limits, margin))
    for k in range(count - 1, 0, -1):
        i, j = (first + k) % n, (first + k - 1) % n
        v[j] = min(v[j], reachable_speed(v[i], shape_between(rows, i, j), -spacing, limits, margin))
    for k in range(count - 1):
        i, j = (first + k) % n, (first + k + 1) % n
        a[i] = (v[j] * v[j] - v[i] * v[i]) / (2.0 * spacing)


def compute_profile(
    rows: Array, spacing: float, closed: bool, car: Envelope, *, start: float, margin: float
) -> SpeedProfile:
    """Return the fastest speeds along a line within `margin` of the car's envelope.

    Args:
        rows: (n, 6) the `PathShape` of each row.
        spacing: m between rows.
        closed: whether the last row is followed by the first.
        car: its envelope.
        start: m/s at the first row; negative for a flying lap.
        margin: share of the envelope to use, 0..1.
    """
    table = np.ascontiguousarray(rows, np.float64)
    speed, grip = np.empty(len(table)), np.empty(len(table))
    fill_profile(table, ProfileSettings(spacing, closed, start, margin), car, speed, grip)
    following = np.roll(speed, -1) if closed else np.append(speed[1:], speed[-1])
    acceleration = (following**2 - speed**2) / (2.0 * spacing)
    mean = np.maximum(0.5 * (speed + following), 0.1)
    lap_time = float(np.sum(spacing / mean)) if closed else float(np.sum(spacing / mean[:-1]))
    return SpeedProfile(speed, acceleration, lap_time, grip)
