"""What a small network sees of a camera's picture: some of its rows, shrunk."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Pixels = NDArray[np.uint8]


@dataclass(frozen=True)
class Glance:
    """The rows that are looked at, and how coarsely.

    Attributes:
        top, bottom: of the rows, shares of the picture's height.
        height, width: of what is left, pixels.
    """

    top: float = 0.35
    bottom: float = 0.75
    height: int = 48
    width: int = 80

    def __post_init__(self) -> None:
        if not (0.0 <= self.top < self.bottom <= 1.0 and 8 <= self.height <= 512 and 8 <= self.width <= 512):
            raise ValueError(f"no such glance: {self}")


def shrink(picture: Any, glance: Glance) -> Pixels:
    """Return what is seen, (height, width, 3): each pixel the mean of those behind it.

    Args:
        picture: a Pillow image of any size, or its (h, w, 3) uint8 RGB array.
        glance: of what.
    """
    from PIL import Image

    image = Image.fromarray(picture) if isinstance(picture, np.ndarray) else picture
    box = (0.0, glance.top * image.height, float(image.width), glance.bottom * image.height)
    seen: Pixels = np.asarray(image.resize((glance.width, glance.height), Image.Resampling.BOX, box))
    return seen
