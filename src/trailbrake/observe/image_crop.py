"""The input of a small network: some rows of a camera's picture, at a lower resolution."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Pixels = NDArray[np.uint8]


@dataclass(frozen=True)
class CropSpec:
    """Which rows of a picture to keep, and at which resolution.

    Attributes:
        top, bottom: first and last row to keep, as shares of the picture's height.
        height, width: of the result, pixels.
    """

    top: float = 0.35
    bottom: float = 0.75
    height: int = 48
    width: int = 80

    def __post_init__(self) -> None:
        if not (0.0 <= self.top < self.bottom <= 1.0 and 8 <= self.height <= 512 and 8 <= self.width <= 512):
            raise ValueError(f"no such crop: {self}")


def crop_and_resize(picture: Pixels, crop: CropSpec) -> Pixels:
    """Return the crop (height, width, 3) uint8: each pixel is the mean of the picture's pixels that it covers.

    Args:
        picture: (h, w, 3) uint8 RGB.
        crop: rows and resolution.
    """
    from PIL import Image

    image = Image.fromarray(picture)
    box = (0.0, crop.top * image.height, float(image.width), crop.bottom * image.height)
    pixels: Pixels = np.asarray(image.resize((crop.width, crop.height), Image.Resampling.BOX, box))
    return pixels
