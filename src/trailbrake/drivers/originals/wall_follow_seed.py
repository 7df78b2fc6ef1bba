"""Counts wall to the left and right, as the original program did. Its improved version is `wall_follow`."""

import math

from trailbrake.control.minicar.free_space import LOCK
from trailbrake.planning.course import Course
from trailbrake.state import CarState, Controls
from trailbrake.vision.level_camera import fit_picture
from trailbrake.vision.walls import wall_shares

MAX_ANGLE, MAX_SHARP_ANGLE = 0.15, 1.0  # rad, of the wheel angle; the second where a U-turn fills the picture with wall
SHARP_WALL_SHARE = 0.3  # share of wall in a half from which it is one


class Driver:
    """Steers away from the side with more wall in the picture, at full throttle. Rule and numbers are the original's.

    The angle is the ratio of the right half's wall to the left half's, limited. It points to the left where the right
    half has more wall, with the same ratio for both sides. Source: protocol page formula-trend, section 7.1.
    """

    NEEDS = frozenset({"image"})

    def reset(self, course: Course) -> None:
        """Do nothing: the driver has no memory."""

    def act(self, state: CarState, dt: float) -> Controls:
        """Return the controls for one state."""
        if state.image is None:
            return Controls(throttle=1.0)
        left, right = wall_shares(fit_picture(state.image.pixels))
        cap = MAX_SHARP_ANGLE if max(left, right) > SHARP_WALL_SHARE else MAX_ANGLE
        angle = min(right / left, cap) if left > 0.0 else 0.0
        return Controls(steer=math.copysign(min(angle / LOCK, 1.0), 1.0 if right > left else -1.0), throttle=1.0)
