"""Drives between walls by the camera alone: no lanes, no signs, no map. Its original is `wall_follow_seed`."""

from trailbrake.control.minicar.free_space import LOCK, pedals_from_command
from trailbrake.control.minicar.wall_avoidance import WallAvoider
from trailbrake.planning.course import Course
from trailbrake.state import CarState, Controls
from trailbrake.vision.level_camera import fit_picture
from trailbrake.vision.walls import free_distance, obstacle_points


class Driver:
    """Steers for the deepest opening between the walls, remembers walls that have left the picture, backs out if stuck.

    Only what stands on the ground counts as wall, not the gantries above it. It takes either branch of a fork.
    """

    NEEDS = frozenset({"image", "speed", "steer"})

    def reset(self, course: Course) -> None:
        """Start again."""
        self.avoider = WallAvoider()

    def act(self, state: CarState, dt: float) -> Controls:
        """Return the controls for one state."""
        if state.image is None:
            return Controls(throttle=0.0, gear=1)
        ground = obstacle_points(free_distance(fit_picture(state.image.pixels)))
        steer, throttle, brake, gear = pedals_from_command(
            self.avoider.step(ground, state.speed, state.steer * LOCK, dt)
        )
        return Controls(steer=steer, throttle=throttle, brake=brake, gear=gear)
