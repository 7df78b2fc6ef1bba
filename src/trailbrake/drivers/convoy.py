"""Drives as `line_follow`, and keeps its distance to the car ahead."""

import math

from trailbrake.control.gap import held_back, speed_behind
from trailbrake.drivers import line_follow
from trailbrake.planning.course import Course
from trailbrake.state import CarState, Controls, OtherCar
from trailbrake.tracks.columns import Column
from trailbrake.tracks.frenet import locate

_REACH = 120.0  # m ahead within which cars are looked at
_BESIDE = 2.5  # m between the paths of two cars that may pass each other


class Driver:
    """Follows the racing line behind others: brakes for the car ahead on its path, and does not overtake."""

    NEEDS = line_follow.Driver.NEEDS | {"others"}

    def reset(self, course: Course) -> None:
        """Plan as `line_follow` does."""
        self.inner = line_follow.Driver()
        self.inner.reset(course)
        self.line = course.line
        self.length = course.known_car().body.length
        self.rows: dict[int, int] = {}

    def act(self, state: CarState, dt: float) -> Controls:
        """Answer one state."""
        controls = self.inner.act(state, dt)
        most = math.inf
        here, offset, _ = self._locate(-1, state.x, state.y)
        for other in state.others:
            most = min(most, self._limit(state, here, offset, other))
        controls.throttle, controls.brake = held_back(controls.throttle, controls.brake, state.speed, most)
        return controls

    def _limit(self, state: CarState, here: float, offset: float, other: OtherCar) -> float:
        """Return the speed (m/s) that `other` leaves; infinite where it is not in the way."""
        if math.hypot(other.x - state.x, other.y - state.y) > _REACH:
            return math.inf
        there, aside, heading = self._locate(other.index, other.x, other.y)
        ahead = there - here
        if self.line.closed:
            ahead %= self.line.length
        if not 0.0 < ahead < _REACH or abs(aside - offset) > _BESIDE:
            return math.inf
        along = other.velocity_x * math.cos(heading) + other.velocity_y * math.sin(heading)
        return speed_behind(ahead - self.length, state.speed, along)

    def _locate(self, index: int, x: float, y: float) -> tuple[float, float, float]:
        """Return a car's place along the line and beside it (m), and the line's heading there (rad)."""
        line = self.line
        s, offset, row = locate(line.table, line.spacing, line.closed, x, y, self.rows.get(index, -1))
        self.rows[index] = row
        return s, offset, float(line.table[row, Column.YAW])
