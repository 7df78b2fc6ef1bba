"""Runs an evaluation: drives the cells that have no result yet, several at a time, and compares all of them.

Minimum-time lines that this machine keeps, in the cells whose drivers follow them, are named before the cells are
driven, so that a line is part of what a result depends on, and goes along to another machine. A published suite names
none: its results are the same everywhere.
"""

import functools
import math
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import msgspec

from trailbrake.campaign.case_run import CampaignListener, CaseStore, check_campaign, run_cases
from trailbrake.cars.car_library import load_car
from trailbrake.config import lines_folder, recordings_folder
from trailbrake.drivers.loading.driver_registry import load_driver
from trailbrake.driving.session.embedded_worlds import parse_world
from trailbrake.driving.session.line_choice import find_kept_line
from trailbrake.driving.spec import UNKNOWN_CAR
from trailbrake.errors import TrailbrakeError, UsageError
from trailbrake.evaluate.car_comparison import compare_cars, summarize_coverage
from trailbrake.evaluate.cell_result import (
    CellResult,
    compute_time_lost,
    find_best_time,
    list_best_ratios,
    list_timed_laps,
    summarize_rows,
)
from trailbrake.evaluate.cell_task import make_cell_task
from trailbrake.evaluate.evaluation_page import write_page
from trailbrake.evaluate.options import EvaluationOptions, EvaluationRunOptions
from trailbrake.evaluate.plan import Cell, PlannedCell, fingerprint_cell, list_cells
from trailbrake.json_types import JsonObject
from trailbrake.planning.course import Course
from trailbrake.sims import registry
from trailbrake.tracks.track_library import load_track

CELLS = "cells"  # folder of the results, below that of the evaluation
GROUP_KEYS = ("sim", "driver", "believes", "condition")  # of the summary


def default_folder() -> Path:
    """Return the folder of results where the user names none."""
    return recordings_folder() / "evaluation"


def evaluate(
    options: EvaluationOptions,
    running: EvaluationRunOptions,
    say: Callable[[str], None],
    show_share: Callable[[float], None] = lambda share: None,
) -> JsonObject:
    """Drive what has no result yet, write the page and return what `trailbrake evaluate --json` prints.

    Args:
        options: what to judge.
        running: how.
        say: takes lines for the user.
        show_share: takes the share of the cells that are done, after each.

    Raises:
        UsageError, DataError: a name, a file or an option that cannot be used. Nothing has been driven.
        KeyboardInterrupt: stopped; the results of finished cells are kept, and the same call goes on from there.
    """
    if running.scenes:
        raise UsageError("only suites of overtaking have scenes", where="--scenes", got=str(running.scenes),
                         hint="see docs/overtaking.md")  # fmt: skip
    if running.check is not None or running.board:
        raise UsageError("only results of a suite are checked and ranked", where="--check, --board",
                         got=", ".join(map(str, running.board or [running.check])),
                         hint="see docs/suite-race-v1.md")  # fmt: skip
    planned = follow_kept_lines(list_cells(options), say)
    driven = drive_planned_cells(planned, running, say, show_share)
    rows = build_rows(planned, driven.results)
    judged = [row for row in rows if row["role"] == "judged"]
    errors = compare_files([item.cell for item in planned if item.role == "judged"])
    result: JsonObject = {
        "folder": str(driven.folder), "drove": driven.drove, "kept": driven.kept, "wall_s": driven.wall_s,
        "summary": summarize_rows(judged, GROUP_KEYS), "cells": rows,
        "car_files": errors, "coverage": summarize_coverage(errors),
    }  # fmt: skip
    return {**result, "page": str(write_page(result))}


@dataclass(frozen=True)
class DrivenCells:
    """The results of cells, and what it took to get them.

    Attributes:
        folder: of the results.
        results: by cell.
        drove, kept: numbers of cells driven now and taken from the folder.
        wall_s: s of wall time.
    """

    folder: Path
    results: dict[Cell, CellResult]
    drove: int
    kept: int
    wall_s: float


def drive_planned_cells(
    planned: Sequence[PlannedCell],
    running: EvaluationRunOptions,
    say: Callable[[str], None],
    show_share: Callable[[float], None] = lambda share: None,
) -> DrivenCells:
    """Check cells, drive those that have no result yet, and return the results of all.

    Args:
        planned: the cells.
        running: how.
        say: takes lines for the user.
        show_share: takes the share of the cells that are done, after each.

    Raises:
        UsageError, DataError: a name, a file or an option that cannot be used. Nothing has been driven.
        KeyboardInterrupt: stopped; the results of finished cells are kept, and the same call goes on from there.
    """
    check_campaign(running)
    cells = [item.cell for item in planned]
    check_cells(cells)
    folder = running.out or default_folder()
    store = CaseStore(folder / CELLS, CellResult, any_source=running.any_version)
    if running.files_only:
        known = {cell: store.read_result(fingerprint_cell(cell)) for cell in cells}
        results = {cell: each for cell, each in known.items() if each is not None}
        return DrivenCells(folder, results, 0, len(results), 0.0)
    recordings = folder / "recordings" if running.record else None
    driven = run_cases(cells, make_cell_task(recordings), store, folder, options=running,
                       listener=CampaignListener(say, show_share))  # fmt: skip
    results = {cell: each for cell, each in zip(cells, driven.results, strict=True) if each is not None}
    return DrivenCells(folder, results, driven.ran, driven.kept, driven.wall_s)


def check_cells(cells: Sequence[Cell]) -> None:
    """Check names and options that would make every cell of theirs an error.

    What drivers believe is checked by the cells: a file may be missing for one car alone.

    Raises:
        TrailbrakeError: the first that cannot be used.
    """
    for name in dict.fromkeys(cell.sim for cell in cells):
        registry.find(name)
    for name in dict.fromkeys(cell.car for cell in cells):
        load_car(name)
    for name in dict.fromkeys(cell.track for cell in cells):
        load_track(name)
    for condition in dict.fromkeys(cell.condition for cell in cells):
        parse_world(condition)
    drivers = {(cell.driver, cell.config, cell.gain): None for cell in cells}
    for driver, config, gain in drivers:
        load_driver(driver, Path(config) if config else None, gain)


def compare_files(cells: Sequence[Cell]) -> list[JsonObject]:
    """Return how far each believed car file is from the car that it stands for; files that cannot be read are left out.

    Args:
        cells: of which each pair of file and car is compared once.
    """
    rows: list[JsonObject] = []
    for file, car in dict.fromkeys((cell.believed_car, cell.car) for cell in cells):
        if file in ("", UNKNOWN_CAR):
            continue
        with suppress(TrailbrakeError):  # its cells say so
            rows.append({"file": file, "car": car, **compare_cars(load_car(file), load_car(car))})
    return rows


def build_rows(planned: Sequence[PlannedCell], results: Mapping[Cell, CellResult]) -> list[JsonObject]:
    """Return a row per cell: what it was, what came out of it, and how it compares."""
    return [_build_row(item, results) for item in planned if item.cell in results]


def _build_row(item: PlannedCell, results: Mapping[Cell, CellResult]) -> JsonObject:
    cell, result = item.cell, results[item.cell]
    laps = list_timed_laps(result, cell.laps)
    best = find_best_time(laps)
    reference = None if item.reference is None else results.get(item.reference)
    baseline = None if item.baseline is None else results.get(item.baseline)
    ratio, ratios, speed_ratio, lost = math.nan, list[float](), math.nan, math.nan
    if reference is not None:
        own = find_best_time(list_timed_laps(reference, cell.laps))
        ratio, ratios = best / own, list_best_ratios(laps, own)
        if result.mean_progress_mps and reference.mean_progress_mps:
            speed_ratio = result.mean_progress_mps / reference.mean_progress_mps
    if baseline is not None:
        lost = compute_time_lost(result.laps, baseline.laps)
    values: JsonObject = msgspec.to_builtins(cell)
    return {
        **values, "role": item.role, "believes": _describe_belief(cell),
        "condition": ",".join(cell.condition) or "none", **msgspec.to_builtins(result),
        "best_s": best, "reference_s": best / ratio if math.isfinite(ratio) else math.nan, "ratio": ratio,
        "ratio_after": ratios, "speed_ratio": speed_ratio, "time_lost_s": lost,
    }  # fmt: skip


def _describe_belief(cell: Cell) -> str:
    """Return what the driver gets: "the world's", or which of car and track are others'."""
    parts = [
        *(["unknown car" if cell.believed_car == UNKNOWN_CAR else "another car"] if cell.believed_car else []),
        *(["another track"] if cell.believed_track else []),
    ]
    return ", ".join(parts) or "the world's"


def follow_kept_lines(planned: Sequence[PlannedCell], say: Callable[[str], None]) -> list[PlannedCell]:
    """Return cells, those with a kept line for a driver that follows it with that line.

    Args:
        planned: the cells.
        say: takes a line for each kept line that cannot be used.
    """
    if not any(lines_folder().glob("*.csv")):
        return list(planned)

    @functools.cache
    def find_line(driver: str, config: str, track: str, car: str) -> str:
        with suppress(TrailbrakeError):  # the check of the cells says what cannot be loaded, or their result does
            course = Course(load_track(track), load_car(car))
            found = find_kept_line(course, load_driver(driver, Path(config) if config else None), say)
            return "" if found is None else str(found[1].path)
        return ""

    def follow(cell: Cell) -> Cell:
        track, car = cell.believed_track or cell.track, cell.believed_car or cell.car
        line = "" if car == UNKNOWN_CAR else find_line(cell.driver, cell.config, track, car)
        return msgspec.structs.replace(cell, line=line) if line else cell

    def follow_any(cell: Cell | None) -> Cell | None:
        return None if cell is None else follow(cell)

    return [
        PlannedCell(follow(item.cell), item.role, follow_any(item.reference), follow_any(item.baseline))
        for item in planned
    ]
