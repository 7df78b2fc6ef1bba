"""The art of the signs as polygons, and rasterised: our own description of the symbols.

Source: protocol page formula-trend, section 6. Coordinates of the art: 308 x 154, x to the right, y down. A sign's
mirror image is another sign.
"""

import math

import numpy as np
from numpy.typing import NDArray

from trailbrake.arrays import Bytes

Polygon = list[tuple[float, float]]

WIDTH, HEIGHT = 308, 154
SIZES = ((64, 32), (32, 16), (16, 8), (8, 4))  # of the mip levels, pixels
_FINE = 4  # samples per pixel and direction of the largest level


def _stroke_polygon(x0: float, y0: float, x1: float, y1: float, width: float) -> Polygon:
    # A straight stroke.
    length = math.hypot(x1 - x0, y1 - y0)
    ax, ay = -(y1 - y0) / length * 0.5 * width, (x1 - x0) / length * 0.5 * width
    return [(x0 + ax, y0 + ay), (x1 + ax, y1 + ay), (x1 - ax, y1 - ay), (x0 - ax, y0 - ay)]


def _right_arrow(x0: float, x1: float, y: float) -> list[Polygon]:
    neck = x1 - 70.0
    return [_stroke_polygon(x0, y, neck, y, 44.0), [(neck, y - 60.0), (x1, y), (neck, y + 60.0)]]


def _mirror_shapes(shapes: list[Polygon]) -> list[Polygon]:
    return [[(WIDTH - x, y) for x, y in shape] for shape in shapes]


def _u_turn_right() -> list[Polygon]:
    # Up on the left, over the top, down on the right, where the head points down.
    angles = np.linspace(math.pi, 0.0, 17).tolist()
    rims = [(62.0, angles), (24.0, angles[::-1])]
    arc = [(165.0 + r * math.cos(a), 74.0 - r * math.sin(a)) for r, rim in rims for a in rim]
    return [arc, _stroke_polygon(122.0, 73.0, 122.0, 146.0, 38.0), _stroke_polygon(208.0, 73.0, 208.0, 96.0, 38.0),
            [(172.0, 94.0), (244.0, 94.0), (208.0, 146.0)]]  # fmt: skip


_FORK_RIGHT: list[Polygon] = [
    [(22.0, 8.0), (128.0, 8.0), (128.0, 146.0), (22.0, 146.0)],
    [(187.0, 12.0), (296.0, 12.0), (296.0, 120.0)],
    _stroke_polygon(128.0, 126.0, 250.0, 56.0, 55.0),
    [(96.0, 146.0), (110.0, 104.0), (146.0, 90.0), (170.0, 146.0)],
]
_CROSS_RIGHT: list[Polygon] = [
    _stroke_polygon(22.0, 27.0, 122.0, 127.0, 34.0),
    _stroke_polygon(22.0, 127.0, 122.0, 27.0, 34.0),
    *_right_arrow(150.0, 296.0, 77.0),
]
_TURN_RIGHT = _right_arrow(30.0, 284.0, 77.0)

SYMBOLS: dict[str, list[Polygon]] = {
    "blank": [],
    "fork_right": _FORK_RIGHT,
    "fork_left": _mirror_shapes(_FORK_RIGHT),
    "turn_right": _TURN_RIGHT,
    "turn_left": _mirror_shapes(_TURN_RIGHT),
    "u_turn_right": _u_turn_right(),
    "u_turn_left": _mirror_shapes(_u_turn_right()),
    "keep_right": _CROSS_RIGHT,
    "keep_left": _mirror_shapes(_CROSS_RIGHT),
}


def _inside_polygon(shape: Polygon, x: NDArray[np.float64], y: NDArray[np.float64]) -> NDArray[np.bool_]:
    # Even-odd rule.
    inside = np.zeros(x.shape, np.bool_)
    for (x0, y0), (x1, y1) in zip(shape, [*shape[1:], shape[0]], strict=True):
        if y0 != y1:
            crosses = (y0 > y) != (y1 > y)
            inside ^= crosses & (x < (x1 - x0) * (y - y0) / (y1 - y0) + x0)
    return inside


def sign_coverage(sign: str) -> list[Bytes]:
    """Return the coverage of a sign's pixels by its red, 0..255, (height, width) for each of `SIZES`."""
    width, height = SIZES[0]
    x, y = np.meshgrid(
        (np.arange(width * _FINE) + 0.5) * WIDTH / (width * _FINE),
        (np.arange(height * _FINE) + 0.5) * HEIGHT / (height * _FINE),
    )
    fine = np.zeros(x.shape)
    for shape in SYMBOLS[sign]:
        fine[_inside_polygon(shape, x, y)] = 255.0
    levels = []
    for w, h in SIZES:
        blocks = fine.reshape(h, fine.shape[0] // h, w, fine.shape[1] // w)
        levels.append(np.rint(blocks.mean(axis=(1, 3))).astype(np.uint8))
    return levels
