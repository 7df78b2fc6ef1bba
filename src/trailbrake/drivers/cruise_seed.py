"""Cruise control at 20 m/s, as the program that began all this had it: faults and all. Mended: `cruise`."""

from trailbrake.control.seed_pid import SeedPid
from trailbrake.planning.course import Course
from trailbrake.state import CarState, Controls

SPEED = 20.0  # m/s


class Driver:
    """Holds 20 m/s by the throttle alone; somebody else steers. The original's numbers.

    Source: protocol page forza-data-out, section 5, v1.
    """

    NEEDS = frozenset({"speed"})

    def reset(self, course: Course) -> None:
        """Begin with a new controller and the clock at 0."""
        self.now = 0.0
        self.throttle = SeedPid(1.0, 1.0, 1.0, SPEED, 0.0, 1.0)

    def act(self, state: CarState, dt: float) -> Controls:
        """Answer one state."""
        self.now += dt
        return Controls(throttle=self.throttle.update(state.speed, self.now))
