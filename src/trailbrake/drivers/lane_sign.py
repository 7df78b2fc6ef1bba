"""By lanes and signs: keeps to the road, reads the boards over it, and takes the branch that they show."""

from trailbrake.control.minicar import LOCK
from trailbrake.control.pedal import split
from trailbrake.control.road_signs import SignMemory
from trailbrake.control.roam import Roamer
from trailbrake.control.wrong_way import WrongWay
from trailbrake.planning.course import Course
from trailbrake.state import CarState, Controls
from trailbrake.vision.backs import backs
from trailbrake.vision.camera import Array, Pixels
from trailbrake.vision.lanes import chevrons
from trailbrake.vision.signs import over_the_road, read
from trailbrake.vision.walls import feet, free_distance


class Driver:
    """Cuts the corners of the road, takes the branch that a sign shows, drives round parked cars, at full throttle.

    Turns round where arrows on the road point towards it, or backs of signs hang over it; backs out if stuck.
    """

    NEEDS = frozenset({"image", "speed", "steer"})

    def reset(self, course: Course) -> None:
        """Forget everything."""
        self.roamer, self.signs, self.wrong_way = Roamer(), SignMemory(), WrongWay()

    def act(self, state: CarState, dt: float) -> Controls:
        """Answer one state."""
        if state.image is None:
            return Controls(throttle=0.0, gear=1)
        pixels = state.image.pixels
        free = free_distance(pixels)
        self._read(pixels, free, state.speed * dt)
        wheel_angle = state.steer * LOCK
        command = self.roamer.step(feet(free), state.speed, wheel_angle, dt, self.signs.wish)
        steer, throttle, brake, gear = split(command)
        return Controls(steer=steer, throttle=throttle, brake=brake, gear=gear)

    def _read(self, pixels: Pixels, free: Array, distance: float) -> None:
        """Read signs and arrows, after the car has rolled `distance` m."""
        self.signs.roll(distance)
        for sign in read(pixels):
            if over_the_road(sign.distance, sign.column, free):
                self.signs.see(sign.name, sign.score, sign.distance)
        if not self.roamer.turns_round and self.wrong_way.is_due(distance):
            hanging = sum(over_the_road(back.distance, back.column, free) for back in backs(pixels))
            if self.wrong_way.see(chevrons(pixels), hanging):
                self.roamer.turn_round()
                self.signs = SignMemory()
