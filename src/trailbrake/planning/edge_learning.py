"""Learning of edges that a map has in the wrong place: where the car touches a wall, its line keeps further away.

A blow from outside turns a car faster than tyres can. On the planned line it is an error of the map, not of the speed:
a slower car touches the same wall. Each lap with a blow moves the line there away from the nearer edge.
"""

import math
from collections.abc import Sequence

import numpy as np

from trailbrake.arrays import Array
from trailbrake.errors import DataError

STATION = 4.0  # m between stations
STEP = 0.5  # m that a lap with a blow moves the line
MOST_SHIFT = 2.5  # m
REACH = 12.0  # m before and behind the blow that move in full
SMOOTHING = 9.0  # m along the line, standard deviation of the Gaussian beyond them
BLOW = 30.0  # rad/s^2, angular acceleration that no tyres give
LEAST_TURN = 0.15  # rad/s, a smaller change of the yaw rate is no blow


class EdgeLearning:
    """How far a line keeps away from edges, and what the present lap has touched.

    Args:
        length: m, of the line.
        closed: whether its end is its beginning.

    Attributes:
        shifts: (n,) m, left of the line, at stations STATION apart.
    """

    def __init__(self, length: float, *, closed: bool) -> None:
        self.shifts = np.zeros(max(math.ceil(length / STATION), 2))
        self._touched = np.zeros(len(self.shifts))  # 1: to the left, -1: to the right
        self._closed = closed
        distance = STATION * np.arange(-math.ceil((REACH + 3.0 * SMOOTHING) / STATION), 0)
        half = np.exp(-0.5 * (np.maximum(-distance - REACH, 0.0) / SMOOTHING) ** 2)
        self._weights = np.concatenate([half, [1.0], half[::-1]])

    def add_blow(self, s: float, *, to_left: bool) -> None:
        """Take a blow at s (m) along the line, by the edge to the left or to the right."""
        self._touched[min(max(int(s / STATION), 0), len(self.shifts) - 1)] = 1.0 if to_left else -1.0

    def finish_lap(self) -> None:
        """Move the line by what the lap that has ended touched, and begin another."""
        reach = len(self._weights) // 2
        padded = np.pad(self._touched, reach, mode="wrap" if self._closed else "constant")
        near = np.lib.stride_tricks.sliding_window_view(padded, len(self._weights)) * self._weights
        move = np.max(np.maximum(-near, 0.0), axis=1) - np.max(np.maximum(near, 0.0), axis=1)
        self.shifts = np.clip(self.shifts + STEP * move, -MOST_SHIFT, MOST_SHIFT)
        self._touched[:] = 0.0

    def shifts_at(self, rows: int, spacing: float) -> Array:
        """Return the shifts (rows,) m, left of the line, at the rows of a line `spacing` (m) apart."""
        stations = STATION * (np.arange(len(self.shifts)) + 0.5)
        period = STATION * len(self.shifts) if self._closed else None
        shifts: Array = np.interp(spacing * np.arange(rows), stations, self.shifts, period=period)
        return shifts

    def import_shifts(self, shifts: Sequence[float], where: str) -> None:
        """Take up shifts (n,) m of another day; DataError, naming `where`, where they are of another line."""
        if len(shifts) != len(self.shifts):
            raise DataError("the edges of another road", where=where, expected=f"{len(self.shifts)} shifts",
                            got=str(len(shifts)))  # fmt: skip
        self.shifts = np.array(shifts)


def is_blow(turned: float, dt: float) -> bool:
    """Return whether a change of the yaw rate (rad/s) in dt (s) is a blow from outside."""
    return abs(turned) > max(BLOW * dt, LEAST_TURN)
