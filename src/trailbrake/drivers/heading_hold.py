"""Turns to a heading and holds it, at a speed held by the pedals. Its original is `heading_hold_seed`."""

from dataclasses import dataclass, replace

from trailbrake.drivers import speed_hold
from trailbrake.drivers.speed_hold import SpeedHoldGains
from trailbrake.planning.course import Course
from trailbrake.state.car_state import PI
from trailbrake.state.fields import quantity
from trailbrake.units import DEG


@dataclass(frozen=True)
class HeadingHoldGains(SpeedHoldGains):
    """Gains of `heading_hold`. The default heading is the stock example's: 60 degrees as the game counts."""

    heading: float = quantity(
        "rad", "heading to hold, counter-clockwise from world X", lo=-PI, hi=PI, default=-30.0 * DEG
    )


class Driver(speed_hold.Driver):
    """Turns to a heading on the shorter way and holds it, at 80 km/h by the pedals.

    Args:
        gains: of the driver.
        **values: gains by name, over those of `gains`.
    """

    Gains = HeadingHoldGains

    def __init__(self, gains: HeadingHoldGains | None = None, **values: float) -> None:
        self.gains: HeadingHoldGains = replace(gains or self.Gains(), **values)

    def reset(self, course: Course) -> None:
        """Start again."""
        super().reset(course)
        self.heading = self.gains.heading
