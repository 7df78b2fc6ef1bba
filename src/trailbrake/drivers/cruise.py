"""Cruise control: holds a speed with throttle and brake."""

from dataclasses import dataclass

from trailbrake.control.vehicle.speed_control import SpeedController, SpeedGains
from trailbrake.planning.course import Course
from trailbrake.state import CarState, Controls
from trailbrake.state.fields import quantity


@dataclass(frozen=True)
class CruiseGains(SpeedGains):
    """Gains of `cruise`."""

    speed: float = quantity("m/s", "speed to hold", lo=1.0, hi=100.0, default=20.0)


class Driver:
    """Holds 20 m/s by throttle and brake, uphill and downhill; it does not steer. Its original is `cruise_seed`."""

    NEEDS = frozenset({"speed"})
    Gains = CruiseGains

    def __init__(self, gains: CruiseGains | None = None) -> None:
        self.gains = gains or CruiseGains()

    def reset(self, course: Course) -> None:
        """Start again."""
        self.speed_control = SpeedController(self.gains)

    def act(self, state: CarState, dt: float) -> Controls:
        """Return the controls for one state."""
        throttle, brake = self.speed_control.compute_pedals(self.gains.speed, state.speed, dt)
        return Controls(throttle=throttle, brake=brake)
