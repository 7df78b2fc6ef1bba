"""Backs of signs: who sees them over the road drives it the wrong way. Found by colour and by where signs hang.

Source of the colour: protocol page formula-trend, section 6.
"""

from typing import NamedTuple

import numpy as np

from trailbrake.vision.camera import TREND, Camera, Pixels
from trailbrake.vision.signs import ABOVE_CAMERA, patches

COLOUR, APART = (63, 59, 48), 16  # of each channel: JPEG on a small board
TALL = 0.0575  # m, of a board: twice as wide
SHAPE = (1.4, 2.4)  # width over height that a board may show; the small blank one is half as wide
HANGS = (0.75, 1.3)  # height in the picture over that of a board at the distance that its place tells
SMALLEST = 5  # pixels of height
FILLED = 0.75  # share of its outline that is of its colour


class Back(NamedTuple):
    """A board seen from behind: m ahead, and the column of its middle."""

    distance: float
    column: int


def backs(pixels: Pixels, camera: Camera = TREND) -> list[Back]:
    """Return the backs of signs in a picture."""
    sky = pixels[: camera.first_ground_row - 1]
    near = np.ones(sky.shape[:2], np.bool_)
    for channel, level in enumerate(COLOUR):
        near &= (sky[..., channel] >= level - APART) & (sky[..., channel] <= level + APART)
    found = []
    for top, bottom, left, right in patches(near):
        height, width = bottom - top, right - left
        middle = 0.5 * (top + bottom - 1)
        if height < SMALLEST or top == 0 or not SHAPE[0] <= width / height <= SHAPE[1]:
            continue
        distance = camera.focal * ABOVE_CAMERA / (camera.row - middle)
        expected = camera.focal * TALL / distance
        if HANGS[0] <= height / expected <= HANGS[1] and near[top:bottom, left:right].mean() >= FILLED:
            found.append(Back(distance, (left + right - 1) // 2))
    return found
