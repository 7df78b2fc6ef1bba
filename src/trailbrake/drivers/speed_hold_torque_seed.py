"""BeamNG's stock Simulink example 2, faults and all: a speed by torque. Mended: `speed_hold_torque`."""

from trailbrake.control.stock_block import stock_block
from trailbrake.planning.course import Course
from trailbrake.state import CarState, Controls, WheelTorque


class Driver:
    """The stock block with its switch at torque: the same drive on four wheels, and a heading by two steers.

    Above the speed it was asked for it still drives; whether that is held is up to the car's drag.
    """

    NEEDS = frozenset({"yaw", "speed"})

    def reset(self, course: Course) -> None:
        """Nothing to forget."""

    def act(self, state: CarState, dt: float) -> Controls:
        """Answer one state."""
        answer = stock_block(state.speed, state.yaw)
        # No brake torque was ever sent, and a wheel that was sent none has none.
        each = WheelTorque(answer.torque, 0.0)
        return Controls(steer=-answer.steering, throttle=max(answer.throttle, 0.0), wheels=(each, each, each, each))
