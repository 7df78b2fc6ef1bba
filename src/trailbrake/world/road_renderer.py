"""Pictures of a full-size road from a car on it: asphalt, lines, grass and sky, all on one level.

Heights and banks are left out: the ground is the plane under the car. The kernel looks up every pixel of the ground by
itself, in a grid of the road's nearest rows, and smooths edges over a pixel's width across the road.

`DashCamera`: the view over the bonnet of a full-size car, for simulators whose wire has no camera.
"""

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from trailbrake.arrays import Array, Bytes
from trailbrake.kernels import internal_jit, jit
from trailbrake.tracks.road import Road
from trailbrake.tracks.road_columns import RoadColumn
from trailbrake.world.nearest_rows import CellGrid, assign_nearest_rows
from trailbrake.world.pinhole_camera import PinholeCamera, View

Ints = NDArray[np.int32]

_CELL = 2.0  # m, of the grid
_BAND = 20.0  # m beside the centreline in which cells know their row; beyond it all is grass
_X, _Y, _COS, _SIN, _CURVATURE, _LEFT, _RIGHT = range(7)  # columns of `RoadRaster.rows`
_COLUMNS = [
    RoadColumn.X,
    RoadColumn.Y,
    RoadColumn.TANGENT_X,
    RoadColumn.TANGENT_Y,
    RoadColumn.CURVATURE,
    RoadColumn.WIDTH_LEFT,
    RoadColumn.WIDTH_RIGHT,
]

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
# Behind the windscreen at a driver's eye, level, with the view that games show by default. All estimates.
VERTICAL_FOV = math.radians(50.0)
FORWARD, ABOVE = 0.4, 1.2  # m, from the car's middle on the ground


class RoadRaster(NamedTuple):
    """A road as `_draw_road` takes it.

    Attributes:
        rows: (n, 7) x, y (m, world), cosine and sine of the heading, curvature (1/m), widths to the left and to the
            right edge (m).
        spacing: m between rows.
        nearest: (ny, nx) the nearest row to the middle of each cell, -1 for none.
        origin: (2,) x, y of the outer corner of cell (0, 0), m, world.
    """

    rows: Array
    spacing: float
    nearest: Ints
    origin: Array

    @classmethod
    def from_road(cls, road: Road) -> "RoadRaster":
        """Return the raster of a road."""
        rows = np.ascontiguousarray(road.table[:, _COLUMNS])
        origin = rows[:, :2].min(axis=0) - _BAND - _CELL
        nx, ny = np.ceil((rows[:, :2].max(axis=0) + _BAND + _CELL - origin) / _CELL).astype(np.int64).tolist()
        nearest, best = np.full((ny, nx), -1, np.int32), np.full((ny, nx), _BAND * _BAND)
        assign_nearest_rows(rows, CellGrid(float(origin[0]), float(origin[1]), _CELL, _BAND), nearest, best)
        return cls(rows, float(road.spacing), nearest, origin)


@internal_jit
def _covered_share(inside: float, pixel: float) -> float:
    # The share of a pixel, `pixel` m wide, inside an edge that is `inside` m away.
    return min(max(inside / pixel + 0.5, 0.0), 1.0)


@jit
def _draw_road(out: Bytes, raster: RoadRaster, colours: Array, view: View, pitch: float) -> None:
    # Draw the picture `out` (height, width, 3). `colours`: COLOURS; `pitch`: rad, positive down.
    rows, spacing, near, corner = raster
    height, width = out.shape[0], out.shape[1]
    focal = view.focal_length
    cp, sp = math.cos(pitch), math.sin(pitch)
    for v in range(height):
        down = (v - view.row) / focal
        fall = sp + cp * down  # m down per m of the ray's length
        ahead = cp - sp * down
        if fall < 1e-3:
            rise = min(max(-fall * 1.6, 0.0), 1.0)
            for c in range(3):
                shade = colours[_SKY_LOW, c] + rise * (colours[_SKY_HIGH, c] - colours[_SKY_LOW, c])
                for u in range(width):
                    out[v, u, c] = int(shade + 0.5)
            continue
        far = view.height / fall
        pixel = far / focal
        haze = 1.0 - math.exp(-far * ahead / _HAZE)
        for u in range(width):
            right = (u - view.column) * pixel
            x = view.x + far * ahead * view.cos + right * view.sin
            y = view.y + far * ahead * view.sin - right * view.cos
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
                bend = rows[k, _CURVATURE]
                lean = max(1.0 - bend * offset, 0.1)
                along /= lean
                offset -= 0.5 * bend * along * along * lean
                s = k * spacing + along
                if math.floor(s / _STRIPE) % 2 == 0:
                    paint = _GRASS_DARK
                # A pixel's width across the road: larger where the camera looks along it.
                across = abs(view.cos * rows[k, _COS] + view.sin * rows[k, _SIN])
                blur = pixel * (across + (1.0 - across) / max(fall, 0.02)) + 1e-6
                inside = rows[k, _LEFT] - offset if offset > 0.0 else rows[k, _RIGHT] + offset
                road = _covered_share(inside, blur)
                if road > 0.0:
                    edge = inside - 1.5 * _EDGE_LINE
                    middle = _CENTRE_LINE / 2.0 - abs(offset)
                    if abs(edge) < 0.5 * _EDGE_LINE + blur:
                        over = _WHITE
                        share = _covered_share(0.5 * _EDGE_LINE - abs(edge), blur) * min(_EDGE_LINE / blur, 1.0)
                    elif middle > -blur and s - _DASH_EVERY * math.floor(s / _DASH_EVERY) < _DASH:
                        over = _YELLOW
                        share = _covered_share(middle, blur) * min(_CENTRE_LINE / blur, 1.0)
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
        road: what to draw.
        camera: on the car; its roll is 0.
    """

    def __init__(self, road: Road, camera: PinholeCamera) -> None:
        self._raster = RoadRaster.from_road(road)
        self.camera = camera

    def render_frame(self, x: float, y: float, yaw: float) -> Any:
        """Return the picture (height, width, 3) uint8 RGB from a car at `x`, `y` (m) with heading `yaw` (rad)."""
        camera = self.camera
        out = np.empty((camera.height, camera.width, 3), np.uint8)
        _draw_road(out, self._raster, COLOURS, camera.view_from(x, y, yaw), float(camera.pitch))
        return out


class DashCamera:
    """Draws a road as a driver sees it: asphalt, lines, grass and sky on one level; no other cars, no walls.

    Args:
        road: the road.
        width, height: of the picture, pixels.
    """

    def __init__(self, road: Road, width: int, height: int) -> None:
        fov = 2.0 * math.atan(width / height * math.tan(0.5 * VERTICAL_FOV))
        camera = PinholeCamera(width=width, height=height, fov=fov, forward=FORWARD, above=ABOVE)
        self._renderer = RoadRenderer(road, camera)

    def render_frame(self, x: float, y: float, yaw: float) -> Any:
        """Return the picture (height, width, 3) uint8 RGB from a car at `x`, `y` (m) with heading `yaw` (rad)."""
        return self._renderer.render_frame(x, y, yaw)
