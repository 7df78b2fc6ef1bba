"""`Road`: one strip of tarmac as a table of uniform rows, and the Python side of the kernels in `frenet.py`."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from trailbrake.tracks import frenet
from trailbrake.tracks.columns import Column

__all__ = ["Column", "Road"]

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Road:
    """A road as rows at uniform arc length. Kernels take `table, spacing, closed`; everybody else the methods.

    Attributes:
        table: (n, len(Column)) float64, C-contiguous; row k is at s = k * spacing.
        spacing: m between rows, seen from above.
        closed: whether row n is row 0 again. s = 0 is the start line.
        length: m; n * spacing (closed) or (n - 1) * spacing (open).
    """

    table: Array
    spacing: float
    closed: bool

    def __post_init__(self) -> None:
        if self.table.ndim != 2 or self.table.shape[1] != len(Column) or len(self.table) < 2:
            raise ValueError(f"Road.table: expected (n >= 2, {len(Column)}), got {self.table.shape}")
        table = np.ascontiguousarray(self.table, np.float64)
        object.__setattr__(self, "table", table)

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
        """Put a road together from columns of n numbers each (or one number for all), units as `Column`."""
        direction = np.asarray(yaw, np.float64)
        columns = (x, y, z, direction, curvature, grade, bank, width_left, width_right, runoff_left, runoff_right, grip,
                   np.cos(direction), np.sin(direction), kerb_left, kerb_right)  # fmt: skip
        table = np.empty((len(np.asarray(x)), len(Column)))
        for column, values in zip(Column, columns, strict=True):
            table[:, column] = values
        return cls(table, spacing, closed)

    @property
    def length(self) -> float:
        """Length of the centreline seen from above, m."""
        return (len(self.table) if self.closed else len(self.table) - 1) * self.spacing

    def column(self, column: Column) -> Array:
        """Return one column (n,) of the table, a view."""
        values: Array = self.table[:, int(column)]
        return values

    def stations(self) -> Array:
        """Return s (n,) of the rows, m."""
        s: Array = np.arange(len(self.table), dtype=np.float64) * self.spacing
        return s

    def locate(self, x: float, y: float, near: int = -1) -> tuple[float, float, int]:
        """Return s, offset and row of (x, y); see `frenet.locate`."""
        return frenet.locate(self.table, self.spacing, self.closed, x, y, near)

    def locate_many(self, xy: ArrayLike, near: int = -1) -> Array:
        """Return (m, 2) s and offset of the points (m, 2), which follow each other along some line."""
        points = np.ascontiguousarray(xy, np.float64)
        out = np.empty((len(points), 2))
        frenet.locate_many(self.table, self.spacing, self.closed, points, near, out)
        return out

    def at(self, s: ArrayLike, column: Column) -> Array:
        """Return `column` at s, same shape as s, linear between rows; see `frenet.at`."""
        stations = np.asarray(s, np.float64)
        out = np.empty(stations.size)
        frenet.at_many(self.table, self.spacing, self.closed, np.ravel(stations), int(column), out)
        return out.reshape(stations.shape)

    def point(self, s: float, offset: float = 0.0) -> tuple[float, float, float]:
        """Return x, y, z (m, world) of the surface at s and offset (m, left)."""
        x, y, z, _ = frenet.point(self.table, self.spacing, self.closed, s, offset)
        return x, y, z

    def points(self, s: ArrayLike, offset: ArrayLike = 0.0) -> Array:
        """Return (m, 4) x, y, z, yaw of the surface at s (m,) and offset (m,)."""
        stations = np.array(s, np.float64, ndmin=1)
        offsets = np.ascontiguousarray(np.broadcast_to(np.asarray(offset, np.float64), stations.shape))
        out = np.empty((len(stations), 4))
        frenet.point_many(self.table, self.spacing, self.closed, stations, offsets, out)
        return out

    def edges(self) -> tuple[Array, Array]:
        """Return the left and the right road edge, (n, 3) x, y, z each, at the rows."""
        s = self.stations()
        left = self.points(s, self.column(Column.WIDTH_LEFT))[:, :3]
        right = self.points(s, -self.column(Column.WIDTH_RIGHT))[:, :3]
        return left, right

    def walls(self) -> tuple[Array, Array]:
        """Return the left and the right wall, (n, 3) x, y, z each, at the rows."""
        s = self.stations()
        left = self.column(Column.WIDTH_LEFT) + self.column(Column.RUNOFF_LEFT)
        right = self.column(Column.WIDTH_RIGHT) + self.column(Column.RUNOFF_RIGHT)
        return self.points(s, left)[:, :3], self.points(s, -right)[:, :3]
