"""Roads of known geometry for the world's tests; everything in SI units."""

import math

import numpy as np

from trailbrake.state import Controls
from trailbrake.tracks.road import Road
from trailbrake.tracks.track import Track


def straight(length=4000.0, grade=0.0, bank=0.0, half_width=15.0, runoff=8.0):
    s = np.arange(int(length / 2.0) + 1) * 2.0
    road = Road.from_columns(2.0, False, s, 0.0 * s, 0.0 * s, 0.0 * s, z=grade * s, grade=grade, bank=bank,
                             width_left=half_width, width_right=half_width, runoff_left=runoff,
                             runoff_right=runoff)  # fmt: skip
    return Track("straight", "", (road,))


def circle(radius, bank=0.0, half_width=8.0, runoff=8.0):
    n = int(2.0 * math.pi * radius / 2.0)
    spacing = 2.0 * math.pi * radius / n
    angle = np.arange(n) * spacing / radius
    road = Road.from_columns(spacing, True, radius * np.sin(angle), -radius * np.cos(angle), angle,
                             np.full(n, 1.0 / radius), bank=bank, width_left=half_width, width_right=half_width,
                             runoff_left=runoff, runoff_right=runoff)  # fmt: skip
    return Track("circle", "", (road,))


def follow_circle(state, road):
    """Controls that drive a hatchback round a circle of 30 m at 10 m/s."""
    s, offset, _ = road.locate(state.x, state.y)
    steer = 2.637 / 30.0 - 0.1 * offset - 1.0 * math.sin(state.yaw - s / 30.0)
    return Controls(steer=steer / 0.58, throttle=min(max(0.5 * (10.0 - state.speed), 0.0), 0.6))
