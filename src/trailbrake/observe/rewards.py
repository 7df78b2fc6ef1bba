"""Rewards and ends of an episode, declared as weights of and limits on rows of `Feature`."""

import math
from dataclasses import dataclass
from typing import TypeVar

from trailbrake.errors import UsageError, suggest_names
from trailbrake.observe.features import FEATURES, Feature


@dataclass(frozen=True)
class Reward:
    """A term of the reward: `weight` times a row of `Feature`, in every step.

    Attributes:
        name: the name that options use.
        text: one line for the documentation, without the weight.
        feature: the row.
        weight: reward per unit of the row.
    """

    name: str
    text: str
    feature: Feature
    weight: float

    @property
    def needs(self) -> frozenset[str]:
        """Names of the STATE_FIELDS that the row is computed from."""
        return FEATURES[self.feature].needs


@dataclass(frozen=True)
class End:
    """An end: the episode terminates in the step in which a row of `Feature` exceeds `limit`.

    Attributes:
        name: the name that options use.
        text: one line for the documentation.
        feature: the row.
        limit: in the row's unit.
        reward: added to the reward of that step.
    """

    name: str
    text: str
    feature: Feature
    limit: float
    reward: float = 0.0

    @property
    def needs(self) -> frozenset[str]:
        """Names of the STATE_FIELDS that the row is computed from."""
        return FEATURES[self.feature].needs


REWARDS: dict[str, Reward] = {
    reward.name: reward
    for reward in (
        Reward("progress", "for each metre gained along the centreline", Feature.PROGRESS, 0.1),
        Reward("time", "a small penalty for every step", Feature.ALIVE, -0.01),
        Reward("off_track", "penalty for every step with more than two wheels off", Feature.OFF_TRACK, -0.1),
        Reward("contact", "penalty for touching a wall or a car", Feature.NEW_CONTACTS, -5.0),
        Reward("smooth_steer", "penalty for the squared change of steer", Feature.STEER_CHANGE, -0.1),
        Reward("smooth_pedals", "penalty for the squared change of throttle and brake", Feature.PEDAL_CHANGE, -0.01),
    )
}
ENDS: dict[str, End] = {
    end.name: end
    for end in (
        End("off_track", "more than two wheels off the road", Feature.WHEELS_OFF, 2.5, -1.0),
        End("off_road", "all wheels off the road", Feature.WHEELS_OFF, 3.5, -1.0),
        End("contact", "a wall or a car was touched", Feature.NEW_CONTACTS, 0.5, -1.0),
        End("backward", "pointing backwards for a second", Feature.BACKWARD_TIME, 1.0, -1.0),
        End("slow", "slower than 1 m/s along the road for four seconds", Feature.SLOW_TIME, 4.0, -1.0),
        End("lap", "one length of the road driven", Feature.LAPS, 1.0),
    )
}
# Part of every task: there is no ground beyond the ends of an open road.
PAST_END = End("past_end", "near the end of an open road", Feature.PAST_END, 0.0)

RewardOrEnd = TypeVar("RewardOrEnd", Reward, End)


def find_reward(name: "str | Reward") -> Reward:
    """Return the reward called `name`, or `name` itself if it is one; UsageError where there is none."""
    found = _find_named(name, REWARDS, Reward, "rewards")
    if not math.isfinite(found.weight):
        raise UsageError("no weight", where=f"rewards.{found.name}", expected="a finite number", got=str(found.weight))
    return found


def find_end(name: "str | End") -> End:
    """Return the end called `name`, or `name` itself if it is one; UsageError where there is none."""
    found = _find_named(name, ENDS, End, "ends")
    if math.isnan(found.limit) or not math.isfinite(found.reward):
        got = f"limit {found.limit}, reward {found.reward}"
        raise UsageError("no limit", where=f"ends.{found.name}", expected="numbers", got=got)
    return found


def _find_named(
    name: "str | RewardOrEnd", known: "dict[str, RewardOrEnd]", kind: "type[RewardOrEnd]", where: str
) -> "RewardOrEnd":
    if isinstance(name, kind):
        return name
    if not isinstance(name, str):
        raise UsageError(f"no {kind.__name__}", where=where, expected=f"a name or a {kind.__name__}", got=repr(name))
    if name not in known:
        raise UsageError(
            f"no such {kind.__name__.lower()}", where=where, got=name, hint=suggest_names(name, list(known))
        )
    return known[name]
