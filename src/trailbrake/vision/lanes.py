"""Paint on the road, seen from above: lane edges across the road, and the direction of the chevrons.

The functions first project the picture onto flat ground, so that lengths are in m. Source of the colours: protocol page
formula-trend, section 6.

Where the road is on a picture from a car on it, by colour: grey among colours. Each picture is taken by itself.
"""

from enum import IntEnum
from functools import cache
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from trailbrake.arrays import Array, Bytes, Mask
from trailbrake.vision.level_camera import TREND_CAMERA, LevelCamera, Pixels

Kinds = NDArray[np.uint8]

BRIGHT, MIN_LEAD = 120, 35  # of the strongest channel, and by how much it leads both others, for a coloured lane
WHITE = 185  # of every channel
STEP = 0.01  # m, of the view from above
NEAR, FAR, ASIDE = 0.16, 0.9, 0.42  # m: what it shows ahead and to both sides
CHEVRON_AREA = (0.0012, 0.03)  # m^2 that a chevron's white may cover in it
CHEVRON_FIT = 0.45  # correlation between forward and outward from which its direction counts
_GREY = 26  # levels, the most between the channels of asphalt under any light
_DARK, _BRIGHT = 30, 190  # levels of the brightest channel: darker is a hole, brighter is sky or paint
_MIN_PIXELS = 3  # pixels, the least width of road on a row


class PaintColour(IntEnum):
    """The colour of a piece of road."""

    OTHER = 0
    RED = 1
    GREEN = 2
    BLUE = 3
    WHITE = 4


def classify_paint(area: Pixels) -> Kinds:
    """Return the PaintColour of each pixel (..., 3), (...) uint8."""
    wide = area.astype(np.int16)
    kinds = np.zeros(wide.shape[:-1], np.uint8)
    kinds[(wide >= WHITE).all(axis=-1)] = PaintColour.WHITE
    for channel, kind in enumerate((PaintColour.RED, PaintColour.GREEN, PaintColour.BLUE)):
        others = np.delete(wide, channel, axis=-1).max(axis=-1)
        lead = MIN_LEAD if kind != PaintColour.BLUE else MIN_LEAD // 2  # the blue lane is a greyish one: 96, 126, 160
        kinds[(wide[..., channel] >= BRIGHT) & (wide[..., channel] >= others + lead)] = kind
    return kinds


@cache
def _top_view_lookup(camera: LevelCamera) -> tuple[NDArray[np.intp], NDArray[np.intp], Mask, Array, Array]:
    # For each cell of the view from above: row and column of its pixel, whether the picture shows it, and its place.
    forward, left = np.meshgrid(np.arange(FAR, NEAR, -STEP), np.arange(ASIDE, -ASIDE, -STEP), indexing="ij")
    row = np.round(camera.horizon_row + camera.focal_length * camera.mount_height / forward).astype(np.intp)
    column = np.round(camera.principal_column - camera.focal_length * left / forward).astype(np.intp)
    shown = (row < camera.height) & (column >= 0) & (column < camera.width)
    return np.where(shown, row, 0), np.where(shown, column, 0), shown, forward, left


def top_view(pixels: Pixels, camera: LevelCamera = TREND_CAMERA) -> tuple[Kinds, Array, Array]:
    """Return the paint of the ground ahead, (n, m), and how far forward and left (m) of the camera each cell is."""
    row, column, shown, forward, left = _top_view_lookup(camera)
    return np.where(shown, classify_paint(pixels[row, column]), np.uint8(PaintColour.OTHER)), forward, left


def _label_parts(there: Mask) -> NDArray[np.int64]:
    """Return a number for each part of a small mask that is connected by edges, 0 where the mask is False."""
    numbers = np.where(there, np.arange(1, there.size + 1).reshape(there.shape), 0)
    while True:
        wide = np.pad(numbers, 1)
        most = np.maximum.reduce([wide[1:-1, 1:-1], wide[:-2, 1:-1], wide[2:, 1:-1], wide[1:-1, :-2], wide[1:-1, 2:]])
        most = np.where(there, most, 0)
        if np.array_equal(most, numbers):
            return numbers
        numbers = most


def chevron_direction(pixels: Pixels, camera: LevelCamera = TREND_CAMERA) -> Literal["forward", "backward", ""]:
    """Return the direction of the chevrons on the red lanes ahead, "" where no whole one is in view.

    A chevron is a white spot surrounded by red. Its arms point outwards from the apex: in one that points forward,
    what is further ahead is closer to its middle.
    """
    kinds, forward, left = top_view(pixels, camera)
    numbers = _label_parts(kinds == PaintColour.WHITE)
    votes = 0
    for number in np.unique(numbers[numbers > 0]):
        spot = numbers == number
        area = spot.sum() * STEP**2
        if not CHEVRON_AREA[0] <= area <= CHEVRON_AREA[1] or not _is_in_red(spot, kinds):
            continue
        x, y = forward[spot], left[spot]
        outward = np.abs(y - 0.5 * (y.min() + y.max()))
        if x.std() == 0.0 or outward.std() == 0.0:
            continue
        fit = float(np.corrcoef(x, outward)[0, 1])
        votes += int(fit < -CHEVRON_FIT) - int(fit > CHEVRON_FIT)
    return "forward" if votes > 0 else "backward" if votes < 0 else ""


def _is_in_red(spot: Mask, kinds: Kinds) -> bool:
    wide = np.pad(spot, 1)
    around = (wide[:-2, 1:-1] | wide[2:, 1:-1] | wide[1:-1, :-2] | wide[1:-1, 2:]) & ~spot
    rows, columns = np.nonzero(spot)
    inside = rows.min() > 0 and rows.max() < spot.shape[0] - 1
    inside = inside and columns.min() > 0 and columns.max() < spot.shape[1] - 1
    red = kinds[around] == PaintColour.RED
    # Half-covered pixels at the edge are neither red nor white.
    return bool(inside and red.mean() > 0.5)


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
