"""Paint on the road, seen from above: lane edges across the road, and which way the chevrons point.

Everything is laid out on flat ground through the pinhole first, so that lengths are metres. Source of the colours:
protocol page formula-trend, section 6.
"""

from enum import IntEnum
from functools import cache
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from trailbrake.vision.camera import TREND, Array, Camera, Pixels

Mask = NDArray[np.bool_]
Kinds = NDArray[np.uint8]

BRIGHT, LEAD = 120, 35  # of the strongest channel, and by how much it leads both others, for a coloured lane
WHITE = 185  # of every channel
STEP = 0.01  # m, of the view from above
NEAR, FAR, ASIDE = 0.16, 0.9, 0.42  # m: what it shows ahead and to both sides
CHEVRON = (0.0012, 0.03)  # m^2 that a chevron's white may cover in it
CHEVRON_FIT = 0.45  # correlation between forward and outward from which its direction counts


class Paint(IntEnum):
    """What a piece of road is painted with."""

    OTHER = 0
    RED = 1
    GREEN = 2
    BLUE = 3
    WHITE = 4


class Lane(NamedTuple):
    """A lane across the road: its paint, and its right and left edges, m from the camera, positive to the left."""

    paint: Paint
    right: float
    left: float


def paints(area: Pixels) -> Kinds:
    """Return the Paint of each pixel (..., 3)."""
    wide = area.astype(np.int16)
    kinds = np.zeros(wide.shape[:-1], np.uint8)
    kinds[(wide >= WHITE).all(axis=-1)] = Paint.WHITE
    for channel, kind in enumerate((Paint.RED, Paint.GREEN, Paint.BLUE)):
        others = np.delete(wide, channel, axis=-1).max(axis=-1)
        lead = LEAD if kind != Paint.BLUE else LEAD // 2  # the blue lane is a greyish one: 96, 126, 160
        kinds[(wide[..., channel] >= BRIGHT) & (wide[..., channel] >= others + lead)] = kind
    return kinds


@cache
def _above(camera: Camera) -> tuple[NDArray[np.intp], NDArray[np.intp], Mask, Array, Array]:
    # Row and column of the pixel behind each cell of the view, whether the picture shows it, and where it lies.
    forward, left = np.meshgrid(np.arange(FAR, NEAR, -STEP), np.arange(ASIDE, -ASIDE, -STEP), indexing="ij")
    row = np.round(camera.row + camera.focal * camera.above / forward).astype(np.intp)
    column = np.round(camera.column - camera.focal * left / forward).astype(np.intp)
    shown = (row < camera.height) & (column >= 0) & (column < camera.width)
    return np.where(shown, row, 0), np.where(shown, column, 0), shown, forward, left


def from_above(pixels: Pixels, camera: Camera = TREND) -> tuple[Kinds, Array, Array]:
    """Return the paint of the ground ahead, (n, m), and how far forward and left (m) of the camera each cell lies."""
    row, column, shown, forward, left = _above(camera)
    return np.where(shown, paints(pixels[row, column]), np.uint8(Paint.OTHER)), forward, left


def lanes(pixels: Pixels, distance: float, camera: Camera = TREND) -> list[Lane]:
    """Return the lanes on the line across the road `distance` m ahead, left to right; those cut by the border too."""
    row = min(round(camera.row + camera.focal * camera.above / distance), camera.height - 1)
    distance = float(camera.distance(np.array(float(row))))  # the row's own
    kinds = paints(pixels[row])
    starts = np.concatenate([[0], np.flatnonzero(np.diff(kinds)) + 1, [len(kinds)]])
    at = (camera.column - (starts - 0.5)) / camera.focal * distance
    return [
        Lane(Paint(int(kinds[a])), float(right), float(left))
        for a, b, left, right in zip(starts[:-1], starts[1:], at[:-1], at[1:], strict=True)
        if kinds[a] != Paint.OTHER and b - a >= 3
    ]


def _parts(there: Mask) -> NDArray[np.int64]:
    """Return a number for each connected part (by edges) of a small mask, 0 where it is False."""
    numbers = np.where(there, np.arange(1, there.size + 1).reshape(there.shape), 0)
    while True:
        wide = np.pad(numbers, 1)
        most = np.maximum.reduce([wide[1:-1, 1:-1], wide[:-2, 1:-1], wide[2:, 1:-1], wide[1:-1, :-2], wide[1:-1, 2:]])
        most = np.where(there, most, 0)
        if np.array_equal(most, numbers):
            return numbers
        numbers = most


def chevrons(pixels: Pixels, camera: Camera = TREND) -> Literal["forward", "backward", ""]:
    """Return which way the chevrons on the red lanes ahead point, "" where none is to be seen whole.

    A chevron is a white spot with red all round. Its arms reach outwards from the apex: pointing forward, what lies
    farther ahead is nearer to its middle.
    """
    kinds, forward, left = from_above(pixels, camera)
    numbers = _parts(kinds == Paint.WHITE)
    votes = 0
    for number in np.unique(numbers[numbers > 0]):
        spot = numbers == number
        area = spot.sum() * STEP**2
        if not CHEVRON[0] <= area <= CHEVRON[1] or not _in_red(spot, kinds):
            continue
        x, y = forward[spot], left[spot]
        outward = np.abs(y - 0.5 * (y.min() + y.max()))
        if x.std() == 0.0 or outward.std() == 0.0:
            continue
        fit = float(np.corrcoef(x, outward)[0, 1])
        votes += int(fit < -CHEVRON_FIT) - int(fit > CHEVRON_FIT)
    return "forward" if votes > 0 else "backward" if votes < 0 else ""


def _in_red(spot: Mask, kinds: Kinds) -> bool:
    wide = np.pad(spot, 1)
    around = (wide[:-2, 1:-1] | wide[2:, 1:-1] | wide[1:-1, :-2] | wide[1:-1, 2:]) & ~spot
    rows, columns = np.nonzero(spot)
    inside = rows.min() > 0 and rows.max() < spot.shape[0] - 1
    inside = inside and columns.min() > 0 and columns.max() < spot.shape[1] - 1
    red = kinds[around] == Paint.RED
    # Half-covered pixels at the rim are neither red nor white.
    return bool(inside and red.mean() > 0.5)
