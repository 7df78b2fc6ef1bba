"""Where the road is on a picture from a car on it, by colour: grey among colours. Each picture is taken by itself."""

import numpy as np
from numpy.typing import NDArray

Bytes = NDArray[np.uint8]

_GREY = 26  # levels, the most between the channels of asphalt under any light
_DARK, _BRIGHT = 30, 190  # levels of the brightest channel: darker is a hole, brighter is sky or paint
_MIN_PIXELS = 3  # pixels, the least width of road on a row


def is_road(pixels: Bytes) -> NDArray[np.bool_]:
    """Return which pixels (..., 3) uint8 RGB have the colour of asphalt, (...)."""
    high, low = pixels.max(axis=-1), pixels.min(axis=-1)
    found: NDArray[np.bool_] = (high - low < _GREY) & (high > _DARK) & (high < _BRIGHT)
    return found


def road_middle(pixels: Bytes, row: float) -> float:
    """Return the middle of the road on a row: -1 at the picture's left edge, 1 at its right, NaN without a road.

    The widest of several stretches of road counts; lines painted on it do not divide it.

    Args:
        pixels: (height, width, 3) uint8 RGB.
        row: share of the height, 0 at the top.
    """
    height, width = pixels.shape[:2]
    at = min(int(row * height), height - 1)
    grey = np.flatnonzero(is_road(pixels[max(at - 1, 0) : at + 2]).any(axis=0))
    if len(grey) < _MIN_PIXELS:
        return float("nan")
    parts = np.split(grey, np.flatnonzero(np.diff(grey) > 1 + width // 24) + 1)
    widest = max(parts, key=lambda part: int(part[-1] - part[0]))
    found: float = (int(widest[0]) + int(widest[-1])) / (width - 1) - 1.0
    return found
