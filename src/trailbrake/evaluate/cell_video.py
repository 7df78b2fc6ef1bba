"""`add_videos`: a video of each cell that was recorded."""

from collections.abc import Callable, Sequence
from pathlib import Path

from trailbrake.analysis.lap_video import read_driven_path, write_lap_video
from trailbrake.analysis.video_file import VIDEO_SUFFIXES
from trailbrake.errors import TrailbrakeError
from trailbrake.evaluate.plan import Cell, PlannedCell
from trailbrake.evaluate.result_folder import ResultFolder
from trailbrake.json_types import JsonObject
from trailbrake.record.recording_reader import Recording
from trailbrake.tracks.track_library import load_track


def add_videos(
    rows: Sequence[JsonObject], planned: Sequence[PlannedCell], folder: ResultFolder, say: Callable[[str], None]
) -> None:
    """Write the videos of cells that are there to be judged, and their paths below the folder into "video" of the rows.

    A video that is newer than its recording is kept. What cannot be shown is said, and has no video.

    Args:
        rows: of cells (`evaluation.build_rows`), one for each of `planned`.
        planned: the cells.
        folder: of the evaluation.
        say: takes lines for the user.
    """
    missing = 0
    for row, item in zip(rows, planned, strict=True):
        if item.role != "judged":
            continue
        recording = folder.find_recording(item.cell)
        if not recording.is_file():
            missing += 1
            continue
        try:
            video = _find_newer(folder.find_video(item.cell), recording) or _write_video(item.cell, recording, folder)
        except TrailbrakeError as error:
            say(f"no video: {error}")
            continue
        row["video"] = video.relative_to(folder.path).as_posix()
    if missing:
        say(f"{missing} cells have no recording, and so no video; --again drives them again")


def _find_newer(target: Path, recording: Path) -> Path | None:
    for suffix in VIDEO_SUFFIXES:
        path = target.with_suffix(suffix)
        if path.is_file() and path.stat().st_mtime >= recording.stat().st_mtime:
            return path
    return None


def _write_video(cell: Cell, recording: Path, folder: ResultFolder) -> Path:
    road, title = load_track(cell.track).road, f"{Path(cell.driver).name}, {cell.car} on {cell.track}"
    return write_lap_video(folder.find_video(cell), road, read_driven_path(Recording.open(recording)), title)
