"""Walls in the camera's picture: how much of each half they fill, and the free distance along each column.

Source of the colours and of `wall_shares`: protocol page formula-trend, sections 6 and 7.
"""

import numpy as np

from trailbrake.arrays import Array, Mask
from trailbrake.vision.level_camera import TREND_CAMERA, LevelCamera, Pixels

_KERNEL = np.array([1.0, 4.0, 6.0, 4.0, 1.0]) / 16.0  # binomial: a Gaussian of sigma 1, five wide
TOP_ROW = 48  # the first row that `wall_shares` counts
BLACK = 10  # largest value of each channel of black
YELLOW = (160, 180)  # least and largest red and green of yellow; blue is exactly 0
UPRIGHT_ROWS = 3  # rows above each other that show what stands on the road; a speck of blended paint has one or two
DARK = 95  # largest channel of walls (0) and parked cars (up to 85), anti-aliased; paint and sky are brighter
_YELLOW_BLUE, _YELLOW_LOW, _YELLOW_APART = 75, 110, 40  # a yellow wall through JPEG: 165..182, 161..174, 0..30


def blur_picture(pixels: Pixels) -> Pixels:
    """Return the picture (height, width, 3) under a 5 x 5 Gaussian; borders are mirrored without repeating the edge."""
    soft = pixels.astype(np.float32)
    for axis in (0, 1):
        pad = [(2, 2) if k == axis else (0, 0) for k in range(3)]
        wide, size = np.pad(soft, pad, mode="reflect"), soft.shape[axis]
        soft = sum(  # type: ignore[assignment]
            np.float32(w) * wide[(slice(None),) * axis + (slice(k, k + size),)] for k, w in enumerate(_KERNEL)
        )
    return (soft + 0.5).astype(np.uint8)


def wall_shares(pixels: Pixels) -> tuple[float, float]:
    """Return the shares (0..1) of wall colour, black and yellow, in the left and the right half of a picture.

    As the original program counts: on the blurred picture, from TOP_ROW down, signs and gantries as well as walls.
    """
    area = blur_picture(pixels)[TOP_ROW:]
    red, green, blue = area[..., 0], area[..., 1], area[..., 2]
    low, high = YELLOW
    black = (red <= BLACK) & (green <= BLACK) & (blue <= BLACK)
    yellow = (blue == 0) & (red >= low) & (red <= high) & (green >= low) & (green <= high)
    wall = black | yellow
    half = wall.shape[1] // 2
    return float(wall[:, :half].mean()), float(wall[:, half:].mean())


def blocked_pixels(area: Pixels) -> Mask:
    """Return which pixels (n, m, 3) of ground rows show no road: black and yellow walls, parked cars."""
    # Channel by channel: a maximum along an axis of three takes ten times as long.
    red, green, blue = (np.ascontiguousarray(area[..., k]) for k in range(3))
    dark = (red < DARK) & (green < DARK) & (blue < DARK)
    yellow = (blue < _YELLOW_BLUE) & (red > _YELLOW_LOW) & (green > _YELLOW_LOW)
    yellow &= np.maximum(red, green) - np.minimum(red, green) < _YELLOW_APART
    found: Mask = dark | yellow
    return found


def free_distance(pixels: Pixels, camera: LevelCamera = TREND_CAMERA) -> Array:
    """Return, per column, the distance (m, forward) over free ground, (width,); inf where nothing is below the horizon.

    Only rows below the horizon count, where a gantry's pipe and signs never are: they hang above the camera.
    """
    first = camera.first_ground_row
    blocked = blocked_pixels(pixels[first - UPRIGHT_ROWS + 1 :])[::-1]  # from the bumper outwards
    rows = len(pixels) - first
    there = np.logical_and.reduce([blocked[k : k + rows] for k in range(UPRIGHT_ROWS)])
    steps = there.argmax(axis=0)
    # An obstacle's foot lies between the last row of road and its own first row.
    foot = camera.height - 0.5 - steps
    nowhere = ~there.any(axis=0)
    distance = camera.ground_distance(np.maximum(foot, first - 0.25))
    return np.where(nowhere, np.inf, distance)


def obstacle_points(distance: Array, camera: LevelCamera = TREND_CAMERA) -> Array:
    """Return the feet of obstacles as points (n, 2): forward and left, m from the camera.

    Args:
        distance: (width,) from `free_distance`.
        camera: that took the picture.
    """
    there = np.isfinite(distance)
    return np.column_stack([distance[there], distance[there] * camera.column_slopes[there]])
