"""Kernels for the ground: row by row, with the exact place on the track every few pixels and linear between."""

import math
from typing import NamedTuple

from trailbrake.arrays import Array, Bytes, Ints
from trailbrake.kernels import exact_inline_jit
from trailbrake.world.miniature.camera.scene import Chevrons, Picture, Scene
from trailbrake.world.miniature.camera.track_look import (
    BLOCK_PIXELS,
    FINEST_FOOTPRINT,
    PAINT_REACH,
    PAINT_STEP,
    LanePaint,
)
from trailbrake.world.miniature.camera.track_raster import (
    OFF_TRACK_OFFSET,
    TrackRaster,
    locate_on_track,
    project_to_half,
)
from trailbrake.world.miniature.layout import HALF_WIDTH
from trailbrake.world.miniature.track import HalfColumn
from trailbrake.world.pinhole_camera import View

_MAX_SPAN = 0.06  # m between exact places: on the tightest arc the middle is 0.5 mm off
_NEAR_ROW = 0.04  # m along the road to a row that is near enough for a projection
_X, _Y, _COS, _SIN = int(HalfColumn.X), int(HalfColumn.Y), int(HalfColumn.COS), int(HalfColumn.SIN)


class GroundRow(NamedTuple):
    """The ground under one row of the picture.

    Attributes:
        x, y: m, world, under the row's first pixel.
        cos, sin: of the camera's heading.
        pixel: m to the right per column.
        depth: m ahead per row.
    """

    x: float
    y: float
    cos: float
    sin: float
    pixel: float
    depth: float


class Span(NamedTuple):
    """A stretch of pixels of one row over which the offset from the road's centre changes linearly.

    Attributes:
        at: index of the first pixel's first byte in the flat picture.
        pixels: their number.
        level: of `LanePaint.lanes`.
        q0, q1: m left of the road's centre at the first pixel and at the one after the last.
    """

    at: int
    pixels: int
    level: int
    q0: float
    q1: float


class ChevronSpan(NamedTuple):
    """A span beside the centre of a half.

    Attributes:
        half: 0 left, 1 right.
        s0, s1: m along the half at the first pixel and at the one after the last.
        across, along: m, a pixel's footprint across the road and along it.
    """

    half: int
    s0: float
    s1: float
    across: float
    along: float


@exact_inline_jit
def _edge_coverage(x: float) -> float:
    # The share of a pixel on the far side of an edge that is `x` pixels off its middle.
    return min(max(x + 0.5, 0.0), 1.0)


@exact_inline_jit
def first_ground_rows(height: int, view: View, nearness: Array, first: Ints) -> None:
    """Write for each block of BLOCK_PIXELS columns the first row that may show ground below the walls.

    Args:
        height: rows of the picture.
        view: of the camera.
        nearness: (width,) as in `upright_kernels.WallHits`.
        first: (blocks,) written.
    """
    width = nearness.shape[0]
    horizon = int(view.row) + 1
    for block in range(first.shape[0]):
        least = float(height)
        for u in range(block * BLOCK_PIXELS, min((block + 1) * BLOCK_PIXELS, width)):
            least = min(least, view.row + view.height * view.focal_length * nearness[u] - 0.5)
        first[block] = max(int(least), horizon)


@exact_inline_jit
def _locate_from_centre(raster: TrackRaster, x: float, y: float) -> tuple[int, int, float, float]:
    # As `locate_on_track`, with the offset from the road's centre.
    half, k, s, offset = locate_on_track(raster, x, y)
    return half, k, s, offset + (HALF_WIDTH if half == 0 else -HALF_WIDTH)


@exact_inline_jit
def _locate_next(raster: TrackRaster, half: int, k: int, x: float, y: float) -> tuple[int, int, float, float]:
    # As `_locate_from_centre`; mostly row `k` of `half`, that of the place before, is near enough.
    s, offset = 0.0, OFF_TRACK_OFFSET
    if half >= 0:
        table = raster.left if half == 0 else raster.right
        ahead = (x - table[k, _X]) * table[k, _COS] + (y - table[k, _Y]) * table[k, _SIN]
        if abs(ahead) < _NEAR_ROW:
            s, offset = project_to_half(table, k, x, y)
    if abs(offset) > HALF_WIDTH:
        half, k, s, offset = locate_on_track(raster, x, y)
    return half, k, s, offset + (HALF_WIDTH if half == 0 else -HALF_WIDTH)


@exact_inline_jit
def _fill_span(out: Bytes, paint: LanePaint, span: Span) -> None:
    # Paint the pixels of a span with the colours of the lanes.
    lanes = paint.lanes
    level, at, m, columns = span.level, span.at, span.pixels, lanes.shape[1]
    slope = (span.q1 - span.q0) / m / PAINT_STEP
    column = (PAINT_REACH - span.q0) / PAINT_STEP + 0.5
    c = min(max(int(column), 0), columns - 1)
    other = min(max(int(column - slope * (m - 1)), 0), columns - 1)
    if paint.run_ends[level, min(c, other)] >= max(c, other):
        # One colour: copied bytes, which a compiler does many at a time.
        number = paint.solid_index[level, c]
        for i in range(3 * m):
            out[at + i] = paint.solid_rows[number, i]
    else:
        for _ in range(m):
            c = min(max(int(column), 0), columns - 1)
            out[at] = lanes[level, c, 0]
            out[at + 1] = lanes[level, c, 1]
            out[at + 2] = lanes[level, c, 2]
            at += 3
            column -= slope


@exact_inline_jit
def _fill_pixels(out: Bytes, scene: Scene, row: GroundRow, span: Span, u: int) -> None:
    # As `_fill_span`, each pixel from column `u` on by itself: the span crosses from one half to another place.
    lanes = scene.paint.lanes
    at = span.at
    for i in range(u, u + span.pixels):
        x, y = row.x + i * row.pixel * row.sin, row.y - i * row.pixel * row.cos
        _, _, _, offset = _locate_from_centre(scene.raster, x, y)
        c = min(max(int((PAINT_REACH - offset) / PAINT_STEP + 0.5), 0), lanes.shape[1] - 1)
        out[at] = lanes[span.level, c, 0]
        out[at + 1] = lanes[span.level, c, 1]
        out[at + 2] = lanes[span.level, c, 2]
        at += 3


@exact_inline_jit
def _draw_chevron(out: Bytes, chevrons: Chevrons, span: Span, place: ChevronSpan) -> None:
    # Draw the part of an arrow head that lies in a span.
    middle = HALF_WIDTH if place.half == 0 else -HALF_WIDTH
    aside0, aside1 = span.q0 - middle, span.q1 - middle
    reach = 0.5 * chevrons.width + place.across
    if min(aside0, aside1) >= reach or max(aside0, aside1) <= -reach:
        return
    every = chevrons.spacing_left if place.half == 0 else chevrons.spacing_right
    tip = 0.5 * every
    tail = tip - chevrons.length - 0.5 * chevrons.sweep * chevrons.width
    p = place.s0 - every * math.floor(place.s0 / every)
    p1 = p + place.s1 - place.s0  # beyond either end there is no arrow head, so that it need not be folded again
    if max(p, p1) <= tail - place.along or min(p, p1) >= tip + place.along:
        return
    sharp = 1.0 / (place.along + chevrons.sweep * place.across)
    at = span.at
    for i in range(span.pixels):
        share = i / span.pixels
        here = abs(aside0 + share * (aside1 - aside0))
        t = tip - p - share * (p1 - p) - chevrons.sweep * here
        cover = _edge_coverage(t * sharp) - _edge_coverage((t - chevrons.length) * sharp)
        if cover > 0.0:
            cover *= _edge_coverage((0.5 * chevrons.width - here) / place.across)
            for j in range(3):
                gap = float(chevrons.colour[j]) - out[at + j]
                out[at + j] = int(out[at + j] + cover * gap + 0.5)
        at += 3


@exact_inline_jit
def _draw_row(picture: Picture, scene: Scene, row: GroundRow, v: int, first: Ints) -> None:
    # Draw row `v` in spans; between the ends of a span everything is linear.
    raster, paint, chevrons = scene.raster, scene.paint, scene.chevrons
    out, width, pixel = picture.pixels, picture.width, row.pixel
    n = BLOCK_PIXELS
    while n > 1 and n * pixel > _MAX_SPAN:
        n //= 2
    known = False
    half, k, s, q = -1, 0, 0.0, 0.0
    u = 0
    while u < width:
        m = min(n, width - u)
        if v < first[u // BLOCK_PIXELS]:
            known = False
            u += m
            continue
        if not known:
            half, k, s, q = _locate_from_centre(raster, row.x + u * pixel * row.sin, row.y - u * pixel * row.cos)
        e = u + m
        half1, k1, s1, q1 = _locate_next(raster, half, k, row.x + e * pixel * row.sin, row.y - e * pixel * row.cos)
        smooth = half >= 0 and half1 >= 0 and abs(q1 - q) < 1.3 * m * pixel + 0.002
        spread = pixel + row.depth  # a pixel's footprint across the road, m
        forward = 1.0
        if half >= 0:
            table = raster.left if half == 0 else raster.right
            forward = abs(row.cos * table[k, _COS] + row.sin * table[k, _SIN])
            aside = abs(row.sin * table[k, _COS] - row.cos * table[k, _SIN])
            spread = max(pixel * forward, row.depth * aside)
        level, size = 0, 1.5 * FINEST_FOOTPRINT
        while size < spread and level < paint.lanes.shape[0] - 1:
            size *= 2.0
            level += 1
        span = Span(3 * (v * width + u), m, level, q, q1)
        if smooth:
            _fill_span(out, paint, span)
        else:
            _fill_pixels(out, scene, row, span, u)
        if chevrons.spacing_left > 0.0 and half == half1 and smooth and abs(s1 - s) < 1.0:
            along = pixel * math.sqrt(max(1.0 - forward * forward, 0.0)) + row.depth * forward
            _draw_chevron(out, chevrons, span, ChevronSpan(half, s, s1, spread, along))
        half, k, s, q, known = half1, k1, s1, q1, True
        u += m


@exact_inline_jit
def draw_ground(picture: Picture, scene: Scene, view: View, first: Ints) -> None:
    """Draw the road into the rows of a picture below the horizon.

    Args:
        picture: drawn into.
        scene: with its raster, paint and chevrons.
        view: of the camera.
        first: (blocks,) from `first_ground_rows`.
    """
    top = picture.height
    for block in range(first.shape[0]):
        top = min(top, first[block])
    for v in range(top, picture.height):
        below = v - view.row
        z = view.height * view.focal_length / below
        pixel = z / view.focal_length
        x = view.x + z * view.cos - view.column * pixel * view.sin
        y = view.y + z * view.sin + view.column * pixel * view.cos
        _draw_row(picture, scene, GroundRow(x, y, view.cos, view.sin, pixel, z / below), v, first)
