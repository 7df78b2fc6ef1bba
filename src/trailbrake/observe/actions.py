"""Kinds of action: how a vector of numbers becomes steer, throttle and brake."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from trailbrake.errors import UsageError, suggest_names


@dataclass(frozen=True)
class ActionSpec:
    """A kind of action. A pedal is `sign * action[index]`, or 0 where that is negative; the steer is `action[index]`.

    Attributes:
        name: the name that options use.
        text: one line for the documentation.
        low: lower bound of each number.
        high: upper bound of each number.
        steer: index of the steer, -1..1, positive left.
        throttle: index and sign of the throttle.
        brake: index and sign of the brake.
    """

    name: str
    text: str
    low: tuple[float, ...]
    high: tuple[float, ...]
    steer: int
    throttle: tuple[int, float]
    brake: tuple[int, float]

    @property
    def width(self) -> int:
        """How many numbers an action has."""
        return len(self.low)

    @property
    def kernel_codes(self) -> NDArray[np.float64]:
        """For kernels: index of steer; index and sign of throttle and of brake; then all lows; then all highs."""
        return np.array([self.steer, *self.throttle, *self.brake, *self.low, *self.high], np.float64)


ACTIONS: dict[str, ActionSpec] = {
    action.name: action
    for action in (
        ActionSpec("steer_pedal", "steer; one pedal axis, positive throttle, negative brake",
               (-1.0, -1.0), (1.0, 1.0), 0, (1, 1.0), (1, -1.0)),
        ActionSpec("steer_throttle_brake", "steer; throttle; brake",
               (-1.0, 0.0, 0.0), (1.0, 1.0, 1.0), 0, (1, 1.0), (2, 1.0)),
    )
}  # fmt: skip


def find_action(name: "str | ActionSpec") -> ActionSpec:
    """Return the kind of action called `name`, or `name` itself if it is one; UsageError where there is none."""
    if isinstance(name, ActionSpec):
        return name
    if not isinstance(name, str):
        raise UsageError("no kind of action", where="action", expected="a name or an Action", got=repr(name))
    if name not in ACTIONS:
        raise UsageError("no such kind of action", where="action", got=name, hint=suggest_names(name, list(ACTIONS)))
    return ACTIONS[name]
