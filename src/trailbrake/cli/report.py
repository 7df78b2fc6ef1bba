"""`report`: a recording as one HTML file."""

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

    path = write_report(recording, out or recording.with_suffix(".html"))
    if json:
        print_json({"recording": str(recording), "report": str(path)})
    else:
        print(path)
