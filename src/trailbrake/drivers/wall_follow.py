"""Between walls by the camera alone: no lanes, no signs, no map. `wall_follow_seed`, mended."""

from trailbrake.control.minicar import LOCK
from trailbrake.control.pedal import split
from trailbrake.control.roam import Roamer
from trailbrake.planning.course import Course
from trailbrake.state import CarState, Controls
from trailbrake.vision.walls import feet, free_distance


class Driver:
    """Steers for the deepest opening between the walls, remembers walls that have left the picture, backs out if stuck.

    Only what stands on the ground counts as wall, not the gantries above it. It takes either branch of a fork.
    """

    NEEDS = frozenset({"image", "speed", "steer"})

    def reset(self, course: Course) -> None:
        """Forget everything."""
        self.roamer = Roamer()

    def act(self, state: CarState, dt: float) -> Controls:
        """Answer one state."""
        if state.image is None:
            return Controls(throttle=0.0, gear=1)
        ground = feet(free_distance(state.image.pixels))
        steer, throttle, brake, gear = split(self.roamer.step(ground, state.speed, state.steer * LOCK, dt))
        return Controls(steer=steer, throttle=throttle, brake=brake, gear=gear)
