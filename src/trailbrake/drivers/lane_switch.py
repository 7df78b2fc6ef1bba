"""Drives as `line_track`, and changes to a parallel lane beside the line where a slower car is ahead: fixed rules."""

import math
from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

from trailbrake.control.vehicle.line_tracking import PlanColumn
from trailbrake.control.vehicle.recovery import STUCK_SPEED
from trailbrake.control.vehicle.speed_control import limit_pedals_to_speed, safe_following_speed
from trailbrake.drivers import line_track
from trailbrake.planning.course import Course
from trailbrake.state import CarState, Controls, OtherCar
from trailbrake.tracks.road_columns import RoadColumn

LANE = 3.0  # m between the line and a lane beside it
NOTICE_DISTANCE = 30.0  # m ahead, within which a slower car makes it change
CLEAR_DISTANCE = 8.0  # m behind, from which it comes back
BESIDE_DISTANCE = 2.4  # m between two paths, from which one car passes the other
EDGE_MARGIN = 0.3  # m between the side of the car and the edge of the road
SHIFT_RATE = 2.0  # m/s, of the change
FOLLOW_DISTANCE = 80.0  # m ahead, within which it follows
SHIFT_SPEED_SHARE = 0.95  # of the planned speed, beside the line


class Seen(IntEnum):
    """Columns of what is seen of another car."""

    AHEAD = 0  # m along the line
    OFFSET = 1  # m left of the line
    SPEED = 2  # m/s along the line


class Driver(line_track.Driver):
    """Holds the line as `line_track` does, and passes a slower car in the wider lane beside the line."""

    NEEDS = line_track.Driver.NEEDS | {"others"}

    def reset(self, course: Course) -> None:
        """Plan as `line_track` does."""
        super().reset(course)
        body = course.known_car().body
        self.length, self.shift = body.length, 0.0
        room = 0.5 * body.width + EDGE_MARGIN
        self.left_room = np.maximum(self.line.column(RoadColumn.WIDTH_LEFT) - room, 0.0)
        self.right_room = np.maximum(self.line.column(RoadColumn.WIDTH_RIGHT) - room, 0.0)
        self.rows: dict[int, int] = {}
        self.wanted_shift, self.own_offsets = 0.0, np.zeros(len(self.line.table))

    def act(self, state: CarState, dt: float) -> Controls:
        """Return the controls for one state."""
        here, offset, _ = self._locate_car(-1, state.x, state.y)
        seen = [self._see_car(here, other) for other in state.others if math.isfinite(other.x + other.y)]
        self.wanted_shift = self.choose_shift(np.array(seen).reshape(-1, len(Seen)), state.speed, dt)
        step = SHIFT_RATE * dt
        moved = min(max(self.wanted_shift - self.shift, -step), step)
        if moved != 0.0:
            self.shift += moved
            self._put_corrections_into_plan()
        row = max(self.row, 0)
        most = self._follow_limit(state.speed, offset, seen)
        self.is_disturbed = self.shift != 0.0 or most < math.inf
        if most < STUCK_SPEED:
            self.road_return.wait()
        controls = super().act(state, dt)
        share = SHIFT_SPEED_SHARE if self.shift != 0.0 else 1.0
        most = min(most, share * float(self.adaptive.speeds[row]) if share < 1.0 else most)
        controls.throttle, controls.brake = limit_pedals_to_speed(controls.throttle, controls.brake, state.speed, most)
        return controls

    def choose_shift(self, seen: NDArray[np.float64], speed: float, dt: float) -> float:
        """Return the wanted distance (m) left of the line.

        Args:
            seen: (cars, len(Seen)).
            speed: m/s, own.
            dt: s since the last call.
        """
        ahead = seen[:, Seen.AHEAD]
        near = (ahead > -CLEAR_DISTANCE) & (ahead < NOTICE_DISTANCE) & (seen[:, Seen.SPEED] < speed + 2.0)
        if not near.any():
            return 0.0
        if self.wanted_shift != 0.0:
            return self.wanted_shift
        blocker = seen[near][np.argmin(np.abs(ahead[near]))]
        row = max(self.row, 0)
        left = self.left_room[row] - max(blocker[Seen.OFFSET], 0.0)
        right = self.right_room[row] + min(blocker[Seen.OFFSET], 0.0)
        return LANE if left > right else -LANE

    def _follow_limit(self, speed: float, offset: float, seen: list[tuple[float, float, float]]) -> float:
        limits = [
            safe_following_speed(ahead - self.length, speed, along)
            for ahead, aside, along in seen
            if 0.0 < ahead < FOLLOW_DISTANCE and abs(aside - offset) < BESIDE_DISTANCE
        ]
        return min(limits, default=math.inf)

    def _see_car(self, here: float, other: OtherCar) -> tuple[float, float, float]:
        there, aside, heading = self._locate_car(other.index, other.x, other.y)
        ahead, length = there - here, self.line.length
        if self.line.closed:
            ahead -= length * math.floor(ahead / length + 0.5)
        return ahead, aside, other.velocity_x * math.cos(heading) + other.velocity_y * math.sin(heading)

    def _locate_car(self, index: int, x: float, y: float) -> tuple[float, float, float]:
        s, offset, row = self.line.locate(x, y, self.rows.get(index, -1))
        self.rows[index] = row
        return s, offset, float(self.line.table[row, RoadColumn.YAW])

    def _put_corrections_into_plan(self) -> None:
        super()._put_corrections_into_plan()
        if self.shift != 0.0 or self.own_offsets.any():
            offsets = self.plan.table[:, PlanColumn.OFFSET]
            np.clip(offsets + self.own_offsets + self.shift, -self.right_room, self.left_room, out=offsets)
