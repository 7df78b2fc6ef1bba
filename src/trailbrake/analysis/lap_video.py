"""`write_lap_video`: the best lap of a drive as a video of the map."""

from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from trailbrake.analysis.map_frames import DrivenPath, MapFrames
from trailbrake.analysis.video_file import choose_rate, write_video
from trailbrake.errors import DataError
from trailbrake.record.recording_reader import Recording
from trailbrake.tracks.road import Road

LAST_S = 60.0  # s of a drive without a lap that are shown: how it ended


def read_driven_path(recording: Recording) -> DrivenPath:
    """Return the path of a recording, without rows that have no place."""
    columns = [recording.state[name] for name in ("time", "x", "y", "yaw", "speed")]
    good = np.isfinite(np.stack(columns)).all(axis=0)
    return DrivenPath(*(column[good] for column in columns))


def select_best_lap(road: Road, path: DrivenPath) -> slice:
    """Return the rows of the quickest lap from line to line, or of the last `LAST_S` of a path without one.

    Args:
        road: that was driven; a lap of an open road is no lap from line to line.
        path: that was driven.
    """
    last = slice(int(np.searchsorted(path.time, path.time[-1] - LAST_S)), len(path.time))
    if not road.closed:
        return last
    s = road.locate_many(np.stack([path.x, path.y], axis=1))[:, 0]
    crossings = np.flatnonzero(np.diff(s) < -0.5 * road.length) + 1
    laps = [slice(int(a), int(b) + 1) for a, b in pairwise(crossings)]
    return min(laps, key=lambda lap: float(path.time[lap.stop - 1] - path.time[lap.start]), default=last)


def write_lap_video(target: Path, road: Road, path: DrivenPath, title: str) -> Path:
    """Write the best lap of a path as a video, in real time, and return the file.

    Args:
        target: of the video; `video_file.write_video` chooses its ending.
        road: that was driven.
        path: that was driven.
        title: shown in the video.

    Raises:
        UsageError: it cannot be written.
        DataError: there is nothing to show.
    """
    if len(path.time) < 2 or not path.time[-1] > path.time[0]:
        raise DataError("no drive to show", where=title)
    rows = select_best_lap(road, path)
    shown = DrivenPath(*(column[rows] for column in path))
    left, right = road.edge_lines()
    rate = choose_rate()
    return write_video(target, _draw_frames(MapFrames(left, right, road.closed, shown, title), shown, rate), rate)


def _draw_frames(frames: MapFrames, path: DrivenPath, rate: int) -> Iterator[NDArray[np.uint8]]:
    moments = np.arange(path.time[0], path.time[-1], 1.0 / rate)
    for row in np.minimum(np.searchsorted(path.time, moments), len(path.time) - 1).tolist():
        yield frames.draw_frame(row)
