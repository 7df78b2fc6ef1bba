"""The bearing to take between walls: the deepest opening ahead, or the one on a given side.

Bearings in rad from straight ahead, positive to the left; depths in m.
"""

from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Side = Literal["", "left", "right"]


class BranchChoice(NamedTuple):
    """Which branch to take where the road divides.

    Attributes:
        side: the outermost opening on this side.
        required: even if it looks less deep than another, as it does round a bend.
    """

    side: Side = ""
    required: bool = False


ANY_BRANCH = BranchChoice()

DEEP_SHARE = 0.8  # share of the greatest depth from which an opening counts as deep
PASSAGE_DEPTH = 1.3, 0.75  # m, and share of the greatest depth: an opening as deep as the smaller of both continues


def choose_bearing(bearings: Array, depths: Array, last_bearing: float, choice: BranchChoice = ANY_BRANCH) -> float:
    """Return the bearing to take.

    Args:
        bearings: evenly spaced, growing.
        depths: m, free distance along each.
        last_bearing: rad, the previous result; of equally deep openings the nearer to it wins.
        choice: which of several. Where they are not yet separate, a required side is the outermost deep bearing.
    """
    deepest = float(depths.max())
    if choice.side:
        metres, share = PASSAGE_DEPTH
        # The division may be near or far.
        passage = min(metres, share * deepest)
        for least in ([passage] if choice.required else []) + [DEEP_SHARE * deepest]:
            found = _find_openings(bearings, depths, least)
            if len(found) > 1:
                return found[-1 if choice.side == "left" else 0][0]
        if choice.required:
            return float(bearings[np.flatnonzero(depths >= passage)[-1 if choice.side == "left" else 0]])
    worths = [(depth / deepest - 0.3 * abs(middle - last_bearing), middle)
              for middle, depth in _find_openings(bearings, depths, DEEP_SHARE * deepest)]  # fmt: skip
    return max(worths)[1] if worths else 0.0


def _find_openings(bearings: Array, depths: Array, least: float) -> list[tuple[float, float]]:
    """Return the centre bearing, weighted by depth, and the greatest depth of each opening."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], depths >= least, [False]]).astype(np.int8)))
    found = []
    for first, end in zip(edges[::2], edges[1::2], strict=True):
        here = depths[first:end]
        deepest = float(here.max())
        if deepest > 0.0:
            weights = (here / deepest) ** 4
            found.append((float((weights * bearings[first:end]).sum() / weights.sum()), deepest))
    return found
