"""The road fields of Forza's packets: offset from the driving line, rumble strips, brake advice.

Source: protocol page forza-data-out, sections 3.4 and 3.5. The games' formulas are not documented; these are ours.
"""

from typing import NamedTuple

from trailbrake.cars.params import CarParams
from trailbrake.planning.course import Course
from trailbrake.state import CarState
from trailbrake.tracks.road import Road
from trailbrake.tracks.road_columns import RoadColumn
from trailbrake.tracks.track import Track

FULL_BRAKE_GAIN = 1.0  # 1/s: extra deceleration of the reference per m/s above its speed


class Roadside(NamedTuple):
    """The road fields at one position.

    Attributes:
        line: distance from the driving line over half the road's width, positive left; not limited.
        ai_brake: brake of the reference minus brake of the player, -1..1.
        strips: whether each wheel is on a rumble strip.
    """

    line: float = 0.0
    ai_brake: float = 0.0
    strips: tuple[bool, bool, bool, bool] = (False, False, False, False)


class RoadsideSensor:
    """Computes the road fields for one car.

    Args:
        track: the track of the car.
        car: for the racing line and its speeds.
        ndl: driving line: "centre" of the road, "racing" line (planning it takes a second), or "off" as in free roam.
    """

    def __init__(self, track: Track, car: CarParams, ndl: str) -> None:
        self._road, self._ndl = track.road, ndl
        self._wheel_rows = [-1] * 4
        self._row = self._line_row = -1
        self._line: Road = self._road
        self._speeds = self._accelerations = None
        if ndl == "racing":
            course = Course(track, car)
            self._line, self._full_deceleration = course.line, car.full_brake_force / car.body.mass
            self._speeds, self._accelerations = course.profile.speed, course.profile.acceleration

    def sense_road(self, state: CarState) -> Roadside:
        """Return the road fields at the position of `state`."""
        road = self._road
        table = road.table
        _, offset, self._row = road.locate(state.x, state.y, self._row)
        half = 0.5 * float(table[self._row, RoadColumn.WIDTH_LEFT] + table[self._row, RoadColumn.WIDTH_RIGHT])
        middle = 0.5 * float(table[self._row, RoadColumn.WIDTH_LEFT] - table[self._row, RoadColumn.WIDTH_RIGHT])
        strips = tuple(self._is_on_strip(i, wheel.x, wheel.y) for i, wheel in enumerate(state.wheels))
        if self._ndl == "off":
            return Roadside(strips=strips)  # type: ignore[arg-type]
        ai_brake = 0.0
        if self._speeds is None or self._accelerations is None:
            offset -= middle  # from the road's reference line to the middle between its edges
        else:
            line = self._line
            _, offset, self._line_row = line.locate(state.x, state.y, self._line_row)
            i = min(self._line_row, len(self._speeds) - 1)
            wanted = self._accelerations[i] + FULL_BRAKE_GAIN * (self._speeds[i] - state.speed)
            ai_brake = max(0.0, min(1.0, -float(wanted) / self._full_deceleration)) - state.brake
        return Roadside(offset / half, ai_brake, strips)  # type: ignore[arg-type]

    def _is_on_strip(self, wheel: int, x: float, y: float) -> bool:
        if x != x:  # NaN: unknown
            return False
        road = self._road
        _, offset, row = road.locate(x, y, self._wheel_rows[wheel])
        self._wheel_rows[wheel] = row
        at = road.table[row]
        left, right = offset - at[RoadColumn.WIDTH_LEFT], -offset - at[RoadColumn.WIDTH_RIGHT]
        return bool(0.0 < left <= at[RoadColumn.KERB_LEFT] or 0.0 < right <= at[RoadColumn.KERB_RIGHT])
