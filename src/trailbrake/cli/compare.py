"""`compare`: laps of any recordings over distance, and what each corner costs."""

import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from trailbrake.cli.output import JsonFlag, format_lap_time, print_json, print_notice, print_table
from trailbrake.cli.recording_choice import find_recording
from trailbrake.units import KMH

if TYPE_CHECKING:
    from trailbrake.analysis.comparison import Comparison, DriveChoice

_LAP = re.compile(r"(.+)#(\d{1,6})")
ROWS_SHOWN = 6  # corners of a lap on the terminal


def compare(
    drives: Annotated[list[str], Parameter(consume_multiple=True)],
    *,
    reference: int = 0,
    out: Path | None = None,
    png: Path | None = None,
    page: bool = True,
    json: JsonFlag = False,
) -> None:
    """Compare laps: where time is lost, corner by corner, and what to change.

    With one recording its laps are compared with its best one; with several, the best lap of each.

    Args:
        drives: recordings: files, or runs by id, `last` or `best`; DRIVE#3 takes its lap 3.
        reference: which of them the others are compared with, 1 for the first; 0 = the fastest.
        out: the page to write; default beside the first recording, as NAME_compare.html.
        png: also a picture to write; needs matplotlib.
        page: write the page.
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
    from trailbrake.record.recording_reader import Recording

    match = None if Path(text).is_file() else _LAP.fullmatch(text)
    name, lap = (match[1], int(match[2])) if match else (text, 0)
    path = find_recording(name)
    return DriveChoice(Recording.open(path), path.stem, lap)


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
    print(f"reference {name}, {format_lap_time(best.time_s)}; the best of every corner together"
          f" {format_lap_time(comparison.theoretical_s)}")  # fmt: skip
    for i, lap in enumerate(comparison.laps):
        if i == comparison.reference:
            continue
        losses = comparison.losses[i]
        print_table(
            f"{comparison.name_lap(i)}, {format_lap_time(lap.time_s)}: {lap.time_s - best.time_s:+.3f} s",
            ["corner", "lost s", "what to change", "brake m", "turn in m", "slowest km/h", "throttle m", "exit km/h"],
            [[loss.corner.name, _format_number(loss.lost_s, "+.3f"), loss.advice,
              _format_number(loss.figures.brake_point, ".0f"),
              _format_number(loss.figures.turn_in, ".0f"), _format_number(loss.figures.min_speed / KMH, ".0f"),
              _format_number(loss.figures.throttle_point, ".0f"),
              _format_number(loss.figures.exit_speed / KMH, ".0f")] for loss in losses[:ROWS_SHOWN]],
        )  # fmt: skip
        if len(losses) > ROWS_SHOWN:
            print(f"and {len(losses) - ROWS_SHOWN} corners more that cost less")


def _format_number(value: float, form: str) -> str:
    return format(value, form) if value == value else "-"
