"""Which way to go between walls: the deepest opening ahead, or the one on a wanted side. Pure maths.

Bearings in rad from straight ahead, positive to the left; depths in m.
"""

from typing import Literal

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Side = Literal["", "left", "right"]

ENOUGH = 0.8  # share of the greatest depth that counts as deep
PASSAGE = 1.3  # m: an opening this deep leads on, whatever else is deeper


def bearing_of(bearings: Array, depths: Array, towards: float, side: Side = "") -> float:
    """Return the bearing to take.

    Args:
        bearings: evenly spaced, growing.
        depths: how far the way is free along each.
        towards: the bearing taken last; of openings that are as deep, the nearer to it wins.
        side: keep to this side: the outermost opening there that leads on.
    """
    deepest = float(depths.max())
    if side:
        open_ = depths >= min(PASSAGE, 0.75 * deepest)
        inside = np.flatnonzero(open_)
        return float(bearings[inside[-1] if side == "left" else inside[0]])
    good = depths >= ENOUGH * deepest
    # Of several openings one is taken: in the middle of two there is what parts them.
    edges = np.flatnonzero(np.diff(np.concatenate([[False], good, [False]]).astype(np.int8)))
    best, chosen = -np.inf, 0.0
    for first, end in zip(edges[::2], edges[1::2], strict=True):
        weights = (depths[first:end] / deepest) ** 4
        middle = float((weights * bearings[first:end]).sum() / weights.sum())
        worth = float(depths[first:end].max()) / deepest - 0.3 * abs(middle - towards)
        if worth > best:
            best, chosen = worth, middle
    return chosen
