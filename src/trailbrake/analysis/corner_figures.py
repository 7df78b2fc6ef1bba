"""What a lap does in a corner: where it brakes, turns in and opens the throttle, and how fast it is.

All places are found between the recorded rows, so that they do not depend on the grid of the charts.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from trailbrake.analysis.corners import Corner
from trailbrake.analysis.lap_location import LocatedLap
from trailbrake.arrays import Array

BRAKE_ON = 0.05  # of the pedal
DECELERATION_ON = 2.0  # m/s^2, where there is no pedal
SHORTEST_BRAKING = 0.05  # s; shorter is a touch of the pedal
JOINED_BRAKING = 0.3  # s without brake inside of one braking
THROTTLE_ON = 0.2  # of the pedal
THROTTLE_FULL = 0.95
TURN_IN = 0.3  # of the corner's largest steer
AROUND_S = 0.3  # s before a change of gear and behind it, over which the deceleration is measured that is there anyway
UNSHIFTED_S, SHIFTED_S = 0.05, 0.45  # s before and behind a recorded change, between which it brakes the wheels


@dataclass(frozen=True)
class CornerFigures:
    """One lap in one corner. Distances are m along the common line; NaN: there is no such place, or it is not known.

    Attributes:
        time_s: s in the zone.
        brake_point: where the braking for the corner begins.
        brake_end: where it ends.
        brake_peak: largest brake, 0..1.
        turn_in: where the steer passes 30 % of its largest value in the corner.
        min_speed: m/s.
        min_speed_at: where it is driven.
        throttle_point: where the throttle is opened behind the corner.
        full_throttle: where it is fully open.
        least_throttle: smallest throttle, 0..1.
        entry_speed: m/s where the bend begins.
        exit_speed: m/s where the bend ends.
        apex_offset: m to the left of the line at the apex.
        gear: lowest gear in the bend.
        shift_drop: m/s that changing down in the bend takes off beyond the deceleration about it: the wheels drag the
            engine up to the lower gear; 0 where nothing is changed, or the gears are not known.
    """

    time_s: float
    brake_point: float
    brake_end: float
    brake_peak: float
    turn_in: float
    min_speed: float
    min_speed_at: float
    throttle_point: float
    full_throttle: float
    least_throttle: float
    entry_speed: float
    exit_speed: float
    apex_offset: float
    gear: float
    shift_drop: float = 0.0


def measure_corner(lap: LocatedLap, corner: Corner) -> CornerFigures:
    """Return the figures of `lap` in the zone of `corner`."""
    time_s = lap.find_time(corner.end) - lap.find_time(corner.start)
    rows = _cut_rows(lap, corner.start, corner.end)
    if rows.stop - rows.start < 3 or not corner.number:
        return CornerFigures(
            time_s=time_s, brake_point=math.nan, brake_end=math.nan, brake_peak=math.nan, turn_in=math.nan,
            min_speed=math.nan, min_speed_at=math.nan, throttle_point=math.nan, full_throttle=math.nan,
            least_throttle=math.nan, entry_speed=lap_speed(lap, corner.start), exit_speed=lap_speed(lap, corner.end),
            apex_offset=math.nan, gear=math.nan,
        )  # fmt: skip
    s, time = lap.s[rows], lap.time[rows]
    channels = {name: values[rows] for name, values in lap.channels.items()}
    speed = channels["speed"]
    inside: NDArray[np.int64] = np.flatnonzero((s >= corner.entry) & (s <= corner.exit)).astype(np.int64)
    slowest = int(inside[0] + np.nanargmin(speed[inside])) if _is_known(speed[inside]) else len(s) // 2
    brake_point, brake_end, brake_peak = _find_braking(s, time, channels, slowest)
    throttle_point, full = _find_throttle(s, channels["throttle"], slowest)
    gears = channels["gear"][inside]
    return CornerFigures(
        time_s=time_s,
        brake_point=brake_point,
        brake_end=brake_end,
        brake_peak=brake_peak,
        turn_in=_find_turn_in(s, channels["steer"] * corner.sign, inside),
        min_speed=float(speed[slowest]),
        min_speed_at=float(s[slowest]),
        throttle_point=throttle_point,
        full_throttle=full,
        least_throttle=float(np.nanmin(channels["throttle"])) if _is_known(channels["throttle"]) else math.nan,
        entry_speed=lap_speed(lap, corner.entry),
        exit_speed=lap_speed(lap, corner.exit),
        apex_offset=float(lap.interpolate("offset", corner.apex)),
        gear=float(np.nanmin(gears)) if _is_known(gears) else math.nan,
        shift_drop=_measure_shift_drop(lap, corner),
    )


def lap_speed(lap: LocatedLap, at: float) -> float:
    """Return the speed (m/s) of `lap` at a distance (m)."""
    return float(lap.interpolate("speed", at))


def find_slowing(lap: LocatedLap, first: float, entry: float) -> float:
    """Return where `lap` begins to slow down for a bend (m): its highest speed between `first` and `entry`."""
    rows = _cut_rows(lap, first, entry)
    speed = lap.channels["speed"][rows]
    if not _is_known(speed):
        return entry
    top = float(np.nanmax(speed))
    # Its last place: a car at its top speed holds it for a while.
    return float(lap.s[rows][np.flatnonzero(speed >= top - 0.02)[-1]])


def _cut_rows(lap: LocatedLap, first: float, last: float) -> slice:
    return slice(int(np.searchsorted(lap.s, first)), int(np.searchsorted(lap.s, last, side="right")))


def _is_known(values: Array) -> bool:
    return bool(len(values)) and bool(np.isfinite(values).any())


def _cross(s: Array, values: Array, after: int, threshold: float) -> float:
    """Return where `values` passes `threshold` between the row `after` and the one before it."""
    if after == 0:
        return float(s[0])
    before = float(values[after - 1])
    change = float(values[after]) - before
    share = (threshold - before) / change if change else 1.0
    return float(s[after - 1] + min(max(share, 0.0), 1.0) * (s[after] - s[after - 1]))


def _find_braking(s: Array, time: Array, channels: dict[str, Array], slowest: int) -> tuple[float, float, float]:
    """Return where the braking before the slowest place begins and ends, and its peak; NaN without one."""
    pedal, threshold = channels["brake"], BRAKE_ON
    has_pedal = _is_known(pedal)
    if not has_pedal:
        pedal, threshold = -channels["acceleration_x"], DECELERATION_ON
    pressed = np.nan_to_num(pedal) >= threshold
    edges = np.flatnonzero(np.diff(pressed.astype(np.int8), prepend=0, append=0))
    phases: list[list[int]] = []
    for first, stop in edges.reshape(-1, 2).tolist():
        if first > slowest:
            break
        if phases and time[first] - time[phases[-1][1] - 1] <= JOINED_BRAKING:
            phases[-1][1] = stop
        else:
            phases.append([first, stop])
    phases = [p for p in phases if time[p[1] - 1] - time[p[0]] >= SHORTEST_BRAKING]
    if not phases:
        return math.nan, math.nan, 0.0 if has_pedal else math.nan
    force = np.nan_to_num(pedal) * np.gradient(time)
    first, stop = max(phases, key=lambda p: float(force[p[0] : p[1]].sum()))
    end = _cross(s, pedal, stop, threshold) if stop < len(s) else float(s[-1])
    peak = float(np.nanmax(pedal[first:stop])) if has_pedal else math.nan
    return _cross(s, pedal, first, threshold), end, peak


def _find_throttle(s: Array, throttle: Array, slowest: int) -> tuple[float, float]:
    """Return where the throttle is opened behind the slowest place, and where it is full; NaN if never."""
    behind = throttle[slowest:]
    if not _is_known(behind):
        return math.nan, math.nan
    wanted = min(THROTTLE_FULL, 0.9 * float(np.nanmax(behind)))
    open_again = np.flatnonzero(behind >= wanted)
    if wanted <= THROTTLE_ON or not len(open_again):
        return math.nan, math.nan
    lifted = np.flatnonzero(throttle[: slowest + int(open_again[0]) + 1] < THROTTLE_ON)
    if not len(lifted):
        return math.nan, math.nan
    point = _cross(s, throttle, int(lifted[-1]) + 1, THROTTLE_ON)
    full = np.flatnonzero(behind >= THROTTLE_FULL)
    return point, _cross(s, throttle, slowest + int(full[0]), THROTTLE_FULL) if len(full) else math.nan


def _find_turn_in(s: Array, steer: Array, inside: NDArray[np.int64]) -> float:
    """Return where the steer into the corner passes TURN_IN of its largest value, NaN where that is not known."""
    around = steer[inside]
    if not _is_known(around) or not float(np.nanmax(around)) > 0.0:
        return math.nan
    peak = int(inside[0] + np.nanargmax(around))
    threshold = TURN_IN * float(steer[peak])
    below = np.flatnonzero(steer[:peak] < threshold)
    return _cross(s, steer, int(below[-1]) + 1, threshold) if len(below) else math.nan


def _measure_shift_drop(lap: LocatedLap, corner: Corner) -> float:
    """Return the speed (m/s) that changes down between the ends of a bend take off."""
    gear = np.round(lap.channels["gear"])
    changed = np.flatnonzero((np.diff(gear) < 0.0) & (gear[1:] >= 1.0)) + 1
    total = 0.0
    for row in changed[(lap.s[changed] >= corner.entry) & (lap.s[changed] <= corner.exit)].tolist():
        marks = lap.time[row] + np.array([-UNSHIFTED_S - AROUND_S, -UNSHIFTED_S, SHIFTED_S, SHIFTED_S + AROUND_S])
        far, first, last, behind = np.interp(marks, lap.time, lap.channels["speed"]).tolist()
        usual = 0.5 * (far - first + last - behind) / AROUND_S * (SHIFTED_S + UNSHIFTED_S)
        total += max(first - last - usual, 0.0)
    return total
