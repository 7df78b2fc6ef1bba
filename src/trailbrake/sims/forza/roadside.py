"""What Forza's packets tell of the road under a car: place beside the driving line, rumble strips, braking advice.

Source: protocol page forza-data-out, sections 3.4 and 3.5: the formulas are ours, since the games' are not documented.
"""

from typing import NamedTuple

from trailbrake.cars.params import CarParams
from trailbrake.planning.course import Course
from trailbrake.state import CarState
from trailbrake.tracks.columns import Column
from trailbrake.tracks.frenet import locate
from trailbrake.tracks.road import Road
from trailbrake.tracks.track import Track

FULL_BRAKE_GAIN = 1.0  # 1/s: m/s^2 that the reference brakes harder per m/s above its speed


class Roadside(NamedTuple):
    """What is seen at one place.

    Attributes:
        line: distance from the driving line, share of the road's half width there, positive left; not limited.
        ai_brake: the reference's brake less the player's, -1..1.
        strips: whether each wheel is on a rumble strip.
    """

    line: float = 0.0
    ai_brake: float = 0.0
    strips: tuple[bool, bool, bool, bool] = (False, False, False, False)


class RoadSense:
    """Looks at the road under one car.

    Args:
        track: where it drives.
        car: which car; for the racing line and its speeds.
        ndl: what the line is: "centre", "racing" (planned here: takes a second), or "off" for none, as in free roam.
    """

    def __init__(self, track: Track, car: CarParams, ndl: str) -> None:
        self._road, self._ndl = track.road, ndl
        self._rows = [-1] * 4
        self._row = self._line_row = -1
        self._line: Road = self._road
        self._speeds = self._accelerations = None
        if ndl == "racing":
            course = Course(track, car)
            self._line, self._full = course.line, car.full_brake_force / car.body.mass
            self._speeds, self._accelerations = course.profile.speed, course.profile.acceleration

    def look(self, state: CarState) -> Roadside:
        """Return what is under the car of `state`."""
        road = self._road
        table = road.table
        _, offset, self._row = locate(table, road.spacing, road.closed, state.x, state.y, self._row)
        half = 0.5 * float(table[self._row, Column.WIDTH_LEFT] + table[self._row, Column.WIDTH_RIGHT])
        middle = 0.5 * float(table[self._row, Column.WIDTH_LEFT] - table[self._row, Column.WIDTH_RIGHT])
        strips = tuple(self._on_strip(i, wheel.x, wheel.y) for i, wheel in enumerate(state.wheels))
        if self._ndl == "off":
            return Roadside(strips=strips)  # type: ignore[arg-type]
        ai_brake = 0.0
        if self._speeds is None or self._accelerations is None:
            offset -= middle  # the middle between the edges, where the two widths differ
        else:
            line = self._line
            _, offset, self._line_row = locate(line.table, line.spacing, line.closed, state.x, state.y, self._line_row)
            i = min(self._line_row, len(self._speeds) - 1)
            ask = self._accelerations[i] + FULL_BRAKE_GAIN * (self._speeds[i] - state.speed)
            ai_brake = max(0.0, min(1.0, -float(ask) / self._full)) - state.brake
        return Roadside(offset / half, ai_brake, strips)  # type: ignore[arg-type]

    def _on_strip(self, wheel: int, x: float, y: float) -> bool:
        if x != x:  # not known
            return False
        road = self._road
        _, offset, row = locate(road.table, road.spacing, road.closed, x, y, self._rows[wheel])
        self._rows[wheel] = row
        at = road.table[row]
        left, right = offset - at[Column.WIDTH_LEFT], -offset - at[Column.WIDTH_RIGHT]
        return bool(0.0 < left <= at[Column.KERB_LEFT] or 0.0 < right <= at[Column.KERB_RIGHT])
