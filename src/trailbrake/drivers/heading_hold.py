"""Turns to a heading and holds it, at a speed held by the pedals. The stock original: `heading_hold_seed`."""

from trailbrake.drivers import speed_hold
from trailbrake.planning.course import Course
from trailbrake.units import DEG, KMH


class Driver(speed_hold.Driver):
    """Turns to a heading the short way round and holds it, at 80 km/h by the pedals.

    Args:
        heading: rad, counter-clockwise from world X. The default is the stock example's: 60 degrees as the game counts.
        speed: m/s.
    """

    def __init__(self, heading: float = -30.0 * DEG, speed: float = 80.0 * KMH) -> None:
        super().__init__(speed)
        self.target = heading

    def reset(self, course: Course) -> None:
        """Forget everything."""
        super().reset(course)
        self.heading = self.target
