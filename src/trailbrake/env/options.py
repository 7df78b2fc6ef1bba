"""What can be chosen about an environment, and the checks of it."""

import math
from dataclasses import dataclass, field

from trailbrake.errors import UsageError
from trailbrake.observe.actions import Action
from trailbrake.observe.judge import End, Reward
from trailbrake.observe.parts import Part
from trailbrake.observe.program import Program
from trailbrake.world.batch import MAX_DT

RANDOM = "random"  # instead of a track's name: tracks from a seed
LOOK = 0.01  # s between looks at the ground
Range = tuple[float, float]


@dataclass(frozen=True, kw_only=True)
class Start:
    """Where episodes begin; every number is drawn evenly.

    Attributes:
        anywhere: along the whole road; otherwise at the start line.
        offset: share of the road's free half width, to either side.
        heading: rad off the road's direction, to either side.
        speed: m/s, least and greatest; less where the road bends.
        gap: m along the road from one car of a world to the next.
    """

    anywhere: bool = True
    offset: float = 0.5
    heading: float = 0.1
    speed: Range = (0.0, 20.0)
    gap: float = 12.0


@dataclass(frozen=True, kw_only=True)
class Vary:
    """What differs from episode to episode; every number is drawn evenly for each car.

    Attributes:
        mass: least and greatest share of the car's own mass.
        grip: of its tyres' friction.
        stiffness: of its tyres' slip stiffness.
        delay: control steps that an action comes late, 0 up to this.
        noise: least and greatest standard deviation of the noise on all observed numbers, of what is usual for each.
    """

    mass: Range = (1.0, 1.0)
    grip: Range = (1.0, 1.0)
    stiffness: Range = (1.0, 1.0)
    delay: int = 0
    noise: Range = (0.0, 0.0)

    @property
    def cars(self) -> bool:
        """Whether the cars differ."""
        return {self.mass, self.grip, self.stiffness} != {(1.0, 1.0)}


@dataclass(frozen=True, kw_only=True)
class RaceOptions:
    """An environment.

    Attributes:
        track: a track's name or file; "random" for roads made from a seed.
        roads: how many roads the worlds are spread over where they are random.
        car: a car's name or file.
        cars: how many share a world and can touch each other.
        rivals: whether only the first car of each world learns and the others are driven at a steady pace.
        period: s from one action to the next.
        substeps: steps of the world in that time, each 1.2 ms at most; with a period above 10 ms a multiple of 2, above
            20 ms of 3, and so on, since the world looks at the ground every 10 ms at the latest.
        observe: names of observation parts, or parts.
        rewards: names of rewards, or rewards.
        ends: names of ends, or ends.
        action: name of a kind of action, or one.
        limit: s after which an episode is cut off.
        start: where episodes begin.
        vary: what differs from episode to episode.
    """

    track: str = "pinegrove"
    roads: int = 1
    car: str = "gt3"
    cars: int = 1
    rivals: bool = False
    period: float = 0.01
    substeps: int = 10
    observe: tuple[str | Part, ...] = ("motion", "lane", "asked", "bends")
    rewards: tuple[str | Reward, ...] = ("progress", "contact", "smooth_steer")
    ends: tuple[str | End, ...] = ("off_road", "backward", "slow")
    action: str | Action = "steer_pedal"
    limit: float = 60.0
    start: Start = field(default_factory=Start)
    vary: Vary = field(default_factory=Vary)

    @property
    def looks(self) -> int:
        """Calls of the world in a period: none may be longer than LOOK."""
        return max(1, math.ceil(self.period / LOOK - 1e-9))

    def program(self) -> Program:
        """Check everything and return what is observed and judged by; UsageError names what is wrong."""
        _least("cars", self.cars, 1)
        _least("roads", self.roads, 1)
        _least("substeps", self.substeps, 1)
        _within("period", self.period, 1e-4, 0.1)
        _within("period / substeps", self.period / self.substeps, 1e-5, MAX_DT)
        if self.substeps % self.looks:
            expected = f"a multiple of {self.looks}: the world looks at the ground every 10 ms"
            raise UsageError("substeps do not fit", where="substeps", expected=expected, got=str(self.substeps))
        if not self.limit > 0.0:
            raise UsageError("no time", where="limit", expected="> 0 s", got=f"{self.limit}")
        if self.roads > 1 and self.track != RANDOM:
            raise UsageError(
                "several roads are random ones", where="roads", expected='track = "random"', got=self.track
            )
        start, vary = self.start, self.vary
        _within("start.offset", start.offset, 0.0, 1.0)
        _within("start.heading", start.heading, 0.0, math.pi)
        _range("start.speed", start.speed, 0.0, 100.0)
        _within("start.gap", start.gap, 6.0, 1000.0)
        for name in ("mass", "grip", "stiffness"):
            _range(f"vary.{name}", getattr(vary, name), 0.2, 5.0)
        _range("vary.noise", vary.noise, 0.0, 10.0)
        _least("vary.delay", vary.delay, 0)
        if vary.delay > 100:
            raise UsageError("too late", where="vary.delay", expected="0 .. 100 steps", got=str(vary.delay))
        return Program(self.observe, self.rewards, self.ends, self.action)


def _least(where: str, value: int, least: int) -> None:
    if not isinstance(value, int) or value < least:
        raise UsageError("no such number", where=where, expected=f"a whole number, {least} or more", got=repr(value))


def _within(where: str, value: float, lo: float, hi: float) -> None:
    if not lo <= value <= hi:
        raise UsageError("out of range", where=where, expected=f"{lo:g} .. {hi:g}", got=f"{value}")


def _range(where: str, value: Range, lo: float, hi: float) -> None:
    if len(value) != 2 or not lo <= value[0] <= value[1] <= hi:
        expected = f"least and greatest within {lo:g} .. {hi:g}"
        raise UsageError("no range", where=where, expected=expected, got=repr(value))
