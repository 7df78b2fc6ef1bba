"""Kernels for what stands upright: walls by column, and boards (gantries, signs, parked cars) in front of them."""

import numpy as np
from numpy.typing import NDArray

from trailbrake.kernels import part
from trailbrake.world.camera.scene import Quad

Array = NDArray[np.float64]
Ints = NDArray[np.int64]
Bytes = NDArray[np.uint8]

NEAR = 0.02  # m, of the plane before which nothing is drawn
FAR = 14.0  # m, beyond which boards are smaller than anybody can read
_X0, _Y0, _X1, _Y1, _LOW, _HIGH = (int(q) for q in (Quad.X0, Quad.Y0, Quad.X1, Quad.Y1, Quad.LOW, Quad.HIGH))
_ART, _FACE, _INK, _BACK = int(Quad.ART), int(Quad.FACE), int(Quad.INK), int(Quad.BACK)


@part
def walls_by_column(walls: Array, eye: Array, lens: Array, nearness: Array, kind: Ints) -> None:
    """Write 1/z (1/m) and the kind of the nearest wall of each column; 0 where there is none.

    Args:
        walls: (m, 5) segments.
        eye: x, y, cos and sin of the heading, height (m).
        lens: focal length, principal column and row (pixels).
        nearness: (width,) written.
        kind: (width,) written.
    """
    width = nearness.shape[0]
    for u in range(width):
        nearness[u] = 0.0
        kind[u] = 0
    x, y, cos, sin, focal, middle = eye[0], eye[1], eye[2], eye[3], lens[0], lens[1]
    for k in range(walls.shape[0]):
        dx0, dy0, dx1, dy1 = walls[k, 0] - x, walls[k, 1] - y, walls[k, 2] - x, walls[k, 3] - y
        z0, z1 = dx0 * cos + dy0 * sin, dx1 * cos + dy1 * sin
        if z0 < NEAR and z1 < NEAR:
            continue
        r0, r1 = dx0 * sin - dy0 * cos, dx1 * sin - dy1 * cos  # to the right
        if z0 < NEAR:
            r0 += (r1 - r0) * (NEAR - z0) / (z1 - z0)
            z0 = NEAR
        elif z1 < NEAR:
            r1 += (r0 - r1) * (NEAR - z1) / (z0 - z1)
            z1 = NEAR
        near0, near1 = 1.0 / z0, 1.0 / z1
        u0, u1 = middle + focal * r0 * near0, middle + focal * r1 * near1
        if u0 > u1:
            u0, u1, near0, near1 = u1, u0, near1, near0
        if u1 < 0.0 or u0 > width - 1.0:
            continue
        first, last = int(np.ceil(max(u0, 0.0))), int(np.floor(min(u1, width - 1.0)))
        if last < first:
            continue
        slope = (near1 - near0) / (u1 - u0) if u1 > u0 else 0.0
        what = int(walls[k, 4])
        for u in range(first, last + 1):
            here = near0 + slope * (u - u0)
            if here > nearness[u]:
                nearness[u] = here
                kind[u] = what


@part
def _mix(out: Bytes, at: int, r: float, g: float, b: float, share: float) -> None:
    # Lay a colour over a pixel of the flat picture. In float: the difference of two bytes would be unsigned.
    out[at] = int(out[at] + share * (r - out[at]) + 0.5)
    out[at + 1] = int(out[at + 1] + share * (g - out[at + 1]) + 0.5)
    out[at + 2] = int(out[at + 2] + share * (b - out[at + 2]) + 0.5)


@part
def draw_walls(
    out: Bytes, height: int, tall: float, colours: Bytes, eye: Array, lens: Array, nearness: Array, kind: Ints
) -> None:
    """Draw the walls that `walls_by_column` found into a flat picture; top and base cover pixels in part."""
    width = nearness.shape[0]
    focal, horizon = lens[0], lens[2]
    for u in range(width):
        if nearness[u] == 0.0:
            continue
        top = horizon - (tall - eye[4]) * focal * nearness[u]
        base = horizon + eye[4] * focal * nearness[u]
        r, g, b = colours[kind[u], 0], colours[kind[u], 1], colours[kind[u], 2]
        first, last = int(np.ceil(top + 0.5)), int(np.floor(base - 0.5))
        if first > last + 1:
            v = int(np.floor(0.5 * (top + base) + 0.5))
            if 0 <= v < height:
                _mix(out, 3 * (v * width + u), float(r), float(g), float(b), base - top)
            continue
        if 0 <= first - 1 < height:
            _mix(out, 3 * ((first - 1) * width + u), float(r), float(g), float(b), first - 0.5 - top)
        if 0 <= last + 1 < height:
            _mix(out, 3 * ((last + 1) * width + u), float(r), float(g), float(b), base - 0.5 - last)
        for v in range(max(first, 0), min(last, height - 1) + 1):
            at = 3 * (v * width + u)
            out[at] = r
            out[at + 1] = g
            out[at + 2] = b


@part
def sort_by_depth(quads: Array, eye: Array, order: Ints, depth: Array) -> int:
    """Write the numbers of the quads in view into `order` (n,), far ones first; return how many. `depth`: scratch."""
    count = 0
    for k in range(quads.shape[0]):
        dx = 0.5 * (quads[k, _X0] + quads[k, _X1]) - eye[0]
        dy = 0.5 * (quads[k, _Y0] + quads[k, _Y1]) - eye[1]
        z = dx * eye[2] + dy * eye[3]
        if z < -1.0 or z > FAR:
            continue
        # Boards of one gantry have one depth: signs and boxes come after the pipe and posts, as in the list.
        i = count
        while i > 0 and depth[i - 1] < z - 1e-6:
            depth[i] = depth[i - 1]
            order[i] = order[i - 1]
            i -= 1
        depth[i] = z
        order[i] = k
        count += 1
    return count


@part
def _texel(arts: Bytes, art: int, pixels: float, across: float, down: float) -> float:
    # The red share at a place (0..1, 0..1) of an art that is `pixels` tall on the picture.
    level = 0
    tall, wide = 32, 64
    while level < arts.shape[1] - 1 and pixels < 0.75 * tall:
        level += 1
        tall //= 2
        wide //= 2
    x = min(max(across * wide - 0.5, 0.0), wide - 1.001)
    y = min(max(down * tall - 0.5, 0.0), tall - 1.001)
    i, j = int(y), int(x)
    a, b = x - j, y - i
    upper = arts[art, level, i, j] * (1.0 - a) + arts[art, level, i, j + 1] * a
    lower = arts[art, level, i + 1, j] * (1.0 - a) + arts[art, level, i + 1, j + 1] * a
    share: float = (upper * (1.0 - b) + lower * b) / 255.0
    return share


@part
def draw_quad(
    out: Bytes, height: int, tall: float, quads: Array, k: int, arts: Bytes, colours: Bytes, eye: Array, lens: Array,
    nearness: Array,
) -> None:  # fmt: skip
    """Draw one board over what is there, except where a nearer wall of height `tall` (m) hides it."""
    width = nearness.shape[0]
    focal, middle, horizon = lens[0], lens[1], lens[2]
    dx0, dy0, dx1, dy1 = quads[k, _X0] - eye[0], quads[k, _Y0] - eye[1], quads[k, _X1] - eye[0], quads[k, _Y1] - eye[1]
    z0, z1 = dx0 * eye[2] + dy0 * eye[3], dx1 * eye[2] + dy1 * eye[3]
    if z0 < NEAR and z1 < NEAR:
        return
    r0, r1 = dx0 * eye[3] - dy0 * eye[2], dx1 * eye[3] - dy1 * eye[2]
    t0, t1 = 0.0, 1.0
    if z0 < NEAR:
        t0 = (NEAR - z0) / (z1 - z0)
        r0 += (r1 - r0) * t0
        z0 = NEAR
    elif z1 < NEAR:
        t1 = 1.0 - (NEAR - z1) / (z0 - z1)
        r1 += (r0 - r1) * (1.0 - t1)
        z1 = NEAR
    near0, near1 = 1.0 / z0, 1.0 / z1
    u0, u1 = middle + focal * r0 * near0, middle + focal * r1 * near1
    art, face, ink = int(quads[k, _ART]), int(quads[k, _FACE]), int(quads[k, _INK])
    if u0 > u1:
        if quads[k, _BACK] < 0.0:
            return
        u0, u1, near0, near1, t0, t1 = u1, u0, near1, near0, t1, t0
        art, face = -1, int(quads[k, _BACK])
    if u1 < -0.5 or u0 > width - 0.5 or u1 - u0 < 1e-9:
        return
    low, high = quads[k, _LOW] - eye[4], quads[k, _HIGH] - eye[4]
    for u in range(int(np.floor(max(u0, 0.0) + 0.5)), int(np.floor(min(u1, width - 1.0) + 0.5)) + 1):
        share = min(u + 0.5, u1) - max(u - 0.5, u0)
        if share <= 0.0:
            continue
        a = min(max((u - u0) / (u1 - u0), 0.0), 1.0)
        near = near0 + a * (near1 - near0)
        across = (t0 * near0 * (1.0 - a) + t1 * near1 * a) / near
        top, base = horizon - high * focal * near, horizon - low * focal * near
        end = base
        if near < nearness[u]:
            end = min(base, horizon - (tall - eye[4]) * focal * nearness[u])
        pixels = base - top
        for v in range(max(int(np.floor(top + 0.5)), 0), min(int(np.floor(end + 0.5)), height - 1) + 1):
            part = min(v + 0.5, end) - max(v - 0.5, top)
            if part <= 0.0:
                continue
            r, g, b = float(colours[face, 0]), float(colours[face, 1]), float(colours[face, 2])
            if art >= 0:
                red = _texel(arts, art, pixels, across, (v - top) / pixels)
                r += red * (float(colours[ink, 0]) - r)
                g += red * (colours[ink, 1] - g)
                b += red * (colours[ink, 2] - b)
            _mix(out, 3 * (v * width + u), r, g, b, share * part)
