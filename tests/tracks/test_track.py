import math

import numpy as np
import pytest

from trailbrake.tracks.road import RoadColumn
from trailbrake.tracks.track import SURFACES
from trailbrake.tracks.track_library import load_track


def test_a_wet_track_is_the_same_track_with_less_grip():
    dry, wet = load_track("hartmoor"), load_track("hartmoor@wet")
    factor = SURFACES["wet"].grip
    assert (wet.name, wet.title) == ("hartmoor@wet", "Hartmoor, wet")
    assert wet.road.column(RoadColumn.GRIP) == pytest.approx(factor * dry.road.column(RoadColumn.GRIP))
    assert wet.off_road.grip == pytest.approx(factor * dry.off_road.grip)
    assert wet.off_road.rolling == dry.off_road.rolling
    rest = [c for c in RoadColumn if c != RoadColumn.GRIP]
    assert np.array_equal(wet.road.table[:, rest], dry.road.table[:, rest])
    assert dry.road.column(RoadColumn.GRIP).max() == 1.0  # untouched


def test_surfaces_are_physical():
    for surface in SURFACES.values():
        assert 0.0 < surface.grip <= 1.0
        assert 0.0 <= surface.rolling < 1.0
        assert math.isfinite(surface.grip)
