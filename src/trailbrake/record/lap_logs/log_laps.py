"""The laps of a lap log: by its beacons, by its lap number and clock, or by the share of the lap.

The time at which the line was crossed is, in this order, that of a beacon, that of the lap clock behind it, or
interpolated between the two samples beside it: by the share of the lap, else at the place where all laps of the log
cross. Without any of these, a line is chosen where the car was quickest on a stretch that it passed several times.
"""

import math
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from trailbrake.arrays import Array
from trailbrake.laps import JUMP, MOVING_SPEED, START_WINDOW, LapRecord

CLOCK_NOISE = 0.05  # s that a stated lap time and the time between two crossings may differ, and one sample
LINE_REACH = 25.0  # m beside a chosen start line within which it is crossed
SHOWN_SOON = 3.0  # s after the line within which a game shows the time of the lap
WHOLE_SHARE = 0.9  # of the length of the longest lap
OFF_TRACK, IN_PITS = (0.0,), (1.0, 2.0)  # surfaces of iRacing's irsdk_TrkLoc
NO_LAP = -1  # of samples in no lap
MAX_LINE_SPREAD = 30.0  # m between the places at which a log begins and ends laps
MIN_LAP_S, MIN_LAP_M = 10.0, 200.0
_MAX_SPEED, _MIN_JUMP = 150.0, 20.0  # m/s, m: a place further on was not driven to


class Crossing(NamedTuple):
    """The line was crossed at `time` (s) into the lap `number`; the first sample behind it is `row`."""

    time: float
    row: int
    number: int


class FoundLaps(NamedTuple):
    """The laps of a log, in order, and notes on them."""

    laps: list[LapRecord]
    notes: list[str]


def find_laps(columns: dict[str, Array], beacons: list[float], lap_times: dict[int, float]) -> FoundLaps:
    """Return the finished laps.

    Args:
        columns: of the log; `time` (s), and lap, lap_time, lap_share, x, y where it has them.
        beacons: s at which laps ended.
        lap_times: s by lap number, as the log lists them.
    """
    time, notes = columns["time"], []
    step = float(np.median(np.diff(time)))
    if beacons:
        inside = [beacon for beacon in beacons if time[0] < beacon <= time[-1] + step]
        crossings = [Crossing(b, int(np.searchsorted(time, b)), k + 1) for k, b in enumerate(sorted(inside))]
        notes.append(f"laps end at the {len(crossings)} beacons of the log")
    elif len(np.unique(columns.get("lap", time[:1]))) > 1:
        crossings = _cross_by_number(columns | {"lap": _count_pulses(columns["lap"])})
        notes.append("laps by the lap number of the log")
    elif "lap_share" in columns and np.isfinite(columns["lap_share"]).any():
        crossings = _cross_by_share(columns)
        notes.append("laps by the share of the lap in the log")
    elif "x" in columns and "y" in columns:
        crossings, text = _cross_chosen_line(columns)
        notes.append(text)
    else:
        return FoundLaps([], ["no lap number, no beacons and no positions: there are no laps"])
    laps = _mark_short_laps(columns, _join_crossings(columns, crossings, lap_times, step))
    if not laps:
        notes.append("no finished lap")
    return FoundLaps(laps, notes)


def _join_crossings(
    columns: dict[str, Array], crossings: list[Crossing], lap_times: dict[int, float], step: float
) -> list[LapRecord]:
    """Return the laps between crossings, and that before the first one if it begins at the line."""
    laps = []
    begun = _find_begin(columns, crossings)
    if begun is not None and begun.number == 0 and "lap" not in columns:  # laps of our own count begin with 1
        begun, crossings = begun._replace(number=1), [each._replace(number=each.number + 1) for each in crossings]
    for before, after in zip([begun, *crossings], crossings, strict=False):
        if before is None or after.number not in (before.number + 1, NO_LAP):
            continue
        lasted = after.time - before.time
        stated = lap_times.get(before.number, _find_shown_time(columns, after.row))
        if abs(stated - lasted) <= CLOCK_NOISE + 2.0 * step:
            lasted = stated
        if not lasted > 0.0:  # NaN: it was broken off
            continue
        reason = _judge_rows(columns, slice(max(before.row - 1, 0), after.row + 1))
        laps.append(LapRecord(before.number, lasted, not reason, (), reason, 0.0, 0, after.time))
    return laps


def _mark_short_laps(columns: dict[str, Array], laps: list[LapRecord]) -> list[LapRecord]:
    """Return the laps; those of less distance than the longest do not count: a clock that began before the line."""
    time = columns["time"]
    driven = np.concatenate([[0.0], np.cumsum(np.nan_to_num(columns["speed"][1:]) * np.diff(time))])
    lengths = [float(np.diff(np.interp([lap.end - lap.time_s, lap.end], time, driven))[0]) for lap in laps]
    return [
        lap if length >= WHOLE_SHARE * max(lengths) or not lap.valid
        else replace(lap, valid=False, invalid_reason=f"not a whole lap, {length:.0f} m")
        for lap, length in zip(laps, lengths, strict=True)
    ]  # fmt: skip


def _find_shown_time(columns: dict[str, Array], row: int) -> float:
    """Return the time of the last lap that the log shows soon after `row`, s; NaN where it shows none that is new."""
    shown = columns.get("last_lap_time")
    if shown is None or row >= len(shown):
        return math.nan
    soon = int(np.searchsorted(columns["time"], columns["time"][row] + SHOWN_SOON))
    changed = np.flatnonzero(shown[row:soon] != shown[row - 1])
    return float(shown[row + changed[0]]) if len(changed) else math.nan


def _find_begin(columns: dict[str, Array], crossings: list[Crossing]) -> Crossing | None:
    """Return the begin of the lap in which the log begins, where that is known; None: it is an out lap or unknown."""
    if not crossings:
        return None
    first, time = crossings[0], columns["time"]
    for name in ("lap_time", "lap_share"):
        if name not in columns or not np.isfinite(columns[name][0]):
            continue
        value = float(columns[name][0])
        if name == "lap_time":
            return Crossing(float(time[0]) - value, 0, first.number - 1) if value < 1.0 else None
        pace = float(np.median(np.diff(columns[name][:20]))) / float(np.median(np.diff(time[:20])))
        return Crossing(float(time[0]) - value / pace, 0, first.number - 1) if value < 0.01 and pace > 0.0 else None
    if "x" not in columns:
        return None
    at = np.clip(first.row, 0, len(time) - 1)
    gap = math.hypot(columns["x"][0] - columns["x"][at], columns["y"][0] - columns["y"][at])
    is_start = gap <= (START_WINDOW if columns["speed"][0] < MOVING_SPEED else 2.0)
    return Crossing(float(time[0]), 0, first.number - 1) if is_start else None


def _judge_rows(columns: dict[str, Array], rows: slice) -> str:
    """Return why a lap does not count; "" if it does."""
    surface = columns.get("surface", np.empty(0))[rows.start + 1 : rows.stop - 1]  # not beyond the line
    for name, reason in ((OFF_TRACK, "off the track"), (IN_PITS, "in the pits")):
        if np.isin(surface, name).any():
            return reason
    if "x" not in columns:
        return ""
    x, y, time = (columns[name][rows] for name in ("x", "y", "time"))
    known = np.isfinite(x + y)
    if known.sum() < 0.8 * len(x):
        return "positions are missing" if len(x) > 2 else ""
    x, y, time = x[known], y[known], time[known]
    jumps = np.hypot(np.diff(x), np.diff(y)) > _MAX_SPEED * np.diff(time) + _MIN_JUMP
    if jumps.any():
        return JUMP
    return "a gap in the log" if len(time) > 2 and np.diff(time).max() > 2.0 else ""


def _count_pulses(lap: Array) -> Array:
    """Return the number of the lap (n,) where a beacon's channel is a pulse at the line; a lap number as it is."""
    rises, falls = np.diff(lap, prepend=lap[0]) > 0.0, np.diff(lap, prepend=lap[0]) < 0.0
    is_pulse = len(np.unique(lap[np.isfinite(lap)])) == 2 and falls.sum() > 1
    return np.cumsum(rises).astype(np.float64) if is_pulse else lap


def _cross_by_number(columns: dict[str, Array]) -> list[Crossing]:
    lap, time = columns["lap"], columns["time"]
    lap = np.where(np.isfinite(lap), lap, NO_LAP)
    rows = np.flatnonzero(lap[1:] != lap[:-1]) + 1
    times = [math.nan] * len(rows)
    share = columns.get("lap_share")
    clock = columns.get("lap_time")
    for k, row in enumerate(rows.tolist()):
        earlier, later = float(time[row - 1]), float(time[row])
        if share is not None and share[row - 1] > 0.5 > share[row]:
            ahead = 1.0 - float(share[row - 1])
            times[k] = earlier + (later - earlier) * ahead / max(ahead + float(share[row]), 1e-12)
        elif clock is not None and earlier - 1e-6 <= later - float(clock[row]) <= later:
            times[k] = later - float(clock[row])
    if any(t != t for t in times):
        placed = _cross_at_common_line(columns, rows)
        times = [t if t == t else placed[k] for k, t in enumerate(times)]
    return [Crossing(t, row, round(float(lap[row]))) for t, row in zip(times, rows.tolist(), strict=True)]


def _cross_by_share(columns: dict[str, Array]) -> list[Crossing]:
    share, time = columns["lap_share"], columns["time"]
    rows = np.flatnonzero((share[1:] < 0.25) & (share[:-1] > 0.75)) + 1
    ahead = 1.0 - share[rows - 1]
    at = time[rows - 1] + np.diff(time)[rows - 1] * ahead / np.maximum(ahead + share[rows], 1e-12)
    found = [Crossing(float(t), int(row), k + 1) for k, (t, row) in enumerate(zip(at, rows, strict=True))]
    # A log of one lap ends just before the line.
    if share[-1] > 0.98 and len(time) > 20:
        pace = (share[-1] - share[-20]) / (time[-1] - time[-20])
        if pace > 0.0:
            end = float(time[-1] + (1.0 - share[-1]) / pace)
            found.append(Crossing(end, len(time), len(found) + 1))
    return found


def _cross_at_common_line(columns: dict[str, Array], rows: NDArray[np.int64]) -> list[float]:
    """Return the times at which the line was crossed just before `rows`: at the place within all crossings."""
    time = columns["time"]
    middle = 0.5 * (time[rows - 1] + time[rows])
    halfway: list[float] = middle.tolist()
    if "x" not in columns or not len(rows):
        return halfway
    place = columns["x"] + 1j * columns["y"]
    ahead = place[rows] - place[rows - 1]
    good = np.isfinite(ahead) & (np.abs(ahead) > 0.1)
    if not good.any():
        return halfway
    usual = complex(np.median(place[rows[good]].real), np.median(place[rows[good]].imag))
    far = good & (np.abs(place[rows] - usual) > MAX_LINE_SPREAD + np.abs(ahead))  # laps that were broken off
    good &= ~far
    way = complex(ahead[good].sum())
    if not way:  # there and back
        return halfway
    direction = way / abs(way)

    def measure(points: NDArray[np.complex128]) -> Array:
        along: Array = ((points - usual) * np.conj(direction)).real
        return along

    low, high = measure(place[rows - 1])[good], measure(place[rows])[good]
    is_shared = bool(low.max() <= high.min())
    line = 0.5 * float(low.max() + high.min()) if is_shared else 0.5 * float(np.median(low) + np.median(high))
    found = np.where(far, math.nan, middle)
    for k in np.flatnonzero(good).tolist():
        first, stop = max(rows[k] - 3, 0), min(rows[k] + 3, len(time))
        along = measure(place[first:stop])
        if np.isfinite(along).all() and (np.diff(along) > 0.0).all():
            found[k] = np.interp(line, along, time[first:stop])
    if not is_shared:  # lap numbers are late by some samples, all alike, and places are noisy
        late, step = time[rows] - found, time[rows] - time[rows - 1]
        usually = float(np.median(late[good]))
        found = time[rows] - np.clip(late, usually - 0.5 * step, usually + 0.5 * step)
    times: list[float] = found.tolist()
    return times


def _cross_chosen_line(columns: dict[str, Array]) -> tuple[list[Crossing], str]:
    """Return the crossings of a line where the car was quickest, and what to say of it."""
    time, speed = columns["time"], columns["speed"]
    place = columns["x"] + 1j * columns["y"]
    best: list[Crossing] = []
    at = 0j
    order = np.argsort(-np.where(np.isfinite(place), np.nan_to_num(speed), -1.0))
    points: list[complex] = place.tolist()  # single values of NumPy need a C library that wine has not
    tried: list[complex] = []
    for row in order[:: max(1, len(order) // 400)].tolist():
        if not 2 <= row < len(time) - 2 or any(abs(points[row] - other) < 100.0 for other in tried):
            continue
        tried.append(points[row])
        ahead = points[row + 2] - points[row - 2]
        if not abs(ahead) > 0.5:
            continue
        found = _cross_line(place, time, points[row], ahead / abs(ahead))
        if len(found) > max(len(best), 1):
            best, at = found, points[row]
        if len(best) > 2 or len(tried) >= 8:
            break
    if len(best) < 2:
        return [], "no lap number in the log, and no place that the car passed twice: there are no laps"
    where = f"x {at.real:.0f} m, y {at.imag:.0f} m"
    return best, f"no lap number in the log: laps are counted at a line chosen where the car was quickest, {where}"


def _cross_line(place: NDArray[np.complex128], time: Array, at: complex, ahead: complex) -> list[Crossing]:
    offset = (place - at) * np.conj(ahead)
    along, beside = offset.real, np.abs(offset.imag)
    rows = np.flatnonzero((along[:-1] < 0.0) & (along[1:] >= 0.0) & (beside[1:] < LINE_REACH)
                          & (along[1:] - along[:-1] < LINE_REACH)) + 1  # fmt: skip
    moved = np.concatenate([[0.0], np.cumsum(np.nan_to_num(np.abs(np.diff(place))))])
    found: list[Crossing] = []
    for row in rows.tolist():
        share = -along[row - 1] / (along[row] - along[row - 1])
        crossed = float(time[row - 1] + share * (time[row] - time[row - 1]))
        if found and (crossed - found[-1].time < MIN_LAP_S or moved[row] - moved[found[-1].row] < MIN_LAP_M):
            continue
        found.append(Crossing(crossed, row, len(found) + 1))
    return found
