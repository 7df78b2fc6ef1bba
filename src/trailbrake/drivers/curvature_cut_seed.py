"""Lane keeping at 75 mph with a throttle cut in tight bends, as the original had it. Mended: `curvature_cut`."""

import math

from trailbrake.control.seed_pid import SeedPid
from trailbrake.planning.course import Course
from trailbrake.state import CarState, Controls
from trailbrake.units import MPH

SPEED = 75.0 * MPH  # m/s
STEPS = 127.0  # of the wire's driving line from the middle to an edge; the original's gains count in them
CUT = 35.0  # m, the radius up to which the throttle is shut


class Driver:
    """As lane_keep_seed at 75 mph; no throttle where |velocity| / |angular velocity| <= 35 m. The original's numbers.

    Source: protocol page forza-data-out, section 5, v3. Its radius is 0 where nothing turns: a car that stands
    perfectly still never starts.
    """

    NEEDS = frozenset(
        {"driving_line", "speed", "roll_rate", "pitch_rate", "yaw_rate", "velocity_x", "velocity_y", "velocity_z"}
    )
    STICK = True

    def reset(self, course: Course) -> None:
        """Begin with new controllers and the clock at 0."""
        self.now = 0.0
        self.throttle = SeedPid(1.0, 1.0, 1.0, SPEED, 0.0, 1.0)
        self.steer = SeedPid(4.0 / STEPS, 0.5 / STEPS, 8.0 / STEPS, 0.0, -1.0, 1.0)

    def act(self, state: CarState, dt: float) -> Controls:
        """Answer one state."""
        self.now += dt
        turning = math.hypot(state.roll_rate, state.pitch_rate, state.yaw_rate)
        moving = math.hypot(state.velocity_x, state.velocity_y, state.velocity_z)
        radius = moving / turning if turning else 0.0
        throttle = self.throttle.update(state.speed, self.now) if radius > CUT else 0.0
        return Controls(steer=self.steer.update(round(STEPS * state.driving_line), self.now), throttle=throttle)
