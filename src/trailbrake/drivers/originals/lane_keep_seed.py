"""Lane keeping at 40 mph, as the program from which this package began. Its improved version is `lane_keep`."""

from trailbrake.drivers.originals.simple_pid import SimplePid
from trailbrake.planning.course import Course
from trailbrake.state import CarState, Controls
from trailbrake.units import MPH

SPEED = 40.0 * MPH  # m/s
LINE_STEPS = 127.0  # of the wire's driving line from the middle to an edge; the unit of the original's gains


class Driver:
    """Holds 40 mph and the middle of the road by throttle and steering; it never brakes. The gains are the original's.

    Source: protocol page forza-data-out, section 5, v2.
    """

    NEEDS = frozenset({"driving_line", "speed"})
    STICK = True

    def reset(self, course: Course) -> None:
        """Start again with new controllers and the clock at 0."""
        self.now = 0.0
        self.throttle = SimplePid(1.0, 1.0, 1.0, SPEED, limits=(0.0, 1.0))
        self.steer = SimplePid(4.0 / LINE_STEPS, 0.5 / LINE_STEPS, 8.0 / LINE_STEPS, 0.0, limits=(-1.0, 1.0))

    def act(self, state: CarState, dt: float) -> Controls:
        """Return the controls for one state. The stick has the controller's opposite sign, and `steer` the stick's."""
        self.now += dt
        steer = self.steer.update(round(LINE_STEPS * state.driving_line), self.now)
        return Controls(steer=steer, throttle=self.throttle.update(state.speed, self.now))
