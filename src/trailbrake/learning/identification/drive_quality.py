"""What is wrong with drives before anything is learned of them: rows that are missing, and drives of different cars."""

import numpy as np
from numpy.typing import NDArray

from trailbrake.errors import DataError
from trailbrake.learning.identification.drive_table import DriveTable, longest_step

NOTED_GAPS = 0.05  # share of a drive that is missing, from which it is said
SAME_CAR = 0.03  # relative difference of a gear's ratio that one car's drives may have: tyres, slip
SETTLED_S, SHIFT_S = 0.5, 0.6  # since the gear changed, and until it changes
ROLLING = 3.0  # m/s^2 across and along, within which wheels slip little
MIN_SPEED = 5.0  # m/s
MIN_ROWS = 40
MOST_ROWS = (3.0, 97.0)  # percentiles: what a few rows say is none of the car
CLOSED = 0.04  # relative range that half of the ratios have at most where clutches are closed


def describe_gaps(table: DriveTable) -> tuple[str, ...]:
    """Return a line for each drive of which much is missing, beside the road, or against something; empty for none."""
    notes = []
    for number in np.unique(table.drive):
        time = table.time[table.drive == number]
        gaps = np.diff(time)
        gaps = gaps[gaps > longest_step(time)]
        missing, length = float(gaps.sum()), float(time[-1] - time[0])
        if missing > NOTED_GAPS * max(length, 1e-9):
            notes.append(
                f"{missing:.0f} s of the {length:.0f} s of drive {number + 1:.0f}, in {len(gaps)} parts: "
                "they are missing, beside the road, or in contact with something"
            )
    return tuple(notes)


def check_same_car(table: DriveTable) -> None:
    """Raise a DataError where two drives of a table are of different cars.

    By the limit of the engine that the wire supplies, and by engine speed over road speed in each gear: open and
    slipping clutches spread it, but drives of one car have its ratio in common.
    """
    numbers = [int(number) for number in np.unique(table.drive)]
    drives = [table.take(table.drive == number) for number in numbers]
    limits = [float(np.nanmedian(drive.limiter)) if np.isfinite(drive.limiter).any() else np.nan for drive in drives]
    _compare("limit of the engine, rad/s", dict(enumerate((limit, limit) for limit in limits)), numbers)
    ranges = [_gear_ratios(drive) for drive in drives]
    for gear in sorted({gear for found in ranges for gear in found}):
        known = {k: found[gear] for k, found in enumerate(ranges) if gear in found}
        _compare(f"ratio of engine to road in gear {gear}, rad/m", known, numbers)


def _compare(what: str, ranges: dict[int, tuple[float, float]], numbers: list[int]) -> None:
    """Raise where the (least, most) of two drives have nothing in common, beyond SAME_CAR."""
    for a, (_, most) in ranges.items():
        for b, (least, _) in ranges.items():
            if most < (1.0 - SAME_CAR) * least:
                raise DataError(
                    "drives of different cars", where=f"drives {numbers[min(a, b)] + 1} and {numbers[max(a, b)] + 1}",
                    expected=f"one {what}", got=f"{most:.1f} and {least:.1f}",
                    hint="learn from recordings of one car; --again begins anew",
                )  # fmt: skip


def _gear_ratios(table: DriveTable) -> dict[int, tuple[float, float]]:
    """Return the range of engine speed over road speed (rad/m) by gear, of gears that were driven for long enough.

    A gear that was driven with a slipping clutch alone, from a standstill, has no ratio.
    """
    rolling = (
        (table.vx > MIN_SPEED) & (table.gear >= 1) & (table.gear_age > SETTLED_S) & (table.engine > 0.0)
        & (np.abs(table.fx) < ROLLING) & (np.abs(table.fy) < ROLLING) & ~_find_shifts(table)
    )  # fmt: skip
    found = {}
    for gear in np.unique(table.gear[rolling]):
        rows = rolling & (table.gear == gear)
        if rows.sum() < MIN_ROWS:
            continue
        ratios = np.sort(table.engine[rows] / table.vx[rows])
        half = len(ratios) // 2
        if np.min(ratios[half:] / ratios[:-half]) > 1.0 + CLOSED:
            continue
        least, most = np.percentile(ratios, MOST_ROWS)
        found[int(gear)] = (float(least), float(most))
    return found


def _find_shifts(table: DriveTable) -> NDArray[np.bool_]:
    """Return whether the gear changes within SHIFT_S, or the drive ends (n,).

    A gearbox that opens its clutch to shift has the next gear's engine speed before the wire supplies that gear.
    """
    changes = np.append(np.flatnonzero(np.diff(table.gear) != 0.0) + 1, len(table) - 1)
    following = changes[np.searchsorted(changes, np.arange(len(table))).clip(max=len(changes) - 1)]
    return np.asarray(table.time[following] - table.time < SHIFT_S)
