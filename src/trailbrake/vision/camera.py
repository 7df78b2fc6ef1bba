"""The pinhole behind a picture: which ground point a pixel shows, for a level camera over flat ground.

Vehicle frame of the camera: x forward, y left, m, from the lens. Images are (height, width, 3) uint8 RGB arrays.
Source of Formula Trend's figures: protocol page formula-trend, section 5.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Pixels = NDArray[np.uint8]


@dataclass(frozen=True)
class Camera:
    """A level pinhole camera.

    Attributes:
        width, height: of the picture, pixels.
        focal: focal length, pixels.
        column, row: of the principal point; `row` is the horizon's too.
        above: m over the ground.
    """

    width: int = 320
    height: int = 240
    focal: float = 274.5
    column: float = 159.5
    row: float = 119.5
    above: float = 0.05

    @cached_property
    def slopes(self) -> Array:
        """Left over forward for each column's rays, positive to the left."""
        slopes: Array = (self.column - np.arange(self.width, dtype=np.float64)) / self.focal
        return slopes

    @cached_property
    def first_ground_row(self) -> int:
        """The uppermost row that shows nothing but ground or what stands on it."""
        return int(self.row) + 1

    def distance(self, row: Array) -> Array:
        """Return how far ahead (m) the ground shows at `row`, which must lie below the horizon."""
        ahead: Array = self.focal * self.above / (row - self.row)
        return ahead


TREND = Camera()
