"""Rewards and ends of an episode: sums and limits over the rows of `Seen`, declared."""

import math
from dataclasses import dataclass
from typing import TypeVar

from trailbrake.errors import UsageError, near
from trailbrake.observe.columns import MEANINGS, Seen


@dataclass(frozen=True)
class Reward:
    """A share of the reward: `weight` times a row of `Seen`, in every step.

    Attributes:
        name: to ask for it by.
        text: what it is.
        column: which row.
        weight: reward per unit of the row.
    """

    name: str
    text: str
    column: Seen
    weight: float

    @property
    def needs(self) -> frozenset[str]:
        """Names of STATE_FIELDS."""
        return MEANINGS[self.column].needs


@dataclass(frozen=True)
class End:
    """An end: the episode terminates in the step in which a row of `Seen` is above `limit`.

    Attributes:
        name: to ask for it by.
        text: what it is.
        column: which row.
        limit: in the row's unit.
        reward: added to the reward of that step.
    """

    name: str
    text: str
    column: Seen
    limit: float
    reward: float = 0.0

    @property
    def needs(self) -> frozenset[str]:
        """Names of STATE_FIELDS."""
        return MEANINGS[self.column].needs


REWARDS: dict[str, Reward] = {
    reward.name: reward
    for reward in (
        Reward("progress", "metres gained along the centreline, a tenth of a point each", Seen.PROGRESS, 0.1),
        Reward("time", "a small price for every step", Seen.ALIVE, -0.01),
        Reward("off_track", "price of every step with more than two wheels off", Seen.OFF_TRACK, -0.1),
        Reward("contact", "price of touching a wall or a car", Seen.TOUCHED, -5.0),
        Reward("smooth_steer", "price of the squared change of steer", Seen.STEER_CHANGE, -0.1),
        Reward("smooth_pedals", "price of the squared change of throttle and brake", Seen.PEDAL_CHANGE, -0.01),
    )
}
ENDS: dict[str, End] = {
    end.name: end
    for end in (
        End("off_track", "more than two wheels off the road", Seen.WHEELS_OFF, 2.5, -1.0),
        End("off_road", "all wheels off the road", Seen.WHEELS_OFF, 3.5, -1.0),
        End("contact", "a wall or a car was touched", Seen.TOUCHED, 0.5, -1.0),
        End("backward", "pointing backwards for a second", Seen.BACKWARD_FOR, 1.0, -1.0),
        End("slow", "not getting on for four seconds", Seen.SLOW_FOR, 4.0, -1.0),
        End("lap", "a length of the road driven", Seen.LAPS, 1.0),
    )
}
# Always there: nothing is built beyond a road that ends.
PAST_END = End("past_end", "near the end of an open road", Seen.PAST_END, 0.0)

Kind = TypeVar("Kind", Reward, End)


def reward(asked: "str | Reward") -> Reward:
    """Return the reward of that name, or `asked` itself; UsageError where there is none."""
    found = _one(asked, REWARDS, Reward, "rewards")
    if not math.isfinite(found.weight):
        raise UsageError("no weight", where=f"rewards.{found.name}", expected="a finite number", got=str(found.weight))
    return found


def end(asked: "str | End") -> End:
    """Return the end of that name, or `asked` itself; UsageError where there is none."""
    found = _one(asked, ENDS, End, "ends")
    if math.isnan(found.limit) or not math.isfinite(found.reward):
        got = f"limit {found.limit}, reward {found.reward}"
        raise UsageError("no limit", where=f"ends.{found.name}", expected="numbers", got=got)
    return found


def _one(asked: "str | Kind", known: "dict[str, Kind]", kind: "type[Kind]", where: str) -> "Kind":
    if isinstance(asked, kind):
        return asked
    if not isinstance(asked, str):
        raise UsageError(f"no {kind.__name__}", where=where, expected=f"a name or a {kind.__name__}", got=repr(asked))
    if asked not in known:
        raise UsageError(f"no such {kind.__name__.lower()}", where=where, got=asked, hint=near(asked, list(known)))
    return known[asked]
