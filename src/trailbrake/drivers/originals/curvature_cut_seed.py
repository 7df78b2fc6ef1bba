"""Lane keeping at 75 mph with a throttle cut in tight bends: the original of `curvature_cut`."""

import math

from trailbrake.drivers.originals.simple_pid import SimplePid
from trailbrake.planning.course import Course
from trailbrake.state import CarState, Controls
from trailbrake.units import MPH

SPEED = 75.0 * MPH  # m/s
LINE_STEPS = 127.0  # of the wire's driving line from the middle to an edge; the unit of the original's gains
CUT_RADIUS = 35.0  # m, of path radius: the throttle is shut below it


class Driver:
    """Does as lane_keep_seed, at 75 mph, and shuts the throttle where speed over turn rate is 35 m or less.

    Source: protocol page forza-data-out, section 5, v3, with its gains. The radius is 0 where nothing turns: a car
    that is perfectly still never starts.
    """

    NEEDS = frozenset(
        {"driving_line", "speed", "roll_rate", "pitch_rate", "yaw_rate", "velocity_x", "velocity_y", "velocity_z"}
    )
    STICK = True

    def reset(self, course: Course) -> None:
        """Start again with new controllers and the clock at 0."""
        self.now = 0.0
        self.throttle = SimplePid(1.0, 1.0, 1.0, SPEED, limits=(0.0, 1.0))
        self.steer = SimplePid(4.0 / LINE_STEPS, 0.5 / LINE_STEPS, 8.0 / LINE_STEPS, 0.0, limits=(-1.0, 1.0))

    def act(self, state: CarState, dt: float) -> Controls:
        """Return the controls for one state."""
        self.now += dt
        turning = math.hypot(state.roll_rate, state.pitch_rate, state.yaw_rate)
        moving = math.hypot(state.velocity_x, state.velocity_y, state.velocity_z)
        radius = moving / turning if turning else 0.0
        throttle = self.throttle.update(state.speed, self.now) if radius > CUT_RADIUS else 0.0
        return Controls(steer=self.steer.update(round(LINE_STEPS * state.driving_line), self.now), throttle=throttle)
