"""What a report shows along a lap beside its channels: the names of corners, and the camera's pictures."""

import base64

import numpy as np

from trailbrake.analysis.corners import find_line_corners, find_recorded_track, title_corners
from trailbrake.analysis.lap_location import choose_line
from trailbrake.analysis.lap_traces import LapTraces
from trailbrake.analysis.reference_line import Array
from trailbrake.errors import DataError
from trailbrake.json_types import JsonObject
from trailbrake.record.recording_reader import Recording

PICTURES_PER_LAP = 120  # at most: 10 kB each in a page
MAX_PICTURES = 360


def describe_corners(recording: Recording, shown: LapTraces) -> list[JsonObject]:
    """Return the corners of the road, numbered and named as in a comparison; none where there are no positions.

    "entry", "apex" and "exit" are places on the grid of the laps (m).
    """
    try:
        line = (common := choose_line([recording])).line
    except DataError:
        return []
    paths = [shown.plan] if shown.plan is not None else [lap.channels for lap in shown.laps if lap.finished]
    if line is None or not paths or not np.isfinite(paths[0]["x"] + paths[0]["y"]).any():
        return []
    corners = title_corners(find_line_corners(line), common, find_recorded_track(recording.about.get("track")))

    def place(at: float) -> float:
        x, y = (np.interp(at, line.s, values) for values in (line.x, line.y))
        return round(float(np.nanargmin(np.hypot(paths[0]["x"] - x, paths[0]["y"] - y))) * shown.step, 2)

    return [
        {"number": corner.number, "name": corner.label, "title": corner.name, "entry": place(corner.entry),
         "apex": place(corner.apex), "exit": place(corner.exit)}
        for corner in corners
    ]  # fmt: skip


def choose_pictures(recording: Recording, shown: LapTraces) -> list[dict[str, list[int | str]]]:
    """Return pictures of each lap: "at", indices of the grid, rising, and "data", addresses that hold the picture."""
    found: list[dict[str, list[int | str]]] = [{"at": [], "data": []} for _ in shown.laps]
    time, undone = recording.race_times, recording.undone
    spacing = shown.count / min(PICTURES_PER_LAP, MAX_PICTURES / max(len(shown.laps), 1))
    due = [0.0] * len(shown.laps)
    for picture in recording.pictures():
        for i, lap in enumerate(shown.laps):
            if undone[picture.row] or not lap.rows.start <= picture.row < lap.rows.stop:
                continue
            at = _find_index(lap.channels["time"], float(time[picture.row] - time[lap.rows.start]))
            if at >= due[i]:
                due[i] = at + spacing
                kind = "png" if picture.data.startswith(b"\x89PNG") else "jpeg"
                found[i]["at"].append(at)
                found[i]["data"].append(f"data:image/{kind};base64,{base64.b64encode(picture.data).decode()}")
    return found


def _find_index(times: Array, at: float) -> int:
    """Return the last place of the grid that was passed at a time (s) since the lap began."""
    return max(int(np.count_nonzero(times <= at)) - 1, 0)
