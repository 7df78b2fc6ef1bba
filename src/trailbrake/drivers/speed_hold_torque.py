"""Holds a speed by torque at the wheels and the heading of the start. The stock original: `speed_hold_torque_seed`."""

from trailbrake.control.speed_hold import SpeedByTorque
from trailbrake.drivers import speed_hold
from trailbrake.planning.course import Course
from trailbrake.state import Controls, WheelTorque


class Driver(speed_hold.Driver):
    """Holds 80 km/h by equal torque on four wheels, straight on; brakes by torque too.

    Args:
        speed: m/s.
    """

    def reset(self, course: Course) -> None:
        """Forget everything; the next state's heading is the one to hold."""
        super().reset(course)
        self.torque = SpeedByTorque()

    def push(self, error: float, dt: float) -> Controls:
        """Return what drives or brakes for `error`, m/s that are missing."""
        each = WheelTorque(*self.torque.update(error, dt))
        return Controls(wheels=(each, each, each, each))
