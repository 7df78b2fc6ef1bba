"""Whether the car drives the wrong way: arrows on the road and backs of signs over it, counted as it rolls."""

from typing import Literal

EVERY = 0.12  # m from look to look: an arrow is in sight for some 0.7 m, a sign's back for 2 m or more
SURE = 4  # readings of a wrong way, those of the right way taken off


class WrongWay:
    """Counts readings."""

    def __init__(self) -> None:
        self._way = 0.0
        self._count = 0

    def is_due(self, distance: float) -> bool:
        """Let the car roll on by `distance` (m); return whether it is time to look."""
        self._way += distance
        if self._way < EVERY:
            return False
        self._way = 0.0
        return True

    def see(self, arrows: Literal["forward", "backward", ""], backs: int) -> bool:
        """Take one look: where arrows point, and backs of signs over the road. Return whether it is sure."""
        wrong = arrows == "backward" or (backs > 0 and arrows != "forward")
        self._count = max(self._count + wrong - (arrows == "forward"), 0)
        if self._count < SURE:
            return False
        self._count = 0
        return True
