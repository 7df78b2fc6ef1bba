"""A recording cut into laps, each laid over one common grid of distances.

Distances are along the planned line, or the centre of the road, or what the car has driven: the best that
the recording has. What a simulator did not supply is derived from what it did, or is NaN.
"""

import math
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from trailbrake.analysis.along import Array, Line, driven_distance, locate, make_line
from trailbrake.record.reader import Columns, Recording

SAMPLES = 24_000  # grid points of all laps together; bounds the size of a report
FINEST, COARSEST = 1.0, 5.0  # m, distance between grid points
FEWEST = 300  # of them, before the distance is rounded up to 0.1 m; laps of the miniature world are short
UNFINISHED = 5.0  # s; a shorter stretch behind the last lap is not worth a trace
SMOOTHING = 0.15  # s, of accelerations that have to be derived
SPACING = 0.5  # m between the rows that are located on the line
CHANNELS = (
    "time", "x", "y", "speed", "throttle", "brake", "steer", "gear", "error", "acceleration_x", "acceleration_y",
)  # fmt: skip
NO_PASSING = ("gear",)  # channels that step: never interpolated


@dataclass
class Trace:
    """One lap, or the unfinished stretch behind the last one, on the grid."""

    number: int
    time_s: float
    valid: bool
    finished: bool
    channels: dict[str, Array] = field(default_factory=dict)


@dataclass
class Traces:
    """All laps on one grid.

    Attributes:
        step: grid spacing, m; the grid begins at 0.
        count: grid points.
        laps: the traces that are shown, in the order driven.
        plan: x, y, speed and time of the planned line on the grid, None without one.
        basis: what the distances are along: "planned line", "centre line" or "distance driven".
        derived: names of channels that were not supplied and are derived.
        left_out: laps that are not among `laps`, because there are too many.
    """

    step: float
    count: int
    laps: list[Trace]
    plan: dict[str, Array] | None
    basis: str
    derived: list[str]
    left_out: int


@dataclass
class _Stretch:
    number: int
    time_s: float
    valid: bool
    finished: bool
    rows: slice


def _time(recording: Recording) -> Array:
    time = recording.state["time"]
    good = np.isfinite(time)
    if good.all() or not good.any():
        return np.where(good, time, 0.0)
    index = np.arange(len(time), dtype=np.float64)
    return np.interp(index, index[good], time[good])


def _stretches(recording: Recording, time: Array) -> list[_Stretch]:
    restarts = np.flatnonzero(np.diff(time) < 0.0) + 1
    found, end = [], 0
    for lap in recording.laps:
        first = max([end, *restarts[restarts < lap.row].tolist()])
        first += int(np.searchsorted(time[first : lap.row], lap.end - lap.time_s - 1e-9))
        end = lap.row
        if end - first >= 2:
            found.append(_Stretch(lap.number, lap.time_s, lap.valid, True, slice(first, end)))
    first = max([end, *restarts.tolist()])
    lasted = float(time[-1] - time[first]) if first < len(time) else 0.0
    if len(time) - first >= 2 and (lasted >= UNFINISHED or not found):
        number = max((s.number for s in found), default=0) + 1
        found.append(_Stretch(number, lasted, False, False, slice(first, len(time))))
    return found


def _selected(stretches: list[_Stretch], most: int) -> list[_Stretch]:
    """Keep the first, the last and the fastest where there are more than `most`."""
    if len(stretches) <= most:
        return stretches
    order = sorted(range(1, len(stretches) - 1), key=lambda i: (not stretches[i].valid, stretches[i].time_s))
    keep = {0, len(stretches) - 1, *order[: most - 2]}
    return [s for i, s in enumerate(stretches) if i in keep]


def _smooth(values: Array, time: Array) -> Array:
    step = float(np.median(np.diff(time))) if len(time) > 1 else 0.0
    width = int(SMOOTHING / step) | 1 if step > 0.0 else 1
    if width < 3 or width >= len(values):
        return values
    padded = np.concatenate([np.full(width // 2, values[0]), values, np.full(width // 2, values[-1])])
    return np.convolve(padded, np.full(width, 1.0 / width), "valid")


def _rate(values: Array, time: Array) -> Array:
    span = np.gradient(time)
    return np.gradient(values) / np.where(span > 0.0, span, np.nan)


def _raw_channels(state: Columns, controls: Columns, time: Array, rows: slice) -> tuple[dict[str, Array], set[str]]:
    """Return the channels of a stretch row by row, and which of them are derived."""
    at, derived = time[rows], set()

    def first_known(name: str) -> Array:
        for columns in (state, controls):
            if name in columns and np.isfinite(columns[name][rows]).any():
                return columns[name][rows]
        return np.full(len(at), math.nan)

    raw = {name: first_known(name) for name in ("x", "y", "speed", "throttle", "brake", "steer", "gear")}
    raw["time"] = at
    if not np.isfinite(raw["speed"]).any():
        raw["speed"] = _smooth(np.hypot(_rate(raw["x"], at), _rate(raw["y"], at)), at)
        derived.add("speed")
    for name in ("acceleration_x", "acceleration_y"):
        raw[name] = state[name][rows]
    if not np.isfinite(raw["acceleration_x"]).any():
        raw["acceleration_x"] = _smooth(_rate(raw["speed"], at), at)
        derived.add("acceleration_x")
    if not np.isfinite(raw["acceleration_y"]).any():
        rate = state["yaw_rate"][rows]
        if not np.isfinite(rate).any():
            course = np.arctan2(_smooth(np.gradient(raw["y"]), at), _smooth(np.gradient(raw["x"]), at))
            rate = _smooth(_rate(np.unwrap(course), at), at)
        raw["acceleration_y"] = raw["speed"] * rate
        derived.add("acceleration_y")
    return raw, {name for name in derived if np.isfinite(raw[name]).any()}  # without positions there is no way to


def _thinned(raw: dict[str, Array]) -> NDArray[np.int64]:
    """Return the rows that are worth keeping: some SPACING apart."""
    driven = driven_distance(raw["x"], raw["y"], raw["speed"], raw["time"])
    marks = np.floor(driven / SPACING)
    keep = np.flatnonzero(np.diff(marks, prepend=-1.0) > 0.0)
    return np.unique(np.append(keep, len(driven) - 1))


def _on_grid(raw: dict[str, Array], s: Array, grid: Array) -> dict[str, Array]:
    s = np.maximum.accumulate(s)  # a car that rolls back passes a place once
    outside = (grid < s[0] - COARSEST) | (grid > s[-1] + COARSEST)
    after = np.clip(np.searchsorted(s, grid, side="right") - 1, 0, len(s) - 1)
    channels = {}
    for name in CHANNELS:
        values = raw[name]
        known = values[after] if name in NO_PASSING else np.interp(grid, s, values)
        channels[name] = np.where(outside, math.nan, known)
    channels["time"] = channels["time"] - raw["time"][0]
    return channels


def _reference(recording: Recording) -> tuple[Line | None, str]:
    plan, road = recording.plan, recording.road_map
    closed = road.closed if road is not None else None
    if plan is not None and (line := make_line(plan.x, plan.y, closed)) is not None:
        return line, "planned line"
    if road is not None and (line := make_line(road.centre[:, 0], road.centre[:, 1], closed)) is not None:
        return line, "centre line"
    return None, "distance driven"


def _distances(line: Line | None, raw: dict[str, Array]) -> tuple[Array, Array]:
    if line is None or not np.isfinite(raw["x"] + raw["y"]).any():
        driven = driven_distance(raw["x"], raw["y"], raw["speed"], raw["time"])
        return driven, np.full(len(driven), math.nan)
    return locate(line, raw["x"], raw["y"])


def _origin(line: Line, starts: list[float]) -> float:
    """Return where on a closed line the laps begin, as far as that is not at its first point anyway."""
    angles = np.array(starts) * (2.0 * math.pi / line.length)
    origin = math.atan2(np.sin(angles).mean(), np.cos(angles).mean()) * line.length / (2.0 * math.pi)
    return origin if abs(origin) > 20.0 else 0.0


def _plan_on_grid(recording: Recording, origin: float, grid: Array, closed: bool) -> dict[str, Array] | None:
    plan = recording.plan
    line = make_line(plan.x, plan.y, closed) if plan is not None else None
    if plan is None or line is None:
        return None
    at = grid + origin
    at = at % line.length if line.closed else at
    arc = np.concatenate([[0.0], np.cumsum(np.hypot(np.diff(plan.x), np.diff(plan.y)))])
    period = line.length if line.closed else None
    speed = np.interp(at, arc, plan.speed, period=period)
    pace = 1.0 / np.maximum(speed, 0.5)
    time = np.concatenate([[0.0], np.cumsum(0.5 * (pace[1:] + pace[:-1]) * np.diff(grid))])
    return {"x": np.interp(at, line.s, line.x), "y": np.interp(at, line.s, line.y), "speed": speed, "time": time}


def traces(recording: Recording, most: int = 12) -> Traces:
    """Cut `recording` into laps and lay at most `most` of them over one grid. It must have rows."""
    time = _time(recording)
    every = _stretches(recording, time)
    chosen = _selected(every, most)
    line, basis = _reference(recording)
    derived: set[str] = set()
    located: list[tuple[dict[str, Array], Array]] = []
    for stretch in chosen:
        raw, missing = _raw_channels(recording.state, recording.controls, time, stretch.rows)
        derived |= missing
        kept = _thinned(raw)
        raw = {name: values[kept] for name, values in raw.items()}
        s, raw["error"] = _distances(line, raw)
        located.append((raw, s))
    origin = 0.0
    if line is not None and line.closed:
        starts = [float(s[0]) for stretch, (_, s) in zip(chosen, located, strict=True) if stretch.finished]
        origin = _origin(line, starts) if starts else 0.0
        # Every lap begins within half a round of the origin.
        located = [(raw, s - origin - line.length * round((s[0] - origin) / line.length)) for raw, s in located]
    longest = max([1.0, *(float(s[-1]) for _, s in located)])
    if line is not None and line.closed and any(stretch.finished for stretch in chosen):
        longest = line.length
    step = min(COARSEST, max(min(FINEST, longest / FEWEST), longest * len(chosen) / SAMPLES))
    step = math.ceil(step * 10.0) / 10.0
    count = min(int(longest / step) + 1, SAMPLES)
    grid: Array = np.arange(count, dtype=np.float64) * step
    laps = [
        Trace(c.number, c.time_s, c.valid, c.finished, _on_grid(raw, s, grid))
        for c, (raw, s) in zip(chosen, located, strict=True)
    ]
    plan = _plan_on_grid(recording, origin, grid, line is not None and line.closed)
    return Traces(step, count, laps, plan, basis, sorted(derived), len(every) - len(chosen))
