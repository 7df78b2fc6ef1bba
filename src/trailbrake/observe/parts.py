"""The parts of an observation: named runs of numbers.

Numbers are divided by the scale of their feature (`features.FEATURES`) and clipped to +-MAX_SCALED, so that networks
can take them as they are. Instances of the classes below with other names are parts too.
"""

import math
from dataclasses import dataclass
from typing import TypeAlias

from trailbrake.errors import UsageError, suggest_names
from trailbrake.observe.features import FEATURES, REPEATS, Feature

NUMBERS_AHEAD = 3  # of `PlanPart`, for each time ahead
MAX_SCALED = 10.0  # bound of a scaled number


@dataclass(frozen=True)
class FeaturePart:
    """Rows of `Feature`: one number each, or several for a feature of `REPEATS`.

    Attributes:
        name: the name that options use.
        text: one line for the documentation.
        features: the rows.
    """

    name: str
    text: str
    features: tuple[Feature, ...]

    @property
    def feature_rows(self) -> tuple[tuple[int, float], ...]:
        """Row and scale of each number."""
        return tuple(
            (int(column) + k, FEATURES[column].scale) for column in self.features for k in range(REPEATS.get(column, 1))
        )

    @property
    def width(self) -> int:
        """How many numbers the part has."""
        return len(self.feature_rows)

    @property
    def needs(self) -> frozenset[str]:
        """Names of the STATE_FIELDS that the part needs."""
        return frozenset().union(*(FEATURES[column].needs for column in self.features))


@dataclass(frozen=True)
class CurvaturePart:
    """Curvature of the centreline at distances ahead: the cheapest preview of the road.

    Attributes:
        name: the name that options use.
        text: one line for the documentation.
        ahead: distances along the centreline, m.
        scale: 1/m.
    """

    name: str
    text: str
    ahead: tuple[float, ...]
    scale: float = 0.05

    @property
    def width(self) -> int:
        """How many numbers the part has."""
        return len(self.ahead)

    @property
    def needs(self) -> frozenset[str]:
        """Names of the STATE_FIELDS that the part needs."""
        return frozenset({"x", "y"})


@dataclass(frozen=True)
class EdgesPart:
    """Both edges of the road at m distances ahead, in the axes of the body: m left x, m left y, m right x, m right y.

    Attributes:
        name: the name that options use.
        text: one line for the documentation.
        ahead: distances along the centreline, m.
        scale: m.
    """

    name: str
    text: str
    ahead: tuple[float, ...]
    scale: float = 50.0

    @property
    def width(self) -> int:
        """How many numbers the part has."""
        return 4 * len(self.ahead)

    @property
    def needs(self) -> frozenset[str]:
        """Names of the STATE_FIELDS that the part needs."""
        return frozenset({"x", "y", "yaw"})


@dataclass(frozen=True)
class NearestCarsPart:
    """The nearest other cars, nearest first.

    Seven numbers each: 1 where there is such a car; its position x forward, y left over `reach`; its velocity minus
    the own velocity, x and y, over 20 m/s; sine and cosine of its yaw minus the own yaw. Positions and velocities are
    in the axes of the own body. All 0 where there is no car within `reach`.

    Attributes:
        name: the name that options use.
        text: one line for the documentation.
        count: number of cars.
        reach: m.
    """

    name: str
    text: str
    count: int
    reach: float = 100.0

    @property
    def width(self) -> int:
        """How many numbers the part has."""
        return 7 * self.count

    @property
    def needs(self) -> frozenset[str]:
        """Names of the STATE_FIELDS that the part needs."""
        return frozenset({"x", "y", "yaw", "velocity_x", "velocity_y", "others"})


@dataclass(frozen=True)
class ScanPart:
    """Ranges of a scanner to walls and other cars, from the right to the left beam, over its limit: 0..1.

    Attributes:
        name: the name that options use.
        text: one line for the documentation.
        beams: number of beams.
        field: rad, angle from the first beam to the last.
        limit: m, maximum range.
    """

    name: str
    text: str
    beams: int
    field: float = 1.5 * math.pi
    limit: float = 100.0

    @property
    def width(self) -> int:
        """How many numbers the part has."""
        return self.beams

    @property
    def needs(self) -> frozenset[str]:
        """Names of the STATE_FIELDS that the part needs."""
        return frozenset({"x", "y", "yaw"})


@dataclass(frozen=True)
class PlanPart:
    """The planned line and speeds ahead: a plan that is made from the map and the car's file before the drive.

    First the line's distance to the left of the car, over 3 m, and its direction minus that of the car, over 0.2 rad;
    then for each time ahead, at the car's speed but 10 m/s at least, the line's offset there minus the offset of the
    car over 3 m, its curvature over 0.05 1/m, and the planned speed minus the speed of the car over 10 m/s.

    Attributes:
        name: the name that options use.
        text: one line for the documentation.
        ahead: s.
    """

    name: str
    text: str
    ahead: tuple[float, ...]

    @property
    def width(self) -> int:
        """How many numbers the part has."""
        return 2 + NUMBERS_AHEAD * len(self.ahead)

    @property
    def needs(self) -> frozenset[str]:
        """Names of the STATE_FIELDS that the part needs."""
        return frozenset({"x", "y", "yaw", "velocity_x"})


@dataclass(frozen=True)
class LinePart(PlanPart):
    """The same plan in the car's own axes: a bend of the line looks the same wherever the centreline turns.

    First as `PlanPart`; then for each time ahead, as there, the direction from the car to the line's place there, left
    of straight ahead, over 0.2 rad, and the planned speed minus the speed of the car over 10 m/s.
    """

    @property
    def width(self) -> int:
        """How many numbers the part has."""
        return 2 + 2 * len(self.ahead)


Part: TypeAlias = FeaturePart | CurvaturePart | EdgesPart | NearestCarsPart | ScanPart | PlanPart

_PREVIEW_DISTANCES = (10.0, 20.0, 35.0, 50.0, 75.0, 100.0, 130.0, 170.0)
PARTS: dict[str, Part] = {
    part.name: part
    for part in (
        FeaturePart("motion", "velocities, yaw rate and accelerations",
                    (Feature.VELOCITY_X, Feature.VELOCITY_Y, Feature.YAW_RATE, Feature.ACCELERATION_X,
                     Feature.ACCELERATION_Y)),
        FeaturePart("pedals", "steer, throttle and brake as applied", (Feature.STEER, Feature.THROTTLE, Feature.BRAKE)),
        FeaturePart("asked", "the previous action",
                    (Feature.COMMANDED_STEER, Feature.COMMANDED_THROTTLE, Feature.COMMANDED_BRAKE)),
        FeaturePart("drivetrain", "engine speed and gear", (Feature.ENGINE, Feature.GEAR)),
        FeaturePart("tyres", "combined slip and load of the four wheels", (Feature.SLIP, Feature.LOAD)),
        FeaturePart("wheels_on_track", "1 for each wheel that is on the road", (Feature.ON_TRACK,)),
        FeaturePart("lane", "position and heading relative to the road",
                    (Feature.SIN_HEADING, Feature.COS_HEADING, Feature.LEFT_CLEARANCE, Feature.RIGHT_CLEARANCE,
                     Feature.CURVATURE)),
        FeaturePart("room", "distance to the edges of the road", (Feature.LEFT_CLEARANCE, Feature.RIGHT_CLEARANCE)),
        FeaturePart("felt", "what the car showed so far of its limits and of its steer",
                    (Feature.FELT_LATERAL, Feature.FELT_BRAKING, Feature.FELT_DRIVE, Feature.FELT_STEER_GAIN,
                     Feature.FELT_YAW_MISS)),
        FeaturePart("recent", "commands, yaw rate and accelerations of the last three steps",
                    (Feature.RECENT_STEER, Feature.RECENT_PEDAL, Feature.RECENT_YAW_RATE, Feature.RECENT_LATERAL,
                     Feature.RECENT_LONGITUDINAL)),
        FeaturePart("pose", "world position and heading", (Feature.X, Feature.Y, Feature.YAW)),
        CurvaturePart("bends", "curvature of the road ahead", _PREVIEW_DISTANCES),
        EdgesPart("edges", "both edges of the road ahead in the car's axes", _PREVIEW_DISTANCES),
        NearestCarsPart("rivals", "the two nearest cars", 2),
        PlanPart("plan", "the planned line and speeds ahead", (0.15, 0.3, 0.5, 0.75, 1.0, 1.4, 1.9, 2.5, 3.2)),
        LinePart("line", "the planned line and speeds ahead, in the car's axes",
                 (0.15, 0.3, 0.5, 0.75, 1.0, 1.4, 1.9, 2.5, 3.2)),
        LinePart("far_line", "the same, farther: for cars that brake weakly, on a wet road too",
                 (0.15, 0.3, 0.5, 0.75, 1.0, 1.4, 1.9, 2.5, 3.2, 4.1, 5.2, 6.5)),
        ScanPart("scan64", "a range scanner with 64 beams over 270 degrees", 64),
        ScanPart("scan1080", "a range scanner with 1080 beams over 270 degrees", 1080),
    )
}  # fmt: skip


def find_part(name: "str | Part") -> Part:
    """Return the part called `name`, or `name` itself if it is one; UsageError where there is none."""
    if not isinstance(name, str):
        if not isinstance(name, Part):
            raise UsageError("no observation part", where="observe", expected="a name or a part", got=repr(name))
        return name
    if name not in PARTS:
        raise UsageError("no such observation part", where="observe", got=name, hint=suggest_names(name, list(PARTS)))
    return PARTS[name]
