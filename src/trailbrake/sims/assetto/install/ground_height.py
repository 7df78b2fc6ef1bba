"""The height of the ground by the game's own line, for teleports whose caller names no height.

Source: protocol page assetto-custom-ai, section 7.
"""

from pathlib import Path
from typing import NamedTuple

import numpy as np

from trailbrake.errors import TrailbrakeError
from trailbrake.sims.assetto.axes import iso_points_from_assetto
from trailbrake.sims.assetto.install import installation
from trailbrake.sims.assetto.install.files import content, fast_lane
from trailbrake.sims.assetto.wire import acpmf


class GroundHeight(NamedTuple):
    """A height (m, our world) and what it was taken from, for the user."""

    z: float
    source: str


def find_ground_height(root: Path | None, static: acpmf.Static | None, x: float, y: float) -> GroundHeight | None:
    """Return the height of the nearest point of the session's `fast_lane.ai`; None where the file is not found.

    Args:
        root: the game's folder; None: where `find_installation` finds it.
        static: constants of the session, which name the track; None: not known.
        x: m, our world.
        y: as `x`.
    """
    if static is None:
        return None
    try:
        folder = installation.find_installation(root).root
        expected = content.lane_path(folder, static.track, static.track_configuration)
        path = content.find_ignoring_case(expected)
        if path is None:
            return None
        places = iso_points_from_assetto(fast_lane.read_fast_lane(path).points["place"].astype(np.float64))
    except TrailbrakeError:
        return None
    nearest = places[np.hypot(places[:, 0] - x, places[:, 1] - y).argmin()]
    return GroundHeight(float(nearest[2]), str(path))
