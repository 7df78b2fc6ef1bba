"""Assetto Corsa's axes <-> ours: one permutation, written once, here.

Assetto Corsa is right-handed with Y up; facing +Z, left is +X. Our axes are ISO 8855: x forward, y left, z up. The same
map holds for world vectors, body vectors, angular velocities, and columns of points: it is a rotation.

Source: protocol page assetto-custom-ai, section 5.
"""

from collections.abc import Callable
from operator import itemgetter

import numpy as np
from numpy.typing import NDArray

from trailbrake.frames import Vector

_ISO_FROM_ASSETTO = (2, 0, 1)  # of (left, up, forward), the places of (forward, left, up)
_ASSETTO_FROM_ISO = (1, 2, 0)

# (left, up, forward) -> (forward, left, up), and the inverse. In C: a decoded sample takes ten of these calls.
iso_from_assetto: Callable[[Vector], Vector] = itemgetter(*_ISO_FROM_ASSETTO)
assetto_from_iso: Callable[[Vector], Vector] = itemgetter(*_ASSETTO_FROM_ISO)


def iso_points_from_assetto(points: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return points (n, 3) of Assetto Corsa's world in our world."""
    return points[:, _ISO_FROM_ASSETTO]


def assetto_points_from_iso(points: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return points (n, 3) of our world in Assetto Corsa's world: the inverse of `iso_points_from_assetto`."""
    return points[:, _ASSETTO_FROM_ISO]
