"""Cruise control at 20 m/s, as the program from which this package began. Its improved version is `cruise`."""

from trailbrake.drivers.originals.simple_pid import SimplePid
from trailbrake.planning.course import Course
from trailbrake.state import CarState, Controls

SPEED = 20.0  # m/s


class Driver:
    """Holds 20 m/s by the throttle alone and does not steer. The gains are the original's.

    Source: protocol page forza-data-out, section 5, v1.
    """

    NEEDS = frozenset({"speed"})

    def reset(self, course: Course) -> None:
        """Start again with a new controller and the clock at 0."""
        self.now = 0.0
        self.throttle = SimplePid(1.0, 1.0, 1.0, SPEED, limits=(0.0, 1.0))

    def act(self, state: CarState, dt: float) -> Controls:
        """Return the controls for one state."""
        self.now += dt
        return Controls(throttle=self.throttle.update(state.speed, self.now))
