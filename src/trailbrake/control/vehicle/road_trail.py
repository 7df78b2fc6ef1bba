"""The trail that a car has driven on a road without a map: where the road is, for a car that has left it."""

import math
from collections import deque

from trailbrake.control.vehicle.manoeuvre_table import RoadStrip

POINT_SPACING = 3.0  # m between points of the trail
MOST_POINTS = 120
MIN_SPEED = 4.0  # m/s: a slower car may be turning
MOST_PLACE = 0.9  # half roads from the middle, beyond which the car is leaving the road
MOST_SIDESLIP = 0.3  # rad between the car's heading and its way: a car that slides is leaving it too
HALF_WIDTH = 4.0  # m, of a road whose width is not known: a usual one's
RUN_OFF = 4.0  # m beside it without walls, as long as nothing is known
MAX_DISTANCE = 60.0  # m from the trail, from which it says nothing


class RoadTrail:
    """The last places where a car was on its road and drove along it.

    Attributes:
        strip: the cross-section of the road, as far as it is known.
    """

    strip = RoadStrip(HALF_WIDTH, HALF_WIDTH, HALF_WIDTH + RUN_OFF, HALF_WIDTH + RUN_OFF)

    def __init__(self) -> None:
        self._points: deque[tuple[float, float, float]] = deque(maxlen=MOST_POINTS)  # x, y (m), direction (rad)

    def copy(self) -> "RoadTrail":
        """Return a copy."""
        other = RoadTrail()
        other._points = self._points.copy()
        return other

    def add_place(self, x: float, y: float, yaw: float, velocity: tuple[float, float], place: float) -> None:
        """Add the place of a car that drives on the road.

        Args:
            x: m, world.
            y: m, world.
            yaw: rad, of the car.
            velocity: m/s, forwards and to the left.
            place: -1..1 across the road, positive left; NaN where it is not known.
        """
        forward, left = velocity
        if not (abs(place) < MOST_PLACE and forward > MIN_SPEED and abs(left) < MOST_SIDESLIP * forward):
            return
        if self._points and math.dist(self._points[-1][:2], (x, y)) < POINT_SPACING:
            return
        direction = yaw + math.atan2(left, forward)
        aside = place * HALF_WIDTH
        x, y = x + aside * math.sin(direction), y - aside * math.cos(direction)
        if self._points and math.dist(self._points[-1][:2], (x, y)) > MAX_DISTANCE:
            self._points.clear()  # the car was put to another place
        self._points.append((x, y, direction))

    def locate(self, x: float, y: float) -> tuple[float, float] | None:
        """Return offset (m, positive left) of a place from the trail, and the trail's direction (rad) there.

        None where there is no trail near it.
        """
        if not self._points:
            return None
        distances = [(px - x) * (px - x) + (py - y) * (py - y) for px, py, _ in self._points]
        nearest = min(distances)
        if nearest > MAX_DISTANCE * MAX_DISTANCE:
            return None
        near = self._points[distances.index(nearest)]
        return (y - near[1]) * math.cos(near[2]) - (x - near[0]) * math.sin(near[2]), near[2]
