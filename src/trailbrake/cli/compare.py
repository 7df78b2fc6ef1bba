"""`compare`: laps of any recordings over distance, and what each corner costs."""

import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from trailbrake.analysis.lap_table import format_lap_time, format_number
from trailbrake.cli.output import JsonFlag, OpenFlag, open_page, print_json, print_notice, wrap_text
from trailbrake.cli.runs import find_recording
from trailbrake.errors import replace_controls
from trailbrake.units import KMH

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from trailbrake.analysis.comparison import Comparison, CornerLoss, DriveChoice

_LAP = re.compile(r"(.+)#(\d{1,6})")
ROWS_SHOWN = 6  # corners of a lap on the terminal
_HEADS = ("lost s", "brake m", "turn in m", "min km/h", "throttle m", "exit km/h")


def compare(
    drives: Annotated[list[str], Parameter(consume_multiple=True)],
    *,
    reference: int = 0,
    out: Path | None = None,
    png: Path | None = None,
    page: bool = True,
    open: OpenFlag = False,
    json: JsonFlag = False,
) -> None:
    """Compare laps: where time is lost, corner by corner, and what to change.

    With one recording its laps are compared with its best one; with several, the best lap of each.

    Args:
        drives: files, or runs by id, `last`, `previous`, `best`; DRIVE#3 is its lap 3. Laps of other tools:
            docs/laps_in.md.
        reference: which one the others are compared with, from 1; 0 = the fastest.
        out: the page; default NAME_compare.html beside the first recording.
        png: also write a picture; needs matplotlib.
        page: write the page.
        open: open the page in the browser.
        json: print one JSON object on stdout.
    """
    from trailbrake.analysis.comparison import compare_drives
    from trailbrake.analysis.comparison_page import describe_comparison, write_comparison

    choices = [_choose_drive(text) for text in drives]
    comparison = compare_drives(_name_drives(choices), reference)
    first = comparison.drives[0].recording.path
    written = None
    if page or out is not None:
        written = write_comparison(comparison, out or first.with_name(f"{first.stem}_compare.html"))
    if png is not None:
        from trailbrake.analysis.comparison_plot import plot_comparison

        plot_comparison(comparison, png)
    open_page(written, open)
    for note in comparison.notes:
        print_notice(f"trailbrake: {note}")
    if json:
        files = {"page": written and str(written), "png": png and str(png)}
        print_json({**describe_comparison(comparison), **files})
        return
    _print_comparison(comparison)
    for path in (written, png):
        if path is not None:
            print(path)


def _choose_drive(text: str) -> "DriveChoice":
    from trailbrake.analysis.comparison import DriveChoice
    from trailbrake.driving.drive_files import open_drive

    match = None if Path(text).is_file() else _LAP.fullmatch(text)
    name, lap = (match[1], int(match[2])) if match else (text, 0)
    path = find_recording(name)
    return DriveChoice(open_drive(path, say=print_notice), path.stem, lap)


def _name_drives(choices: "list[DriveChoice]") -> "list[DriveChoice]":
    """Return the drives by the names of their drivers, where these differ; else by those of their files."""
    from dataclasses import replace

    drivers = [str(choice.recording.about.get("driver") or "") for choice in choices]
    if len(set(drivers)) < len(drivers) or "" in drivers:
        return choices
    return [replace(choice, label=Path(driver).stem) for choice, driver in zip(choices, drivers, strict=True)]


def _print_comparison(comparison: "Comparison") -> None:
    best = comparison.laps[comparison.reference]
    name = comparison.name_lap(comparison.reference)
    print(wrap_text(f"reference {name}, {format_lap_time(best.time_s)}; the best of every corner together"
                    f" {format_lap_time(comparison.theoretical_s)}"))  # fmt: skip
    for i, lap in enumerate(comparison.laps):
        if i == comparison.reference:
            continue
        losses = comparison.losses[i]
        print(replace_controls(f"{comparison.name_lap(i)}, {format_lap_time(lap.time_s)}: "
                               f"{lap.time_s - best.time_s:+.3f} s"))  # fmt: skip
        print("\n".join(map(replace_controls, _list_corners(losses[:ROWS_SHOWN]))))
        if len(losses) > ROWS_SHOWN:
            print(f"and {len(losses) - ROWS_SHOWN} corners more that cost less")


def _list_corners(losses: "Sequence[CornerLoss]") -> "Iterator[str]":
    """Yield the figures of each corner in a row, and what to change in rows below it: no terminal is too narrow."""
    name_width = max((len(loss.corner.name) for loss in losses), default=0)
    yield f"{'corner':{name_width}}" + "".join(f"{head:>{len(head) + 2}}" for head in _HEADS)
    for loss in losses:
        mine = loss.figures
        numbers = (
            format_number(loss.lost_s, "+.3f"), format_number(mine.brake_point, ".0f"),
            format_number(mine.turn_in, ".0f"), format_number(mine.min_speed / KMH, ".0f"),
            format_number(mine.throttle_point, ".0f"), format_number(mine.exit_speed / KMH, ".0f"),
        )  # fmt: skip
        cells = (f"{text:>{len(head) + 2}}" for head, text in zip(_HEADS, numbers, strict=True))
        yield f"{loss.corner.name:{name_width}}" + "".join(cells)
        if loss.advice:
            yield from wrap_text(f"  {loss.advice}").splitlines()
