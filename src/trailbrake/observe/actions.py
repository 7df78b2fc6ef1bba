"""Kinds of action: how a vector of numbers becomes steer, throttle and brake.

How the outputs of a policy become commands: the change of the steer, and the pedal, both limited in rate.
"""

import math
import warnings
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from trailbrake.arrays import Array, Rows
from trailbrake.errors import UsageError, suggest_names

OUTPUTS = 2  # of a policy


@dataclass(frozen=True)
class ActionSpec:
    """A kind of action. A pedal is `sign * action[index]`, or 0 where that is negative; so is the steer, either way.

    Attributes:
        name: the name that options use.
        text: one line for the documentation.
        low: lower bound of each number.
        high: upper bound of each number.
        steer: index of the steer, positive left.
        throttle: index and sign of the throttle.
        brake: index and sign of the brake.
        steer_gain: share of full lock that an action of 1 steers.
    """

    name: str
    text: str
    low: tuple[float, ...]
    high: tuple[float, ...]
    steer: int
    throttle: tuple[int, float]
    brake: tuple[int, float]
    steer_gain: float = 1.0

    @property
    def width(self) -> int:
        """How many numbers an action has."""
        return len(self.low)

    @property
    def kernel_codes(self) -> NDArray[np.float64]:
        """For kernels: index of steer; index and sign of throttle and of brake; all lows; all highs; gain of steer."""
        return np.array([self.steer, *self.throttle, *self.brake, *self.low, *self.high, self.steer_gain], np.float64)


ACTIONS: dict[str, ActionSpec] = {
    action.name: action
    for action in (
        ActionSpec("steer_pedal", "steer; one pedal axis, positive throttle, negative brake",
               (-1.0, -1.0), (1.0, 1.0), 0, (1, 1.0), (1, -1.0)),
        ActionSpec("steer_throttle_brake", "steer; throttle; brake",
               (-1.0, 0.0, 0.0), (1.0, 1.0, 1.0), 0, (1, 1.0), (2, 1.0)),
        ActionSpec("fine_steer_pedal", "as steer_pedal, but 1 steers 0.3 of full lock: noise keeps the car on the road",
               (-1.0, -1.0), (1.0, 1.0), 0, (1, 1.0), (1, -1.0), 0.3),
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


class ActionClipper:
    """Clips actions to the range of their kind; the first time it warns."""

    def __init__(self, action: ActionSpec) -> None:
        self._low, self._high, self._has_warned = action.low, action.high, False

    def clip_actions(self, values: Array) -> Array:
        """Return the actions (n, width) in their range, NaN as it was."""
        clipped: Array = np.clip(values, self._low, self._high)
        if not self._has_warned and not np.array_equal(clipped, values, equal_nan=True):
            self._has_warned = True
            warnings.warn(f"actions outside {self._low} .. {self._high} are clipped", stacklevel=4)
        return clipped


@dataclass(frozen=True, kw_only=True)
class CommandLimits:
    """Rates of commands, and the time from one to the next.

    Attributes:
        period: s from one command to the next.
        steer_rate: 1/s, greatest change of the steer; full lock is 1.
        pedal_rate: 1/s, greatest change of the pedal: 1 is full throttle, -1 full brake.
    """

    period: float = 0.048
    steer_rate: float = 2.5
    pedal_rate: float = 10.0

    def __post_init__(self) -> None:
        for name, value, most in (
            ("period", self.period, 0.1), ("steer rate", self.steer_rate, 100.0),
            ("pedal rate", self.pedal_rate, 100.0),
        ):  # fmt: skip
            if not (math.isfinite(value) and 0.0 < value <= most):
                raise UsageError("out of range", where=name, expected=f"more than 0, {most:g} at most", got=str(value))

    def next_commands(self, outputs: Rows, previous: Array) -> Array:
        """Return the commands (n, 2), steer and pedal, each -1..1.

        Args:
            outputs: (n, 2) of a network, clipped to -1..1: the change of the steer as a share of the greatest one, and
                the pedal wanted.
            previous: (n, 2) commands before these; 0 at the start.
        """
        wanted = np.clip(outputs.astype(np.float64), -1.0, 1.0)
        commands = np.empty_like(wanted)
        commands[:, 0] = previous[:, 0] + wanted[:, 0] * (self.steer_rate * self.period)
        most = self.pedal_rate * self.period
        commands[:, 1] = previous[:, 1] + np.clip(wanted[:, 1] - previous[:, 1], -most, most)
        return np.clip(commands, -1.0, 1.0, out=commands)
