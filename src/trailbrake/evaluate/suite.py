"""A benchmark suite: fixed cells with reference laps, and the scores of drivers on them. Pure but for `load_suite`."""

import math
import statistics
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated

import msgspec

from trailbrake.errors import UsageError, suggest_names
from trailbrake.evaluate.cell_result import CellResult, find_best_time, list_timed_laps
from trailbrake.evaluate.plan import Cell, PlannedCell
from trailbrake.json_types import JsonObject
from trailbrake.user_files import convert_values, decode_user_text, parse_toml

SUITE_PREFIX = "suite/"  # of the name of a suite on the command line
_FOLDER = Path(__file__).with_name("suites")

_Positive = Annotated[float, msgspec.Meta(gt=0.0)]


class SuiteCell(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One road and car of a suite.

    Attributes:
        track: a name of the library or gen:SEED; a circuit.
        car: a name of the library.
        reference_s: s, the reference lap.
    """

    track: str
    car: str
    reference_s: _Positive


class Suite(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A benchmark suite.

    Attributes:
        name, text: what it is called and what it is.
        sim: whose wire: it decides what a driver observes.
        seed: of the embedded world.
        laps: that a cell drives, the first from rest.
        slowest_ratio: a cell is over after `laps` times the reference lap times this, s of simulator time.
        reference_command: how the reference laps were made.
        cells: what is driven.
    """

    name: str
    text: str
    sim: str
    seed: int
    laps: Annotated[int, msgspec.Meta(ge=2)]
    slowest_ratio: Annotated[float, msgspec.Meta(gt=1.0)]
    reference_command: str
    cells: Annotated[tuple[SuiteCell, ...], msgspec.Meta(min_length=1)]


def list_suites() -> list[str]:
    """Return the names of the suites of this package."""
    return sorted(path.stem for path in _FOLDER.glob("*.toml"))


def load_suite(name: str) -> Suite:
    """Return a suite of this package.

    Args:
        name: with or without `suite/` before it.

    Raises:
        UsageError: there is none of this name.
    """
    known, short = list_suites(), name.removeprefix(SUITE_PREFIX)
    if short not in known:
        raise UsageError("no such suite", where="evaluate", got=name,
                         hint=suggest_names(SUITE_PREFIX + short, [SUITE_PREFIX + one for one in known]))  # fmt: skip
    where = f"{short}.toml"
    text = decode_user_text(_FOLDER.joinpath(where).read_bytes(), where)
    return parse_suite(text, where)


def parse_suite(text: str, where: str) -> Suite:
    """Return the suite in a TOML text; DataError, naming `where`, where it is none."""
    return convert_values(parse_toml(text, where), Suite, "not a suite", where)


def list_suite_cells(
    suite: Suite, drivers: Sequence[str], gain: tuple[str, ...] = (), config: str = ""
) -> list[PlannedCell]:
    """Return the cells of a suite for some drivers, driver by driver, in the order of the suite.

    Args:
        suite: what is driven.
        drivers: who drives.
        gain: of the drivers, as in `CarSpec`.
        config: of the drivers, as in `CarSpec`; "" for none.
    """
    return [
        PlannedCell(
            Cell(
                sim=suite.sim, track=item.track, car=item.car, driver=driver, seed=suite.seed, laps=suite.laps,
                seconds=compute_time_limit(suite, item), gain=gain, config=config,
            ),
            "judged",
        )
        for driver in drivers
        for item in suite.cells
    ]  # fmt: skip


def compute_time_limit(suite: Suite, item: SuiteCell) -> float:
    """Return the simulator time after which a cell is over, whole s."""
    return float(math.ceil(suite.laps * item.reference_s * suite.slowest_ratio))


def score_drivers(suite: Suite, results: Mapping[Cell, CellResult]) -> list[JsonObject]:
    """Return the score of each driver, the best first: fewest cells that crashed, then most valid laps, then time.

    Args:
        suite: that was driven.
        results: of its cells.
    """
    drivers: dict[str, list[tuple[Cell, CellResult]]] = {}
    for cell, result in results.items():
        drivers.setdefault(cell.driver, []).append((cell, result))
    scores = [_score_driver(suite, driver, cells) for driver, cells in drivers.items()]
    return sorted(scores, key=rank_score)


def rank_score(score: JsonObject) -> tuple[float, float, float, str]:
    """Return a key that sorts scores, the best first."""
    ratio = float(score["ratio_mean"])
    lost = float(score["crash_rate"]) + float(score["error"])
    return lost, -float(score["valid_laps"]), ratio if math.isfinite(ratio) else math.inf, str(score["driver"])


def compute_ratio(suite: Suite, cell: Cell, result: CellResult) -> float:
    """Return the best valid flying lap over the reference lap; NaN without such a lap or reference."""
    best = find_best_time(list_timed_laps(result, cell.laps))
    return best / _find_references(suite).get((cell.track, cell.car), math.nan)


def _find_references(suite: Suite) -> dict[tuple[str, str], float]:
    return {(item.track, item.car): item.reference_s for item in suite.cells}


def _score_driver(suite: Suite, driver: str, cells: Sequence[tuple[Cell, CellResult]]) -> JsonObject:
    outcomes = [result.outcome for _, result in cells]
    laps = [lap for _, result in cells for lap in result.laps]
    finite = [ratio for cell, result in cells if math.isfinite(ratio := compute_ratio(suite, cell, result))]
    # The mean is over the whole suite or nothing: who finishes the easy roads alone has no mean lap.
    whole = len(finite) == len(suite.cells)
    return {
        "driver": driver, "cells": len(cells), "of": len(suite.cells),
        **{name: outcomes.count(name) for name in ("clean", "off", "crash", "error")},
        "crash_rate": outcomes.count("crash") / len(cells), "laps": len(laps),
        "valid_laps": sum(lap.valid for lap in laps), "laps_to_drive": suite.laps * len(suite.cells),
        "ratio_mean": statistics.fmean(finite) if whole else math.nan,
        "ratio_median": statistics.median(finite) if finite else math.nan,
        "ratio_least": min(finite, default=math.nan), "ratio_most": max(finite, default=math.nan),
        "steps": sum(result.steps for _, result in cells),
        "simulated_h": sum(result.time_s for _, result in cells) / 3600.0,
        "processor_h": sum(result.processor_s for _, result in cells) / 3600.0,
    }  # fmt: skip
