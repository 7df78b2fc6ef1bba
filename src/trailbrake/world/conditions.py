"""`WorldConditions`: what changes in an embedded world while cars drive, and `GripSchedule`, the grip that follows.

Where the cars of a race begin: today's line-up, a standing grid, or a rolling start.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np

from trailbrake.errors import UsageError
from trailbrake.tracks.road import Road
from trailbrake.tracks.road_columns import RoadColumn
from trailbrake.tracks.track import SURFACES
from trailbrake.world.segment_table import NO_PATCH, GripPatch


@dataclass(frozen=True, kw_only=True)
class WorldConditions:
    """Changes of the world during a drive, which no wire announces. The defaults change nothing.

    Attributes:
        grip: factor on the grip of all ground that is reached at the end of lap `grip_lap`, 0.05 to 1.5.
        grip_lap: lap of the first car in which the grip changes, in proportion to the way; 1 = the first.
        rain_after: laps of the first car after which it rains; 0 = it does not.
        rain_seconds: s from the first drop until the road is wet, which has 0.7 of its grip.
        tyre_temperature: degC of all tyres at the start, -50 to 200, which warm and wear as the file of their car says;
            NaN: their friction stays constant.
        fuel_rate: consumption of fuel over that of the car's file: its mass falls so much faster.
        slipstream: `on`: cars lose drag and downforce behind each other. `off` is the default: wires do not announce a
            wake, and a car is to drive as its file says unless the user wants a race.
        grid: where the cars begin, KIND[:ORDER] of `parse_grid`; "": in line, the first on the start line.
        race_laps: laps of a race, after which race control shows the chequered flag; 0: it does not.
        patch_begin: m along the road, where a patch with other grip begins.
        patch_length: m of it; 0: there is none. As long as the road: its sides differ.
        patch_left: factor on the grip of the patch left of the road's middle, 0.05 to 1.5.
        patch_right: the same right of it.
    """

    grip: float = 1.0
    grip_lap: int = 2
    rain_after: int = 0
    rain_seconds: float = 20.0
    tyre_temperature: float = math.nan
    fuel_rate: float = 1.0
    slipstream: Literal["off", "on"] = "off"
    grid: str = ""
    race_laps: int = 0
    patch_begin: float = 0.0
    patch_length: float = 0.0
    patch_left: float = 1.0
    patch_right: float = 1.0

    def __post_init__(self) -> None:
        for name, right, wanted in (
            ("grip", 0.05 <= self.grip <= 1.5, "0.05 .. 1.5"),
            ("grip_lap", self.grip_lap >= 1, "1 or more"),
            ("rain_after", self.rain_after >= 0, "0 or more laps"),
            ("rain_seconds", self.rain_seconds >= 0.0, "0 s or more"),
            ("race_laps", self.race_laps >= 0, "0 or more laps"),
            ("patch_begin", 0.0 <= self.patch_begin < math.inf, "0 m or more"),
            ("patch_length", 0.0 <= self.patch_length < math.inf, "0 m or more"),
            ("patch_left", 0.05 <= self.patch_left <= 1.5, "0.05 .. 1.5"),
            ("patch_right", 0.05 <= self.patch_right <= 1.5, "0.05 .. 1.5"),
            ("tyre_temperature", not self.heats_tyres or -50.0 < self.tyre_temperature < 200.0, "-50 .. 200 degC"),
            ("fuel_rate", 0.0 <= self.fuel_rate <= 1000.0, "0 .. 1000"),
        ):
            if not right:
                raise UsageError("no such condition", where=f"--world {name}", expected=wanted,
                                 got=f"{vars(self)[name]:g}")  # fmt: skip

    @property
    def patch(self) -> GripPatch:
        """The patch of the road with other grip, `NO_PATCH` where there is none."""
        if self.patch_length == 0.0:
            return NO_PATCH
        return GripPatch(self.patch_begin, self.patch_length, self.patch_left, self.patch_right)

    @property
    def heats_tyres(self) -> bool:
        """Whether tyres warm up and wear."""
        return not math.isnan(self.tyre_temperature)

    @property
    def changes_grip(self) -> bool:
        """Whether the grip of the ground changes at any time."""
        return self.grip != 1.0 or self.rain_after > 0

    def describe_missed(self, laps: int) -> str:
        """Return which change of the grip a drive of so many laps ends before, in words; "" for none."""
        if self.grip != 1.0 and self.grip_lap > laps:
            return f"grip={self.grip:g} begins with lap {self.grip_lap} (grip_lap=1: with the first)"
        return f"rain begins after lap {self.rain_after}" if self.rain_after >= laps else ""


class GripSchedule:
    """The factor on the grip of all ground over a drive.

    Args:
        conditions: what changes.
    """

    def __init__(self, conditions: WorldConditions) -> None:
        self._conditions = conditions
        self._rain_begins: float | None = None

    def reset(self) -> None:
        """Begin again: it does not rain."""
        self._rain_begins = None

    def compute_factor(self, time: float, lap: int, progress: float) -> float:
        """Return the factor now.

        Args:
            time: s of simulator time; never falls but by a reset.
            lap: number of the first car's lap, 1 = the first.
            progress: share of that lap that is driven, 0..1.
        """
        changes = self._conditions
        done = min(max(lap + progress - changes.grip_lap, 0.0), 1.0)
        factor = 1.0 + done * (changes.grip - 1.0)
        if changes.rain_after and lap > changes.rain_after:
            if self._rain_begins is None:
                self._rain_begins = time
            since = time - self._rain_begins
            wet = min(since / changes.rain_seconds, 1.0) if changes.rain_seconds > 0.0 else 1.0
            factor *= 1.0 + wet * (SURFACES["wet"].grip - 1.0)
        return factor


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
