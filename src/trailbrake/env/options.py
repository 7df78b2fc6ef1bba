"""The options of an environment, and their checks."""

import math
from collections.abc import Iterable
from dataclasses import dataclass, field, fields, is_dataclass
from numbers import Integral, Real
from types import UnionType
from typing import Any, get_args, get_origin

from trailbrake.cars.car_library import load_car
from trailbrake.cars.params import CarParams
from trailbrake.env.domain_randomisation import Range, Start, Vary
from trailbrake.errors import UsageError
from trailbrake.observe.actions import ActionSpec
from trailbrake.observe.parts import Part
from trailbrake.observe.rewards import End, Reward
from trailbrake.observe.task_spec import TaskSpec
from trailbrake.planning.course import Course
from trailbrake.tracks.track import Track
from trailbrake.world.batch import MAX_DT

RANDOM = "random"  # in place of a track's name: random tracks
MAX_OUTER_STEP = 0.01  # s, longest outer step of the world, which updates the ground under the cars


@dataclass(frozen=True, kw_only=True)
class RaceOptions:
    """The options of an environment.

    Attributes:
        track: a track's name or file, or several for the worlds; or "random" for roads made from a seed.
        roads: number of random roads.
        car: a car's name or file; or several: the k-th track has the k-th car, in turn.
        cars: number of cars that share a world and can touch each other.
        rivals: whether only the first car of each world learns, and the others follow the road.
        period: s from one action to the next.
        substeps: steps of the world in a period, each at most 1.2 ms; a multiple of 2 for periods above 10 ms, of 3
            above 20 ms, and so on.
        observe: names of observation parts, or parts.
        rewards: names of rewards, or rewards.
        ends: names of ends, or ends.
        action: name of a kind of action, or an `ActionSpec`.
        clip_actions: whether actions out of range are clipped, with one warning, and not refused.
        limit: s after which an episode is truncated.
        start: where episodes start.
        vary: what varies from episode to episode.
        slipstream: whether cars lose drag and downforce behind others; not on a graphics card.
        plan_on_kerbs: whether the line of `plan` and `line` puts the outer wheels on the kerbs.
        plan_car: whose plan `plan` and `line` show, by name or file; "" for the car's own.
    """

    track: str | tuple[str, ...] = "pinegrove"
    roads: int = 1
    car: str | tuple[str, ...] = "gt3"
    cars: int = 1
    rivals: bool = False
    period: float = 0.01
    substeps: int = 10
    observe: tuple[str | Part, ...] = ("motion", "lane", "asked", "bends")
    rewards: tuple[str | Reward, ...] = ("progress", "contact", "smooth_steer")
    ends: tuple[str | End, ...] = ("off_road", "backward", "slow")
    action: str | ActionSpec = "steer_pedal"
    clip_actions: bool = False
    limit: float = 60.0
    start: Start = field(default_factory=Start)
    vary: Vary = field(default_factory=Vary)
    slipstream: bool = False
    plan_on_kerbs: bool = False
    plan_car: str = ""

    def __post_init__(self) -> None:
        check_types(self)

    @property
    def track_names(self) -> tuple[str, ...]:
        """The tracks, also where there is one."""
        return (self.track,) if isinstance(self.track, str) else self.track

    @property
    def car_names(self) -> tuple[str, ...]:
        """The cars, also where there is one."""
        return (self.car,) if isinstance(self.car, str) else self.car

    def plan_course(self, track: Track, car: CarParams) -> Course:
        """Return the course whose plan a car on a track observes."""
        return Course(track, load_car(self.plan_car) if self.plan_car else car, on_kerbs=self.plan_on_kerbs)

    @property
    def outer_steps(self) -> int:
        """Outer steps of the world in a period: as many as MAX_OUTER_STEP demands."""
        return max(1, math.ceil(self.period / MAX_OUTER_STEP - 1e-9))

    def build_task(self) -> TaskSpec:
        """Check all options and return the task that they declare; UsageError names the option that is wrong."""
        _check_least("cars", self.cars, 1)
        _check_least("roads", self.roads, 1)
        if not self.track or (not isinstance(self.track, str) and RANDOM in self.track):
            expected = f"names or files, or {RANDOM!r} alone"
            raise UsageError("no such tracks", where="track", expected=expected, got=repr(self.track))
        _check_least("substeps", self.substeps, 1)
        _check_within("period", self.period, 1e-4, 0.1)
        _check_within("period / substeps", self.period / self.substeps, 1e-5, MAX_DT)
        if self.substeps % self.outer_steps:
            expected = f"a multiple of {self.outer_steps}: the world looks at the ground every 10 ms"
            raise UsageError("substeps do not fit", where="substeps", expected=expected, got=str(self.substeps))
        if not self.limit > 0.0:
            raise UsageError("no time", where="limit", expected="> 0 s", got=f"{self.limit}")
        if not self.car:
            raise UsageError("no such cars", where="car", expected="names or files", got=repr(self.car))
        if self.roads > 1 and self.track != RANDOM:
            raise UsageError(
                "several roads are random ones", where="roads", expected='track = "random"', got=str(self.track)
            )
        start, vary = self.start, self.vary
        _check_within("start.offset", start.offset, 0.0, 1.0)
        _check_within("start.heading", start.heading, 0.0, math.pi)
        _check_range("start.speed", start.speed, 0.0, 100.0)
        _check_within("start.gap", start.gap, 6.0, 1000.0)
        _check_range("vary.mass", vary.mass, 0.2, 5.0)
        _check_range("vary.grip", vary.grip, 0.2, 5.0)
        _check_range("vary.stiffness", vary.stiffness, 0.2, 5.0)
        _check_range("vary.noise", vary.noise, 0.0, 10.0)
        _check_least("vary.delay", vary.delay, 0)
        if vary.delay > 100:
            raise UsageError("too late", where="vary.delay", expected="0 .. 100 steps", got=str(vary.delay))
        return TaskSpec(self.observe, self.rewards, self.ends, self.action)


def fit_substeps(period: float) -> int:
    """Return the least number of `RaceOptions.substeps` that a period (s) allows."""
    outer = max(1, math.ceil(period / MAX_OUTER_STEP - 1e-9))
    return outer * max(1, math.ceil(period / outer / MAX_DT))


def check_types(options: Any, where: str = "") -> None:
    """Raise UsageError where a value is of another type than its field declares.

    Args:
        options: a dataclass; those in its fields are checked too. Numbers may be NumPy's, tuples any sequence.
        where: before the field's name in the error.
    """
    for item in fields(options):
        value = vars(options)[item.name]
        if not _is_of_type(value, item.type):
            one = f"({value!r},) is one" if _is_of_type((value,), item.type) else ""
            raise UsageError("a value of another type", where=where + item.name, expected=_describe_type(item.type),
                             got=repr(value), hint=one)  # fmt: skip
        if is_dataclass(item.type):
            check_types(value, f"{where}{item.name}.")


def _describe_type(declared: Any) -> str:
    """Return a type as it is written, without the names of modules."""
    parts = ["..." if each is ... else _describe_type(each) for each in get_args(declared)]
    if isinstance(declared, UnionType):
        return " | ".join(parts)
    return f"{declared.__name__}[{', '.join(parts)}]" if parts else str(declared.__name__)


def _is_of_type(value: object, declared: Any) -> bool:
    if isinstance(declared, UnionType):
        return any(_is_of_type(value, each) for each in get_args(declared))
    if get_origin(declared) is not tuple:
        return isinstance(value, {int: Integral, float: Real}.get(declared, declared))
    if isinstance(value, str) or not isinstance(value, Iterable):
        return False
    items, (first, *others) = tuple(value), get_args(declared)
    is_as_long = others == [...] or len(items) == 1 + len(others)
    return is_as_long and all(_is_of_type(each, first) for each in items)  # of one type


def _check_least(where: str, value: int, least: int) -> None:
    if not isinstance(value, int) or value < least:
        raise UsageError("no such number", where=where, expected=f"a whole number, {least} or more", got=repr(value))


def _check_within(where: str, value: float, lo: float, hi: float) -> None:
    if not lo <= value <= hi:
        raise UsageError("out of range", where=where, expected=f"{lo:g} .. {hi:g}", got=f"{value}")


def _check_range(where: str, value: Range, lo: float, hi: float) -> None:
    if len(value) != 2 or not lo <= value[0] <= value[1] <= hi:
        expected = f"least and greatest within {lo:g} .. {hi:g}"
        raise UsageError("no range", where=where, expected=expected, got=repr(value))
