"""By lanes and signs: keeps to the road, reads the boards over it, and takes the branch that they show."""

from trailbrake.control.minicar import LOCK
from trailbrake.control.pedal import split
from trailbrake.control.road_signs import SignMemory
from trailbrake.control.roam import Roamer
from trailbrake.planning.course import Course
from trailbrake.state import CarState, Controls
from trailbrake.vision.signs import over_the_road, read
from trailbrake.vision.walls import feet, free_distance


class Driver:
    """Cuts the corners of the road, takes the branch that a sign shows, drives round parked cars, at full throttle."""

    NEEDS = frozenset({"image", "speed", "steer"})

    def reset(self, course: Course) -> None:
        """Forget everything."""
        self.roamer, self.signs = Roamer(), SignMemory()

    def act(self, state: CarState, dt: float) -> Controls:
        """Answer one state."""
        if state.image is None:
            return Controls(throttle=0.0, gear=1)
        pixels = state.image.pixels
        self.signs.roll(state.speed * dt)
        free = free_distance(pixels)
        for sign in read(pixels):
            if over_the_road(sign.distance, sign.column, free):
                self.signs.see(sign.name, sign.score, sign.distance)
        ground = feet(free)
        command = self.roamer.step(ground, state.speed, state.steer * LOCK, dt, self.signs.wish)
        steer, throttle, brake, gear = split(command)
        return Controls(steer=steer, throttle=throttle, brake=brake, gear=gear)
