"""`DriveResult`: the summary of a drive, as `drive --json` prints it, with shortcuts for a notebook."""

from functools import cached_property
from pathlib import Path
from typing import Any

from trailbrake.analysis.drive_picture import draw_recording
from trailbrake.analysis.lap_table import format_lap_time
from trailbrake.errors import TrailbrakeError
from trailbrake.json_types import JsonObject
from trailbrake.pages.rendering import escape_html
from trailbrake.record import Recording
from trailbrake.record.recording_reader import RecordedLaps
from trailbrake.record.run_frame import Telemetry


class DriveResult(JsonObject):
    """The summary of a drive; docs/cli.md has its keys."""

    @cached_property
    def recording(self) -> Recording:
        """The recording; its `path` is the file."""
        return Recording.open(self["recording"])

    @property
    def laps(self) -> RecordedLaps:
        """The laps of the recording: `laps.best().telemetry()["speed"]`."""
        return self.recording.laps

    def to_pandas(self) -> Any:
        """Return the recording as a DataFrame, as `trailbrake.load` does."""
        return Telemetry(self.recording).to_pandas()

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><td>{lap['number']}</td><td>{format_lap_time(lap['time_s'])}</td>"
            f"<td>{'yes' if lap['valid'] else 'no'}</td></tr>"
            for lap in self["laps"]
        )
        place = ", ".join(escape_html(str(self[key])) for key in ("driver", "car", "track") if self[key])
        end = "" if self["ended"] == "done" else f"<p>{escape_html(str(self['ended']))}</p>"
        try:
            picture = draw_recording(self.recording)
        except TrailbrakeError:  # moved away since
            picture = ""
        return (
            f"<table><caption>{place}</caption><thead><tr><th>lap</th><th>time</th><th>valid</th></tr></thead>"
            f"<tbody>{rows}</tbody></table>{end}{picture}<p>{escape_html(Path(self['recording']).name)}</p>"
        )
