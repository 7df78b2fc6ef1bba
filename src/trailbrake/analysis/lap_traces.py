"""A recording cut into laps, each resampled on one common grid of distances.

Distances are along the planned line, else the centre line of the road, else the path that the car has driven. Channels
that a simulator does not supply are derived from others, or NaN.
"""

import math
from dataclasses import dataclass, field
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from trailbrake.analysis.reference_line import ReferenceLine, driven_distance, locate_points, make_line
from trailbrake.arrays import Array
from trailbrake.observe.path_curvature import path_curvature, yaw_rate_from_positions
from trailbrake.record.recording_reader import Recording
from trailbrake.record.row_reader import RecordedRows
from trailbrake.state.car_state import WHEEL_NAMES

MAX_SAMPLES = 24_000  # grid points of all laps together; bounds the size of a report
FINEST, COARSEST = 1.0, 5.0  # m, distance between grid points
MIN_POINTS = 300  # of them, before the distance is rounded up to 0.1 m; laps of the miniature world are short
MIN_UNFINISHED = 5.0  # s; a shorter part after the last lap is omitted
SMOOTHING = 0.15  # s, of derived accelerations
ROW_SPACING = 0.5  # m between the rows that are located on the line
MAX_SIGNALS = 16  # of a recording that become channels
MAX_ROWS = 400_000  # rows of one lap that are read; of a longer one, every second, third, ...: bounds the memory
STEPPED_CHANNELS = ("gear",)  # channels that step: never interpolated
_PLAIN_CHANNELS = ("x", "y", "speed", "throttle", "brake", "steer", "gear", "driving_line", "engine_speed")
# Channels that are the largest of several columns: of the four wheels.
LARGEST_CHANNELS = {
    name: tuple(f"{wheel}_{name}" for wheel in WHEEL_NAMES)
    for name in ("combined_slip", "slip_ratio", "core_temperature", "disc_temperature")
}
TRACE_COLUMNS = (
    *_PLAIN_CHANNELS, "acceleration_x", "acceleration_y", "yaw_rate", *chain.from_iterable(LARGEST_CHANNELS.values()),
)  # fmt: skip


@dataclass
class LapTrace:
    """One lap, or the unfinished part after the last one, on the grid. Signals are channels by their full names.

    `rows` are those of the recording.
    """

    number: int
    time_s: float
    valid: bool
    finished: bool
    rows: slice
    channels: dict[str, Array] = field(default_factory=dict)


@dataclass
class LapTraces:
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
    laps: list[LapTrace]
    plan: dict[str, Array] | None
    basis: str
    derived: list[str]
    left_out: int


@dataclass
class LapRows:
    """A finished lap, or the unfinished part after the last one, as rows of the recording.

    Attributes:
        end: when it crossed the line, s of `Recording.race_times`; NaN: it did not.
        rows: which; undone ones among them are none of it.
    """

    number: int
    time_s: float
    valid: bool
    end: float
    rows: slice

    @property
    def finished(self) -> bool:
        """Whether it crossed the line."""
        return math.isfinite(self.end)


def split_laps(recording: Recording) -> list[LapRows]:
    """Return the finished laps and the unfinished part after them."""
    time, laps = recording.race_times, recording.laps
    found = [
        LapRows(lap.number, lap.time_s, lap.valid, lap.end, slice(lap.first, lap.row))
        for lap in laps
        if lap.row - lap.first >= 2
    ]
    first = max([laps[-1].row if laps else 0, *(np.flatnonzero(np.diff(time) < 0.0) + 1).tolist()])
    lasted = float(time[-1] - time[first]) if first < len(time) else 0.0
    if len(time) - first >= 2 and (lasted >= MIN_UNFINISHED or not found):
        number = max((s.number for s in found), default=0) + 1
        found.append(LapRows(number, lasted, False, math.nan, slice(first, len(time))))
    return found


def select_laps(stretches: list[LapRows], most: int) -> list[LapRows]:
    """Keep the first, the last and the fastest where there are more than `most`."""
    if len(stretches) <= most:
        return stretches
    order = sorted(range(1, len(stretches) - 1), key=lambda i: (not stretches[i].valid, stretches[i].time_s))
    keep = {0, len(stretches) - 1, *order[: most - 2]}
    return [s for i, s in enumerate(stretches) if i in keep]


def _moving_average(values: Array, time: Array) -> Array:
    step = float(np.median(np.diff(time))) if len(time) > 1 else 0.0
    width = int(SMOOTHING / step) | 1 if step > 0.0 else 1
    if width < 3 or width >= len(values):
        return values
    padded = np.concatenate([np.full(width // 2, values[0]), values, np.full(width // 2, values[-1])])
    return np.convolve(padded, np.full(width, 1.0 / width), "valid")


def _time_derivative(values: Array, time: Array) -> Array:
    span = np.gradient(time)
    return np.gradient(values) / np.where(span > 0.0, span, np.nan)


def read_raw_channels(
    block: RecordedRows, at: Array, *, commands_first: bool = False
) -> tuple[dict[str, Array], set[str]]:
    """Return the channels of a stretch at the times `at`, and which of them are derived.

    Args:
        block: the rows.
        at: their times, s.
        commands_first: pedals, steer and gear are the driver's commands, as in an open-loop replay; else they are what
            the car reports, if it does.
    """
    state, controls, _ = block
    derived = set()

    def first_known(name: str) -> Array:
        for columns in (controls, state) if commands_first else (state, controls):
            if name in columns and np.isfinite(columns[name]).any():
                return columns[name]
        return np.full(len(at), math.nan)

    raw = {name: first_known(name) for name in _PLAIN_CHANNELS}
    raw["time"] = at
    if not np.isfinite(raw["speed"]).any():
        raw["speed"] = _moving_average(np.hypot(_time_derivative(raw["x"], at), _time_derivative(raw["y"], at)), at)
        derived.add("speed")
    for name in ("acceleration_x", "acceleration_y"):
        raw[name] = state[name]
    if not np.isfinite(raw["acceleration_x"]).any():
        raw["acceleration_x"] = _moving_average(_time_derivative(raw["speed"], at), at)
        derived.add("acceleration_x")
    rate = state["yaw_rate"]
    if not np.isfinite(rate).any():
        x, y = _moving_average(raw["x"], at), _moving_average(raw["y"], at)
        rate = _moving_average(yaw_rate_from_positions(x, y, at), at)
    if not np.isfinite(raw["acceleration_y"]).any():
        raw["acceleration_y"] = raw["speed"] * rate
        derived.add("acceleration_y")
    for name, columns in LARGEST_CHANNELS.items():
        known = [np.abs(state[column]) for column in columns if column in state]
        raw[name] = np.fmax.reduce(known) if known else np.full(len(at), math.nan)
    raw["curvature"] = path_curvature(raw["speed"], rate)
    return raw, {name for name in derived if np.isfinite(raw[name]).any()}  # without positions they stay NaN


def select_values(raw: dict[str, Array], rows: NDArray[np.int64]) -> dict[str, Array]:
    """Return the values of some rows of each channel."""
    return {name: values[rows] for name, values in raw.items()}


def _select_rows(raw: dict[str, Array]) -> NDArray[np.int64]:
    """Return the rows to keep: about ROW_SPACING apart."""
    driven = driven_distance(raw["x"], raw["y"], raw["speed"], raw["time"])
    marks = np.floor(driven / ROW_SPACING)
    keep = np.flatnonzero(np.diff(marks, prepend=-1.0) > 0.0)
    return np.unique(np.append(keep, len(driven) - 1))


def _resample_channels(raw: dict[str, Array], s: Array, grid: Array) -> dict[str, Array]:
    s = np.maximum.accumulate(s)  # a car that rolls back passes each place once
    outside = (grid < s[0] - COARSEST) | (grid > s[-1] + COARSEST)
    after = np.clip(np.searchsorted(s, grid, side="right") - 1, 0, len(s) - 1)
    channels = {}
    for name, values in raw.items():
        known = values[after] if name in STEPPED_CHANNELS else np.interp(grid, s, values)
        channels[name] = np.where(outside, math.nan, known)
    channels["time"] = channels["time"] - raw["time"][0]
    return channels


def _reference_line(recording: Recording) -> tuple[ReferenceLine | None, str]:
    plan, road = recording.plan, recording.road_map
    closed = road.closed if road is not None else None
    if plan is not None and (line := make_line(plan.x, plan.y, closed)) is not None:
        return line, "planned line"
    if road is not None and (line := make_line(road.centre[:, 0], road.centre[:, 1], closed)) is not None:
        return line, "centre line"
    return None, "distance driven"


def _locate_rows(line: ReferenceLine | None, raw: dict[str, Array]) -> tuple[Array, Array]:
    if line is None or not np.isfinite(raw["x"] + raw["y"]).any():
        driven = driven_distance(raw["x"], raw["y"], raw["speed"], raw["time"])
        return driven, np.full(len(driven), math.nan)
    return locate_points(line, raw["x"], raw["y"])


def _lap_origin(line: ReferenceLine, starts: list[float]) -> float:
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


def trace_laps(recording: Recording, most: int = 12) -> LapTraces:
    """Cut `recording` into laps and resample at most `most` of them on one grid. It must have rows."""
    time = recording.race_times
    every = split_laps(recording)
    chosen = select_laps(every, most)
    line, basis = _reference_line(recording)
    derived: set[str] = set()
    signals = [*recording.signals][:MAX_SIGNALS]
    located: list[tuple[dict[str, Array], Array]] = []
    for stretch in chosen:
        rows = stretch.rows
        rows = slice(rows.start, rows.stop, max(1, math.ceil((rows.stop - rows.start) / MAX_ROWS)))
        block = recording.read_rows(rows, TRACE_COLUMNS, signals)
        raw, missing = read_raw_channels(block, time[rows])
        derived |= missing
        raw |= block.signals
        raw = select_values(raw, np.flatnonzero(~recording.undone[rows]))
        raw = select_values(raw, _select_rows(raw))
        s, raw["error"] = _locate_rows(line, raw)
        located.append((raw, s))
    origin = 0.0
    if line is not None and line.closed:
        starts = [float(s[0]) for stretch, (_, s) in zip(chosen, located, strict=True) if stretch.finished]
        origin = _lap_origin(line, starts) if starts else 0.0
        # Every lap begins within half a round of the origin.
        located = [(raw, s - origin - line.length * round((s[0] - origin) / line.length)) for raw, s in located]
    longest = max([1.0, *(float(s[-1]) for _, s in located)])
    if line is not None and line.closed and any(stretch.finished for stretch in chosen):
        longest = line.length
    step = min(COARSEST, max(min(FINEST, longest / MIN_POINTS), longest * len(chosen) / MAX_SAMPLES))
    step = math.ceil(step * 10.0) / 10.0
    count = min(int(longest / step) + 1, MAX_SAMPLES)
    grid: Array = np.arange(count, dtype=np.float64) * step
    laps = [
        LapTrace(c.number, c.time_s, c.valid, c.finished, c.rows, _resample_channels(raw, s, grid))
        for c, (raw, s) in zip(chosen, located, strict=True)
    ]
    plan = _plan_on_grid(recording, origin, grid, line is not None and line.closed)
    return LapTraces(step, count, laps, plan, basis, sorted(derived), len(every) - len(chosen))
