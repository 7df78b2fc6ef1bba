"""`RoadPlan`: a racing line and its speeds, tabulated at the rows of a road."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray


class RoadPlan(NamedTuple):
    """A planned line and its speeds at the rows of a road's table.

    Attributes:
        offset: (n,) m, the line left of the centreline.
        heading: (n,) rad, direction of the line minus direction of the road.
        curvature: (n,) 1/m of the line, positive left.
        speed: (n,) m/s, planned.
    """

    offset: NDArray[np.float64]
    heading: NDArray[np.float64]
    curvature: NDArray[np.float64]
    speed: NDArray[np.float64]
