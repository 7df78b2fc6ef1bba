"""`coach`: a person's own laps, what their car could do there, and what to change first."""

import textwrap
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from trailbrake.analysis.lap_table import format_lap_time
from trailbrake.cli.output import (
    JsonFlag,
    OpenFlag,
    open_page,
    print_json,
    print_notice,
    print_table,
)
from trailbrake.cli.runs import find_recording, shorten_file
from trailbrake.cli.terminal_progress import TaskProgress
from trailbrake.coaching.options import CoachOptions
from trailbrake.errors import TrailbrakeError, UsageError, replace_controls

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trailbrake.analysis.comparison import DriveChoice
    from trailbrake.coaching.coach_session import CoachReport
    from trailbrake.coaching.coached_sessions import CoachedSession

WIDTH = 79
ROWS_UNUSED = 6
PAGE = ".html"


def coach(
    drives: Annotated[list[str] | None, Parameter(consume_multiple=True)] = None,
    *,
    options: Annotated[CoachOptions | None, Parameter(name="*")] = None,
    history: bool = False,
    open: OpenFlag = False,
    json: JsonFlag = False,
) -> None:
    """Coach your own laps: your best, what your car could do on that road, and what to change first.

    Args:
        drives: recordings of one person in one car on one road: files, folders, runs by id, `last`, `best`; laps of
            other tools.
        options: road, car and page.
        history: list the coached sessions, and what they gained.
        open: open the page in the browser.
        json: print one JSON object on stdout.
    """
    from trailbrake.coaching.coach_page import describe_report, write_coach_page
    from trailbrake.coaching.coach_session import coach_laps

    if history:
        _show_history(drives, json)
        return
    options = options or CoachOptions()
    choices, refused = _open_drives(drives or [])
    with TaskProgress("coaching", wanted=not json):
        report = coach_laps(choices, options, print_notice)
    page = None
    sessions = _keep_session(report) if report.chosen.laps else []
    if options.page and report.chosen.laps:
        first = choices[0].recording.path
        page = write_coach_page(report, options.out or first.with_name(f"{first.stem}_coach.html"), sessions)
    open_page(page, open)
    if json:
        print_json({**describe_report(report), "refused": refused, "page": page and str(page)})
        return
    for line in _list_lines(report):
        print(replace_controls(line))
    if page is not None:
        print(page)


def _keep_session(report: "CoachReport") -> "list[CoachedSession]":
    from trailbrake.coaching.coached_sessions import keep_session

    try:
        return keep_session(report)
    except TrailbrakeError as error:
        print_notice(f"this session is not kept: {error}")
        return []


def _show_history(drives: list[str] | None, json: bool) -> None:
    from trailbrake.coaching.coached_sessions import SESSION_HEADS, list_session_rows, list_sessions

    if drives:
        raise UsageError("recordings to coach, or the sessions that were coached", where="--history",
                         expected="no recordings beside it", got=drives[0])  # fmt: skip
    sessions = list_sessions()
    if json:
        from msgspec import to_builtins

        rows = [to_builtins(session) for session in sessions]
        print_json({"sessions": [{name: row[name] for name in row if name != "target"} for row in rows]})
        return
    for place in sorted({(session.car, session.track) for session in sessions}):
        own = [session for session in sessions if (session.car, session.track) == place]
        car, road = map(shorten_file, place)
        title = f"{car or 'a car without a name'} on {road or 'a road without a name'}"
        print_table(title, SESSION_HEADS, list_session_rows(own))
    if not sessions:
        print("no session has been coached yet")


def _open_drives(names: list[str]) -> "tuple[list[DriveChoice], list[str]]":
    """Return what can be read, and a line for what cannot; UsageError where nothing can."""
    from trailbrake.analysis.comparison import DriveChoice
    from trailbrake.driving.drive_files import open_drive

    found, refused = [], []
    for name in _list_names(names):
        try:
            path: Path = find_recording(name)
            found.append(DriveChoice(open_drive(path, say=print_notice), path.stem))
        except TrailbrakeError as error:
            refused.append(str(error))
            print_notice(f"not used: {error}")
    if not found:
        raise UsageError("nothing to coach", where="coach", expected="a recording that can be read",
                         hint="trailbrake runs lists those of this machine")  # fmt: skip
    return found, refused


def _list_names(names: list[str]) -> "Iterator[str]":
    """Yield the names, of a folder those of its files; pages, which lie beside recordings, are none."""
    for name in names:
        files = sorted(path for path in Path(name).iterdir() if path.is_file()) if Path(name).is_dir() else None
        found = [name] if files is None else [str(path) for path in files if not path.name.startswith(".")]
        yield from (each for each in found if not each.lower().endswith(PAGE))


def _list_lines(report: "CoachReport") -> "Iterator[str]":
    """Yield the report as lines of at most WIDTH characters."""
    chosen, limit = report.chosen, report.limit
    yield f"laps used: {len(chosen.laps)}, recordings: {len(chosen.drives)}"
    for unused in chosen.unused[:ROWS_UNUSED]:
        lap = f" lap {unused.number}" if unused.number else ""
        yield from _wrap(f"not used: {unused.label}{lap}: {unused.reason}")
    if len(chosen.unused) > ROWS_UNUSED:
        yield f"and {len(chosen.unused) - ROWS_UNUSED} more that are not used"
    if chosen.laps:
        yield f"your best {format_lap_time(report.best_s)}; your best sections together" \
              f" {format_lap_time(report.ideal_s)}"  # fmt: skip
    if limit is not None:
        yield from _wrap(f"your car at its limit {format_lap_time(limit.time_s)} ({limit.describe_interval()}),"
                         f" {limit.made_by}; you use"
                         f" {report.share:.0%} of its grip in most corners")  # fmt: skip
    for number, finding in enumerate(report.findings):
        place = finding.corner.name if finding.corner is not None else "everywhere"
        head = "FIRST" if number == 0 else "then"
        yield ""
        yield from _wrap(f"{head} {place}: {finding.advice}")
        yield from _wrap(f"  costs {finding.cost_s:.2f} s a lap, give or take {finding.error_s:.2f}; chance that it is"
                         f" true {min(finding.chance, 0.99):.0%}")  # fmt: skip
        if finding.evidence:
            yield from _wrap(f"  {finding.evidence}")
    if chosen.laps and not report.findings:
        yield ""
        basis = ("no corner costs more than the others do at your pace" if report.share > 0.0
                 else "your laps were compared with each other only")  # fmt: skip
        yield from _wrap(f"No habit stands out: {basis}.")
        worst = max((gap for gap in report.gaps if gap.corner.number), key=lambda gap: gap.to_best_s, default=None)
        if worst is not None and worst.to_best_s >= 0.005:
            yield from _wrap(f"Most to gain by what you did once: {worst.corner.name}, {worst.to_best_s:.2f} s.")
    for note in report.notes:
        yield from _wrap(note)


def _wrap(text: str) -> list[str]:
    indent = "  " if text.startswith("  ") else ""
    return textwrap.wrap(text, WIDTH, initial_indent=indent, subsequent_indent="  ")
