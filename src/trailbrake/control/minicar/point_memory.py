"""Points around a camera car that it has seen recently, moved along by dead reckoning.

A camera sees some 60 degrees ahead: a wall beside the car leaves the picture while the car can still touch it. Points
are kept for a metre or two, over which the errors of wheel angle and speed stay small.

Frame: the middle of the rear axle, x forward, y left, m.
"""

import math

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


def dead_reckon(distance: float, wheel_angle: float, wheelbase: float) -> tuple[float, float, float]:
    """Return the step (forward, left, turned; m and rad) of a car's rear axle that rolls `distance` m.

    Kinematic bicycle model: it follows a circle of radius wheelbase / tan(wheel angle).
    """
    turned = distance * math.tan(wheel_angle) / wheelbase
    if abs(turned) < 1e-9:
        return distance, 0.0, turned
    radius = distance / turned
    return radius * math.sin(turned), radius * (1.0 - math.cos(turned)), turned


def carry_points(points: Array, distance: float, wheel_angle: float, wheelbase: float) -> Array:
    """Return points (n, 2) in the car's frame after it has rolled `distance` m, backwards where negative."""
    forward, left, turned = dead_reckon(distance, wheel_angle, wheelbase)
    c, s = math.cos(turned), math.sin(turned)
    after: Array = (points - (forward, left)) @ np.array([[c, -s], [s, c]])
    return after


class PointMemory:
    """The remembered points around the car.

    Args:
        way: m that the car rolls until a point is removed.
        reach: m from the car beyond which points are not kept: distant ones are uncertain, and will be seen again.
    """

    def __init__(self, max_age_distance: float, max_radius: float) -> None:
        self._max_age_distance, self._max_radius = max_age_distance, max_radius
        self._points = np.empty((0, 2))
        self._seen_at = np.empty(0)  # odometer when seen
        self._odometer = 0.0

    def advance(self, distance: float, wheel_angle: float, wheelbase: float) -> None:
        """Move the points while the car rolls `distance` m, backwards where negative."""
        self._odometer += abs(distance)
        kept = self._odometer - self._seen_at <= self._max_age_distance
        self._points = carry_points(self._points[kept], distance, wheel_angle, wheelbase)
        self._seen_at = self._seen_at[kept]

    def add_points(self, points: Array) -> None:
        """Add points (n, 2) of the present picture."""
        near = np.hypot(points[:, 0], points[:, 1]) <= self._max_radius
        self._points = np.concatenate([self._points, points[near]])
        self._seen_at = np.concatenate([self._seen_at, np.full(int(near.sum()), self._odometer)])

    @property
    def points(self) -> Array:
        """All points, (n, 2), m."""
        return self._points

    def clear(self) -> None:
        """Remove all points."""
        self._points, self._seen_at = np.empty((0, 2)), np.empty(0)
