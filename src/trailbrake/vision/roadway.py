"""Where the road is on a picture from a car on it: grey among colours. Nothing is learned, nothing is remembered."""

import numpy as np
from numpy.typing import NDArray

Bytes = NDArray[np.uint8]

_GREY = 26  # levels, the most between the channels of asphalt under any light
_DARK, _BRIGHT = 30, 190  # levels of its brightest channel: darker is a hole, brighter is sky or paint
_LEAST = 3  # pixels of road in a row that are worth looking at


def is_road(pixels: Bytes) -> NDArray[np.bool_]:
    """Return which pixels (..., 3) uint8 RGB have the colour of asphalt."""
    high, low = pixels.max(axis=-1), pixels.min(axis=-1)
    found: NDArray[np.bool_] = (high - low < _GREY) & (high > _DARK) & (high < _BRIGHT)
    return found


def middle(pixels: Bytes, row: float) -> float:
    """Return where the middle of the road is on a row: -1 at the picture's left edge, 1 at its right, NaN for no road.

    Of several stretches of road on the row the widest is taken; lines painted on it do not part it.

    Args:
        pixels: (height, width, 3) uint8 RGB.
        row: share of the height, 0 at the top.
    """
    height, width = pixels.shape[:2]
    at = min(int(row * height), height - 1)
    grey = np.flatnonzero(is_road(pixels[max(at - 1, 0) : at + 2]).any(axis=0))
    if len(grey) < _LEAST:
        return float("nan")
    parts = np.split(grey, np.flatnonzero(np.diff(grey) > 1 + width // 24) + 1)
    widest = max(parts, key=lambda part: int(part[-1] - part[0]))
    found: float = (int(widest[0]) + int(widest[-1])) / (width - 1) - 1.0
    return found
