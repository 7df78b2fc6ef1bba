"""A level pinhole camera over flat ground: the ground point behind each pixel.

Camera frame: x forward, y left, m, from the lens. Images are (height, width, 3) uint8 RGB arrays. Source of Formula
Trend's values: protocol page formula-trend, section 5.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from trailbrake.arrays import Array

Pixels = NDArray[np.uint8]


@dataclass(frozen=True)
class LevelCamera:
    """A level pinhole camera.

    Attributes:
        width, height: of the picture, pixels.
        focal_length: pixels.
        principal_column: column of the principal point.
        horizon_row: row of the principal point, which is the horizon's.
        mount_height: m above the ground.
    """

    width: int = 320
    height: int = 240
    focal_length: float = 274.5
    principal_column: float = 159.5
    horizon_row: float = 119.5
    mount_height: float = 0.05

    @cached_property
    def column_slopes(self) -> Array:
        """Left over forward of each column's rays, (width,), positive to the left."""
        slopes: Array = (self.principal_column - np.arange(self.width, dtype=np.float64)) / self.focal_length
        return slopes

    @cached_property
    def first_ground_row(self) -> int:
        """The uppermost row that shows only ground and objects on it."""
        return int(self.horizon_row) + 1

    def ground_distance(self, row: Array) -> Array:
        """Return the distance ahead (m) of the ground at `row`, which must be below the horizon; same shape."""
        ahead: Array = self.focal_length * self.mount_height / (row - self.horizon_row)
        return ahead


TREND_CAMERA = LevelCamera()


def fit_picture(pixels: Pixels, camera: LevelCamera = TREND_CAMERA) -> Pixels:
    """Return a picture of any size (h, w, 3) at the camera's size: as it is where they agree, else scaled.

    Where the size is a multiple of the camera's, each pixel is the mean of those that it covers; else the nearest one.
    """
    height, width = pixels.shape[:2]
    if (height, width) == (camera.height, camera.width):
        return pixels
    rows, columns = height // camera.height, width // camera.width
    if rows * camera.height == height and columns * camera.width == width:
        blocks = pixels.reshape(camera.height, rows, camera.width, columns, 3)
        means: Pixels = blocks.mean(axis=(1, 3)).astype(np.uint8)
        return means
    picked_rows = (np.arange(camera.height) * height + height // 2) // camera.height
    picked_columns = (np.arange(camera.width) * width + width // 2) // camera.width
    fitted: Pixels = pixels[np.ix_(picked_rows, picked_columns)]
    return fitted
