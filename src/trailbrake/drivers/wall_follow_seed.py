"""Walls counted left and right, as the program that began all this had it: faults and all. Mended: `wall_follow`."""

import math

from trailbrake.control.minicar import LOCK
from trailbrake.planning.course import Course
from trailbrake.state import CarState, Controls
from trailbrake.vision.walls import rates

CAP, SHARP_CAP = 0.15, 1.0  # rad, of the wheel angle; the second where a U-turn fills the picture with wall
SHARP = 0.3  # share of wall in a half from which it is one


class Driver:
    """Steers away from the side with more wall in the camera, with full throttle. The original's rule and numbers.

    The angle is the right half's wall over the left half's, limited, and to the left where the right half has more:
    the same quotient for both sides. Source: protocol page formula-trend, section 7.1.
    """

    NEEDS = frozenset({"image"})

    def reset(self, course: Course) -> None:
        """Nothing to prepare: it remembers nothing."""

    def act(self, state: CarState, dt: float) -> Controls:
        """Answer one state."""
        if state.image is None:
            return Controls(throttle=1.0)
        left, right = rates(state.image.pixels)
        cap = SHARP_CAP if max(left, right) > SHARP else CAP
        angle = min(right / left, cap) if left > 0.0 else 0.0
        return Controls(steer=math.copysign(min(angle / LOCK, 1.0), 1.0 if right > left else -1.0), throttle=1.0)
