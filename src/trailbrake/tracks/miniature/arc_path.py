"""Closed paths of straights and arcs: polygons with rounded corners, evaluated without any integration."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from trailbrake.errors import DataError

Array = NDArray[np.float64]
_SHARPEST = 0.01  # m, the smallest radius of a corner
_STRAIGHT = math.radians(3.0)  # the smallest turn of a corner: below it its place is ill-defined


@dataclass(frozen=True, eq=False)
class ArcPath:
    """A closed line in the plane.

    Attributes:
        pieces: (n, 6) start station (m), x, y (m), heading (rad), curvature (1/m, left positive) and length (m) of
            each straight or arc.
        length: of one lap, m.
    """

    pieces: Array
    length: float

    def poses_at(self, s: Array) -> Array:
        """Return x, y (m), heading (rad), curvature (1/m), (m, 4), at the stations `s` (m,); s wraps."""
        s = np.mod(s, self.length)
        k = np.clip(np.searchsorted(self.pieces[:, 0], s, side="right") - 1, 0, len(self.pieces) - 1)
        start, x, y, yaw, curvature, _ = self.pieces[k].T
        along = s - start
        turned = curvature * along
        # The chord of an arc: its length times the sinc of half the turn, in the direction at half the turn.
        chord = along * np.sinc(0.5 * turned / math.pi)
        return np.column_stack(
            [x + chord * np.cos(yaw + 0.5 * turned), y + chord * np.sin(yaw + 0.5 * turned), yaw + turned, curvature]
        )


def round_corners(corners: Array, radii: Array, start: float, where: str) -> ArcPath:
    """Return the polygon through `corners` with its corners rounded by arcs.

    Args:
        corners: (n, 2) m, in driving order.
        radii: (n,) m, of the arcs.
        start: m along the first edge (from corner 0 to corner 1), place of station 0.
        where: names the file in errors.

    Raises:
        DataError: a corner that does not turn or has no radius, or edges too short for the arcs at their ends.
    """
    edge = np.roll(corners, -1, axis=0) - corners
    length = np.hypot(edge[:, 0], edge[:, 1])
    if not length.min() > 0.0:
        raise DataError("two corners in the same place", where=f"{where}: corner {int(length.argmin()) + 1}")
    if not radii.min() >= _SHARPEST:
        raise DataError("a corner without a radius", where=f"{where}: corner {int(radii.argmin()) + 1}",
                        expected=f"{_SHARPEST:g} m or more", got=f"{radii.min():g} m")  # fmt: skip
    heading = np.arctan2(edge[:, 1], edge[:, 0])
    turn = np.mod(heading - np.roll(heading, 1) + math.pi, 2.0 * math.pi) - math.pi
    cut = radii * np.tan(0.5 * np.abs(turn))  # from the corner to where its arc begins
    clear = length - cut - np.roll(cut, -1)
    for k in range(len(corners)):
        if abs(turn[k]) < _STRAIGHT:
            raise DataError("a corner that does not turn", where=f"{where}: corner {k + 1}", expected="3 deg or more")
        if clear[k] < 0.0:
            raise DataError(
                "no room for the arcs of two corners", where=f"{where}: edge from corner {k + 1}",
                expected=f"{cut[k] + cut[(k + 1) % len(cut)]:.2f} m or more", got=f"{length[k]:.2f} m",
                hint="smaller radii, or corners further apart",
            )  # fmt: skip
    if not cut[0] <= start < length[0] - cut[1]:
        raise DataError(
            "the start is not on the straight of the first edge", where=f"{where}: start",
            expected=f"{cut[0]:.2f} .. {length[0] - cut[1]:.2f} m", got=f"{start:.2f} m",
        )  # fmt: skip
    rows = []
    for k in range(len(corners)):
        unit = edge[k] / length[k]
        first = corners[k] + (start if k == 0 else cut[k]) * unit
        rows.append([*first, heading[k], 0.0, length[k] - cut[(k + 1) % len(cut)] - (start if k == 0 else cut[k])])
        n = (k + 1) % len(corners)
        rows.append([*(corners[n] - cut[n] * unit), heading[k], math.copysign(1.0 / radii[n], turn[n]),
                     radii[n] * abs(turn[n])])  # fmt: skip
    rows.append([*(corners[0] + cut[0] * edge[0] / length[0]), heading[0], 0.0, start - cut[0]])
    pieces = np.array([row for row in rows if row[4] > 0.0])
    stations = np.concatenate([[0.0], np.cumsum(pieces[:, 4])])
    return ArcPath(np.column_stack([stations[:-1], pieces]), float(stations[-1]))
