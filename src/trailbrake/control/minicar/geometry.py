"""The dimensions of the small camera car, and its command: a wheel angle and one pedal.

A bicycle with a short wheelbase, the camera on its front bumper. Source: protocol page formula-trend, section 4.
"""

import math
from typing import NamedTuple

WHEELBASE = 0.2  # m
NOSE = 0.22  # m from rear axle to front bumper
HALF_WIDTH = 0.065  # m
LOCK = math.radians(40.0)  # wheel angle
STUCK_SPEED = 0.04  # m/s: a slower car counts as standing


class MinicarCommand(NamedTuple):
    """A wheel angle (rad, positive to the left) and a pedal: above 0 it drives, below 0 it brakes or reverses."""

    wheel_angle: float
    pedal: float
    reverse: bool


def pedals_from_command(command: MinicarCommand) -> tuple[float, float, float, int]:
    """Return steer (share of lock, positive to the left), throttle, brake (0..1) and gear of a command."""
    steer = command.wheel_angle / LOCK
    if command.reverse:
        return steer, -command.pedal, 0.0, -1
    return steer, max(command.pedal, 0.0), max(-command.pedal, 0.0), 1
