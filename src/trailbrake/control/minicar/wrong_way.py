"""Detection of driving the wrong way, by arrows on the road and the backs of signs over it."""

from typing import Literal

READING_INTERVAL = 0.12  # m between readings: an arrow is in sight for some 0.7 m, a sign's back for 2 m or more
REQUIRED_READINGS = 4  # readings of the wrong way, less those of the right way


class WrongWayCounter:
    """Counts readings of arrows and signs."""

    def __init__(self) -> None:
        self._way = 0.0
        self._count = 0

    def is_due(self, distance: float) -> bool:
        """Account for `distance` (m) that the car has rolled; return whether a reading is due."""
        self._way += distance
        if self._way < READING_INTERVAL:
            return False
        self._way = 0.0
        return True

    def add_reading(self, arrows: Literal["forward", "backward", ""], backs: int) -> bool:
        """Add one reading: the arrows' direction, and the number of signs' backs. Return whether the way is wrong."""
        wrong = arrows == "backward" or (backs > 0 and arrows != "forward")
        self._count = max(self._count + wrong - (arrows == "forward"), 0)
        if self._count < REQUIRED_READINGS:
            return False
        self._count = 0
        return True
