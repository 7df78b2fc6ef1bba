"""`Course`: what a driver is told before it drives: the track, a model of the car, and plans made from both."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from trailbrake.cars.params import CarParams
from trailbrake.errors import UsageError
from trailbrake.planning.envelope import Envelope, envelope
from trailbrake.planning.handling import Handling, handling
from trailbrake.planning.line import racing_line
from trailbrake.planning.speed import Profile, profile
from trailbrake.tracks.road import Column, Road
from trailbrake.tracks.track import Track

LENGTH_WEIGHTS = (0.0, 1e-4, 1e-3)  # 1/m^2: from least curvature to shorter; the quickest by its own profile is driven
MARGIN = 0.97  # share of the car's steady limits that a profile plans with; the rest is for corrections


@dataclass(frozen=True)
class Course:
    """The map and the car model that plans are made from; never the world's truth.

    Plans are made when first asked for. `line`, `envelope`, `handling` and `profile` need a known car.

    Attributes:
        track: the road to drive.
        car: the car's data file; None where the simulator's car is not known.
    """

    track: Track
    car: CarParams | None

    def known_car(self) -> CarParams:
        """Return the car, or raise UsageError where it is not known."""
        if self.car is None:
            raise UsageError("this driver plans with a car model, and the car is not known", hint="name one by --car")
        return self.car

    @cached_property
    def line(self) -> Road:
        """The racing line, as a Road: of a few candidates the one with the quickest profile."""
        width = self.known_car().body.width
        candidates = [racing_line(self.track.road, width, weight) for weight in LENGTH_WEIGHTS]
        return min(candidates, key=lambda line: self.plan(line, start=-1.0 if line.closed else 0.0).lap_time)

    @cached_property
    def envelope(self) -> Envelope:
        """What the car can do."""
        return envelope(self.known_car())

    @cached_property
    def handling(self) -> Handling:
        """How the car lies in bends."""
        return handling(self.known_car(), self.envelope)

    @cached_property
    def profile(self) -> Profile:
        """The speeds of a flying lap along `line` (open roads: from rest)."""
        return self.plan(self.line, start=-1.0 if self.line.closed else 0.0)

    def plan(self, line: Road, *, start: float, margin: float = MARGIN) -> Profile:
        """Return the speeds along a line from `start` m/s at its first row; negative for a flying lap."""
        grade = line.column(Column.GRADE)
        bend = (np.roll(grade, -1) - np.roll(grade, 1)) / (2.0 * line.spacing)
        if not line.closed:
            bend[[0, -1]] = 0.0
        rows = np.column_stack(
            [line.column(Column.CURVATURE), grade, bend, line.column(Column.BANK), line.column(Column.GRIP)]
        )
        return profile(rows, line.spacing, line.closed, self.envelope, start=start, margin=margin)


class Unmapped(Course):
    """What a driver is told where the wire shows no positions, and a map would be of no use: nothing at all."""

    def __init__(self) -> None:
        object.__setattr__(self, "car", None)

    @property
    def track(self) -> Track:
        """There is none: UsageError."""
        raise UsageError("this driver plans on a map, and where the car is cannot be told from this simulator's wire")
