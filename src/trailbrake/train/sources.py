"""Sources of training data: recordings with pictures, and folders with a `driving_log.csv`. Read as streams."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from trailbrake.errors import DataError, TrailbrakeError, UsageError
from trailbrake.record.driving_log import LOG_NAME, SkippedRows, read_usable_rows
from trailbrake.record.format import SUFFIX
from trailbrake.record.recording_reader import Recording
from trailbrake.user_files import read_user_file

Floats = NDArray[np.float64]
_MAX_PICTURE_BYTES = 32 << 20


@dataclass(frozen=True)
class Labels:
    """The controls at each row, (n,) each.

    Attributes:
        time: s; NaN where unknown.
        steer: share of the lock, positive left.
        pedal: throttle above 0, brake below; below 0 also where the car backs.
        speed: m/s.
        backs: 1 in reverse gear, else 0.
        corrected: they are an expert's, who did not drive: right even where the car went wrong.
    """

    time: Floats
    steer: Floats
    pedal: Floats
    speed: Floats
    backs: Floats
    corrected: bool = False

    def __len__(self) -> int:
        return len(self.time)


@dataclass
class RecordingSource:
    """A recording of ours.

    Attributes:
        name: the file.
        controls: other steer and pedal for every row, (n, 2): what an expert would have done.
        skipped: rows that could not be read, by reason; filled by `read_labels`.
    """

    path: Path
    controls: Floats | None = None
    skipped: Counter[str] = field(default_factory=Counter)

    @property
    def name(self) -> str:
        """The file."""
        return str(self.path)

    def open_recording(self) -> Recording:
        """Return the recording."""
        return Recording.open(self.path)

    def read_labels(self) -> Labels:
        """Return the controls of all rows."""
        recording = self.open_recording()
        if not any(True for _ in recording.pictures()):
            raise DataError("a recording without pictures", where=self.name,
                            hint="record again without --no-pictures, through a wire with a camera")  # fmt: skip
        controls, state = recording.controls, recording.state
        backs = (controls["gear"] < 0.0).astype(np.float64)  # NaN is no reverse
        steer = controls["steer"]
        pedal = controls["throttle"] * (1.0 - 2.0 * backs) - controls["brake"]
        if self.controls is not None:
            steer, pedal = self.controls.T
            backs = (pedal < 0.0).astype(np.float64)
        steer = np.where(recording.undone, np.nan, steer)
        return Labels(state["time"], steer, pedal, state["speed"], backs, self.controls is not None)

    def read_pictures(self, wanted: Sequence[int]) -> Iterator[tuple[int, bytes]]:
        """Yield (row, encoded picture) of the rows `wanted`, which ascend; those that cannot be read are missing."""
        rows = set(wanted)
        for picture in self.open_recording().pictures():
            if picture.row in rows:
                yield picture.row, picture.data


@dataclass
class LogSource:
    """A folder with a driving log."""

    folder: Path
    skipped: Counter[str] = field(default_factory=Counter)

    @property
    def name(self) -> str:
        """The folder."""
        return str(self.folder)

    def read_labels(self) -> Labels:
        """Return the controls of all rows."""
        skipped, columns = SkippedRows(), np.empty((1024, 5))
        count = 0
        for row in read_usable_rows(self.folder, skipped):
            if count == len(columns):
                columns = np.concatenate([columns, np.empty_like(columns)])
            columns[count] = row.time, row.steer, row.throttle - row.brake, abs(row.speed), row.throttle < 0.0
            count += 1
        self.skipped = skipped.counts
        time, steer, pedal, speed, backs = columns[:count].T
        return Labels(time, steer, pedal, speed, backs)

    def read_pictures(self, wanted: Sequence[int]) -> Iterator[tuple[int, bytes]]:
        """Yield the pictures of the rows `wanted`."""
        rows = set(wanted)
        for number, row in enumerate(read_usable_rows(self.folder, SkippedRows())):
            if number in rows:
                try:
                    yield number, read_user_file(row.picture, "picture", _MAX_PICTURE_BYTES)
                except TrailbrakeError:  # gone since, or too large for a picture
                    continue


TrainingSource: TypeAlias = RecordingSource | LogSource


def find_sources(paths: Sequence[Path]) -> list[TrainingSource]:
    """Return what lies at `paths`: recordings, folders with a driving log, and folders with either in them.

    Raises:
        UsageError: a path with nothing to learn from.
    """
    found: list[TrainingSource] = []
    for path in paths:
        if path.suffix == SUFFIX and path.is_file():
            found.append(RecordingSource(path))
            continue
        here = _find_sources_within(path)
        if not here:
            raise UsageError("nothing to learn from", where=str(path),
                             expected=f"a recording ({SUFFIX}), or a folder with such or with {LOG_NAME}",
                             got="nothing of that" if path.exists() else "no such folder",
                             hint="make one with: trailbrake drive --sim trend --driver lane_sign")  # fmt: skip
        found += here
    return found


def _find_sources_within(folder: Path) -> list[TrainingSource]:
    if (folder / LOG_NAME).is_file():
        return [LogSource(folder)]
    here: list[TrainingSource] = []
    if folder.is_dir():
        for entry in sorted(folder.iterdir()):
            if entry.suffix == SUFFIX and entry.is_file():
                here.append(RecordingSource(entry))
            elif entry.is_dir() and (entry / LOG_NAME).is_file():
                here.append(LogSource(entry))
    return here
