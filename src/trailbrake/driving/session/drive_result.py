"""`DriveResult`: the summary of a drive, as `drive --json` prints it, with shortcuts for a notebook."""

from html import escape
from pathlib import Path
from typing import Any

from trailbrake.json_types import JsonObject


class DriveResult(JsonObject):
    """The summary of a drive; docs/cli.md has its keys."""

    @property
    def laps(self) -> list[JsonObject]:
        """The laps: number, time_s, sectors_s, valid and others."""
        laps: list[JsonObject] = self["laps"]
        return laps

    @property
    def recording(self) -> Path:
        """The file of the recording."""
        return Path(self["recording"])

    def to_pandas(self) -> Any:
        """Return the recording as a DataFrame, as `trailbrake.load` does."""
        from trailbrake.record.run_frame import load  # needs pandas, which a drive does not

        return load(self.recording)

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><td>{lap['number']}</td><td>{lap['time_s']:.3f}</td><td>{'yes' if lap['valid'] else 'no'}</td></tr>"
            for lap in self.laps
        )
        place = ", ".join(escape(str(self[key])) for key in ("driver", "car", "track") if self[key])
        end = "" if self["ended"] == "done" else f"<p>{escape(str(self['ended']))}</p>"
        return (
            f"<table><caption>{place}</caption><thead><tr><th>lap</th><th>time s</th><th>valid</th></tr></thead>"
            f"<tbody>{rows}</tbody></table>{end}<p>{escape(self.recording.name)}</p>"
        )
