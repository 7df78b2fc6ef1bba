"""`Road`: one road as a table of rows at equal steps, with the Python side of the kernels in `frenet.py`.

`RoadPlan`: a racing line and its speeds, tabulated at the rows of a road.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from trailbrake.arrays import Array
from trailbrake.kernels import bind_entry
from trailbrake.tracks import frenet
from trailbrake.tracks.frenet import RoadTable
from trailbrake.tracks.road_columns import RoadColumn

__all__ = ["Road", "RoadColumn"]


@cache
def _projection() -> Callable[..., Any]:
    # The compiled `frenet.project_to_road`, without numba's search by argument types: drivers call it in every tick.
    example = RoadTable(np.zeros((2, len(RoadColumn))), 1.0, True)
    return bind_entry(frenet.project_to_road, example, 0.0, 0.0, -1)


@cache
def _interpolation() -> Callable[..., Any]:
    example = RoadTable(np.zeros((2, len(RoadColumn))), 1.0, True)
    return bind_entry(frenet.column_at, example, 0.0, 0)


@dataclass(frozen=True, eq=False)
class Road:
    """A road as rows at uniform arc length.

    Attributes:
        table: (n, len(RoadColumn)) float64, C-contiguous; row k is at s = k * spacing.
        spacing: m between rows, seen from above.
        closed: whether row n is row 0 again. s = 0 is the start line.
        kernel_table: the three above as one argument of kernels.
    """

    table: Array
    spacing: float
    closed: bool
    kernel_table: RoadTable = field(init=False, repr=False)

    def __post_init__(self) -> None:
        if self.table.ndim != 2 or self.table.shape[1] != len(RoadColumn) or len(self.table) < 2:
            raise ValueError(f"Road.table: expected (n >= 2, {len(RoadColumn)}), got {self.table.shape}")
        table = np.ascontiguousarray(self.table, np.float64)
        object.__setattr__(self, "table", table)
        object.__setattr__(self, "spacing", float(self.spacing))  # lap times follow from it, and are written as JSON
        object.__setattr__(self, "kernel_table", RoadTable(table, self.spacing, bool(self.closed)))

    @classmethod
    def from_columns(
        cls,
        spacing: float,
        closed: bool,
        x: ArrayLike,
        y: ArrayLike,
        yaw: ArrayLike,
        curvature: ArrayLike,
        *,
        z: ArrayLike = 0.0,
        grade: ArrayLike = 0.0,
        bank: ArrayLike = 0.0,
        width_left: ArrayLike = 6.0,
        width_right: ArrayLike = 6.0,
        runoff_left: ArrayLike = 8.0,
        runoff_right: ArrayLike = 8.0,
        grip: ArrayLike = 1.0,
        kerb_left: ArrayLike = 0.0,
        kerb_right: ArrayLike = 0.0,
    ) -> "Road":
        """Return a road of columns of n numbers each, or one number for all rows; units as in `RoadColumn`."""
        direction = np.asarray(yaw, np.float64)
        columns = (x, y, z, direction, curvature, grade, bank, width_left, width_right, runoff_left, runoff_right, grip,
                   np.cos(direction), np.sin(direction), kerb_left, kerb_right)  # fmt: skip
        table = np.empty((len(np.asarray(x)), len(RoadColumn)))
        for column, values in zip(RoadColumn, columns, strict=True):
            table[:, column] = values
        return cls(table, spacing, closed)

    @property
    def length(self) -> float:
        """Length of the centreline seen from above, m."""
        return (len(self.table) if self.closed else len(self.table) - 1) * self.spacing

    def column(self, column: RoadColumn) -> Array:
        """Return one column (n,) of the table, a view."""
        values: Array = self.table[:, int(column)]
        return values

    def stations(self) -> Array:
        """Return s (n,) of the rows, m."""
        s: Array = np.arange(len(self.table), dtype=np.float64) * self.spacing
        return s

    def locate(self, x: float, y: float, near: int = -1) -> tuple[float, float, int]:
        """Return s (m), offset (m, positive left) and row of the point (x, y) (m, world).

        `near` is the row that an earlier call returned for the same car: it makes the search local. See
        `frenet.project_to_road`.
        """
        result: tuple[float, float, int] = _projection()(self.kernel_table, x, y, near)
        return result

    def locate_many(self, xy: ArrayLike, near: int = -1) -> Array:
        """Return s and offset (m, 2) of points (m, 2) that follow each other along a line; `near` as in `locate`."""
        points = np.ascontiguousarray(xy, np.float64)
        out = np.empty((len(points), 2))
        frenet.project_points(self.kernel_table, points, near, out)
        return out

    def column_at(self, s: ArrayLike, column: RoadColumn) -> Array:
        """Return `column` at `s` (m, any shape), same shape, linear between rows; see `frenet.column_at`."""
        stations = np.asarray(s, np.float64)
        out = np.empty(stations.size)
        frenet.column_at_many(self.kernel_table, np.ravel(stations), int(column), out)
        return out.reshape(stations.shape)

    def value_at(self, s: float, column: RoadColumn) -> float:
        """Return `column` at `s` (m), linear between rows; as `column_at`, quicker, for one place."""
        value: float = _interpolation()(self.kernel_table, s, int(column))
        return value

    def point(self, s: float, offset: float = 0.0) -> tuple[float, float, float]:
        """Return x, y, z (m, world) of the road surface at `s` (m) and `offset` (m, positive left)."""
        x, y, z, _ = frenet.surface_point(self.kernel_table, s, offset)
        return x, y, z

    def points(self, s: ArrayLike, offset: ArrayLike = 0.0) -> Array:
        """Return x, y, z (m, world) and yaw (rad) of the road surface, (m, 4), at `s` and `offset` (m,), in m."""
        stations = np.array(s, np.float64, ndmin=1)
        offsets = np.array(np.broadcast_to(offset, stations.shape), np.float64)  # writable: one type for the kernel
        out = np.empty((len(stations), 4))
        frenet.surface_points(self.kernel_table, stations, offsets, out)
        return out

    def edge_lines(self) -> tuple[Array, Array]:
        """Return the left and the right road edge at the rows, (n, 3) x, y, z (m, world) each."""
        s = self.stations()
        left = self.points(s, self.column(RoadColumn.WIDTH_LEFT))[:, :3]
        right = self.points(s, -self.column(RoadColumn.WIDTH_RIGHT))[:, :3]
        return left, right

    def wall_lines(self) -> tuple[Array, Array]:
        """Return the left and the right wall at the rows, (n, 3) x, y, z (m, world) each."""
        s = self.stations()
        left = self.column(RoadColumn.WIDTH_LEFT) + self.column(RoadColumn.RUNOFF_LEFT)
        right = self.column(RoadColumn.WIDTH_RIGHT) + self.column(RoadColumn.RUNOFF_RIGHT)
        return self.points(s, left)[:, :3], self.points(s, -right)[:, :3]


class RoadPlan(NamedTuple):
    """A planned line and its speeds at the rows of a road's table.

    Attributes:
        offset: (n,) m, the line left of the centreline.
        heading: (n,) rad, direction of the line minus direction of the road.
        curvature: (n,) 1/m of the line, positive left.
        speed: (n,) m/s, planned.
    """

    offset: NDArray[np.float64]
    heading: NDArray[np.float64]
    curvature: NDArray[np.float64]
    speed: NDArray[np.float64]
