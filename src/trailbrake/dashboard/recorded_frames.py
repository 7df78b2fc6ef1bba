"""`RecordedFrames`: the rows of a recording by the time since its start, its laps, and the path that was driven.

Nothing is read before it is shown, but the times, which come from the file's index. Nothing is held in memory but
these, the stretches of the path that were shown, and some blocks of rows around the places that were read last.
"""

import math
from collections import OrderedDict
from dataclasses import dataclass

import numpy as np

from trailbrake.arrays import Array
from trailbrake.dashboard.lap_follower import SAMPLE_COLUMNS, LapPath
from trailbrake.errors import DataError
from trailbrake.observe.path_curvature import PathBend, find_path_bend
from trailbrake.record.recording_reader import Recording
from trailbrake.record.row_reader import RecordedColumns
from trailbrake.state.tables import CONTROL_COLUMNS, STATE_COLUMNS
from trailbrake.tracks.road import Road

BLOCK_ROWS = 256
KEPT_BLOCKS = 96  # of rows: some 40 MB
MAX_GAP_S = 2.0  # s; a longer pause of the simulator's clock takes this long in a replay
PATH_INTERVAL_S = 1.0 / 25.0  # s between the rows of which paths and ghosts are made
MAX_PATH_ROWS = 250_000  # of a whole recording
PATH_BLOCK = 1024  # of these rows are read at a time
_PATH_COLUMNS = ("time", "x", "y", "z", "yaw", "speed", "steering_wheel_angle", "lap_time")
_STATE_NAMES = [column.name for column in STATE_COLUMNS]
_CONTROL_NAMES = [column.name for column in CONTROL_COLUMNS]
_SPEED, _YAW_RATE = _STATE_NAMES.index("speed"), _STATE_NAMES.index("yaw_rate")


@dataclass(frozen=True)
class ReplayLap:
    """A finished lap of a recording: its number, time (s), validity, and its span in s since the recording's start."""

    number: int
    time_s: float
    valid: bool
    start: float
    end: float


def measure_play_times(times: Array) -> Array:
    """Return s since the first row of rows at simulator times `times` (n,): never falling, without long gaps.

    A clock that runs back (a restart) or that is not known takes no time.
    """
    steps = np.diff(times)
    steps = np.where(np.isfinite(steps) & (steps > 0.0), np.minimum(steps, MAX_GAP_S), 0.0)
    return np.concatenate([[0.0], np.cumsum(steps)])


class RecordedFrames:
    """The frames of a recording.

    Args:
        recording: with one row at least.
        road: its track, for the distance along laps; None where it is not known.

    Attributes:
        times: (n,) s since the start of the recording, of each row.
        laps: the finished laps, in order.
        signals: names of the recorded signals.

    Raises:
        DataError: the recording has no rows.
    """

    def __init__(self, recording: Recording, road: Road | None) -> None:
        self._recording, self._road = recording, road
        if not len(recording):
            raise DataError("the recording has no rows", where=str(recording.path), hint="replay another one")
        self.times = measure_play_times(recording.row_times)
        self.signals = tuple(recording.signals)
        self.laps = [
            ReplayLap(lap.number, lap.time_s, lap.valid, float(self.times[lap.first]), float(self.times[lap.row - 1]))
            for lap in recording.laps
            if math.isfinite(lap.time_s) and lap.time_s > 0.0 and lap.first < lap.row
        ]
        self._blocks: OrderedDict[int, Array] = OrderedDict()
        count = len(self.times)
        typical = self.duration / count if self.duration > 0.0 else PATH_INTERVAL_S
        self._path_step = max(1, round(PATH_INTERVAL_S / typical), math.ceil(count / MAX_PATH_ROWS))  # rows
        self._path_times = self.times[:: self._path_step]
        self._path_blocks: dict[int, Array] = {}
        self._lap_paths: dict[int, LapPath | None] = {}

    @property
    def duration(self) -> float:
        """Length of the recording, s."""
        return float(self.times[-1])

    def row_at(self, position: float) -> int:
        """Return the row at `position` (s since the start): the newest that is not later."""
        return min(max(int(np.searchsorted(self.times, position, side="right")) - 1, 0), len(self.times) - 1)

    def read_row(self, row: int) -> tuple[Array, PathBend]:
        """Return the columns of state, signals and controls of one row, and how tightly the car turned."""
        block = self._blocks.get(row // BLOCK_ROWS)
        if block is None:
            block = self._blocks[row // BLOCK_ROWS] = self._read_block(row // BLOCK_ROWS)
            if len(self._blocks) > KEPT_BLOCKS:
                self._blocks.popitem(last=False)
        self._blocks.move_to_end(row // BLOCK_ROWS)
        values = block[row % BLOCK_ROWS]
        return values, find_path_bend(float(values[_SPEED]), float(values[_YAW_RATE]))

    def _read_block(self, number: int) -> Array:
        return self._stack_columns(slice(number * BLOCK_ROWS, (number + 1) * BLOCK_ROWS))

    def _stack_columns(self, rows: slice) -> Array:
        state, controls, signals = self._recording.read_rows(rows)
        tables: list[tuple[RecordedColumns, list[str]]] = [
            (state, _STATE_NAMES), (signals, list(self.signals)), (controls, _CONTROL_NAMES)
        ]  # fmt: skip
        return np.column_stack([table[name] for table, names in tables for name in names])

    def rows_between(self, start: float, end: float, interval: float) -> list[int]:
        """Return rows from `start` to `end` (s since the recording's start), `interval` s apart, each once."""
        wanted = np.arange(max(start, 0.0), end + 1e-9, interval)
        found = np.unique(np.clip(np.searchsorted(self.times, wanted, side="right") - 1, 0, len(self.times) - 1))
        return [int(row) for row in found]

    def path_before(self, position: float, points: int) -> Array:
        """Return the newest (m <= points, 3) x, y (m, world) and speed (m/s) driven until `position` (s)."""
        end = int(np.searchsorted(self._path_times, position, side="right"))
        known = self._read_path(max(0, end - points), end)[:, [1, 2, 5]]
        return known[np.isfinite(known).all(axis=1)]

    def _read_path(self, first: int, end: int) -> Array:
        """Return (end - first, columns) _PATH_COLUMNS of the rows whose numbers are `first` and so on steps."""
        if first >= end:
            return np.empty((0, len(_PATH_COLUMNS)))
        numbers = range(first // PATH_BLOCK, (end - 1) // PATH_BLOCK + 1)
        path = np.concatenate([self._read_path_block(number) for number in numbers])
        start = numbers[0] * PATH_BLOCK
        return path[first - start : end - start]

    def _read_path_block(self, number: int) -> Array:
        if number not in self._path_blocks:
            start = number * PATH_BLOCK * self._path_step
            rows = slice(start, min(start + PATH_BLOCK * self._path_step, len(self.times)), self._path_step)
            state = self._recording.read_rows(rows, _PATH_COLUMNS).state
            self._path_blocks[number] = np.column_stack([state[name] for name in _PATH_COLUMNS])
        return self._path_blocks[number]

    def lap_path(self, index: int) -> LapPath | None:
        """Return lap `index` of `laps` as a path; None where it has too few points."""
        if index not in self._lap_paths:
            self._lap_paths[index] = self._make_lap_path(self.laps[index])
        return self._lap_paths[index]

    def _make_lap_path(self, lap: ReplayLap) -> LapPath | None:
        first = int(np.searchsorted(self._path_times, lap.start))
        end = int(np.searchsorted(self._path_times, lap.end, side="right"))
        if end - first < 2:
            return None
        rows = np.arange(first, end) * self._path_step
        kept = ~self._recording.undone[rows]
        clock = self._recording.race_times[rows[kept]]
        part, clock = self._read_path(first, end)[kept], clock - clock[:1]
        samples = np.column_stack([clock, self.measure_distances(part[:, 1], part[:, 2]), part[:, 1:7]])
        assert samples.shape[1] == len(SAMPLE_COLUMNS)
        return LapPath.from_samples(lap.number, lap.time_s, samples)

    def measure_distances(self, x: Array, y: Array) -> Array:
        """Return m along the road of the points of one lap; the way driven where the road is not known."""
        if self._road is None or not np.isfinite(x + y).all():
            steps = np.nan_to_num(np.hypot(np.diff(x), np.diff(y)))
            return np.concatenate([[0.0], np.cumsum(steps)])
        places = self._road.locate_many(np.column_stack([x, y]))[:, 0]
        if self._road.closed:
            length = self._road.length
            places = np.unwrap(places, period=length)
            places -= length * round(float(places[0]) / length)
        return places
