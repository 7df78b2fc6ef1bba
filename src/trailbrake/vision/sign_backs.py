"""Backs of signs: a car that sees one over its road drives the wrong way. Found by colour and by height.

Source of the colour: protocol page formula-trend, section 6.
"""

from typing import NamedTuple

import numpy as np

from trailbrake.vision.camera import TREND_CAMERA, LevelCamera, Pixels
from trailbrake.vision.signs import ABOVE_CAMERA, find_patches

BACK_COLOUR, COLOUR_TOLERANCE = (63, 59, 48), 16  # of each channel: JPEG on a small board
BOARD_HEIGHT = 0.0575  # m, of a board: twice as wide
ASPECT_RANGE = (1.4, 2.4)  # width over height that a board may show; the small blank one is half as wide
HEIGHT_RATIO_RANGE = (0.75, 1.3)  # height in the picture over that of a board at the distance of its row
MIN_HEIGHT = 5  # pixels of height
MIN_FILL = 0.75  # share of its outline that is of its colour


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
