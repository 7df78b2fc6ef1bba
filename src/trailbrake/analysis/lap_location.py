"""Laps of several recordings on one line: distance, and time since the start line, at every recorded row.

The times are those of the lap clock. Where the line is the centre of the road, the start line is the normal at its
first point, as it is for the lap timer: the passage is interpolated between two rows, and `clock_error_s` says how far
the time between two passages is from the counted lap time. That difference is spread over the lap.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from trailbrake.analysis.lap_traces import (
    MAX_ROWS,
    TRACE_COLUMNS,
    LapRows,
    read_raw_channels,
    select_laps,
    select_values,
    split_laps,
)
from trailbrake.analysis.reference_line import ReferenceLine, driven_distance, make_line, project_points
from trailbrake.arrays import Array
from trailbrake.errors import DataError
from trailbrake.record.recording_reader import Recording
from trailbrake.record.row_reader import RecordedColumns
from trailbrake.tracks.road import Road
from trailbrake.tracks.road_columns import RoadColumn

ROW_SPACING = 0.2  # m between the rows that are kept, as far as they were recorded
ROWS_BESIDE = 2  # rows before and behind a lap, for the passages of the start line
MAX_CLOCK_ERROR = 0.02  # s; above that the lap was counted at another line than that of the road
EDGE = 3.0  # m beyond the rows of a lap up to which its first and last values hold: games count by whole ticks
FIRST_ROWS = 0.25  # s behind the first row, or behind a restart, within which a lap began there and not at the line
NEAR_ROAD = 8.0  # m, median distance of a lap from the centre of a road that is its own
START_REACH = 25.0  # m from the start of a road within which laps that are counted there begin
DRIVEN_PATH = "path of the best lap"
MAX_GAP = 15.0  # m between the begin and the end of a lap whose path is a round
OTHER_ROAD = 40.0  # m, median distance from the line, above which a lap was driven on another road


@dataclass
class LocatedLap:
    """A lap on the common line.

    Attributes:
        source: index of its recording.
        number: that of the recording, or one more for the unfinished part.
        time_s: s, the counted lap time; of an unfinished lap, how long it lasted.
        valid: whether it counts.
        finished: whether it was finished.
        from_rest: whether it began at a standing start: it has one passage of the line only.
        clock_error_s: s that the time between its two passages of the line is longer than the counted one; NaN where
            there are no two.
        s: m along the line since the start line, never falling, one value per kept row.
        time: s since the lap began, per kept row.
        channels: speed, throttle, brake, steer, gear, x, y, offset, ... per kept row, NaN where they are not known.
    """

    source: int
    number: int
    time_s: float
    valid: bool
    finished: bool
    from_rest: bool
    clock_error_s: float
    s: Array
    time: Array
    channels: dict[str, Array] = field(repr=False)

    def interpolate(self, name: str, at: Array | float) -> Array:
        """Return a channel, or "time", at the distances `at` (m); NaN further than EDGE from what was driven."""
        values = self.time if name == "time" else self.channels[name]
        found = np.interp(at, self.s, values)
        return np.where((np.asarray(at) < self.s[0] - EDGE) | (np.asarray(at) > self.s[-1] + EDGE), math.nan, found)

    def find_time(self, at: float) -> float:
        """Return the time (s) at the distance `at` (m), NaN outside of what was driven."""
        return float(self.interpolate("time", at))


@dataclass
class CommonLine:
    """The line that distances of all laps are along.

    Attributes:
        line: None where there are no positions: distances are those driven.
        length: m of a lap.
        basis: "centre line", "planned line", "path of the best lap" or "distance driven".
        is_timed: whether laps are counted at its first point.
    """

    line: ReferenceLine | None
    length: float
    basis: str
    is_timed: bool


def choose_line(recordings: Sequence[Recording], road: Road | None = None) -> CommonLine:
    """Return the line for laps of `recordings`: the centre of the road, else the plan, else the path of a lap.

    Args:
        recordings: with their roads.
        road: that counts where none is recorded, if the best lap was driven on it.

    Raises:
        DataError: there is no lap in any of them.
    """
    for recording in recordings:
        found = recording.road_map
        if found is not None and (line := make_line(found.centre[:, 0], found.centre[:, 1], found.closed)) is not None:
            return CommonLine(line, line.length, "centre line", True)
    if road is not None and (common := _make_centre_line(recordings, road)) is not None:
        return common
    for recording in recordings:
        plan = recording.plan
        if plan is not None and (line := make_line(plan.x, plan.y)) is not None:
            return CommonLine(line, line.length, "planned line", False)
    return _make_driven_line(recordings)


def _make_centre_line(recordings: Sequence[Recording], road: Road) -> CommonLine | None:
    """Return the centre of a road from where the laps are counted; None where the best lap was not driven on it."""
    raw, _ = _read_best_lap(recordings)
    points = np.column_stack([raw["x"], raw["y"]])
    points = points[np.isfinite(points).all(axis=1)]
    if len(points) < 10:
        return None
    s, offset = road.locate_many(points).T
    if not np.median(np.abs(offset)) <= NEAR_ROAD:
        return None
    x, y = road.column(RoadColumn.X), road.column(RoadColumn.Y)
    is_timed = not road.closed or min(s[0], road.length - s[0]) <= START_REACH
    first = 0 if is_timed else round(float(s[0]) / road.spacing)
    line = make_line(np.roll(x, -first), np.roll(y, -first), road.closed)
    return None if line is None else CommonLine(line, line.length, "centre line", is_timed)


def _read_best_lap(recordings: Sequence[Recording]) -> tuple[dict[str, Array], LapRows]:
    """Return the channels of the fastest lap, and its rows; DataError where there is none."""
    laps = [
        (not lap.finished, not lap.valid, lap.time_s, number, lap)
        for number, recording in enumerate(recordings)
        if len(recording)
        for lap in split_laps(recording)
    ]
    if not laps:
        raise DataError("there is no lap to compare", where=", ".join(str(r.path) for r in recordings))
    *_, number, best = min(laps, key=lambda item: item[:4])
    recording = recordings[number]
    block = recording.read_rows(best.rows, TRACE_COLUMNS, ())
    raw, _ = read_raw_channels(block, recording.race_times[best.rows])
    return select_values(raw, np.flatnonzero(~recording.undone[best.rows])), best


def _make_driven_line(recordings: Sequence[Recording]) -> CommonLine:
    """Return the path of the fastest lap, or only its length where there are no positions."""
    raw, best = _read_best_lap(recordings)
    driven = driven_distance(raw["x"], raw["y"], raw["speed"], raw["time"])
    length = max(float(driven[-1]), 1.0)
    if np.isfinite(raw["x"] + raw["y"]).sum() < 10:
        return CommonLine(None, length, "distance driven", False)
    spacing = max(length / 2000.0, 0.05)
    marks = np.flatnonzero(np.diff(np.floor(driven / spacing), prepend=-1.0) > 0.0)
    place = (raw["x"] + 1j * raw["y"])[marks]
    if best.finished:  # the lap ends beside where it began: without a bend there
        at = raw["time"][marks]
        begin, gap = _find_ends(place, at, best)
        inside = (at > best.end - best.time_s) & (at < best.end)  # rows of slow receivers lie beyond the line
        place = (place - gap * driven[marks] / length)[inside]
        place = np.append(begin, place[np.abs(place - begin) > 0.5 * spacing])
    line = make_line(place.real, place.imag, best.finished or None)
    if line is None:
        return CommonLine(None, length, "distance driven", False)
    return CommonLine(line, line.length, DRIVEN_PATH, False)


def _find_ends(place: NDArray[np.complex128], at: Array, lap: LapRows) -> tuple[complex, complex]:
    """Return where a lap began, and from there to where it ended, x + iy in m; the first point and 0 if not known."""
    if len(place) < 3 or not np.isfinite(place[[0, 1, -2, -1]]).all():
        return complex(place[0]), 0j
    begin, end = (complex(place[k] + (place[m] - place[k]) * (t - at[k]) / (at[m] - at[k]))
                  for k, m, t in ((0, 1, lap.end - lap.time_s), (-1, -2, lap.end)))  # fmt: skip
    return (begin, end - begin) if abs(end - begin) <= MAX_GAP else (complex(place[0]), 0j)


def locate_laps(recording: Recording, source: int, common: CommonLine, most: int) -> list[LocatedLap]:
    """Return at most `most` laps of `recording` on the common line, in the order driven.

    Args:
        recording: the drive.
        source: its index, for the laps.
        common: the line.
        most: laps; of more, the first, the last and the fastest.

    Raises:
        DataError: it was driven on another road.
    """
    if not len(recording):
        return []
    laps = [lap for lap in select_laps(split_laps(recording), most) if lap.rows.stop - lap.rows.start >= 3]
    found = [_locate_lap(recording, source, lap, common) for lap in laps]
    offsets = [np.abs(lap.channels["offset"]) for lap in found]
    if found and common.line is not None:
        every = np.concatenate(offsets)
        every = every[np.isfinite(every)]
        if len(every) and float(np.median(every)) > OTHER_ROAD:
            raise DataError(
                "laps of another road cannot be compared", where=str(recording.path),
                expected="laps near the line of the others", got=f"a median of {np.median(every):.0f} m from it",
                hint="compare drives of one track",
            )  # fmt: skip
    return found


def _locate_lap(recording: Recording, source: int, lap: LapRows, common: CommonLine) -> LocatedLap:
    first, stop, time = lap.rows.start, lap.rows.stop, recording.race_times
    restarts = np.flatnonzero(np.diff(time[: first + 1]) < 0.0)
    stretch = int(restarts[-1]) + 1 if len(restarts) else 0
    from_rest = bool(time[first] - time[stretch] < FIRST_ROWS)
    begin = max(first - ROWS_BESIDE, stretch)
    end = min(stop + ROWS_BESIDE, len(time)) if lap.finished else stop
    while end > stop and time[end - 1] < time[stop - 1]:  # a restart just behind the line
        end -= 1
    stride = max(1, math.ceil((end - begin) / MAX_ROWS))
    rows = slice(begin, end, stride)
    block = recording.read_rows(rows, TRACE_COLUMNS, ())
    raw, _ = read_raw_channels(block, time[rows], commands_first=bool(recording.about.get("open_loop")))
    raw["command_difference"] = _measure_command_difference(block.state, block.controls)
    raw = select_values(raw, np.flatnonzero(~recording.undone[rows]))
    at = raw["time"]
    driven = driven_distance(raw["x"], raw["y"], raw["speed"], at)
    keep = np.flatnonzero(np.diff(np.floor(driven / ROW_SPACING), prepend=-1.0) > 0.0)
    edge = ROWS_BESIDE + 2
    keep = np.unique(np.concatenate([keep, np.arange(min(edge, len(at))), np.arange(max(len(at) - edge, 0), len(at))]))
    raw = select_values(raw, keep)
    at, driven = at[keep], driven[keep]
    s, raw["offset"] = _find_distances(common, raw, driven, lap)
    start, finish, error = _find_passages(s, at, lap, common, from_rest)
    since = at - start
    if math.isfinite(error) and finish > start:
        since = since * (lap.time_s / (finish - start))
    if lap.finished and s[-1] < common.length < s[-1] + ROWS_BESIDE * (s[-1] - s[-2]):  # the log ends with the lap
        share = (common.length - s[-1]) / (s[-1] - s[-2])
        s, since = np.append(s, common.length), np.append(since, since[-1] + share * (since[-1] - since[-2]))
        raw = {name: np.append(values, values[-1]) for name, values in raw.items()}
    return LocatedLap(source, lap.number, lap.time_s, lap.valid, lap.finished, from_rest, error, s, since, raw)


def _measure_command_difference(state: RecordedColumns, controls: RecordedColumns) -> Array:
    """Return how far the commands are from what the car reports of its controls: the largest of the three, 0..2."""
    gaps = [np.abs(controls[name] - state[name]) for name in ("steer", "throttle", "brake")]
    largest: Array = np.fmax.reduce(gaps)
    return largest


def _find_distances(common: CommonLine, raw: dict[str, Array], driven: Array, lap: LapRows) -> tuple[Array, Array]:
    """Return the distance since the start line and the offset from the line, per row."""
    line = common.line
    if line is None or not np.isfinite(raw["x"] + raw["y"]).any():
        first, last = np.interp((lap.end - lap.time_s, lap.end), raw["time"], driven).tolist()
        if not (lap.finished and last > first):
            first, last = 0.0, common.length
        return (driven - first) * common.length / (last - first), np.full(len(driven), math.nan)
    s, offset = project_points(line, raw["x"], raw["y"])
    good = np.isfinite(s)
    s = np.interp(np.arange(len(s)), np.flatnonzero(good), s[good])
    if line.closed:
        s = s - line.length * round(float(s[min(ROWS_BESIDE, len(s) - 1)]) / line.length)
    if common.basis == DRIVEN_PATH and lap.finished and lap.end <= raw["time"][-1]:
        first, last = np.interp((lap.end - lap.time_s, lap.end), raw["time"], s).tolist()
        if max(abs(first), abs(last - line.length)) <= MAX_GAP:  # counted where the best lap was
            s = (s - first) * line.length / (last - first)
    # A car that rolls back passes each place once; the rows before the line may lie behind it.
    return np.maximum.accumulate(s), offset


def _find_passages(
    s: Array, at: Array, lap: LapRows, common: CommonLine, from_rest: bool
) -> tuple[float, float, float]:
    """Return when the lap began and ended (s of simulator time), and the error of the clock (s, NaN: not known)."""
    beside = min(ROWS_BESIDE, len(at) - 1)
    begin = float(at[0] if from_rest else at[beside])
    if not lap.finished:
        known = common.is_timed and not from_rest and s[0] < 0.0 <= s[-1]
        return _find_passage(s, at, int(np.searchsorted(s, 0.0)), 0.0) if known else begin, math.nan, math.nan
    if common.is_timed and s[-1] >= common.length and (from_rest or s[0] < 0.0):
        after = int(np.searchsorted(s, common.length))
        finish = _find_passage(s, at, after, common.length)
        if from_rest:  # the clock may have begun before the first row
            return finish - lap.time_s, finish, math.nan
        start = _find_passage(s, at, int(np.searchsorted(s, 0.0)), 0.0)
        error = (finish - start) - lap.time_s
        if abs(error) <= MAX_CLOCK_ERROR:
            return start, finish, error
    return lap.end - lap.time_s, lap.end, math.nan


def _find_passage(s: Array, at: Array, after: int, place: float) -> float:
    """Return when `place` was passed: between the row `after`, which is not before it, and the one before that."""
    if after == 0:
        return float(at[0])
    step = float(s[after] - s[after - 1])
    share = (place - float(s[after - 1])) / step if step > 0.0 else 1.0
    return float(at[after - 1] + share * (at[after] - at[after - 1]))
