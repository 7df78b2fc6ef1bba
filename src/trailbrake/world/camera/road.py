"""Kernel for the ground: row by row, with the place on the track known exactly every few pixels and linear between."""

import math

import numpy as np
from numpy.typing import NDArray

from trailbrake.kernels import part
from trailbrake.tracks.miniature.layout import HALF_WIDTH
from trailbrake.tracks.miniature.track import Row
from trailbrake.world.camera.look import BLOCK, FINEST, REACH, STEP
from trailbrake.world.camera.raster import NOWHERE, foot, on_half

Array = NDArray[np.float64]
Shorts = NDArray[np.int16]
Ints = NDArray[np.int64]
Bytes = NDArray[np.uint8]

_REACH = 0.06  # m between them, at the most: on the tightest arc 0.5 mm off in the middle
_NEAR_ROW = 0.04  # m along the road to a row that will do
_X, _Y, _COS, _SIN = int(Row.X), int(Row.Y), int(Row.COS), int(Row.SIN)
_EVERY, _WIDTH, _LENGTH, _SWEEP, _EVERY_RIGHT = range(5)  # of the scene's chevron


@part
def _step(x: float) -> float:
    # The share of a pixel on the far side of an edge that is `x` pixels off its middle.
    return min(max(x + 0.5, 0.0), 1.0)


@part
def ground_rows(height: int, eye: Array, lens: Array, nearness: Array, first: Ints) -> None:
    """Write for each block of columns the first row in which ground may be seen under the walls; see `BLOCK`."""
    width = nearness.shape[0]
    horizon = int(lens[2]) + 1
    for block in range(first.shape[0]):
        least = float(height)
        for u in range(block * BLOCK, min((block + 1) * BLOCK, width)):
            least = min(least, lens[2] + eye[4] * lens[0] * nearness[u] - 0.5)
        first[block] = max(int(least), horizon)


@part
def draw_ground(
    out: Bytes, width: int, height: int, left: Array, right: Array, near: Shorts, corner: Array, lanes: Bytes,
    same: Shorts, plain: Bytes, solid: Bytes, chevron: Array, chevron_colour: Bytes, eye: Array, lens: Array,
    first: Ints,
) -> None:  # fmt: skip
    """Draw the road into a flat picture (height * width * 3).

    `lanes`, `same`, `plain` and `solid` are those of `look.Paint`; the rest is as in `Scene` and `foot`.
    """
    columns = lanes.shape[1]
    cos, sin = eye[2], eye[3]
    top = height
    for block in range(first.shape[0]):
        top = min(top, first[block])
    for v in range(top, height):
        below = v - lens[2]
        z = eye[4] * lens[0] / below
        pixel = z / lens[0]  # m per column
        deep = z / below  # m per row
        n = BLOCK
        while n > 1 and n * pixel > _REACH:
            n //= 2
        x0 = eye[0] + z * cos - lens[1] * pixel * sin
        y0 = eye[1] + z * sin + lens[1] * pixel * cos
        known = False
        half, k, s, q = -1, 0, 0.0, 0.0
        u = 0
        while u < width:
            m = min(n, width - u)
            if v < first[u // BLOCK]:
                known = False
                u += m
                continue
            if not known:
                half, k, s, q = foot(left, right, near, corner, x0 + u * pixel * sin, y0 - u * pixel * cos)
                q += HALF_WIDTH if half == 0 else -HALF_WIDTH
            e = u + m
            x1, y1 = x0 + e * pixel * sin, y0 - e * pixel * cos
            half1, k1, s1, q1 = half, k, 0.0, NOWHERE
            if half >= 0:  # most often the row that was near is near enough
                table = left if half == 0 else right
                ahead = (x1 - table[k, _X]) * table[k, _COS] + (y1 - table[k, _Y]) * table[k, _SIN]
                if abs(ahead) < _NEAR_ROW:
                    s1, q1 = on_half(table, k, x1, y1)
            if abs(q1) > HALF_WIDTH:
                half1, k1, s1, q1 = foot(left, right, near, corner, x1, y1)
            q1 += HALF_WIDTH if half1 == 0 else -HALF_WIDTH
            smooth = half >= 0 and half1 >= 0 and abs(q1 - q) < 1.3 * m * pixel + 0.002
            spread = pixel + deep
            forward = 1.0
            if half >= 0:
                table = left if half == 0 else right
                forward = abs(cos * table[k, _COS] + sin * table[k, _SIN])
                aside = abs(sin * table[k, _COS] - cos * table[k, _SIN])
                spread = max(pixel * forward, deep * aside)
            level, size = 0, 1.5 * FINEST
            while size < spread and level < lanes.shape[0] - 1:
                size *= 2.0
                level += 1
            if smooth:
                slope = (q1 - q) / m / STEP
                at = 3 * (v * width + u)
                column = (REACH - q) / STEP + 0.5
                c = min(max(int(column), 0), columns - 1)
                other = min(max(int(column - slope * (m - 1)), 0), columns - 1)
                if same[level, min(c, other)] >= max(c, other):
                    # One colour: copied bytes, which a compiler does many at a time.
                    number = plain[level, c]
                    for i in range(3 * m):
                        out[at + i] = solid[number, i]
                else:
                    for _ in range(m):
                        c = min(max(int(column), 0), columns - 1)
                        out[at] = lanes[level, c, 0]
                        out[at + 1] = lanes[level, c, 1]
                        out[at + 2] = lanes[level, c, 2]
                        at += 3
                        column -= slope
            else:
                for i in range(u, e):
                    h, _, _, o = foot(left, right, near, corner, x0 + i * pixel * sin, y0 - i * pixel * cos)
                    o += HALF_WIDTH if h == 0 else -HALF_WIDTH
                    c = min(max(int((REACH - o) / STEP + 0.5), 0), columns - 1)
                    at = 3 * (v * width + i)
                    out[at] = lanes[level, c, 0]
                    out[at + 1] = lanes[level, c, 1]
                    out[at + 2] = lanes[level, c, 2]
            if chevron[_EVERY] > 0.0 and half == half1 and smooth and abs(s1 - s) < 1.0:
                middle = HALF_WIDTH if half == 0 else -HALF_WIDTH
                aside0, aside1 = q - middle, q1 - middle
                reach = 0.5 * chevron[_WIDTH] + spread
                if min(aside0, aside1) < reach and max(aside0, aside1) > -reach:
                    every = chevron[_EVERY] if half == 0 else chevron[_EVERY_RIGHT]
                    along = pixel * math.sqrt(max(1.0 - forward * forward, 0.0)) + deep * forward
                    tip = 0.5 * every
                    tail = tip - chevron[_LENGTH] - 0.5 * chevron[_SWEEP] * chevron[_WIDTH]
                    p = s - every * math.floor(s / every)
                    p1 = p + s1 - s  # beyond either end there is no arrow head, so that it need not be folded again
                    if max(p, p1) > tail - along and min(p, p1) < tip + along:
                        sharp = 1.0 / (along + chevron[_SWEEP] * spread)
                        at = 3 * (v * width + u)
                        for i in range(m):
                            share = i / m
                            here = abs(aside0 + share * (aside1 - aside0))
                            t = tip - p - share * (p1 - p) - chevron[_SWEEP] * here
                            cover = _step(t * sharp) - _step((t - chevron[_LENGTH]) * sharp)
                            if cover > 0.0:
                                cover *= _step((0.5 * chevron[_WIDTH] - here) / spread)
                                for j in range(3):
                                    gap = float(chevron_colour[j]) - out[at + j]
                                    out[at + j] = int(out[at + j] + cover * gap + 0.5)
                            at += 3
            half, k, s, q, known = half1, k1, s1, q1, True
            u += m
