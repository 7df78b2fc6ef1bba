"""Kernels for upright surfaces: walls by column of the picture, and boards (gantries, signs, parked cars)."""

from typing import NamedTuple

import numpy as np

from trailbrake.arrays import Array, Bytes, Ints
from trailbrake.kernels import exact_inline_jit
from trailbrake.world.miniature.camera.scene import BoardColumn, Picture, Scene, SceneWalls
from trailbrake.world.pinhole_camera import View

NEAR_PLANE = 0.02  # m in front of the camera; nothing is drawn nearer
FAR_LIMIT = 14.0  # m; boards further away are too small to read
_X0, _Y0, _X1, _Y1, _LOW, _HIGH = (
    int(q) for q in (BoardColumn.X0, BoardColumn.Y0, BoardColumn.X1, BoardColumn.Y1, BoardColumn.LOW, BoardColumn.HIGH)
)
_ART, _FACE, _INK, _BACK = int(BoardColumn.ART), int(BoardColumn.FACE), int(BoardColumn.INK), int(BoardColumn.BACK)


class WallHits(NamedTuple):
    """The nearest wall in each column of a picture.

    Attributes:
        nearness: (width,) 1/z (1/m), where z is the distance along the camera's axis; 0 for no wall.
        kind: (width,) 0 for an outer wall, 1 for an inner one.
    """

    nearness: Array
    kind: Ints


@exact_inline_jit
def project_walls(segments: Array, view: View, hits: WallHits) -> None:
    """Write the nearest of the wall `segments` (m, 5) in each column into `hits`."""
    nearness, kind = hits
    width = nearness.shape[0]
    for u in range(width):
        nearness[u] = 0.0
        kind[u] = 0
    x, y, cos, sin, focal, middle = view.x, view.y, view.cos, view.sin, view.focal_length, view.column
    for k in range(segments.shape[0]):
        dx0, dy0, dx1, dy1 = segments[k, 0] - x, segments[k, 1] - y, segments[k, 2] - x, segments[k, 3] - y
        z0, z1 = dx0 * cos + dy0 * sin, dx1 * cos + dy1 * sin
        if z0 < NEAR_PLANE and z1 < NEAR_PLANE:
            continue
        r0, r1 = dx0 * sin - dy0 * cos, dx1 * sin - dy1 * cos  # to the right
        if z0 < NEAR_PLANE:
            r0 += (r1 - r0) * (NEAR_PLANE - z0) / (z1 - z0)
            z0 = NEAR_PLANE
        elif z1 < NEAR_PLANE:
            r1 += (r0 - r1) * (NEAR_PLANE - z1) / (z0 - z1)
            z1 = NEAR_PLANE
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
        what = int(segments[k, 4])
        for u in range(first, last + 1):
            here = near0 + slope * (u - u0)
            if here > nearness[u]:
                nearness[u] = here
                kind[u] = what


@exact_inline_jit
def _blend_pixel(out: Bytes, at: int, colour: tuple[float, float, float], share: float) -> None:
    # Lay a share (0..1) of a colour over the pixel at `at`. In float: the difference of two bytes would be unsigned.
    r, g, b = colour
    out[at] = int(out[at] + share * (r - out[at]) + 0.5)
    out[at + 1] = int(out[at + 1] + share * (g - out[at + 1]) + 0.5)
    out[at + 2] = int(out[at + 2] + share * (b - out[at + 2]) + 0.5)


@exact_inline_jit
def draw_walls(picture: Picture, walls: SceneWalls, view: View, hits: WallHits) -> None:
    """Draw the walls in `hits`; their top and base cover pixels in part."""
    out, width, height = picture
    nearness, kind = hits
    focal, horizon = view.focal_length, view.row
    for u in range(width):
        if nearness[u] == 0.0:
            continue
        top = horizon - (walls.height - view.height) * focal * nearness[u]
        base = horizon + view.height * focal * nearness[u]
        r, g, b = walls.colours[kind[u], 0], walls.colours[kind[u], 1], walls.colours[kind[u], 2]
        colour = (float(r), float(g), float(b))
        first, last = int(np.ceil(top + 0.5)), int(np.floor(base - 0.5))
        if first > last + 1:
            v = int(np.floor(0.5 * (top + base) + 0.5))
            if 0 <= v < height:
                _blend_pixel(out, 3 * (v * width + u), colour, base - top)
            continue
        if 0 <= first - 1 < height:
            _blend_pixel(out, 3 * ((first - 1) * width + u), colour, first - 0.5 - top)
        if 0 <= last + 1 < height:
            _blend_pixel(out, 3 * ((last + 1) * width + u), colour, base - 0.5 - last)
        for v in range(max(first, 0), min(last, height - 1) + 1):
            at = 3 * (v * width + u)
            out[at] = r
            out[at + 1] = g
            out[at + 2] = b


@exact_inline_jit
def sort_boards(boards: Array, view: View, order: Ints, depth: Array) -> int:
    """Write the numbers of the boards in view into `order` (n,), far ones first; return how many.

    Args:
        boards: (n, len(BoardColumn)).
        view: of the camera.
        order: (n,) written.
        depth: (n,) scratch.
    """
    count = 0
    for k in range(boards.shape[0]):
        dx = 0.5 * (boards[k, _X0] + boards[k, _X1]) - view.x
        dy = 0.5 * (boards[k, _Y0] + boards[k, _Y1]) - view.y
        z = dx * view.cos + dy * view.sin
        if z < -1.0 or z > FAR_LIMIT:
            continue
        # The boards of one gantry have the same depth: they keep the order of the list, pipe and posts first.
        i = count
        while i > 0 and depth[i - 1] < z - 1e-6:
            depth[i] = depth[i - 1]
            order[i] = order[i - 1]
            i -= 1
        depth[i] = z
        order[i] = k
        count += 1
    return count


@exact_inline_jit
def _sample_texture(textures: Bytes, texture: int, pixels: float, across: float, down: float) -> float:
    # The coverage (0..1) at a place (0..1, 0..1) of a texture that is `pixels` tall on the picture.
    level = 0
    tall, wide = 32, 64
    while level < textures.shape[1] - 1 and pixels < 0.75 * tall:
        level += 1
        tall //= 2
        wide //= 2
    x = min(max(across * wide - 0.5, 0.0), wide - 1.001)
    y = min(max(down * tall - 0.5, 0.0), tall - 1.001)
    i, j = int(y), int(x)
    a, b = x - j, y - i
    upper = textures[texture, level, i, j] * (1.0 - a) + textures[texture, level, i, j + 1] * a
    lower = textures[texture, level, i + 1, j] * (1.0 - a) + textures[texture, level, i + 1, j + 1] * a
    coverage: float = (upper * (1.0 - b) + lower * b) / 255.0
    return coverage


@exact_inline_jit
def draw_board(picture: Picture, scene: Scene, k: int, view: View, nearness: Array) -> None:
    """Draw board `k` of the scene over the picture, except where a nearer wall hides it.

    `nearness` is that of `WallHits`.
    """
    out, width, height = picture
    boards, textures, colours = scene.boards
    focal, middle, horizon = view.focal_length, view.column, view.row
    dx0, dy0 = boards[k, _X0] - view.x, boards[k, _Y0] - view.y
    dx1, dy1 = boards[k, _X1] - view.x, boards[k, _Y1] - view.y
    z0, z1 = dx0 * view.cos + dy0 * view.sin, dx1 * view.cos + dy1 * view.sin
    if z0 < NEAR_PLANE and z1 < NEAR_PLANE:
        return
    r0, r1 = dx0 * view.sin - dy0 * view.cos, dx1 * view.sin - dy1 * view.cos
    t0, t1 = 0.0, 1.0
    if z0 < NEAR_PLANE:
        t0 = (NEAR_PLANE - z0) / (z1 - z0)
        r0 += (r1 - r0) * t0
        z0 = NEAR_PLANE
    elif z1 < NEAR_PLANE:
        t1 = 1.0 - (NEAR_PLANE - z1) / (z0 - z1)
        r1 += (r0 - r1) * (1.0 - t1)
        z1 = NEAR_PLANE
    near0, near1 = 1.0 / z0, 1.0 / z1
    u0, u1 = middle + focal * r0 * near0, middle + focal * r1 * near1
    texture, face, ink = int(boards[k, _ART]), int(boards[k, _FACE]), int(boards[k, _INK])
    if u0 > u1:  # seen from behind
        if boards[k, _BACK] < 0.0:
            return
        u0, u1, near0, near1, t0, t1 = u1, u0, near1, near0, t1, t0
        texture, face = -1, int(boards[k, _BACK])
    if u1 < -0.5 or u0 > width - 0.5 or u1 - u0 < 1e-9:
        return
    low, high = boards[k, _LOW] - view.height, boards[k, _HIGH] - view.height
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
            end = min(base, horizon - (scene.walls.height - view.height) * focal * nearness[u])
        pixels = base - top
        for v in range(max(int(np.floor(top + 0.5)), 0), min(int(np.floor(end + 0.5)), height - 1) + 1):
            covered = min(v + 0.5, end) - max(v - 0.5, top)
            if covered <= 0.0:
                continue
            r, g, b = float(colours[face, 0]), float(colours[face, 1]), float(colours[face, 2])
            if texture >= 0:
                red = _sample_texture(textures, texture, pixels, across, (v - top) / pixels)
                r += red * (float(colours[ink, 0]) - r)
                g += red * (colours[ink, 1] - g)
                b += red * (colours[ink, 2] - b)
            _blend_pixel(out, 3 * (v * width + u), (r, g, b), share * covered)
