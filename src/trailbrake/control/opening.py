"""Which way to go between walls: the deepest opening ahead, or the one on a wanted side. Pure maths.

Bearings in rad from straight ahead, positive to the left; depths in m.
"""

from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Side = Literal["", "left", "right"]


class Wish(NamedTuple):
    """Which way to take where something parts them.

    Attributes:
        side: the outermost way on this side.
        leads_on: even if it shows less deep than another, as it does round a bend.
    """

    side: Side = ""
    leads_on: bool = False


ANY = Wish()

ENOUGH = 0.8  # share of the greatest depth that counts as deep
PASSAGE = 1.3, 0.75  # m, and share of the greatest depth: an opening as deep as the lesser of both leads on


def bearing_of(bearings: Array, depths: Array, towards: float, wish: Wish = ANY) -> float:
    """Return the bearing to take.

    Args:
        bearings: evenly spaced, growing.
        depths: how far the way is free along each.
        towards: the bearing taken last; of openings that are as deep, the nearer to it wins.
        wish: which of several. Where nothing parts them yet, the outermost bearing that leads on, if it must.
    """
    deepest = float(depths.max())
    if wish.side:
        metres, share = PASSAGE
        # What parts the ways is near or far.
        passage = min(metres, share * deepest)
        for least in ([passage] if wish.leads_on else []) + [ENOUGH * deepest]:
            found = _openings(bearings, depths, least)
            if len(found) > 1:
                return found[-1 if wish.side == "left" else 0][0]
        if wish.leads_on:
            return float(bearings[np.flatnonzero(depths >= passage)[-1 if wish.side == "left" else 0]])
    worths = [(depth / deepest - 0.3 * abs(middle - towards), middle)
              for middle, depth in _openings(bearings, depths, ENOUGH * deepest)]  # fmt: skip
    return max(worths)[1] if worths else 0.0


def _openings(bearings: Array, depths: Array, least: float) -> list[tuple[float, float]]:
    """Return the middle bearing, drawn to where it is deepest, and the greatest depth of each opening."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], depths >= least, [False]]).astype(np.int8)))
    found = []
    for first, end in zip(edges[::2], edges[1::2], strict=True):
        here = depths[first:end]
        deepest = float(here.max())
        if deepest > 0.0:
            weights = (here / deepest) ** 4
            found.append((float((weights * bearings[first:end]).sum() / weights.sum()), deepest))
    return found
