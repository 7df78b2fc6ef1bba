"""Holding a heading, or a straight line, by the steering, without a model of the car."""

import math

from trailbrake.control.pid import PidController
from trailbrake.units import wrap_angle

PROPORTIONAL_GAIN = 0.9  # share of MOST per m/s that the car goes sideways to where it should
INTEGRAL_GAIN = 0.15  # share of MOST per m: a crowned road, a car that pulls
MIN_SPEED = 5.0  # m/s: lower speeds count as this
MAX_STEER_SPEED_SQUARED = 20.0  # m^2/s^2, limit of steer times speed squared: about 3 m/s^2 of lateral acceleration
LOOK_AHEAD_TIME = 1.2  # s, time to return to the line at the present speed
MAX_APPROACH_ANGLE = 0.3  # rad, largest angle of the way back to the line


class HeadingController:
    """A PI controller on the velocity across the target heading, on the shorter way round, within a gentle bend.

    The yaw rate for a steer angle grows with speed, and the lateral acceleration with its square: so the steer for an
    error falls with the speed, and its limit with the square.
    """

    def __init__(self) -> None:
        self._pi = PidController(PROPORTIONAL_GAIN, INTEGRAL_GAIN)

    def compute_steer(self, heading: float, yaw: float, speed: float, dt: float) -> float:
        """Return the steer, share of full lock, positive left.

        Args:
            heading: rad, target; any number of turns.
            yaw: rad, present.
            speed: m/s.
            dt: s since the last call; 0: no integration.
        """
        pace = max(speed, MIN_SPEED)
        sideways = pace * wrap_angle(heading - yaw)
        # Far from the heading the steer is at its limit, and the integral must not grow.
        share = self._pi.update(sideways, dt if PROPORTIONAL_GAIN * abs(sideways) < 1.0 else 0.0)
        return share * MAX_STEER_SPEED_SQUARED / (pace * pace)


def heading_to_line(offset: float, speed: float) -> float:
    """Return the heading (rad), relative to a straight line, that leads back to the line.

    Args:
        offset: m, to the left of the line.
        speed: m/s.
    """
    return -min(
        max(math.atan2(offset, LOOK_AHEAD_TIME * max(speed, MIN_SPEED)), -MAX_APPROACH_ANGLE), MAX_APPROACH_ANGLE
    )
