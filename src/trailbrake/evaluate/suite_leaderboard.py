"""`rank_suite_runs`: drivers out of several result files of a suite in one order. Nothing is driven."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from trailbrake.evaluate.evaluation import build_rows
from trailbrake.evaluate.plan import PlannedCell
from trailbrake.evaluate.suite import compute_ratio, load_suite, rank_score, score_drivers
from trailbrake.evaluate.suite_evaluation import read_suite_run
from trailbrake.evaluate.suite_page import write_suite_page
from trailbrake.json_types import JsonObject


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
