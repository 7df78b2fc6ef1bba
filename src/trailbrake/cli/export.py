"""`export`: a recording in another format."""

import sys
from pathlib import Path
from typing import Literal

from trailbrake.cli.output import JsonFlag, print_json


def export(
    recording: Path, *, format: Literal["csv", "driving_log"] = "csv", out: Path | None = None, json: JsonFlag = False
) -> None:
    """Convert a recording. CSV columns are time_s, x_m, y_m, ... as declared in the state tables.

    driving_log is a folder with driving_log.csv and IMG/, as camera simulators record; one that is there is added to.

    Args:
        recording: the recording, an .mcap file; the first one of a long drive stands for all its files.
        format: the format to write.
        out: the file or folder to write; default: CSV to standard output.
        json: print one JSON object on stdout; needs --out.
    """
    from trailbrake.errors import UsageError
    from trailbrake.record.csv_export import export_csv
    from trailbrake.record.recording_reader import Recording

    if json and out is None:
        raise UsageError(
            "the CSV and the JSON cannot both go to standard output", where="--json", hint="give --out FILE"
        )
    if format == "driving_log":
        _export_driving_log(recording, out, json)
        return
    opened = Recording.open(recording)
    if out is not None and out.resolve() in [path.resolve() for path in opened.paths]:
        raise UsageError("the export would overwrite the recording", where=str(out), hint="give another --out")
    rows = export_csv(opened, out if out is not None else sys.stdout)
    if opened.truncated:
        print(f"trailbrake: {recording}: the recording was cut off; this is what is left", file=sys.stderr)
    if json:
        print_json({"recording": str(recording), "out": str(out), "rows": rows})


def _export_driving_log(recording: Path, out: Path | None, json: bool) -> None:
    from trailbrake.errors import UsageError
    from trailbrake.record.driving_log_export import export_driving_log
    from trailbrake.record.recording_reader import Recording

    if out is None:
        raise UsageError("a driving log is a folder", where="--format driving_log", hint="give --out FOLDER")
    result = export_driving_log(Recording.open(recording), out)
    if json:
        print_json({"recording": str(recording), "out": str(out), **result})
    else:
        print(f"{result['rows']} rows added to {result['log']}")
