"""Holds a speed by the pedals and the heading of the start. The original of BeamNG's example is `speed_hold_seed`."""

from dataclasses import dataclass, replace

from trailbrake.control.vehicle.lane_keeping import HeadingController
from trailbrake.control.vehicle.speed_control import hold_speed_controller
from trailbrake.planning.course import Course
from trailbrake.state import CarState, Controls
from trailbrake.state.fields import quantity
from trailbrake.units import KMH


@dataclass(frozen=True)
class SpeedHoldGains:
    """Gains of `speed_hold`."""

    speed: float = quantity("m/s", "speed to hold", lo=1.0, hi=100.0, default=80.0 * KMH)


class Driver:
    """Holds 80 km/h by throttle and brake, straight on.

    Args:
        gains: of the driver.
        **values: gains by name, over those of `gains`.
    """

    NEEDS = frozenset({"yaw", "speed"})
    Gains = SpeedHoldGains

    def __init__(self, gains: SpeedHoldGains | None = None, **values: float) -> None:
        self.gains = replace(gains or self.Gains(), **values)

    def reset(self, course: Course) -> None:
        """Start again: the heading of the next state is the target."""
        self.heading: float | None = None
        self.speed_control, self.heading_control = hold_speed_controller(), HeadingController()

    def act(self, state: CarState, dt: float) -> Controls:
        """Return the controls for one state."""
        if self.heading is None:
            self.heading = state.yaw
        controls = self.control_speed(state.speed, dt)
        controls.steer = self.heading_control.compute_steer(self.heading, state.yaw, state.speed, dt)
        return controls

    def control_speed(self, speed: float, dt: float) -> Controls:
        """Return the controls that bring the car from `speed` (m/s) to the target speed."""
        throttle, brake = self.speed_control.compute_pedals(self.gains.speed, speed, dt)
        return Controls(throttle=throttle, brake=brake)
