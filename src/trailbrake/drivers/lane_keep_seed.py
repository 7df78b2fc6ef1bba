"""Lane keeping at 40 mph, as the program that began all this had it: faults and all. Mended: `lane_keep`."""

from trailbrake.control.seed_pid import SeedPid
from trailbrake.planning.course import Course
from trailbrake.state import CarState, Controls
from trailbrake.units import MPH

SPEED = 40.0 * MPH  # m/s
STEPS = 127.0  # of the wire's driving line from the middle to an edge; the original's gains count in them


class Driver:
    """Holds 40 mph and the middle of the road, by throttle and steer; never brakes. The original's numbers.

    Source: protocol page forza-data-out, section 5, v2.
    """

    NEEDS = frozenset({"driving_line", "speed"})
    STICK = True

    def reset(self, course: Course) -> None:
        """Begin with new controllers and the clock at 0."""
        self.now = 0.0
        self.throttle = SeedPid(1.0, 1.0, 1.0, SPEED, 0.0, 1.0)
        self.steer = SeedPid(4.0 / STEPS, 0.5 / STEPS, 8.0 / STEPS, 0.0, -1.0, 1.0)

    def act(self, state: CarState, dt: float) -> Controls:
        """Answer one state. The stick goes against the controller, and our steer goes against the stick."""
        self.now += dt
        steer = self.steer.update(round(STEPS * state.driving_line), self.now)
        return Controls(steer=steer, throttle=self.throttle.update(state.speed, self.now))
