"""`report`: a recording as one HTML file."""

from pathlib import Path

from trailbrake.cli.output import JsonFlag, OpenFlag, open_page, print_json, print_notice
from trailbrake.cli.runs import find_recording
from trailbrake.cli.terminal_progress import TaskProgress


def report(
    recording: str, *, out: Path | None = None, rate: float = 0.0, open: OpenFlag = False, json: JsonFlag = False
) -> None:
    """Write the report of a recording: one HTML file that needs no network.

    Args:
        recording: an .mcap file, a run by its id, `last`, `best`, a table of Forza packets, or laps of another tool.
        out: where to write; default beside the recording.
        rate: rows a second of a table without a column of time; 0 = 60.
        open: open the report in the browser.
        json: print one JSON object on stdout.
    """
    from trailbrake.analysis.report import write_report
    from trailbrake.driving.drive_files import open_drive

    file = find_recording(recording)
    opened = open_drive(file, rate, print_notice)
    with TaskProgress("reading", wanted=not json) as show:
        opened.show_share = show.show_share
        path = write_report(opened, out or file.with_name(file.name.removesuffix(".gz")).with_suffix(".html"))
    if opened.truncated:
        print_notice(f"trailbrake: {file}: the recording was cut off; the report holds what is left")
    _print_path(file, path, open, json)


def _print_path(recording: Path, path: Path, open: bool, json: bool) -> None:
    open_page(path, open)
    if json:
        print_json({"recording": str(recording), "report": str(path)})
    else:
        print(path)
