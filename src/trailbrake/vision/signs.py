"""Traffic signs over the road: found by their red above the horizon, read by laying our own drawings over them.

Source of shapes and colours: protocol page formula-trend, section 6. A symbol is compared within its own red outline,
so that neither the distance nor the box around it matters.
"""

from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from trailbrake.vision.camera import TREND, Array, Camera, Pixels

Polygon = list[tuple[float, float]]
Mask = NDArray[np.bool_]

LEAST_RED, LEAST_LEAD = 85, 55  # of the red channel, and how far it leads the others (on camera 101..200, 3..61)
SMALLEST, LARGEST = 7, 120  # pixels of width of a symbol that is read
SURE = 0.62  # correlation with a drawing from which a reading counts
LEAD = 0.06  # by which it must beat the next one
ABOVE_CAMERA = 0.21  # m from the camera's height to the middle of a sign
_SLANTS = (-0.45, -0.3, -0.15, 0.0, 0.15, 0.3, 0.45)  # down over right: how boards lie in the picture, seen at an angle
_ROUGHLY = 0.8  # both distances are read off rows
_GRID = (12, 24)  # rows and columns that symbols are compared on


class Sign(NamedTuple):
    """A sign that was read."""

    name: str  # one of SYMBOLS
    score: float  # correlation with our drawing, SURE..1
    distance: float  # m ahead
    left: float  # m, of its middle
    column: int  # of its middle


def _mirrored(shapes: list[Polygon]) -> list[Polygon]:
    return [[(308.0 - x, y) for x, y in shape] for shape in shapes]


# Art coordinates: 308 x 154, y down. Right-hand versions; a left one is the mirror image.
_FORK: list[Polygon] = [
    [(22, 8), (128, 8), (128, 146), (22, 146)],
    [(187, 12), (296, 12), (296, 120)],
    [(108.6, 126.5), (222, 47), (261, 86), (147.4, 165.4)],
]
_TURN: list[Polygon] = [[(24, 54), (200, 54), (200, 12), (286, 77), (200, 142), (200, 100), (24, 100)]]
_KEEP: list[Polygon] = [
    [(36, 16), (134, 114), (110, 138), (12, 40)], [(12, 114), (110, 16), (134, 40), (36, 138)],
    [(150, 56), (228, 56), (228, 18), (296, 77), (228, 136), (228, 98), (150, 98)],
]  # fmt: skip
_BACK: list[Polygon] = [  # up, over and down again
    [(104, 146), (104, 60), (128, 26), (166, 12), (204, 26), (228, 60), (228, 94), (250, 94), (210, 146), (170, 94),
     (190, 94), (190, 64), (166, 46), (142, 64), (142, 146)],
]  # fmt: skip
_RIGHT = {"fork": _FORK, "turn": _TURN, "u_turn": _BACK, "keep": _KEEP}
SYMBOLS: dict[str, list[Polygon]] = {f"{name}_right": shapes for name, shapes in _RIGHT.items()} | {
    f"{name}_left": _mirrored(shapes) for name, shapes in _RIGHT.items()
}


def _inside(shape: Polygon, x: Array, y: Array) -> Mask:
    odd = np.zeros(x.shape, dtype=np.bool_)
    for (xa, ya), (xb, yb) in zip(shape, [*shape[1:], shape[0]], strict=True):
        if ya != yb:
            odd ^= ((ya > y) != (yb > y)) & (x < xa + (y - ya) * (xb - xa) / (yb - ya))
    return odd


@cache
def _drawings() -> tuple[list[str], Array, Array]:
    """Return of each symbol the name, its drawings (slants, rows * columns) as unit vectors, and width over height."""
    x, y = np.meshgrid(np.arange(1.0, 308.0, 2.0), np.arange(-79.0, 234.0, 2.0))
    vectors, aspects = [], []
    for shapes in SYMBOLS.values():
        slanted = []
        for slant in _SLANTS:
            ink = np.zeros(x.shape, dtype=np.bool_)
            for shape in shapes:
                ink |= _inside(shape, x, y - slant * (x - 154.0))
            rows, columns = np.flatnonzero(ink.any(axis=1)), np.flatnonzero(ink.any(axis=0))
            cut = ink[rows[0] : rows[-1] + 1, columns[0] : columns[-1] + 1].astype(np.float64)
            slanted.append(_on_grid(cut))
            if slant == 0.0:
                aspects.append(cut.shape[1] / cut.shape[0])
        vectors.append(slanted)
    return list(SYMBOLS), np.array(vectors), np.array(aspects)


def _share(size: int, cells: int) -> Array:
    """Return (cells, size): how much of each pixel belongs to each of `cells` equal parts of `size` pixels."""
    edges = np.linspace(0.0, size, cells + 1)
    pixel = np.arange(size)
    overlap = np.minimum(edges[1:, None], pixel + 1.0) - np.maximum(edges[:-1, None], pixel)
    share: Array = np.clip(overlap, 0.0, None) * cells / size
    return share


def _on_grid(values: Array) -> Array:
    """Return a patch as a unit vector without mean, on the common grid by area."""
    grid = _share(values.shape[0], _GRID[0]) @ values @ _share(values.shape[1], _GRID[1]).T
    flat = grid.ravel() - grid.mean()
    size = float(np.sqrt(flat @ flat))
    unit: Array = flat / size if size > 0.0 else flat
    return unit


def redness(pixels: Pixels) -> tuple[Mask, Array]:
    """Return which pixels are a sign's red, and how red all are, 0..255.

    The red channel tells more of a shape than its lead over the others, which JPEG keeps at half the size.
    """
    red, green, blue = (np.ascontiguousarray(pixels[..., k]) for k in range(3))
    others = np.maximum(green, blue)
    lead = np.where(red > others, red - others, 0)
    return (red >= LEAST_RED) & (lead >= LEAST_LEAD), np.where(lead > 15, red, 0).astype(np.float64)


def _runs(there: Any, gap: int) -> list[tuple[int, int]]:
    """Return first and end of the stretches of True in a row of bools; those less than `gap` apart are one."""
    at = np.flatnonzero(there)
    if not len(at):
        return []
    cuts = np.flatnonzero(np.diff(at) > gap)
    firsts, lasts = at[np.concatenate([[0], cuts + 1])], at[np.concatenate([cuts, [len(at) - 1]])]
    return [(int(a), int(b) + 1) for a, b in zip(firsts, lasts, strict=True)]


def patches(red: Mask) -> list[tuple[int, int, int, int]]:
    """Return the outlines (top, bottom, left, right; ends excluded) of what may be symbols.

    Parts of one symbol are less than half its height apart, and signs of one gantry several times as far.
    """
    found = []
    for top, bottom in _runs(red.any(axis=1), 2):
        for left, right in _runs(red[top:bottom].any(axis=0), max(3, (bottom - top) // 2)):
            rows = np.flatnonzero(red[top:bottom, left:right].any(axis=1))
            found.append((top + int(rows[0]), top + int(rows[-1]) + 1, left, right))
    return found


def over_the_road(distance: float, column: int, free: Array) -> bool:
    """Return whether a board hangs over this road, and not beyond a wall over another: `free` is `free_distance`."""
    return bool(free[column] > _ROUGHLY * distance)


def read(pixels: Pixels, camera: Camera = TREND) -> list[Sign]:
    """Return the signs in a picture that can be read, the nearest first. A symbol cut by the border is not read."""
    sky = pixels[: camera.first_ground_row - 1]
    red, lead = redness(sky)
    names, drawings, aspects = _drawings()
    found = []
    for top, bottom, left, right in patches(red):
        height, width = bottom - top, right - left
        if not (SMALLEST <= width <= LARGEST and height >= 3) or top == 0 or left == 0 or right == camera.width:
            continue
        scores = (drawings @ _on_grid(lead[top:bottom, left:right])).max(axis=1)
        # Seen at an angle a board is narrower than drawn; wider only by the thin tips that a small picture loses.
        scores = np.where(width / height > 2.0 * aspects, -1.0, scores)
        order = np.argsort(scores)
        best, second = float(scores[order[-1]]), float(scores[order[-2]])
        middle = 0.5 * (top + bottom - 1)
        if best >= SURE and best - second >= LEAD and middle < camera.row - 1.0:
            distance = camera.focal * ABOVE_CAMERA / (camera.row - middle)
            aside = distance * (camera.column - 0.5 * (left + right - 1)) / camera.focal
            found.append(Sign(names[order[-1]], best, distance, aside, (left + right - 1) // 2))
    return sorted(found, key=lambda sign: sign.distance)
