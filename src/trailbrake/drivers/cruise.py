"""Cruise control: holds a speed with throttle and brake."""

from dataclasses import dataclass

from trailbrake.control.pace import Pace, PaceGains
from trailbrake.planning.course import Course
from trailbrake.state import CarState, Controls
from trailbrake.state.fields import quantity


@dataclass(frozen=True)
class CruiseGains(PaceGains):
    """Gains of `cruise`."""

    speed: float = quantity("m/s", "speed to hold", lo=1.0, hi=100.0, default=20.0)


class Driver:
    """Holds 20 m/s by throttle and brake, up hill and down; somebody else steers. `cruise_seed`, mended."""

    NEEDS = frozenset({"speed"})
    Gains = CruiseGains

    def __init__(self, gains: CruiseGains | None = None) -> None:
        self.gains = gains or CruiseGains()

    def reset(self, course: Course) -> None:
        """Begin anew."""
        self.pace = Pace(self.gains)

    def act(self, state: CarState, dt: float) -> Controls:
        """Answer one state."""
        throttle, brake = self.pace.pedals(self.gains.speed, state.speed, dt)
        return Controls(throttle=throttle, brake=brake)
