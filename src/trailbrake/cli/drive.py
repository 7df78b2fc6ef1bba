"""`drive`: the main job."""

import contextlib
import math
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Annotated, Any

from cyclopts import Parameter

from trailbrake.analysis.lap_table import format_lap_time
from trailbrake.car_contacts import CarContact
from trailbrake.cli.drive_flags import DriveFlags, find_given
from trailbrake.cli.output import JsonFlag, answer, format_camera, open_page, print_notice, print_table
from trailbrake.dashboard.options import PageOptions
from trailbrake.errors import UsageError
from trailbrake.simulator import AnySimulator

LikeFlag = Annotated[
    str,
    Parameter(
        help="drive again: a recording, a run's id, last, best, or a file of a drive, .toml or .json; in the embedded "
        "world unless --live is given. Other flags change it."
    ),
]


def build_drive_command(simulator: AnySimulator, tokens: Sequence[str] = ()) -> Callable[..., int]:
    """Return the verb with the live flags of `simulator`; `tokens` of the command line tell what is named there."""

    def drive(
        *, flags: Any = None, page: Any = None, live_doors: Any = None, like: LikeFlag = "", json: JsonFlag = False
    ) -> int:
        flags, page = flags or DriveFlags(), page or PageOptions()
        if like:
            from trailbrake.cli.drive_like import drive_like

            return drive_like(like, flags, find_given(tokens), live_doors, page, json=json)
        return run_drive(simulator, flags, live_doors, page, json=json)

    drive.__annotations__["flags"] = Annotated[DriveFlags | None, Parameter(name="*")]
    drive.__annotations__["page"] = Annotated[PageOptions | None, Parameter(name="*", group="Live page")]
    drive.__annotations__["live_doors"] = Annotated[
        simulator.live_options | None, Parameter(name="*", group=f"--live, {simulator.title}")
    ]
    drive.__doc__ = (
        "Drive laps in a simulator with a driver, record them, and write a report.\n\n"
        "Without flags: the embedded world behind the Assetto Corsa wire, the best driver, two laps. The flags of "
        f"--live below are those of {simulator.title}; `trailbrake drive --sim NAME --help` shows another simulator's "
        "(`trailbrake sims` lists them)."
    )
    return drive


def run_drive(simulator: AnySimulator, flags: DriveFlags, live: object, page: PageOptions, *, json: bool) -> int:
    """Drive, print the summary, and return the exit code."""
    from trailbrake.cli.terminal_progress import TerminalProgress
    from trailbrake.driving.session.drive_session import run_setup
    from trailbrake.driving.session.drive_setup import make_setup

    if not ((flags.laps or 0) >= 0 and 0.0 <= flags.seconds < math.inf):
        raise UsageError("no number of laps or seconds", where="--laps, --seconds", expected="0 or more",
                         got=f"{flags.laps or 0}, {flags.seconds:g}")  # fmt: skip
    if live is not None and not flags.live and live != simulator.live_options():
        raise UsageError("flags of a live simulator without one", where="drive", hint="add --live, or leave them out")
    if not page.watch and replace(page, open=False) != PageOptions():
        raise UsageError("flags of the live page without it", where="drive", hint="add --watch, or leave them out")
    # stdout is for the answer: what a driver prints goes to stderr.
    spec = flags.make_spec(live)
    if page.watch:
        spec = spec.in_real_time()
    setup = make_setup(simulator, spec)
    with TerminalProgress("driving", wanted=not json) as show, contextlib.redirect_stdout(sys.stderr):
        if page.watch:
            from trailbrake.dashboard.live_view import LiveView

            with LiveView(show, page.watch_port, page) as watching:
                summary = run_setup(setup, listener=watching, view=watching)
        else:
            summary = run_setup(setup, listener=show, view=show if show.is_shown else None)
            open_page(summary["report"], page.open)
    # What has no goal, as a road without known laps, ends by an interrupt and no other way.
    endless = flags.laps == 0 or (summary["track"] is None and not flags.seconds)
    return report_drive(summary, is_endless=endless, json=json)


def report_drive(summary: dict[str, Any], *, is_endless: bool, json: bool) -> int:
    """Print what a drive was, and return the exit code; an endless one is ended by an interrupt."""
    from trailbrake.driving.run import INTERRUPTED
    from trailbrake.driving.session.car_session import GONE

    answer(summary, _print_summary, json=json)
    if summary["recording_error"]:
        print_notice(f"trailbrake: the recording ended early: {summary['recording_error']}")
    if summary["ended"] == "done":
        return int(summary["recording_error"].endswith(GONE))
    print_notice(f"trailbrake: {summary['ended']}")
    if summary["ended"] == INTERRUPTED:
        return 0 if is_endless else 130
    return 1


def _print_summary(summary: dict[str, Any]) -> None:
    sectors = max((len(lap["sectors_s"]) for lap in summary["laps"]), default=0)
    print_table(
        f"{_format_place(summary)}, driver {summary['driver']}",
        ["lap", "time", *(f"sector {i + 1}" for i in range(sectors)), "valid"],
        [[str(lap["number"]), format_lap_time(lap["time_s"]), *(format_lap_time(t) for t in lap["sectors_s"]),
          "yes" if lap["valid"] else "no"] for lap in summary["laps"]],
    )  # fmt: skip
    print(_format_figures(summary))
    if summary["stability"]:
        print(f"stability control on; slides in which it acted: {summary['stability']['slides']}")
    if summary["race"]:
        print_table(
            "race",
            ["", "car", "laps", "finish s", "gap s", "laps down"],
            [[str(row["position"]), str(row["car"]), str(row["laps"]), _format_seconds(row["finish_s"]),
              _format_seconds(row["gap_s"]), str(row["laps_down"] or "")] for row in summary["race"]],
        )  # fmt: skip
    for contact in (CarContact(**fields) for fields in summary["car_contacts"]):
        print(f"{contact.time_s:8.2f} s  car {contact.first}: {contact.describe(contact.first)}")
    more = len(summary["recording_parts"]) - 1
    print(f"recording {summary['recording']}" + (f", and {more} more: ..._part2.mcap ..." if more else ""))
    if summary["report"]:
        print(f"report    {summary['report']}")
    if summary.get("camera"):
        print(f"camera    {format_camera(summary['camera'])}")
    if summary["driving_log"]:
        print(f"log       {summary['driving_log']['log']}, {summary['driving_log']['rows']} rows")


def _format_seconds(seconds: float | None) -> str:
    return "" if seconds is None else f"{seconds:.3f}"


def _format_place(summary: dict[str, Any]) -> str:
    """Return the car and the road of a drive, as far as they are known."""
    if summary["track"]:
        return f"{summary['car'] or 'unknown car'} on {summary['track']}"
    return ", ".join(filter(None, [summary["car"], "unmapped road", summary["sim"]]))


def _format_figures(summary: dict[str, Any]) -> str:
    """Return the drive's figures in a line, without those that the wire does not show."""
    off, contacts = summary["off_track_s"], summary["contacts"]
    off_line, planned = summary["max_abs_lateral_error_m"], summary["predicted_s"]
    parts = [
        f"best {format_lap_time(summary['best_s'])}"
        + ("" if math.isnan(planned) else f", planned {format_lap_time(planned)}")
    ]
    judged = [f"off the track {off:.1f} s"] if not math.isnan(off) else []
    judged += [f"contacts {contacts:.0f}"] if not math.isnan(contacts) else []
    parts += [", ".join(judged)] if judged else []
    parts += [f"furthest from the line {off_line:.2f} m"] if not math.isnan(off_line) else []
    pace = summary["realtime_factor"]
    return "; ".join([*parts, f"{pace:.2g}x real time" if pace < 1.0 else f"{pace:.0f}x real time"])
