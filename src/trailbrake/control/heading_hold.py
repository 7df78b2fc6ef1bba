"""Holding a heading, and a line across the ground, by the steering wheel, without knowing the car."""

import math

from trailbrake.control.pid import Pid
from trailbrake.units import wrap_angle

GAIN = 0.9  # share of MOST per m/s that the car goes sideways to where it should
RESET = 0.15  # share of MOST per m: a crowned road, a car that pulls
SLOWEST = 5.0  # m/s: below it the gain grows no further
MOST = 20.0  # m^2/s^2: share of full lock, times the speed squared: about 3 m/s^2 across
LOOK_AHEAD = 1.2  # s at the present speed, in which to be back on the line
STEEPEST = 0.3  # rad, of the way back to the line


class HeadingHold:
    """A PI on how fast the car goes sideways to its heading, the short way round, within a gentle bend.

    The heading answers steer in proportion to speed, and the acceleration across to its square: so the steer for an
    error falls with the speed, and its limit with the square.
    """

    def __init__(self) -> None:
        self._pi = Pid(GAIN, RESET)

    def update(self, heading: float, yaw: float, speed: float, dt: float) -> float:
        """Return the steer, share of full lock, positive left.

        Args:
            heading: rad, wanted; any number of turns.
            yaw: rad, present.
            speed: m/s.
            dt: s since the last call; 0 moves no memory.
        """
        pace = max(speed, SLOWEST)
        sideways = pace * wrap_angle(heading - yaw)
        # Far from the heading the limit steers, and there is nothing to learn about what pulls.
        share = self._pi.update(sideways, dt if GAIN * abs(sideways) < 1.0 else 0.0)
        return share * MOST / (pace * pace)


def towards_line(offset: float, speed: float) -> float:
    """Return the heading (rad) against a straight line that leads back to it.

    Args:
        offset: m, to the left of the line.
        speed: m/s.
    """
    return -min(max(math.atan2(offset, LOOK_AHEAD * max(speed, SLOWEST)), -STEEPEST), STEEPEST)
