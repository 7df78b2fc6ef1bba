"""Holds a speed by torque at the wheels and the heading of the start. The stock original: `speed_hold_torque_seed`."""

from trailbrake.control.heading_hold import HeadingHold
from trailbrake.control.speed_hold import SpeedByTorque
from trailbrake.planning.course import Course
from trailbrake.state import CarState, Controls, WheelTorque
from trailbrake.units import KMH


class Driver:
    """Holds 80 km/h by equal torque on four wheels, straight on; brakes by torque too.

    Args:
        speed: m/s.
    """

    NEEDS = frozenset({"yaw", "speed"})

    def __init__(self, speed: float = 80.0 * KMH) -> None:
        self.speed = speed

    def reset(self, course: Course) -> None:
        """Forget everything; the next state's heading is the one to hold."""
        self.heading: float | None = None
        self.torque, self.wheel = SpeedByTorque(), HeadingHold()

    def act(self, state: CarState, dt: float) -> Controls:
        """Answer one state."""
        if self.heading is None:
            self.heading = state.yaw
        each = WheelTorque(*self.torque.update(self.speed - state.speed, dt))
        steer = self.wheel.update(self.heading, state.yaw, state.speed, dt)
        return Controls(steer=steer, wheels=(each, each, each, each))
