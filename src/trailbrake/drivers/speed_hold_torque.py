"""Holds a speed by wheel torques and the heading of the start. BeamNG's original is `speed_hold_torque_seed`."""

from trailbrake.control.vehicle.speed_control import TorqueSpeedController
from trailbrake.drivers import speed_hold
from trailbrake.planning.course import Course
from trailbrake.state import Controls, WheelTorque


class Driver(speed_hold.Driver):
    """Holds 80 km/h by equal torque on four wheels, straight on; brakes by torque too."""

    def reset(self, course: Course) -> None:
        """Start again: the heading of the next state is the target."""
        super().reset(course)
        self.torque_control = TorqueSpeedController()

    def control_speed(self, speed: float, dt: float) -> Controls:
        """Return the controls that bring the car from `speed` (m/s) to the target speed."""
        drive, brake = self.torque_control.compute_torques(self.gains.speed, speed, dt)
        each = WheelTorque(drive_torque=drive, brake_torque=brake)
        return Controls(wheels=(each, each, each, each))
