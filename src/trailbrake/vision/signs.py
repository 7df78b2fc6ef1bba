"""Traffic signs over the road: found by their red above the horizon, and read by correlation with our own drawings.

Source of shapes and colours: protocol page formula-trend, section 6. A symbol is compared within its own red outline,
so that neither the distance nor the box around it matters.

Backs of signs are found by colour and by height: a car that sees one over its road drives the wrong way.
"""

from functools import cache
from typing import Any, NamedTuple

import numpy as np

from trailbrake.arrays import Array, Mask
from trailbrake.vision.level_camera import TREND_CAMERA, LevelCamera, Pixels

Polygon = list[tuple[float, float]]

MIN_RED, MIN_RED_LEAD = 85, 55  # of the red channel, and how far it leads the others (on camera 101..200, 3..61)
SMALLEST, LARGEST = 7, 120  # pixels, least and largest width of a readable symbol
MIN_SCORE = 0.62  # least correlation with a drawing
MIN_SCORE_LEAD = 0.06  # least difference from the next best
ABOVE_CAMERA = 0.21  # m from the camera's height to the middle of a sign
_SLANTS = (-0.45, -0.3, -0.15, 0.0, 0.15, 0.3, 0.45)  # down over right: how boards lie in the picture, seen at an angle
_DISTANCE_TOLERANCE = 0.8  # both distances come from rows of the picture
_GRID = (12, 24)  # rows and columns that symbols are compared on
BACK_COLOUR, COLOUR_TOLERANCE = (63, 59, 48), 16  # of each channel: JPEG on a small board
BOARD_HEIGHT = 0.0575  # m, of a board: twice as wide
ASPECT_RANGE = (1.4, 2.4)  # width over height that a board may show; the small blank one is half as wide
HEIGHT_RATIO_RANGE = (0.75, 1.3)  # height in the picture over that of a board at the distance of its row
MIN_HEIGHT = 5  # pixels of height
MIN_FILL = 0.75  # share of its outline that is of its colour


class SignReading(NamedTuple):
    """A sign in a picture.

    Attributes:
        name: one of SYMBOLS.
        score: correlation with our drawing, MIN_SCORE..1.
        distance: m ahead.
        left: m, of its middle.
        column: of its middle.
    """

    name: str  # one of SYMBOLS
    score: float  # correlation with our drawing, SURE..1
    distance: float  # m ahead
    left: float  # m, of its middle
    column: int  # of its middle


def _mirror_shapes(shapes: list[Polygon]) -> list[Polygon]:
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
    f"{name}_left": _mirror_shapes(shapes) for name, shapes in _RIGHT.items()
}


def _inside_polygon(shape: Polygon, x: Array, y: Array) -> Mask:
    odd = np.zeros(x.shape, dtype=np.bool_)
    for (xa, ya), (xb, yb) in zip(shape, [*shape[1:], shape[0]], strict=True):
        if ya != yb:
            odd ^= ((ya > y) != (yb > y)) & (x < xa + (y - ya) * (xb - xa) / (yb - ya))
    return odd


@cache
def _symbol_templates() -> tuple[list[str], Array, Array]:
    """Return the templates of all symbols.

    Returns:
        Their names; (symbols, slants, rows * columns) unit vectors; and the width over the height of each.
    """
    x, y = np.meshgrid(np.arange(1.0, 308.0, 2.0), np.arange(-79.0, 234.0, 2.0))
    vectors, aspects = [], []
    for shapes in SYMBOLS.values():
        slanted = []
        for slant in _SLANTS:
            ink = np.zeros(x.shape, dtype=np.bool_)
            for shape in shapes:
                ink |= _inside_polygon(shape, x, y - slant * (x - 154.0))
            rows, columns = np.flatnonzero(ink.any(axis=1)), np.flatnonzero(ink.any(axis=0))
            cut = ink[rows[0] : rows[-1] + 1, columns[0] : columns[-1] + 1].astype(np.float64)
            slanted.append(_normalised_patch(cut))
            if slant == 0.0:
                aspects.append(cut.shape[1] / cut.shape[0])
        vectors.append(slanted)
    return list(SYMBOLS), np.array(vectors), np.array(aspects)


def _cell_weights(size: int, cells: int) -> Array:
    """Return (cells, size): the share of each pixel in each of `cells` equal parts of `size` pixels."""
    edges = np.linspace(0.0, size, cells + 1)
    pixel = np.arange(size)
    overlap = np.minimum(edges[1:, None], pixel + 1.0) - np.maximum(edges[:-1, None], pixel)
    share: Array = np.clip(overlap, 0.0, None) * cells / size
    return share


def _normalised_patch(values: Array) -> Array:
    """Return a patch as a unit vector without mean, averaged over the cells of the common grid."""
    grid = _cell_weights(values.shape[0], _GRID[0]) @ values @ _cell_weights(values.shape[1], _GRID[1]).T
    flat = grid.ravel() - grid.mean()
    size = float(np.sqrt(flat @ flat))
    unit: Array = flat / size if size > 0.0 else flat
    return unit


def red_mask(pixels: Pixels) -> tuple[Mask, Array]:
    """Return which pixels have a sign's red, and the redness of all, 0..255.

    The red channel shows a shape more precisely than its lead over the others, which JPEG keeps at half the
    resolution.
    """
    red, green, blue = (np.ascontiguousarray(pixels[..., k]) for k in range(3))
    others = np.maximum(green, blue)
    lead = np.where(red > others, red - others, 0)
    return (red >= MIN_RED) & (lead >= MIN_RED_LEAD), np.where(lead > 15, red, 0).astype(np.float64)


def _true_runs(there: Any, gap: int) -> list[tuple[int, int]]:
    """Return first and end of the stretches of True in a row of bools; a gap of up to `gap` does not divide one."""
    at = np.flatnonzero(there)
    if not len(at):
        return []
    cuts = np.flatnonzero(np.diff(at) > gap)
    firsts, lasts = at[np.concatenate([[0], cuts + 1])], at[np.concatenate([cuts, [len(at) - 1]])]
    return [(int(a), int(b) + 1) for a, b in zip(firsts, lasts, strict=True)]


def find_patches(red: Mask) -> list[tuple[int, int, int, int]]:
    """Return the outlines (top, bottom, left, right; ends excluded) of possible symbols.

    Parts of one symbol are less than half its height apart, and the signs of one gantry several times as far.
    """
    found = []
    for top, bottom in _true_runs(red.any(axis=1), 2):
        for left, right in _true_runs(red[top:bottom].any(axis=0), max(3, (bottom - top) // 2)):
            rows = np.flatnonzero(red[top:bottom, left:right].any(axis=1))
            found.append((top + int(rows[0]), top + int(rows[-1]) + 1, left, right))
    return found


def hangs_over_road(distance: float, column: int, free: Array) -> bool:
    """Return whether a board hangs over this road, and not behind a wall over another.

    Args:
        distance: m ahead, of the board.
        column: of its middle.
        free: (width,) from `walls.free_distance`.
    """
    return bool(free[column] > _DISTANCE_TOLERANCE * distance)


def read_signs(pixels: Pixels, camera: LevelCamera = TREND_CAMERA) -> list[SignReading]:
    """Return the readable signs in a picture, the nearest first. A symbol that the border cuts is not read."""
    sky = pixels[: camera.first_ground_row - 1]
    red, lead = red_mask(sky)
    names, drawings, aspects = _symbol_templates()
    found = []
    for top, bottom, left, right in find_patches(red):
        height, width = bottom - top, right - left
        if not (SMALLEST <= width <= LARGEST and height >= 3) or top == 0 or left == 0 or right == camera.width:
            continue
        scores = (drawings @ _normalised_patch(lead[top:bottom, left:right])).max(axis=1)
        # Seen at an angle a board is narrower than drawn; wider only by the thin tips that a small picture loses.
        scores = np.where(width / height > 2.0 * aspects, -1.0, scores)
        order = np.argsort(scores)
        best, second = float(scores[order[-1]]), float(scores[order[-2]])
        middle = 0.5 * (top + bottom - 1)
        if best >= MIN_SCORE and best - second >= MIN_SCORE_LEAD and middle < camera.horizon_row - 1.0:
            distance = camera.focal_length * ABOVE_CAMERA / (camera.horizon_row - middle)
            aside = distance * (camera.principal_column - 0.5 * (left + right - 1)) / camera.focal_length
            found.append(SignReading(names[order[-1]], best, distance, aside, (left + right - 1) // 2))
    return sorted(found, key=lambda sign: sign.distance)


class SignBack(NamedTuple):
    """A board seen from behind.

    Attributes:
        distance: m ahead.
        column: of its middle.
    """

    distance: float
    column: int


def find_sign_backs(pixels: Pixels, camera: LevelCamera = TREND_CAMERA) -> list[SignBack]:
    """Return the backs of signs in a picture."""
    sky = pixels[: camera.first_ground_row - 1]
    near = np.ones(sky.shape[:2], np.bool_)
    for channel, level in enumerate(BACK_COLOUR):
        near &= (sky[..., channel] >= level - COLOUR_TOLERANCE) & (sky[..., channel] <= level + COLOUR_TOLERANCE)
    found = []
    for top, bottom, left, right in find_patches(near):
        height, width = bottom - top, right - left
        middle = 0.5 * (top + bottom - 1)
        if height < MIN_HEIGHT or top == 0 or not ASPECT_RANGE[0] <= width / height <= ASPECT_RANGE[1]:
            continue
        distance = camera.focal_length * ABOVE_CAMERA / (camera.horizon_row - middle)
        expected = camera.focal_length * BOARD_HEIGHT / distance
        if (
            HEIGHT_RATIO_RANGE[0] <= height / expected <= HEIGHT_RATIO_RANGE[1]
            and near[top:bottom, left:right].mean() >= MIN_FILL
        ):
            found.append(SignBack(distance, (left + right - 1) // 2))
    return found
