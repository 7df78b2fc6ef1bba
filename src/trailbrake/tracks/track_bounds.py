"""The region around a track in which a car may be placed."""

import numpy as np

from trailbrake.tracks.road_columns import RoadColumn
from trailbrake.tracks.track import Track

NEAR_TRACK = 1000.0  # m around the box of all roads


class TrackBounds:
    """The box around all roads of a track, widened by NEAR_TRACK on all sides."""

    def __init__(self, track: Track) -> None:
        places = np.concatenate([road.table[:, [RoadColumn.X, RoadColumn.Y]] for road in track.roads])
        self._left, self._bottom = (places.min(axis=0) - NEAR_TRACK).tolist()
        self._right, self._top = (places.max(axis=0) + NEAR_TRACK).tolist()

    def contain(self, x: float, y: float) -> bool:
        """Return whether a place (m, world) is inside; False for NaN."""
        return bool(self._left <= x <= self._right and self._bottom <= y <= self._top)
