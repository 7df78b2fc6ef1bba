"""Runs a benchmark suite, writes its result file, and checks that an old result file repeats.

`rank_suite_runs`: drivers out of several result files of a suite in one order. Nothing is driven.
"""

import hashlib
import math
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import fields, replace
from pathlib import Path

import msgspec

from trailbrake.errors import DataError, UsageError
from trailbrake.evaluate.cell_result import CellResult
from trailbrake.evaluate.evaluation import build_rows, drive_planned_cells
from trailbrake.evaluate.evaluation_page import write_suite_page
from trailbrake.evaluate.options import EvaluationOptions, EvaluationRunOptions
from trailbrake.evaluate.plan import Cell, PlannedCell, fingerprint_cell
from trailbrake.evaluate.suite import Suite, compute_ratio, list_suite_cells, load_suite, rank_score, score_drivers
from trailbrake.json_types import JsonObject
from trailbrake.name_lists import expand_names
from trailbrake.tasks.sent_files import hash_source
from trailbrake.user_files import read_user_file, write_whole
from trailbrake.version import __version__

RESULT_FILE = "suite.json"
REPEAT_TOLERANCE = 1e-3  # s by which lap times may differ: mathematical libraries and fused products of machines
_FREE_OPTIONS = ("drivers", "gain", "config")  # the others are the suite's


class StoredRun(msgspec.Struct, frozen=True):
    """A cell of a result file: what was driven, what came out, and a digest of the files that the cell names."""

    cell: Cell
    result: CellResult
    fingerprint: str = ""


class SuiteRun(msgspec.Struct, frozen=True, kw_only=True):
    """A result file of a suite.

    Attributes:
        suite, suite_sha256: the suite and a digest of its declaration.
        trailbrake, source: version and digest of the code that drove.
        scores: of the drivers, the best first.
        runs: the cells.
    """

    suite: str
    suite_sha256: str
    trailbrake: str
    source: str
    scores: list[JsonObject]
    runs: list[StoredRun]


def evaluate_suite(
    name: str,
    options: EvaluationOptions,
    running: EvaluationRunOptions,
    say: Callable[[str], None],
    show_share: Callable[[float], None] = lambda share: None,
) -> JsonObject:
    """Drive the cells of a suite that have no result yet, write its result file and page; return what `--json` prints.

    Args:
        name: of the suite.
        options: drivers, their gains and their file of gains; nothing else.
        running: how; with `check`, the drivers are those of that file, and all cells are driven again.
        say: takes lines for the user.
        show_share: takes the share of the cells that are done, after each.

    Raises:
        UsageError, DataError: a name, a file or an option that cannot be used. Nothing has been driven.
        KeyboardInterrupt: stopped; the results of finished cells are kept.
    """
    suite = load_suite(name)
    check_suite_options(options, _FREE_OPTIONS, name)
    if running.scenes:
        raise UsageError("the suite has no scenes", where="--scenes", hint="suite/overtake-v1 has")
    if running.files_only:
        raise UsageError("a suite has no car files to compare", where="--files-only")
    planned = list_suite_cells(suite, expand_names(options.drivers, "--drivers"), options.gain,
                               "" if options.config is None else str(options.config))  # fmt: skip
    old = None
    if running.check is not None:
        old = read_suite_run(running.check, suite)
        planned = _plan_again(old, suite, running.check)
        running = replace(running, again=True)
    return _drive_suite(suite, planned, running, say, show_share, old=old)


def _drive_suite(
    suite: Suite,
    planned: Sequence[PlannedCell],
    running: EvaluationRunOptions,
    say: Callable[[str], None],
    show_share: Callable[[float], None],
    *,
    old: SuiteRun | None,
) -> JsonObject:
    driven = drive_planned_cells(planned, running, say, show_share)
    rows = build_rows(planned, driven.results)
    for row, item in zip(rows, planned, strict=True):
        row["ratio"] = compute_ratio(suite, item.cell, driven.results[item.cell])
        row["reference_s"] = row["best_s"] / row["ratio"]
    scores = score_drivers(suite, driven.results)
    path = driven.folder / RESULT_FILE
    if old is None:
        _write_suite_run(path, suite, scores, planned, driven.results)
    result: JsonObject = {
        "suite": suite.name, "text": suite.text, "scores": scores, "cells": rows, "folder": str(driven.folder),
        "file": "" if old is not None else str(path), "drove": driven.drove, "kept": driven.kept,
        "wall_s": driven.wall_s, "check": None if old is None else compare_runs(old, driven.results),
    }  # fmt: skip
    return {**result, "page": str(write_suite_page(result))}


def check_suite_options(options: EvaluationOptions, free: Collection[str], name: str) -> None:
    """Raise UsageError for an option that a suite decides: all but those that are `free`."""
    for field in fields(EvaluationOptions):
        if field.name not in free and getattr(options, field.name) != field.default:
            raise UsageError("the suite decides this", where=f"--{field.name.replace('_', '-')}",
                             got=str(getattr(options, field.name)), hint=f"leave it out with {name}")  # fmt: skip


def digest_suite(suite: Suite) -> str:
    """Return a text that changes with the declaration of a suite."""
    return hashlib.sha256(msgspec.json.encode(suite)).hexdigest()


def read_suite_run(path: Path, suite: Suite) -> SuiteRun:
    """Return a result file.

    Raises:
        UsageError: it cannot be read.
        DataError: it is none, or one of another suite.
    """
    data = read_user_file(path, "result file of a suite", hint=f"trailbrake evaluate suite/NAME writes {RESULT_FILE}")
    try:
        run = msgspec.json.decode(data, type=SuiteRun)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise DataError("not a result file of a suite", where=str(path), got=" ".join(str(error).split())) from None
    if run.suite != suite.name:
        raise DataError("a result of another suite", where=str(path), expected=suite.name, got=run.suite)
    if run.suite_sha256 != digest_suite(suite):
        raise DataError(f"{suite.name} was another suite then", where=str(path), expected=digest_suite(suite)[:12],
                        got=run.suite_sha256[:12], hint="its laps cannot be compared")  # fmt: skip
    return run


def _plan_again(old: SuiteRun, suite: Suite, path: Path) -> list[PlannedCell]:
    known = {item.cell for run in old.runs for item in list_suite_cells(
        suite, [run.cell.driver], run.cell.gain, run.cell.config)}  # fmt: skip
    for run in old.runs:
        if run.cell not in known:
            raise DataError("a cell that the suite does not have", where=str(path), got=str(run.cell))
        if run.fingerprint and run.fingerprint != fingerprint_cell(run.cell):
            raise DataError("a file of this driver has changed since then", where=str(path), got=run.cell.driver,
                            hint="drive the suite again")  # fmt: skip
    return [PlannedCell(run.cell, "judged") for run in old.runs]


def compare_runs(old: SuiteRun, results: Mapping[Cell, CellResult]) -> JsonObject:
    """Return how far new results are from those of a result file.

    Args:
        old: the file.
        results: of its cells, driven again.
    """
    differ: list[JsonObject] = []
    widest = 0.0
    for run in old.runs:
        new = results[run.cell]
        times, before = ([lap.time_s for lap in result.laps] for result in (new, run.result))
        deviation = max((abs(a - b) for a, b in zip(times, before, strict=False)), default=0.0)
        if len(times) != len(before) or new.outcome != run.result.outcome:
            deviation = math.inf
        widest = max(widest, deviation)
        if deviation > REPEAT_TOLERANCE:
            differ.append({
                "driver": run.cell.driver, "track": run.cell.track, "car": run.cell.car, "deviation_s": deviation,
                "was": f"{run.result.outcome}, {len(before)} laps", "is": f"{new.outcome}, {len(times)} laps",
            })  # fmt: skip
    return {
        "cells": len(old.runs), "differ": differ, "deviation_s": widest, "repeats": not differ,
        "same_code": old.source == hash_source(), "trailbrake": old.trailbrake,
    }  # fmt: skip


def _write_suite_run(
    path: Path,
    suite: Suite,
    scores: list[JsonObject],
    planned: Sequence[PlannedCell],
    results: Mapping[Cell, CellResult],
) -> None:
    runs = [StoredRun(item.cell, results[item.cell], fingerprint_cell(item.cell)) for item in planned]
    run = SuiteRun(
        suite=suite.name, suite_sha256=digest_suite(suite), trailbrake=__version__, source=hash_source(),
        scores=scores, runs=runs,
    )  # fmt: skip
    write_whole(path, msgspec.json.format(msgspec.json.encode(run)), "the result")


def rank_suite_runs(name: str, paths: Sequence[Path], folder: Path) -> JsonObject:
    """Rank the drivers of result files, write the page and return what `--json` prints.

    Drivers of one name in several files are told apart by the folder of their file.

    Args:
        name: of the suite.
        paths: result files of the suite (`suite.json`).
        folder: of the page; made.

    Raises:
        UsageError: no such suite, a file that cannot be read, or a page that cannot be written.
        DataError: a file that is no result of the suite, or of one that was declared otherwise.
    """
    suite = load_suite(name)
    runs = [(path, read_suite_run(path, suite)) for path in dict.fromkeys(paths)]
    files = Counter(driver for _, run in runs for driver in {stored.cell.driver for stored in run.runs})
    scores: list[JsonObject] = []
    cells: list[JsonObject] = []
    for path, run in runs:
        results = {stored.cell: stored.result for stored in run.runs}
        rows = build_rows([PlannedCell(cell, "judged") for cell in results], results)
        for row, (cell, result) in zip(rows, results.items(), strict=True):
            row["ratio"] = compute_ratio(suite, cell, result)
            row["reference_s"] = row["best_s"] / row["ratio"]
        found = score_drivers(suite, results)
        for entry in [*rows, *found]:
            if files[entry["driver"]] > 1:
                entry["driver"] = f"{entry['driver']} ({path.resolve().parent.name})"
        about = {"result": str(path), "trailbrake": run.trailbrake, "source": run.source}
        scores += [{**score, **about} for score in found]
        cells += rows
    scores.sort(key=rank_score)
    board: JsonObject = {
        "suite": suite.name, "text": suite.text, "scores": scores, "cells": cells, "folder": str(folder), "file": "",
        "drove": 0, "kept": len(cells), "wall_s": 0.0, "check": None,
    }  # fmt: skip
    return {**board, "page": str(write_suite_page(board))}
