"""Minimum-time lines that this machine keeps, in the cells whose drivers follow them.

They are named before the cells are driven, so that a line is part of what a result depends on, and goes along to
another machine. A published suite names none: its results are the same everywhere.
"""

import functools
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

import msgspec

from trailbrake.cars.car_library import load_car
from trailbrake.config import lines_folder
from trailbrake.drivers.loading.driver_registry import load_driver
from trailbrake.driving.session.line_choice import find_kept_line
from trailbrake.driving.spec import UNKNOWN_CAR
from trailbrake.errors import TrailbrakeError
from trailbrake.evaluate.plan import Cell, PlannedCell
from trailbrake.planning.course import Course
from trailbrake.tracks.track_library import load_track


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
            path = find_kept_line(course, load_driver(driver, Path(config) if config else None), say)
            return "" if path is None else str(path)
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
