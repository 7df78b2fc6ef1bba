"""A straight stop from speed, along the middle of the road. The expo demo: `brake_test_seed`."""

from trailbrake.control.heading_hold import HeadingHold, towards_line
from trailbrake.control.speed_hold import SpeedByPedals
from trailbrake.planning.course import Course
from trailbrake.state import CarState, Controls
from trailbrake.tracks.columns import Column
from trailbrake.tracks.frenet import locate
from trailbrake.units import KMH

BRAKE_AT = 300.0  # m after the start line
STANDING = 0.1  # m/s


class Driver:
    """Speeds up to 80 km/h, brakes with all there is 300 m after the start line, and stands.

    Args:
        speed: m/s.
    """

    NEEDS = frozenset({"x", "y", "yaw", "speed"})

    def __init__(self, speed: float = 80.0 * KMH) -> None:
        self.speed = speed

    def reset(self, course: Course) -> None:
        """Forget everything."""
        self.road, self.row = course.track.road, -1
        self.pedals, self.wheel = SpeedByPedals(), HeadingHold()
        self.braking = False

    def act(self, state: CarState, dt: float) -> Controls:
        """Answer one state."""
        road = self.road
        s, offset, self.row = locate(road.table, road.spacing, road.closed, state.x, state.y, self.row)
        along = float(road.table[self.row, Column.YAW])
        steer = self.wheel.update(along + towards_line(offset, state.speed), state.yaw, state.speed, dt)
        self.braking = self.braking or s >= BRAKE_AT
        if self.braking:
            # Who still steers at standstill leaves with a turned wheel.
            return Controls(steer=steer if state.speed > STANDING else 0.0, brake=1.0)
        throttle, brake = self.pedals.update(self.speed - state.speed, dt)
        return Controls(steer=steer, throttle=throttle, brake=brake)
