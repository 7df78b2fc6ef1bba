"""What an action means: from a vector of numbers to steer, throttle and brake."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from trailbrake.errors import UsageError, near


@dataclass(frozen=True)
class Action:
    """A kind of action. A pedal is `sign * action[index]`, held at 0 where that is negative; steer is as it is.

    Attributes:
        name: to ask for it by.
        text: what it is.
        low: least value of each number.
        high: greatest.
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
        """How many numbers."""
        return len(self.low)

    @property
    def codes(self) -> NDArray[np.float64]:
        """Steer's index, throttle's index and sign, brake's index and sign; then lows and highs: what kernels take."""
        return np.array([self.steer, *self.throttle, *self.brake, *self.low, *self.high], np.float64)


ACTIONS: dict[str, Action] = {
    action.name: action
    for action in (
        Action("steer_pedal", "steer; one pedal axis, positive throttle, negative brake",
               (-1.0, -1.0), (1.0, 1.0), 0, (1, 1.0), (1, -1.0)),
        Action("steer_throttle_brake", "steer; throttle; brake",
               (-1.0, 0.0, 0.0), (1.0, 1.0, 1.0), 0, (1, 1.0), (2, 1.0)),
    )
}  # fmt: skip


def action(asked: "str | Action") -> Action:
    """Return the kind of action of that name, or `asked` itself; UsageError where there is none."""
    if isinstance(asked, Action):
        return asked
    if not isinstance(asked, str):
        raise UsageError("no kind of action", where="action", expected="a name or an Action", got=repr(asked))
    if asked not in ACTIONS:
        raise UsageError("no such kind of action", where="action", got=asked, hint=near(asked, list(ACTIONS)))
    return ACTIONS[asked]
