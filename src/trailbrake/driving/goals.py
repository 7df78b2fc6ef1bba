"""Goals of a drive as values: `Laps(2).or_when(OffRoad(), Standstill())`. Plain data; they judge a `RoadMonitor`.

The limits of all verbs stand here, once; those of `laps` (END_MARGIN, MOVING_SPEED) are read by the monitor too.
"""

import math
from typing import TYPE_CHECKING, Annotated, Self, TypeAlias

import msgspec

from trailbrake.laps import MOVING_SPEED

if TYPE_CHECKING:  # help imports the options of a drive: they must stay cheap
    from trailbrake.driving.road_monitor import RoadMonitor

# s off the road that end a drive from which something is learned: a wheel that hops over the edge is no fault.
OFF_ROAD_LIMIT_S = 0.1
# s on the roof that end every drive: a car that rolls over onto its wheels goes on.
ROLLED_LIMIT_S = 1.0
# s at one place: more than the 26 s after which a recovery has had all its requests to be placed on the road.
STANDSTILL_LIMIT_S = 30.0
# s without headway: more than the 90 s after which a recovery gives up and says where the car is.
HEADWAY_LIMIT_S = 120.0
# cosine between the courses of two passes of a place.
MIN_ALIGNMENT = 0.7
_MOST = 1e9  # of any number here: finite

Count: TypeAlias = Annotated[int, msgspec.Meta(ge=0, le=1_000_000_000)]
Amount: TypeAlias = Annotated[float, msgspec.Meta(gt=0.0, le=_MOST)]


class Goal(msgspec.Struct, frozen=True, kw_only=True, tag_field="kind", forbid_unknown_fields=True, omit_defaults=True,
           rename={"ends": "or_when"}):  # fmt: skip
    """What a drive is to reach, or what ends it.

    Attributes:
        ends: what else ends the drive.
    """

    ends: tuple["AnyGoal", ...] = ()

    def or_when(self, *ends: "AnyGoal") -> Self:
        """Return this goal with further ends."""
        return msgspec.structs.replace(self, ends=(*self.ends, *ends))

    def judge(self, monitor: "RoadMonitor") -> str | None:
        """Return None while the drive goes on, "" once the goal is reached, or the reason for another end.

        Every drive ends with a car on its roof, or that stands with an empty tank.
        """
        verdict = self._judge_alone(monitor)
        for end in self.ends:
            if verdict is None:
                verdict = end.judge(monitor)
        if verdict is None and monitor.rolled_s > ROLLED_LIMIT_S:
            verdict = f"rolled over {_describe_place(monitor)}"
        return _judge_tank(monitor) if verdict is None else verdict

    def _judge_alone(self, monitor: "RoadMonitor") -> str | None:
        return None


class Laps(Goal, frozen=True, tag="laps"):
    """So many finished laps, 0 = no limit; an open road, which has an end, is driven once."""

    count: Count

    def _judge_alone(self, monitor: "RoadMonitor") -> str | None:
        count = 1 if monitor.is_open_road else self.count
        return "" if count and len(monitor.laps) >= count else None


class Seconds(Goal, frozen=True, tag="seconds"):
    """So many s of simulator time."""

    seconds: Amount

    def _judge_alone(self, monitor: "RoadMonitor") -> str | None:
        return "" if monitor.elapsed >= self.seconds else None


class OnceAlong(Goal, frozen=True, tag="once_along"):
    """Along an open road until `laps.END_MARGIN` before its end, or so many rounds of a circuit from the start."""

    rounds: Amount = 1.0

    def _judge_alone(self, monitor: "RoadMonitor") -> str | None:
        return "" if monitor.measure_rest(self.rounds) <= 0.0 else None


class Metres(Goal, frozen=True, tag="metres"):
    """So many m of path."""

    metres: Amount

    def _judge_alone(self, monitor: "RoadMonitor") -> str | None:
        return "" if monitor.travelled >= self.metres else None


class BackAtStart(Goal, frozen=True, tag="back_at_start"):
    """Back within so many m of the start and headed as there, after having been `away` m from it: round a circuit."""

    within: Amount
    away: Amount

    def _judge_alone(self, monitor: "RoadMonitor") -> str | None:
        is_back = monitor.away > self.away and monitor.gap < self.within
        return "" if is_back and monitor.alignment >= MIN_ALIGNMENT else None  # the other way: a hairpin


class TimeUp(Goal, frozen=True, tag="time_up"):
    """Out of time after so many s of simulator time; the reason counts the laps where it knows how many there are."""

    seconds: Amount
    laps: Count = 0

    def _judge_alone(self, monitor: "RoadMonitor") -> str | None:
        if not monitor.elapsed >= self.seconds:
            return None
        if self.laps:
            return f"{len(monitor.laps)} of {self.laps} laps in {self.seconds:g} s"
        return f"out of time after {self.seconds:g} s"


class OffRoad(Goal, frozen=True, tag="off_road"):
    """Off the road for more than so many s, with the centre or with more than two wheels."""

    seconds: Amount = OFF_ROAD_LIMIT_S

    def _judge_alone(self, monitor: "RoadMonitor") -> str | None:
        return f"off the road for {self.seconds:g} s" if monitor.off_road_s > self.seconds else None


class Standstill(Goal, frozen=True, tag="standstill"):
    """At one place for more than so many s."""

    seconds: Amount = STANDSTILL_LIMIT_S

    def _judge_alone(self, monitor: "RoadMonitor") -> str | None:
        return f"stood still for {self.seconds:g} s" if monitor.standing_s > self.seconds else None


class NoHeadway(Goal, frozen=True, tag="no_headway"):
    """No headway along the road for more than so many s, wherever the car moves."""

    seconds: Amount = HEADWAY_LIMIT_S

    def _judge_alone(self, monitor: "RoadMonitor") -> str | None:
        return f"stuck {_describe_place(monitor)}" if monitor.without_headway_s > self.seconds else None


class NoFuel(Goal, frozen=True, tag="no_fuel"):
    """An empty tank, at a standstill."""

    def _judge_alone(self, monitor: "RoadMonitor") -> str | None:
        return _judge_tank(monitor)


class ContactsOver(Goal, frozen=True, tag="contacts_over"):
    """More than so many contacts."""

    most: Count

    def _judge_alone(self, monitor: "RoadMonitor") -> str | None:
        return f"more than {self.most} contacts" if monitor.contacts > self.most else None


AnyGoal: TypeAlias = (
    Laps
    | Seconds
    | OnceAlong
    | Metres
    | BackAtStart
    | TimeUp
    | OffRoad
    | Standstill
    | NoHeadway
    | NoFuel
    | ContactsOver
)


def _judge_tank(monitor: "RoadMonitor") -> str | None:
    empty = monitor.fuel <= 0.0 and monitor.speed < MOVING_SPEED and math.isfinite(monitor.moved_at)
    return f"no fuel {_describe_place(monitor)}" if empty else None


def _describe_place(monitor: "RoadMonitor") -> str:
    return f"in lap {len(monitor.laps) + 1}, {monitor.place:.0f} m after the line"
