"""Drives as `line_follow`, and keeps a distance to the car ahead."""

import math
from dataclasses import dataclass

from trailbrake.control.vehicle.recovery import STUCK_SPEED
from trailbrake.control.vehicle.speed_control import limit_pedals_to_speed, safe_following_speed
from trailbrake.drivers import line_follow
from trailbrake.planning.course import Course
from trailbrake.state import CarState, Controls, OtherCar
from trailbrake.state.fields import quantity
from trailbrake.tracks.road_columns import RoadColumn


@dataclass(frozen=True)
class ConvoyGains:
    """Gains of `convoy`."""

    look_ahead: float = quantity("m", "distance ahead within which cars count", lo=10.0, hi=500.0, default=120.0)
    passing_offset: float = quantity(
        "m", "between the paths of two cars, from which one can pass the other", lo=0.5, hi=10.0, default=2.5
    )


class Driver:
    """Follows the racing line behind others: brakes for the car ahead on its path, and does not overtake."""

    NEEDS = line_follow.Driver.NEEDS | {"others"}
    COURSE_NEEDS = line_follow.Driver.COURSE_NEEDS
    USES = line_follow.Driver.USES
    OPTIONAL_COMMANDS = line_follow.Driver.OPTIONAL_COMMANDS
    Gains = ConvoyGains

    def __init__(self, gains: ConvoyGains | None = None) -> None:
        self.gains = gains or ConvoyGains()

    def reset(self, course: Course) -> None:
        """Plan as `line_follow` does."""
        self.follower = line_follow.Driver()
        self.follower.reset(course)
        self.line = course.line
        self.length = course.known_car().body.length
        self.rows: dict[int, int] = {}

    def act(self, state: CarState, dt: float) -> Controls:
        """Return the controls for one state."""
        most = math.inf
        here, offset, _ = self._locate_car(-1, state.x, state.y)
        for other in state.others:
            most = min(most, self._speed_limit_behind(state, here, offset, other))
        if most < STUCK_SPEED:
            self.follower.road_return.wait()  # it stands behind another car, and is not stuck
        controls = self.follower.act(state, dt)
        controls.throttle, controls.brake = limit_pedals_to_speed(controls.throttle, controls.brake, state.speed, most)
        return controls

    def _speed_limit_behind(self, state: CarState, here: float, offset: float, other: OtherCar) -> float:
        """Return the speed limit (m/s) behind `other`; infinite where it is not on the path."""
        if math.hypot(other.x - state.x, other.y - state.y) > self.gains.look_ahead:
            return math.inf
        there, aside, heading = self._locate_car(other.index, other.x, other.y)
        ahead = there - here
        if self.line.closed:
            ahead %= self.line.length
        if not 0.0 < ahead < self.gains.look_ahead or abs(aside - offset) > self.gains.passing_offset:
            return math.inf
        along = other.velocity_x * math.cos(heading) + other.velocity_y * math.sin(heading)
        return safe_following_speed(ahead - self.length, state.speed, along)

    def _locate_car(self, index: int, x: float, y: float) -> tuple[float, float, float]:
        """Return a car's s and offset on the line (m), and the line's heading there (rad)."""
        line = self.line
        s, offset, row = line.locate(x, y, self.rows.get(index, -1))
        self.rows[index] = row
        return s, offset, float(line.table[row, RoadColumn.YAW])
