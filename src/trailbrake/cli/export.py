"""`export`: a recording in another format."""

import sys
from pathlib import Path
from typing import Literal

from trailbrake.cli.output import Json, print_json


def export(recording: Path, *, format: Literal["csv"] = "csv", out: Path | None = None, json: Json = False) -> None:
    """Convert a recording. CSV columns are time_s, x_m, y_m, ... as declared in the state tables.

    Args:
        recording: the recording, an .mcap file.
        format: the format to write.
        out: the file to write; default: standard output.
        json: print one JSON object on stdout; needs --out.
    """
    from trailbrake.errors import UsageError
    from trailbrake.record.export import export_csv
    from trailbrake.record.reader import Recording

    if json and out is None:
        raise UsageError(
            "the CSV and the JSON cannot both go to standard output", where="--json", hint="give --out FILE"
        )
    if out is not None and out.resolve() == recording.resolve():
        raise UsageError("the export would overwrite the recording", where=str(out), hint="give another --out")
    opened = Recording.open(recording)
    rows = export_csv(opened, out if out is not None else sys.stdout)
    if opened.truncated:
        print(f"trailbrake: {recording}: the recording was cut off; this is what is left", file=sys.stderr)
    if json:
        print_json({"recording": str(recording), "out": str(out), "rows": rows})
