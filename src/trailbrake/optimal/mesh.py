"""Meshes of stages along a road.

The first guess: the minimum-curvature line at the speeds of a point mass.
"""

import math

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from trailbrake.arrays import Array
from trailbrake.optimal.stage import StageParameter
from trailbrake.optimal.transcription import Mesh
from trailbrake.optimal.vehicle_model import VehicleModel
from trailbrake.planning.path_room import PathRoom, find_path_bounds
from trailbrake.tracks.road import Road, RoadColumn
from trailbrake.units import G

TIME_SHARE = 0.7  # of the intervals' measure; the rest is distance
# Curvature (1/m) of the road above which intervals are shorter, in proportion: the trapezoidal rule sees the direction
# of the road rounded off over an interval, and a path near the inside of a hairpin has a kink on the real road.
TIGHT_CURVATURE = 0.04
TIGHT_REACH = 6.0  # m before and behind a tight bend in which intervals are short as well
MIN_ROOM = 0.1  # m between the smallest and the largest offset where a road is narrower than the margins

GUESS_SHARE = 0.85  # share of the tyres' friction that the first guess uses
MIN_GUESS_SPEED = 4.0  # m/s


def mesh_road(road: Road, step: float, room: PathRoom, pace: tuple[Array, Array] | None = None) -> Mesh:
    """Return the mesh of a road.

    Args:
        road: the road.
        step: m, of the mean interval.
        room: that the car needs beside its path.
        pace: s in m and dt/ds in s/m (n,) of a motion along the road: intervals are shorter where it is slow. None for
            equal intervals.
    """
    s = _place_stages(road, step, pace)
    steps = np.diff(s)
    s = s[:-1] if road.closed else s
    before = np.roll(steps, 1) if road.closed else np.append(0.0, steps)
    after = steps if road.closed else np.append(steps, 0.0)
    # The curvature is the mean about a stage, so that the mesh turns by as much as the road.
    start, end = s - 0.5 * before, s + 0.5 * after
    bend = _mean_slope(road, road.column(RoadColumn.YAW), start, end, _turn(road))
    grade = road.column_at(s, RoadColumn.GRADE)
    climb_rate = _mean_slope(road, road.column(RoadColumn.GRADE), start, end, 0.0)
    bank = road.column(RoadColumn.BANK)
    twist = _mean_slope(road, bank, start, end, 0.0)
    twist_rate = _mean_slope(road, _slope(road, bank), start, end, 0.0)
    parameters = np.stack(
        [
            bend,
            grade,
            climb_rate,
            road.column_at(s, RoadColumn.BANK),
            road.column_at(s, RoadColumn.GRIP),
            twist,
            twist_rate,
        ]
    )
    right, left = find_path_bounds(road, s, room)
    middle = 0.5 * (left + right)
    return Mesh(
        s=s,
        steps=steps,
        closed=road.closed,
        parameters=parameters,
        left=np.maximum(left, middle + 0.5 * MIN_ROOM),
        right=np.minimum(right, middle - 0.5 * MIN_ROOM),
    )


def _place_stages(road: Road, step: float, pace: tuple[Array, Array] | None) -> Array:
    """Return the ends (count + 1,) m of intervals: equal shares of distance and time, more of them in tight bends."""
    count = max(round(road.length / step), 12)
    if pace is None:
        equal: Array = np.linspace(0.0, road.length, count + 1)
        return equal
    grid = np.linspace(0.0, road.length, 8 * count + 1)
    values = np.interp(grid, *pace, period=road.length if road.closed else None)
    density = (1.0 - TIME_SHARE + TIME_SHARE * values / values.mean()) * _measure_tightness(road, grid)
    total = np.concatenate([[0.0], np.cumsum(0.5 * (density[1:] + density[:-1]))])
    count = max(round(total[-1] / 8.0), 12)
    places: Array = np.interp(np.linspace(0.0, total[-1], count + 1), total, grid)
    places[-1] = road.length
    return places


def _measure_tightness(road: Road, s: Array) -> Array:
    """Return the largest curvature of the road within TIGHT_REACH of s (n,) m, over TIGHT_CURVATURE, at least 1."""
    curvature = np.abs(road.column(RoadColumn.CURVATURE))
    reach = math.ceil(TIGHT_REACH / road.spacing)
    nearby = sliding_window_view(np.pad(curvature, reach, mode="wrap" if road.closed else "edge"), 2 * reach + 1)
    tightness: Array = np.interp(s, road.stations(), np.maximum(nearby.max(axis=1) / TIGHT_CURVATURE, 1.0))
    return tightness


def _turn(road: Road) -> float:
    """Return the change of the yaw (rad) over a lap; 0 for an open road."""
    if not road.closed:
        return 0.0
    yaw = road.column(RoadColumn.YAW)
    step = road.spacing * 0.5 * (road.table[-1, RoadColumn.CURVATURE] + road.table[0, RoadColumn.CURVATURE])
    return float(2.0 * np.pi * np.round((yaw[-1] + step - yaw[0]) / (2.0 * np.pi)))


def _slope(road: Road, values: Array) -> Array:
    """Return the slope (n,) of a column at the road's rows."""
    if not road.closed:
        slope: Array = np.gradient(values, road.spacing)
        return slope
    return (np.roll(values, -1) - np.roll(values, 1)) / (2.0 * road.spacing)


def _mean_slope(road: Road, values: Array, start: Array, end: Array, lap: float) -> Array:
    """Return the mean slope of a column between `start` and `end` (n,) m; `lap` is the column's change over a lap."""
    rows = road.stations()
    if road.closed:
        length = road.length
        rows = np.concatenate([rows - length, rows, rows + length])
        values = np.concatenate([values - lap, values, values + lap])
    slope: Array = (np.interp(end, rows, values) - np.interp(start, rows, values)) / (end - start)
    return slope


def guess_motion(car: VehicleModel, mesh: Mesh, offset: Array, share: float = GUESS_SHARE) -> dict[str, Array]:
    """Return a first guess of all unknowns, (n,) each, along offsets (n,) m.

    A point mass on the friction circle, with the steering of a bicycle without slip.
    """
    n, steps = len(mesh.s), mesh.steps
    bend = mesh.parameters[StageParameter.CURVATURE]
    slope, turn = _path_slopes(mesh, offset)
    stretch = np.hypot(1.0 - offset * bend, slope)
    heading = np.arctan2(slope, 1.0 - offset * bend)
    curvature = (bend + turn) / stretch
    length = stretch[: len(steps)] * steps
    body = car.body
    grip = share * car.grip_guess * mesh.parameters[StageParameter.GRIP]
    lift = (body.lift_front + body.lift_rear) / body.mass

    def grip_at(k: int, v: float) -> float:
        return float(grip[k] * (G + lift * v * v))

    # Cornering: v^2 k = grip (g + lift v^2).
    room = np.abs(curvature) - grip * lift
    speed = np.minimum(np.sqrt(grip * G / np.maximum(room, 1e-4)), 0.97 * car.top_speed)
    laps = 2 if mesh.closed else 1
    if not mesh.closed:
        speed[0] = MIN_GUESS_SPEED
    for k in range(laps * n - 1):
        i, j = k % n, (k + 1) % n
        if j == 0 and not mesh.closed:
            continue
        v = speed[i]
        left = np.sqrt(max(grip_at(i, v) ** 2 - (v * v * curvature[i]) ** 2, 0.0))
        push = min(float(limit(v)) for limit in car.drive_limits) / body.mass - car.drag * v * v / body.mass
        speed[j] = min(speed[j], np.sqrt(max(v * v + 2.0 * min(0.7 * left, push) * length[i], 9.0)))
    for k in range(laps * n - 1, 0, -1):
        i, j = k % n, (k - 1) % n
        if i == 0 and not mesh.closed:
            continue
        v = speed[i]
        left = np.sqrt(max(grip_at(i, v) ** 2 - (v * v * curvature[i]) ** 2, 0.0))
        speed[j] = min(speed[j], np.sqrt(v * v + 2.0 * left * length[j]))
    speed = np.maximum(speed, MIN_GUESS_SPEED)
    following = np.roll(speed, -1)[: len(steps)]
    accel = (following**2 - speed[: len(steps)] ** 2) / (2.0 * length)
    accel = accel if mesh.closed else np.append(accel, accel[-1])
    pedal = np.clip((accel + car.drag * speed**2 / body.mass) / G, -2.0, 1.0)
    zero = np.zeros(n)
    to_rear = body.wheelbase - body.cg_to_front
    return {
        "offset": offset,
        "heading": heading - to_rear * curvature,
        "speed": speed,
        "side_speed": speed * to_rear * curvature,
        "yaw_rate": speed * curvature,
        "steer": np.clip(body.wheelbase * curvature, -0.9 * car.max_steer, 0.9 * car.max_steer),
        "pedal": pedal,
        "slip_fl": zero, "slip_fr": zero, "slip_rl": zero, "slip_rr": zero,
        "accel_x": accel / G,
        "accel_y": speed**2 * curvature / G,
    }  # fmt: skip


def _path_slopes(mesh: Mesh, offset: Array) -> tuple[Array, Array]:
    """Return d(offset)/ds and its change of direction, 1/m, (n,) each."""
    if mesh.closed:
        step = mesh.steps
        ahead = (np.roll(offset, -1) - offset) / step
        behind = np.roll(ahead, 1)
        mean = 0.5 * (step + np.roll(step, 1))
        return 0.5 * (ahead + behind), (ahead - behind) / mean
    slope = np.gradient(offset, mesh.s)
    return slope, np.gradient(slope, mesh.s)
