"""BeamNG's stock Simulink example 1, faults and all: a speed by the pedals. Mended: `speed_hold`, `heading_hold`."""

from trailbrake.control.stock_block import stock_block
from trailbrake.planning.course import Course
from trailbrake.state import CarState, Controls


class Driver:
    """The stock block with its switch at pedals: 80 km/h by half throttle or none, and a heading by two steers.

    It settles where it coasts into its band, below the speed it was asked for, and it never brakes.
    """

    NEEDS = frozenset({"yaw", "speed"})

    def reset(self, course: Course) -> None:
        """Nothing to forget."""

    def act(self, state: CarState, dt: float) -> Controls:
        """Answer one state."""
        answer = stock_block(state.speed, state.yaw)
        return Controls(steer=-answer.steering, throttle=max(answer.throttle, 0.0))
