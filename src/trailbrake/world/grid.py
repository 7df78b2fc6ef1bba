"""Where the cars of a race begin: today's line-up, a standing grid, or a rolling start."""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from trailbrake.errors import UsageError
from trailbrake.tracks.road import Road
from trailbrake.tracks.road_columns import RoadColumn

GRID_KINDS = ("standing", "rolling")
SLOT_GAP = 8.0  # m along the road from one car to the next
LINE_UP_STAGGER = 0.25  # of the line-up, share of the road's half width
COLUMN = 0.45  # of both columns of a grid, share of the road's half width
POLE_DISTANCE = 4.0  # m from the first car of a standing grid to the line
ROW_GAP = 12.0  # m from row to row of a rolling start, two cars in each
ROLLING_DISTANCE = 60.0  # m from its first row to the line when the field is released
ROLLING_SPEED = 22.0  # m/s
BEND_ACCELERATION = 5.0  # m/s^2 across, to which the field keeps in a bend
OPEN_MARGIN = 10.0  # m of an open road behind the last car


class GridPlace(NamedTuple):
    """A place: m along the road from the line, m left of its middle, and m/s along it."""

    s: float
    offset: float
    speed: float


def parse_grid(grid: str, cars: int, seed: int) -> tuple[str, Sequence[int]]:
    """Return the kind of a grid, "" for the line-up, and the place of each car in it, 0 in front.

    Args:
        grid: KIND or KIND:ORDER. The order is `reversed`, `random` by the seed, or the numbers of all cars from the
            front, with commas between; left out, the first car is in front.
        cars: how many.
        seed: of a random order.

    Raises:
        UsageError: no such kind, or no order of these cars.
    """
    kind, _, order = grid.partition(":")
    if kind not in ("", *GRID_KINDS) or (order and not kind):
        raise UsageError("no such grid", where=f"--grid {grid}", expected=" or ".join(GRID_KINDS), got=kind or "none")
    front = list(range(cars))
    if order == "reversed":
        front.reverse()
    elif order == "random":
        front = np.random.default_rng(seed).permutation(cars).tolist()
    elif order:
        front = [int(word) if word.strip().isdecimal() else -1 for word in order.split(",")]
    if sorted(front) != list(range(cars)):
        raise UsageError("no order of the grid", where=f"--grid {grid}", got=order,
                         expected=f"reversed, random, or all numbers from 0 to {cars - 1}")  # fmt: skip
    return kind, [front.index(car) for car in range(cars)]


def find_place(road: Road, kind: str, slot: int, slots: int) -> GridPlace:
    """Return the place of a slot, 0 in front; on an open road all are moved on until the last stands on it.

    Args:
        road: the road.
        kind: as of `parse_grid`.
        slot: which.
        slots: how many there are.
    """
    left = 1.0 if slot % 2 == 0 else -1.0
    if not kind:
        share = -left * LINE_UP_STAGGER if slot else 0.0
        return GridPlace(-SLOT_GAP * slot, share * _read_half_width(road, 0.0), 0.0)
    to_line, gap = (ROLLING_DISTANCE, ROW_GAP) if kind == "rolling" else (POLE_DISTANCE, SLOT_GAP)
    per_row = 2 if kind == "rolling" else 1
    s, last = -to_line - gap * (slot // per_row), -to_line - gap * ((slots - 1) // per_row)
    speed = 0.0
    if kind == "rolling":  # one for all: that of the tightest bend on their way
        bends = np.abs(road.column_at(np.arange(last - ROW_GAP, ROLLING_DISTANCE, 5.0), RoadColumn.CURVATURE))
        speed = min(ROLLING_SPEED, math.sqrt(BEND_ACCELERATION / max(float(bends.max()), 1e-6)))
    if not road.closed:
        s += OPEN_MARGIN - last
    return GridPlace(s, left * COLUMN * _read_half_width(road, s), speed)


def _read_half_width(road: Road, s: float) -> float:
    return min(road.value_at(s, RoadColumn.WIDTH_LEFT), road.value_at(s, RoadColumn.WIDTH_RIGHT))
