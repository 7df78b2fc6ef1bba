"""Curvature and radius of a car's path, from speed and yaw rate or from positions: the one place that derives them."""

import math
from dataclasses import dataclass

import numpy as np

from trailbrake.arrays import Array
from trailbrake.state.fields import quantity

MIN_SPEED = 1.0  # m/s; below it yaw rate over speed is no measure of the path
STRAIGHT_RADIUS = 10_000.0  # m; a path with a larger radius is straight


@dataclass(slots=True)
class PathBend:
    """How tightly a car turns; NaN where it is unknown."""

    curvature: float = quantity("1/m", "of the path, positive to the left; yaw rate over speed")
    path_radius: float = quantity("m", "of the path; empty on a straight", lo=0.0)


def path_curvature(speed: Array, yaw_rate: Array) -> Array:
    """Return the curvature of the path, 1/m, positive to the left: yaw rate over speed.

    The rate of the side-slip angle is neglected: it is 0 in a steady bend.

    Args:
        speed: m/s; where it is below MIN_SPEED the curvature is NaN.
        yaw_rate: rad/s, positive to the left.
    """
    return yaw_rate / np.where(speed >= MIN_SPEED, speed, math.nan)


def path_radius(curvature: Array) -> Array:
    """Return the radius, m, of a path with this curvature (1/m); NaN on a straight."""
    size = np.abs(curvature)
    return 1.0 / np.where(size > 1.0 / STRAIGHT_RADIUS, size, math.nan)


def yaw_rate_from_positions(x: Array, y: Array, time: Array) -> Array:
    """Return the rate at which the course over ground turns, rad/s, positive to the left.

    Args:
        x: m, at least two.
        y: m.
        time: s; where it stands still the rate is NaN.
    """
    course = np.unwrap(np.arctan2(np.gradient(y), np.gradient(x)))
    span = np.gradient(time)
    return np.gradient(course) / np.where(span > 0.0, span, math.nan)


def find_path_bend(speed: float, yaw_rate: float) -> PathBend:
    """Return curvature and radius of the path at one moment; the arguments are those of `path_curvature`."""
    if not speed >= MIN_SPEED:  # NaN too
        return PathBend()
    curvature = yaw_rate / speed
    size = abs(curvature)
    return PathBend(curvature, 1.0 / size if size > 1.0 / STRAIGHT_RADIUS else math.nan)
