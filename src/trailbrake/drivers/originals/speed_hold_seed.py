"""BeamNG's stock Simulink example 1: a speed by the pedals. Improved versions: `speed_hold`, `heading_hold`."""

from trailbrake.drivers.originals.stock_block import run_stock_block
from trailbrake.planning.course import Course
from trailbrake.state import CarState, Controls


class Driver:
    """The stock block with its switch at pedals: 80 km/h by half throttle or none, a heading by two steering angles.

    It settles below its target speed, at the end of the band in which it coasts, and it never brakes.
    """

    NEEDS = frozenset({"yaw", "speed"})

    def reset(self, course: Course) -> None:
        """Do nothing: the driver has no memory."""

    def act(self, state: CarState, dt: float) -> Controls:
        """Return the controls for one state."""
        answer = run_stock_block(state.speed, state.yaw)
        return Controls(steer=-answer.steering, throttle=max(answer.throttle, 0.0))
