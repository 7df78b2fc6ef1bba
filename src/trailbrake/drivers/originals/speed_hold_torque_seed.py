"""BeamNG's stock Simulink example 2: a speed by wheel torque. Its improved version is `speed_hold_torque`."""

from trailbrake.drivers.originals.stock_block import run_stock_block
from trailbrake.planning.course import Course
from trailbrake.state import CarState, Controls, WheelTorque


class Driver:
    """The stock block with its switch at torque: equal torque on four wheels, a heading by two steering angles.

    It still drives above its target speed; the car's drag decides where the speed settles.
    """

    NEEDS = frozenset({"yaw", "speed"})

    def reset(self, course: Course) -> None:
        """Do nothing: the driver has no memory."""

    def act(self, state: CarState, dt: float) -> Controls:
        """Return the controls for one state."""
        answer = run_stock_block(state.speed, state.yaw)
        # The original never sends a brake torque, and a wheel without one is not braked.
        each = WheelTorque(drive_torque=answer.torque, brake_torque=0.0)
        return Controls(steer=-answer.steering, throttle=max(answer.throttle, 0.0), wheels=(each, each, each, each))
