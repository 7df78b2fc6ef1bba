"""Where a drive was on the road: nothing is learned of a car's tyres from grass."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

HALF_CAR = 0.9  # m, from the centre of a car to its outer wheels
BLOCK = 2000  # places that are compared at a time: bounds the memory


class RoadBounds(NamedTuple):
    """A road by its centre and edges: (n, 2) each, x and y (m), row by row across the road."""

    centre: Array
    left: Array
    right: Array


def find_rows_on_road(x: Array, y: Array, bounds: RoadBounds) -> NDArray[np.bool_]:
    """Return (n,) whether a car with its centre of mass at x and y (n,), m, has all wheels on the road.

    The place across the road counts at the nearest row of `bounds`; places that are not known (NaN) count as on it.
    """
    across = bounds.left - bounds.right
    width = np.maximum(np.hypot(across[:, 0], across[:, 1]), 1e-6)
    normal = across / width[:, None]
    to_left = np.einsum("ij,ij->i", bounds.left - bounds.centre, normal)
    to_right = np.einsum("ij,ij->i", bounds.centre - bounds.right, normal)
    places = np.column_stack([x, y])
    inside = np.ones(len(places), bool)
    for start in range(0, len(places), BLOCK):
        part = places[start : start + BLOCK]
        away = part[:, None, :] - bounds.centre[None, :, :]
        row = np.argmin(np.nan_to_num(np.einsum("ijk,ijk->ij", away, away)), axis=1)
        offset = np.einsum("ij,ij->i", part - bounds.centre[row], normal[row])
        off = (offset > to_left[row] - HALF_CAR) | (offset < HALF_CAR - to_right[row])
        inside[start : start + BLOCK] = ~off
    return inside
