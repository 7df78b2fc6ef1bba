"""What is wrong with drives before anything is learned of them: rows that are missing, and drives of different cars."""

import numpy as np
from numpy.typing import NDArray

from trailbrake.errors import DataError
from trailbrake.identification.drive_table import GAP, DriveTable

Array = NDArray[np.float64]

NOTED_GAPS = 0.05  # share of a drive that is missing, from which it is said
SAME_CAR = 0.03  # relative difference of a gear's ratio that one car's drives may have: tyres, slip
SETTLED_S = 0.5  # since the gear changed
ROLLING = 3.0  # m/s^2 across and along, within which wheels slip little
MIN_SPEED = 5.0  # m/s
MIN_ROWS = 40


def describe_gaps(table: DriveTable) -> tuple[str, ...]:
    """Return a line for each drive of which much is missing, beside the road, or against something; empty for none."""
    notes = []
    for number in np.unique(table.drive):
        time = table.time[table.drive == number]
        gaps = np.diff(time)
        gaps = gaps[gaps > GAP]
        missing, length = float(gaps.sum()), float(time[-1] - time[0])
        if missing > NOTED_GAPS * max(length, 1e-9):
            notes.append(
                f"{missing:.0f} s of the {length:.0f} s of drive {number + 1:.0f}, in {len(gaps)} parts: "
                "they are missing, beside the road, or in contact with something"
            )
    return tuple(notes)


def check_same_car(table: DriveTable) -> None:
    """Raise a DataError where two drives of a table are of different cars, by the ratios of their gears.

    A gear's ratio is engine speed over road speed, of rolling with little slip; in drives of one car it is the same.
    """
    drives = [int(number) for number in np.unique(table.drive)]
    ratios = {number: _gear_ratios(table.take(table.drive == number)) for number in drives}
    first: dict[int, tuple[int, float]] = {}
    for number in drives:
        for gear, ratio in ratios[number].items():
            other, known = first.setdefault(gear, (number, ratio))
            if abs(ratio / known - 1.0) > SAME_CAR:
                raise DataError(
                    "drives of different cars", where=f"drives {other + 1} and {number + 1}",
                    expected=f"one ratio of engine to road in gear {gear}",
                    got=f"{known:.1f} and {ratio:.1f} rad/m",
                    hint="learn from recordings of one car; --again begins anew",
                )  # fmt: skip


def _gear_ratios(table: DriveTable) -> dict[int, float]:
    """Return engine speed over road speed (rad/m) by gear, of gears that were driven for long enough."""
    rolling = (
        (table.vx > MIN_SPEED) & (table.gear >= 1) & (table.gear_age > SETTLED_S) & (table.engine > 0.0)
        & (np.abs(table.fx) < ROLLING) & (np.abs(table.fy) < ROLLING)
    )  # fmt: skip
    found = {}
    for gear in np.unique(table.gear[rolling]):
        rows = rolling & (table.gear == gear)
        if rows.sum() >= MIN_ROWS:
            found[int(gear)] = float(np.median(table.engine[rows] / table.vx[rows]))
    return found
