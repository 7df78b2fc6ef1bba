"""Positions relative to the start of a car: ahead of it and to its left."""

import math

from trailbrake.units import wrap_angle


class StartFrame:
    """The frame of the first pose that it receives: x along the heading, y to the left."""

    def __init__(self) -> None:
        self._start: tuple[float, float, float] | None = None

    def to_start_frame(self, x: float, y: float, yaw: float) -> tuple[float, float, float]:
        """Return (m ahead, m to the left, rad to the left) of the start; x, y (m) and yaw (rad) in the world."""
        if self._start is None:
            self._start = (x, y, yaw)
        x0, y0, yaw0 = self._start
        forward, left = math.cos(yaw0), math.sin(yaw0)
        dx, dy = x - x0, y - y0
        return dx * forward + dy * left, dy * forward - dx * left, wrap_angle(yaw - yaw0)
