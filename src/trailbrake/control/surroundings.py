"""What a camera car remembers of its surroundings: points seen lately, carried along by dead reckoning.

A camera sees some 60 degrees ahead: a wall that the car passes leaves the picture while it can still be touched. Points
are kept for a metre or two of way, far less than it takes for wheel angle and speed to mislead.

Frame: the middle of the rear axle, x forward, y left, m.
"""

import math

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


def moved(distance: float, wheel_angle: float, wheelbase: float) -> tuple[float, float, float]:
    """Return the step (forward, left, turned; m and rad) of a car's rear axle that rolls `distance` m.

    Kinematic bicycle: it follows a circle of radius wheelbase / tan(wheel angle).
    """
    turned = distance * math.tan(wheel_angle) / wheelbase
    if abs(turned) < 1e-9:
        return distance, 0.0, turned
    radius = distance / turned
    return radius * math.sin(turned), radius * (1.0 - math.cos(turned)), turned


def carried(points: Array, distance: float, wheel_angle: float, wheelbase: float) -> Array:
    """Return points (n, 2) as they lie after the car has rolled `distance` m, backwards where negative."""
    forward, left, turned = moved(distance, wheel_angle, wheelbase)
    c, s = math.cos(turned), math.sin(turned)
    after: Array = (points - (forward, left)) @ np.array([[c, -s], [s, c]])
    return after


class Memory:
    """Points around the car, the newest first forgotten last.

    Args:
        way: m that the car may roll until a point is forgotten.
        reach: m from the car beyond which points are not kept: far ones are uncertain, and will be seen again.
    """

    def __init__(self, way: float, reach: float) -> None:
        self._way, self._reach = way, reach
        self._points = np.empty((0, 2))
        self._born = np.empty(0)  # odometer when seen
        self._odometer = 0.0

    def roll(self, distance: float, wheel_angle: float, wheelbase: float) -> None:
        """Carry the points along while the car rolls `distance` m, backwards where negative."""
        self._odometer += abs(distance)
        kept = self._odometer - self._born <= self._way
        self._points = carried(self._points[kept], distance, wheel_angle, wheelbase)
        self._born = self._born[kept]

    def see(self, points: Array) -> None:
        """Add points (n, 2) that are seen now."""
        near = np.hypot(points[:, 0], points[:, 1]) <= self._reach
        self._points = np.concatenate([self._points, points[near]])
        self._born = np.concatenate([self._born, np.full(int(near.sum()), self._odometer)])

    @property
    def points(self) -> Array:
        """All points that are remembered, (n, 2)."""
        return self._points

    def clear(self) -> None:
        """Forget everything."""
        self._points, self._born = np.empty((0, 2)), np.empty(0)
