"""Drives by lanes and signs: keeps to the road, reads the signs over it, and takes the branch that they show."""

from trailbrake.arrays import Array
from trailbrake.control.minicar.free_space import LOCK, pedals_from_command
from trailbrake.control.minicar.sign_memory import SignMemory, WrongWayCounter
from trailbrake.control.minicar.wall_avoidance import WallAvoider
from trailbrake.planning.course import Course
from trailbrake.state import CarState, Controls
from trailbrake.vision.lanes import chevron_direction
from trailbrake.vision.level_camera import Pixels, fit_picture
from trailbrake.vision.signs import find_sign_backs, hangs_over_road, read_signs
from trailbrake.vision.walls import free_distance, obstacle_points


class Driver:
    """Cuts the corners of the road, takes the branch that a sign shows, drives round parked cars, at full throttle.

    Turns round where arrows on the road point towards it, or backs of signs hang over it; backs out if stuck.
    """

    NEEDS = frozenset({"image", "speed", "steer"})

    def reset(self, course: Course) -> None:
        """Start again."""
        self.avoider, self.signs, self.wrong_way = WallAvoider(), SignMemory(), WrongWayCounter()

    def act(self, state: CarState, dt: float) -> Controls:
        """Return the controls for one state."""
        if state.image is None:
            return Controls(throttle=0.0, gear=1)
        pixels = fit_picture(state.image.pixels)
        free = free_distance(pixels)
        self._read_signs(pixels, free, state.speed * dt)
        wheel_angle = state.steer * LOCK
        command = self.avoider.step(obstacle_points(free), state.speed, wheel_angle, dt, self.signs.branch_choice)
        steer, throttle, brake, gear = pedals_from_command(command)
        return Controls(steer=steer, throttle=throttle, brake=brake, gear=gear)

    def _read_signs(self, pixels: Pixels, free: Array, distance: float) -> None:
        """Read signs and arrows, after the car has rolled `distance` m."""
        self.signs.advance(distance)
        for sign in read_signs(pixels):
            if hangs_over_road(sign.distance, sign.column, free):
                self.signs.add_reading(sign.name, sign.score, sign.distance)
        if not self.avoider.is_turning_round and self.wrong_way.is_due(distance):
            hanging = sum(hangs_over_road(back.distance, back.column, free) for back in find_sign_backs(pixels))
            if self.wrong_way.add_reading(chevron_direction(pixels), hanging):
                self.avoider.start_turning_round()
                self.signs = SignMemory()
