"""`report`: a recording as one HTML file."""

import sys
from pathlib import Path

from trailbrake.cli.output import Json, print_json


def report(recording: Path, *, out: Path | None = None, json: Json = False) -> None:
    """Write the report of a recording: one HTML file that needs no network.

    Args:
        recording: the recording, an .mcap file.
        out: where to write; default beside the recording.
        json: print one JSON object on stdout.
    """
    from trailbrake.analysis.report import write_report
    from trailbrake.record.reader import Recording

    opened = Recording.open(recording)
    path = write_report(opened, out)
    if opened.truncated:
        print(f"trailbrake: {recording}: the recording was cut off; the report holds what is left", file=sys.stderr)
    if json:
        print_json({"recording": str(recording), "report": str(path)})
    else:
        print(path)
