"""What an observation is put together from: named parts, each a run of numbers made for people to read.

Numbers are divided by what is usual for them (`columns.MEANINGS`) and held within +-MOST, so that networks can take
them as they are. A part of one's own is an instance of one of the classes here.
"""

import math
from dataclasses import dataclass
from typing import TypeAlias

from trailbrake.errors import UsageError, near
from trailbrake.observe.columns import FOUR, MEANINGS, Seen

MOST = 10.0  # of the usual: observations are held within +-MOST


@dataclass(frozen=True)
class Columns:
    """Rows of `Seen`, one number each, or four for those of the wheels.

    Attributes:
        name: to ask for it by.
        text: what it is.
        columns: which.
    """

    name: str
    text: str
    columns: tuple[Seen, ...]

    @property
    def rows(self) -> tuple[tuple[int, float], ...]:
        """Row and usual size of each number."""
        return tuple(
            (int(column) + wheel, MEANINGS[column].usual)
            for column in self.columns
            for wheel in range(4 if column in FOUR else 1)
        )

    @property
    def width(self) -> int:
        """How many numbers."""
        return len(self.rows)

    @property
    def needs(self) -> frozenset[str]:
        """Names of STATE_FIELDS."""
        return frozenset().union(*(MEANINGS[column].needs for column in self.columns))


@dataclass(frozen=True)
class Bends:
    """Curvature of the centreline at distances ahead: the cheapest look at what comes.

    Attributes:
        name: to ask for it by.
        text: what it is.
        ahead: distances along the centreline, m.
        usual: 1/m.
    """

    name: str
    text: str
    ahead: tuple[float, ...]
    usual: float = 0.05

    @property
    def width(self) -> int:
        """How many numbers."""
        return len(self.ahead)

    @property
    def needs(self) -> frozenset[str]:
        """Names of STATE_FIELDS."""
        return frozenset({"x", "y"})


@dataclass(frozen=True)
class Edges:
    """Both edges of the road at m distances ahead, in the car's axes: m left x, m left y, m right x, m right y.

    Attributes:
        name: to ask for it by.
        text: what it is.
        ahead: distances along the centreline, m.
        usual: m.
    """

    name: str
    text: str
    ahead: tuple[float, ...]
    usual: float = 50.0

    @property
    def width(self) -> int:
        """How many numbers."""
        return 4 * len(self.ahead)

    @property
    def needs(self) -> frozenset[str]:
        """Names of STATE_FIELDS."""
        return frozenset({"x", "y", "yaw"})


@dataclass(frozen=True)
class Others:
    """The nearest other cars, nearest first.

    Of each: whether there is one (1 or 0), its place x, y ahead and to the left (m), its velocity relative to ours in
    our axes (m/s), sine and cosine of its heading less ours. All 0 where there is no car within `reach`.

    Attributes:
        name: to ask for it by.
        text: what it is.
        count: how many cars.
        reach: m.
    """

    name: str
    text: str
    count: int
    reach: float = 100.0

    @property
    def width(self) -> int:
        """How many numbers."""
        return 7 * self.count

    @property
    def needs(self) -> frozenset[str]:
        """Names of STATE_FIELDS."""
        return frozenset({"x", "y", "yaw", "velocity_x", "velocity_y", "others"})


@dataclass(frozen=True)
class Scan:
    """Ranges to walls and other cars along beams, right to left, over the scanner's limit: 0..1.

    Attributes:
        name: to ask for it by.
        text: what it is.
        beams: how many.
        field: rad, from the first to the last.
        limit: m.
    """

    name: str
    text: str
    beams: int
    field: float = 1.5 * math.pi
    limit: float = 100.0

    @property
    def width(self) -> int:
        """How many numbers."""
        return self.beams

    @property
    def needs(self) -> frozenset[str]:
        """Names of STATE_FIELDS."""
        return frozenset({"x", "y", "yaw"})


Part: TypeAlias = Columns | Bends | Edges | Others | Scan

_AHEAD = (10.0, 20.0, 35.0, 50.0, 75.0, 100.0, 130.0, 170.0)
PARTS: dict[str, Part] = {
    part.name: part
    for part in (
        Columns("motion", "velocities, yaw rate and accelerations",
                (Seen.VELOCITY_X, Seen.VELOCITY_Y, Seen.YAW_RATE, Seen.ACCELERATION_X, Seen.ACCELERATION_Y)),
        Columns("pedals", "steer, throttle and brake as applied", (Seen.STEER, Seen.THROTTLE, Seen.BRAKE)),
        Columns("asked", "the action before", (Seen.ASKED_STEER, Seen.ASKED_THROTTLE, Seen.ASKED_BRAKE)),
        Columns("drivetrain", "engine speed and gear", (Seen.ENGINE, Seen.GEAR)),
        Columns("tyres", "combined slip and load of the four wheels", (Seen.SLIP, Seen.LOAD)),
        Columns("wheels_on_track", "which wheels are on the road", (Seen.ON_TRACK,)),
        Columns("lane", "where the car is on the road, and where it points",
                (Seen.SIN_HEADING, Seen.COS_HEADING, Seen.ROOM_LEFT, Seen.ROOM_RIGHT, Seen.CURVATURE)),
        Columns("pose", "world position and heading", (Seen.X, Seen.Y, Seen.YAW)),
        Bends("bends", "curvature of the road ahead", _AHEAD),
        Edges("edges", "both edges of the road ahead in the car's axes", _AHEAD),
        Others("rivals", "the two nearest cars", 2),
        Scan("scan64", "a range scanner with 64 beams over 270 degrees", 64),
        Scan("scan1080", "a range scanner with 1080 beams over 270 degrees", 1080),
    )
}  # fmt: skip


def part(asked: "str | Part") -> Part:
    """Return the part of that name, or `asked` itself; UsageError where there is none."""
    if not isinstance(asked, str):
        if not isinstance(asked, Part):
            raise UsageError("no observation part", where="observe", expected="a name or a part", got=repr(asked))
        return asked
    if asked not in PARTS:
        raise UsageError("no such observation part", where="observe", got=asked, hint=near(asked, list(PARTS)))
    return PARTS[asked]
