"""`Course`: a driver's information before the drive: the track, a model of the car, and plans made from both.

Tabulates the line and the speeds of a course at the rows of its road, for whoever looks them up by the road's s.
"""

import hashlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import cached_property
from typing import TypeVar

import msgspec
import numpy as np
from numpy.typing import NDArray

from trailbrake.arrays import Array
from trailbrake.cars.ggv_envelope import Envelope, compute_envelope
from trailbrake.cars.params import CarParams
from trailbrake.errors import UsageError
from trailbrake.planning.handling import Handling, compute_handling
from trailbrake.planning.minimum_curvature import plan_racing_line
from trailbrake.planning.path_margins import KERB_MARGIN
from trailbrake.planning.path_room import PathRoom, make_inside_room
from trailbrake.planning.quickest_line import plan_quickest_line
from trailbrake.planning.speed_profile import SpeedProfile, compute_profile
from trailbrake.tracks.road import Road, RoadColumn, RoadPlan
from trailbrake.tracks.track import Track

LENGTH_WEIGHTS = (0.0, 1e-4, 1e-3)  # 1/m^2: from least curvature to shorter; the line with the quickest profile is used
GRIP_MARGIN = 0.97  # share of the car's steady limits that a profile uses; the rest is for corrections
MOST_KEPT = 16  # plans of a kind in memory, half a MB each
Plan = TypeVar("Plan")
_lines: dict[bytes, Road] = {}
_handlings: dict[bytes, Handling] = {}


@dataclass(frozen=True)
class Course:
    """The map and the car model from which plans are made; never the state of the simulated world.

    Plans are computed on first use. `line`, `envelope`, `handling` and `profile` need a known car.

    Attributes:
        track: the road to drive.
        car: the car's data file; None where the simulator's car is not known.
        given_line: the racing line, where it is not to be planned.
        given_speeds: (n,) m/s at the rows of the given line, by a better model than the envelope; None: not known.
        on_kerbs: whether the line is the quickest and may put the outer wheels on the kerbs, for a driver that holds it
            closely.
    """

    track: Track
    car: CarParams | None
    given_line: Road | None = field(default=None, kw_only=True)
    given_speeds: NDArray[np.float64] | None = field(default=None, kw_only=True)
    on_kerbs: bool = field(default=False, kw_only=True)

    def known_car(self) -> CarParams:
        """Return the car, or raise UsageError where it is not known."""
        if self.car is None:
            raise UsageError("this driver plans with a car model, and the car is not known", hint="name one by --car")
        return self.car

    def with_kerbs(self) -> "Course":
        """Return the course with a line that uses the kerbs.

        Itself where that is so, where its line is given, and where the car's file is an estimate that no laps have
        verified: a line that needs the last decimetres of the road is for a car that is known.
        """
        if self.on_kerbs or self.given_line is not None or self.car is None or isinstance(self, UnmappedCourse):
            return self
        if self.car.uncertainty is not None and not self.car.uncertainty.is_verified:
            return self
        return Course(self.track, self.car, on_kerbs=True)

    @cached_property
    def line(self) -> Road:
        """The racing line, as a Road: the given one; on kerbs the quickest; else one of least curvature.

        It is planned once for equal roads and cars, as of a field's cars, an evaluation's cells or a race day's heats.
        """
        if self.given_line is not None:
            return self.given_line
        road, body = self.track.road, self.known_car().body
        sizes = (body.width, body.track_front, body.track_rear, road.spacing, road.closed, self.on_kerbs)
        line = _recall(_lines, (repr(sizes).encode(), road.table, *self.envelope), self._plan_line)
        return Road(line.table.copy(), line.spacing, line.closed)  # a table can be written to

    def _plan_line(self) -> Road:
        body = self.known_car().body
        room = make_inside_room(body.width)
        if self.on_kerbs:
            room = PathRoom(0.5 * body.width, 0.5 * min(body.track_front, body.track_rear), KERB_MARGIN, kerbs=True)
            return plan_quickest_line(self.track.road, room, self.envelope, GRIP_MARGIN)
        candidates = [plan_racing_line(self.track.road, room, weight) for weight in LENGTH_WEIGHTS]
        return min(candidates, key=lambda line: self.plan_speeds(line, start=-1.0 if line.closed else 0.0).lap_time)

    @cached_property
    def envelope(self) -> Envelope:
        """The accelerations that the car can reach."""
        return compute_envelope(self.known_car())

    @cached_property
    def handling(self) -> Handling:
        """The slip angles of the car in bends, computed once for equal cars."""
        car, limits = self.known_car(), self.envelope
        found = _recall(_handlings, (msgspec.msgpack.encode(car), *limits), lambda: compute_handling(car, limits))
        return found._replace(
            slip_front=found.slip_front.copy(),
            slip_rear=found.slip_rear.copy(),
            brake_released=found.brake_released.copy(),
        )

    @cached_property
    def profile(self) -> SpeedProfile:
        """The speeds of a flying lap along `line` (open roads: from rest)."""
        return self.plan_speeds(self.line, start=-1.0) if self.line.closed else self.profile_from_rest

    @cached_property
    def profile_from_rest(self) -> SpeedProfile:
        """The speeds of a lap along `line` from a standing start."""
        return self.plan_speeds(self.line, start=0.0)

    def plan_speeds(
        self, line: Road, *, start: float, margin: float = GRIP_MARGIN, limits: Envelope | None = None
    ) -> SpeedProfile:
        """Return the speeds along a line from `start` m/s at its first row; negative for a flying lap.

        `limits` take the place of the envelope.
        """
        rows = path_shapes(line)
        return compute_profile(rows, line.spacing, line.closed, limits or self.envelope, start=start, margin=margin)


def _recall(kept: dict[bytes, Plan], inputs: Iterable[bytes | Array], make: Callable[[], Plan]) -> Plan:
    """Return what was made of the same inputs; else make it, and keep the newest MOST_KEPT."""
    digest = hashlib.sha256()
    for values in inputs:
        digest.update(values if isinstance(values, bytes) else values.tobytes())
    key = digest.digest()
    plan = kept.pop(key, None) or make()
    kept[key] = plan  # the newest is the last
    for old in list(kept)[:-MOST_KEPT]:
        kept.pop(old, None)
    return plan


def path_shapes(line: Road) -> NDArray[np.float64]:
    """Return the `PathShape` of each row of a line, (n, 6); nothing pushes."""
    grade = line.column(RoadColumn.GRADE)
    bend = (np.roll(grade, -1) - np.roll(grade, 1)) / (2.0 * line.spacing)
    if not line.closed:
        bend[[0, -1]] = 0.0
    columns = line.column(RoadColumn.CURVATURE), grade, bend, line.column(RoadColumn.BANK), line.column(RoadColumn.GRIP)
    return np.column_stack([*columns, np.zeros(len(grade))])


NO_POSITIONS = "this simulator's wire does not supply the car's position"


class UnmappedCourse(Course):
    """The course of a drive without a map: it has no track.

    Args:
        car: the car's data file; None where the simulator's car is not known.
        cause: why there is no map, for the error of a driver that plans on one.
        hint: what the user can do about it.
    """

    cause: str
    hint: str

    def __init__(self, car: CarParams | None = None, *, cause: str = NO_POSITIONS, hint: str = "") -> None:
        object.__setattr__(self, "car", car)
        vars(self).update(given_line=None, given_speeds=None, cause=cause, hint=hint)

    def known_car(self) -> CarParams:
        """Return the car, or raise UsageError where it is not known."""
        if self.car is None:
            raise UsageError(f"this driver plans on a map with a car model, and {self.cause}", hint=self.hint)
        return self.car

    @property
    def track(self) -> Track:
        """There is none: UsageError."""
        raise UsageError(f"this driver plans on a map, and {self.cause}", hint=self.hint)


def has_plan(course: Course) -> bool:
    """Return whether a line and speeds can be planned: both road and car are known."""
    return course.car is not None and not isinstance(course, UnmappedCourse)


def tabulate_plan(course: Course) -> RoadPlan:
    """Return the planned line and speeds of a course at the rows of its road.

    Args:
        course: with a known car; its `line` and `profile` are computed if they are not yet.

    Raises:
        UsageError: the car is not known.
    """
    road, line = course.track.road, course.line
    points = np.column_stack([line.column(RoadColumn.X), line.column(RoadColumn.Y)])
    place = road.locate_many(points)
    s, offset = place[:, 0], place[:, 1]
    turned = line.column(RoadColumn.YAW) - road.column_at(s, RoadColumn.YAW)
    heading = np.arctan2(np.sin(turned), np.cos(turned))
    # Inside a tight bend the feet of neighbouring points may change their order by a little.
    order = np.argsort(s, kind="stable")
    period = road.length if road.closed else None

    def at_rows(values: Array) -> Array:
        found: Array = np.interp(road.stations(), s[order], values[order], period=period)
        return found

    return RoadPlan(
        at_rows(offset), at_rows(heading), at_rows(line.column(RoadColumn.CURVATURE)), at_rows(course.profile.speed)
    )
