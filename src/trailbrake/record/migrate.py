"""What turns the columns of an older recording into today's.

Adding or removing a column needs nothing here (see `format.py`). A step is for a column whose name, unit or
meaning changed: it takes the state and controls columns of its version and returns those of the next.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from trailbrake.state.tables import SCHEMA_VERSION

Table = dict[str, NDArray[np.float64]]
Tables = tuple[Table, Table]

STEPS: dict[int, Callable[[Table, Table], Tables]] = {}  # {version: step to the next}; version 1 is the first


def migrate(state: Table, controls: Table, version: int) -> Tables:
    """Return the columns, recorded under schema `version`, with today's names, units and meanings."""
    for step in range(version, SCHEMA_VERSION):
        state, controls = STEPS[step](state, controls)
    return state, controls
