"""Pictures of a full-size road from a car on it: asphalt, lines, grass and sky, all on one level.

Heights and banks are left out: the ground is the plane that the car stands on. Every pixel of the ground is looked up
on its own, in a grid of the road's nearest rows; edges are smoothed over a pixel's width across the road.
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trailbrake.kernels import jit, part
from trailbrake.tracks.columns import Column
from trailbrake.tracks.road import Road
from trailbrake.world.camera.view import Camera

Array = NDArray[np.float64]
Ints = NDArray[np.int32]
Bytes = NDArray[np.uint8]

_CELL = 2.0  # m, of the grid
_BAND = 20.0  # m beside the centre line in which the road is known; beyond it all is grass
_X, _Y, _COS, _SIN, _BEND, _LEFT, _RIGHT = range(7)  # columns of a `Ground`'s rows
_COLUMNS = [Column.X, Column.Y, Column.TANGENT_X, Column.TANGENT_Y, Column.CURVATURE, Column.WIDTH_LEFT,
            Column.WIDTH_RIGHT]  # fmt: skip

# Road marks as on a two-lane road in the country: m.
_EDGE_LINE = 0.12  # from the edge to the line, and its width
_CENTRE_LINE = 0.12  # width
_DASH, _DASH_EVERY = 3.0, 9.0
_STRIPE = 12.0  # of grass, in two shades, so that motion shows
_HAZE = 250.0  # m at which two thirds of a colour are haze
_ASPHALT, _WHITE, _YELLOW, _GRASS, _GRASS_DARK, _SKY_LOW, _SKY_HIGH = range(7)
COLOURS = np.array(
    [[92, 92, 96], [235, 235, 230], [225, 185, 40], [96, 132, 62], [84, 118, 54], [206, 222, 236], [108, 152, 208]],
    np.float64,
)


@dataclass(frozen=True, eq=False)
class Ground:
    """A road, ready to be looked up.

    Attributes:
        rows: (n, 7) x, y, cosine and sine of the heading, curvature, widths to the left and to the right edge.
        spacing: m between rows.
        near: (ny, nx) the nearest row to the middle of each cell, -1 where there is none.
        corner: (2,) x, y of the outer corner of cell (0, 0), m.
    """

    rows: Array
    spacing: float
    near: Ints
    corner: Array

    @classmethod
    def of(cls, road: Road) -> "Ground":
        """Return the ground of a road."""
        rows = np.ascontiguousarray(road.table[:, _COLUMNS])
        corner = rows[:, :2].min(axis=0) - _BAND - _CELL
        nx, ny = np.ceil((rows[:, :2].max(axis=0) + _BAND + _CELL - corner) / _CELL).astype(np.int64).tolist()
        near = np.full((ny, nx), -1, np.int32)
        _spread(rows, corner, near, np.full((ny, nx), _BAND * _BAND))
        return cls(rows, road.spacing, near, corner)


@jit
def _spread(rows: Array, corner: Array, near: Ints, best: Array) -> None:
    # Each row claims the cells around it to which no other is nearer.
    reach = int(_BAND / _CELL) + 1
    for k in range(rows.shape[0]):
        x, y = rows[k, _X] - corner[0], rows[k, _Y] - corner[1]
        i0, j0 = int(y / _CELL), int(x / _CELL)
        for i in range(max(i0 - reach, 0), min(i0 + reach + 1, near.shape[0])):
            dy = (i + 0.5) * _CELL - y
            for j in range(max(j0 - reach, 0), min(j0 + reach + 1, near.shape[1])):
                dx = (j + 0.5) * _CELL - x
                gap = dx * dx + dy * dy
                if gap < best[i, j]:
                    best[i, j] = gap
                    near[i, j] = k


@part
def _cover(inside: float, pixel: float) -> float:
    # The share of a pixel, `pixel` m wide, that lies inside an edge which is `inside` m away.
    return min(max(inside / pixel + 0.5, 0.0), 1.0)


@jit
def _draw(
    out: Bytes, rows: Array, spacing: float, near: Ints, corner: Array, colours: Array, eye: Array, lens: Array
) -> None:
    height, width = out.shape[0], out.shape[1]
    focal, pitch = lens[0], lens[3]
    cp, sp = math.cos(pitch), math.sin(pitch)
    for v in range(height):
        down = (v - lens[2]) / focal
        fall = sp + cp * down  # m down per m of the ray's length
        ahead = cp - sp * down
        if fall < 1e-3:
            rise = min(max(-fall * 1.6, 0.0), 1.0)
            for c in range(3):
                shade = colours[_SKY_LOW, c] + rise * (colours[_SKY_HIGH, c] - colours[_SKY_LOW, c])
                for u in range(width):
                    out[v, u, c] = int(shade + 0.5)
            continue
        far = eye[4] / fall
        pixel = far / focal
        haze = 1.0 - math.exp(-far * ahead / _HAZE)
        for u in range(width):
            right = (u - lens[1]) * pixel
            x = eye[0] + far * ahead * eye[2] + right * eye[3]
            y = eye[1] + far * ahead * eye[3] - right * eye[2]
            paint, over, share = _GRASS, _GRASS, 0.0
            i, j = math.floor((y - corner[1]) / _CELL), math.floor((x - corner[0]) / _CELL)
            k = -1
            if 0 <= i < near.shape[0] and 0 <= j < near.shape[1]:
                k = near[i, j]
            road = 0.0
            if k >= 0:
                dx, dy = x - rows[k, _X], y - rows[k, _Y]
                along = dx * rows[k, _COS] + dy * rows[k, _SIN]
                offset = dy * rows[k, _COS] - dx * rows[k, _SIN]
                bend = rows[k, _BEND]
                lean = max(1.0 - bend * offset, 0.1)
                along /= lean
                offset -= 0.5 * bend * along * along * lean
                s = k * spacing + along
                if math.floor(s / _STRIPE) % 2 == 0:
                    paint = _GRASS_DARK
                # A pixel is as wide as it is seen across the road: wider where it looks along its length.
                across = abs(eye[2] * rows[k, _COS] + eye[3] * rows[k, _SIN])
                blur = pixel * (across + (1.0 - across) / max(fall, 0.02)) + 1e-6
                inside = rows[k, _LEFT] - offset if offset > 0.0 else rows[k, _RIGHT] + offset
                road = _cover(inside, blur)
                if road > 0.0:
                    edge = inside - 1.5 * _EDGE_LINE
                    middle = _CENTRE_LINE / 2.0 - abs(offset)
                    if abs(edge) < 0.5 * _EDGE_LINE + blur:
                        over = _WHITE
                        share = _cover(0.5 * _EDGE_LINE - abs(edge), blur) * min(_EDGE_LINE / blur, 1.0)
                    elif middle > -blur and s - _DASH_EVERY * math.floor(s / _DASH_EVERY) < _DASH:
                        over = _YELLOW
                        share = _cover(middle, blur) * min(_CENTRE_LINE / blur, 1.0)
            for c in range(3):
                value = colours[paint, c]
                if road > 0.0:
                    top = colours[_ASPHALT, c] + share * (colours[over, c] - colours[_ASPHALT, c])
                    value += road * (top - value)
                value += haze * (colours[_SKY_LOW, c] - value)
                out[v, u, c] = int(value + 0.5)


class RoadRenderer:
    """Draws a road through a camera.

    Args:
        road: what there is to see.
        camera: on the car; its roll is 0.
    """

    def __init__(self, road: Road, camera: Camera) -> None:
        self._ground = Ground.of(road)
        self.camera = camera

    def frame(self, x: float, y: float, yaw: float) -> Any:
        """Return the picture (height, width, 3) uint8 RGB from a car at x, y (m) with heading `yaw` (rad)."""
        camera, ground = self.camera, self._ground
        cos, sin = math.cos(yaw), math.sin(yaw)
        eye = np.array(
            [x + camera.forward * cos - camera.left * sin, y + camera.forward * sin + camera.left * cos,
             math.cos(yaw + camera.yaw), math.sin(yaw + camera.yaw), camera.above]
        )  # fmt: skip
        lens = np.array([camera.focal, 0.5 * (camera.width - 1), 0.5 * (camera.height - 1), camera.pitch])
        out = np.empty((camera.height, camera.width, 3), np.uint8)
        _draw(out, ground.rows, ground.spacing, ground.near, ground.corner, COLOURS, eye, lens)
        return out
