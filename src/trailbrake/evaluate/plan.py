"""The cells of an evaluation: every combination of what its options list, and what these are compared with."""

import itertools
import re
from typing import Literal

import msgspec

from trailbrake.campaign.case_run import fingerprint_case
from trailbrake.errors import UsageError
from trailbrake.evaluate.options import EvaluationOptions
from trailbrake.name_lists import expand_names, expand_seeds

NO_CONDITION = "none"
SECONDS_PER_LAP = 300.0  # s of simulator time after which a cell is over, where the options say nothing
MAX_CELLS = 100_000

Role = Literal["judged", "reference", "baseline"]


class Cell(msgspec.Struct, frozen=True, kw_only=True):
    """One drive.

    Attributes:
        sim, track, car, driver, seed: as in `DriveSpec`; track and car are those of the world.
        believed_car, believed_track: what the driver gets instead; "" = the world's.
        condition: changes of the world, KEY=VALUE.
        host, gain, config: as in `DriveSpec`.
        laps: to drive.
        seconds: s of simulator time after which it is over.
        line: file of the minimum-time line that the driver follows.
    """

    sim: str
    track: str
    car: str
    driver: str
    seed: int = 0
    believed_car: str = ""
    believed_track: str = ""
    condition: tuple[str, ...] = ()
    host: tuple[str, ...] = ()
    gain: tuple[str, ...] = ()
    config: str = ""
    laps: int = 3
    seconds: float = 3.0 * SECONDS_PER_LAP
    line: str | msgspec.UnsetType = msgspec.UNSET  # left out of the fingerprint of a cell without one


class PlannedCell(msgspec.Struct, frozen=True):
    """A cell and its place in the evaluation.

    Attributes:
        cell: what is driven.
        role: whether it is one of those that the options list, or is only compared with.
        reference: the cell whose laps its own are compared with; None where it would be itself.
        baseline: the same cell without the condition; None where it has none.
    """

    cell: Cell
    role: Role
    reference: Cell | None = None
    baseline: Cell | None = None


def list_cells(options: EvaluationOptions) -> list[PlannedCell]:
    """Return the cells of an evaluation, each once: first those that its options list, then what they need.

    Raises:
        UsageError: a list that cannot be used.
    """
    if options.laps < 1 or not options.seconds >= 0.0:
        raise UsageError("no number of laps or seconds", where="--laps, --seconds", expected="1 or more, 0 or more",
                         got=f"{options.laps}, {options.seconds:g}")  # fmt: skip
    judged = [_compare_cell(cell, options) for cell in _combine_options(options)]
    planned = {item.cell: item for item in judged}
    for item in judged:
        if item.baseline is not None and item.baseline not in planned:
            planned[item.baseline] = msgspec.structs.replace(_compare_cell(item.baseline, options), role="baseline")
    for item in list(planned.values()):
        if item.reference is not None and item.reference not in planned:
            planned[item.reference] = PlannedCell(item.reference, "reference")
    return list(planned.values())


def _combine_options(options: EvaluationOptions) -> list[Cell]:
    conditions = [_parse_condition(text) for text in options.condition or (NO_CONDITION,)]
    axes = (
        expand_names(options.sims, "--sims"), expand_names(options.cars, "--cars"),
        expand_names(options.tracks, "--tracks"), expand_names(options.drivers, "--drivers"),
        expand_seeds(options.seeds, "--seeds"), conditions,
    )  # fmt: skip
    count = 1
    for axis in axes:
        count *= len(axis)
    if count > MAX_CELLS:
        raise UsageError("too many cells", where="evaluate", expected=f"{MAX_CELLS} at most", got=str(count))
    seconds = options.seconds or options.laps * SECONDS_PER_LAP
    return [
        Cell(
            sim=sim, track=track, car=car, driver=driver, seed=seed, condition=condition,
            believed_car=_fill_pattern(options.believed_car, sim, car, track),
            believed_track=_fill_pattern(options.believed_track, sim, car, track),
            host=options.host, gain=options.gain, config="" if options.config is None else str(options.config),
            laps=options.laps, seconds=seconds,
        )
        for sim, car, track, driver, seed, condition in itertools.product(*axes)
    ]  # fmt: skip


def _compare_cell(cell: Cell, options: EvaluationOptions) -> PlannedCell:
    driver = options.reference_driver or cell.driver
    own = driver == cell.driver
    reference = msgspec.structs.replace(
        cell, driver=driver, believed_car="", believed_track="", host=options.reference_host or cell.host,
        gain=cell.gain if own else (), config=cell.config if own else "",
    )  # fmt: skip
    baseline = msgspec.structs.replace(cell, condition=()) if cell.condition else None
    return PlannedCell(cell, "judged", None if reference == cell else reference, baseline)


def _parse_condition(text: str) -> tuple[str, ...]:
    return () if text == NO_CONDITION else tuple(part.strip() for part in text.split(","))


def _fill_pattern(pattern: str, sim: str, car: str, track: str) -> str:
    """Return a name or file with {sim}, {car} and {track} filled in; in a file's name, : and / become _."""
    for key, value in (("{sim}", sim), ("{car}", car), ("{track}", track)):
        whole = pattern == key
        pattern = pattern.replace(key, value if whole else re.sub(r"[^\w.=@-]+", "_", value))
    return pattern


def fingerprint_cell(cell: Cell) -> str:
    """Return a text that changes with anything that a cell's result may depend on, files that it names included."""
    return fingerprint_case(cell, list_named_words(cell))


def list_named_words(cell: Cell) -> list[str]:
    """Return the texts of a cell that may name files; most of them name none."""
    words = (cell.track, cell.car, cell.driver, cell.believed_car, cell.believed_track, cell.config, cell.line or "")
    return [*words, *(pair.partition("=")[2] for pair in (*cell.host, *cell.gain))]
