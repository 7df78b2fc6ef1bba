import numpy as np
import pytest
from helpers.camera_frames import STRAIGHT

from trailbrake.world.miniature.camera.track_raster import OFF_TRACK_OFFSET, TrackRaster, locate_on_track
from trailbrake.world.miniature.layout import HALF_WIDTH
from trailbrake.world.miniature.track import HalfColumn
from trailbrake.world.miniature.track_library import load_miniature_track, miniature_track_names


def where(ground, x, y):
    return locate_on_track(ground, x, y)


@pytest.mark.parametrize("name", miniature_track_names())
def test_the_foot_of_a_place_is_found_to_a_fraction_of_a_millimetre(name):
    track = load_miniature_track(name)
    ground = TrackRaster.from_track(track)
    rng = np.random.default_rng(0)
    for half, table in enumerate(track.halves):
        rows = rng.integers(0, len(table), 300)
        offsets = rng.uniform(-HALF_WIDTH + 0.001, HALF_WIDTH - 0.001, 300)
        for k, offset in zip(rows.tolist(), offsets.tolist(), strict=True):
            x = table[k, HalfColumn.X] - offset * table[k, HalfColumn.SIN]
            y = table[k, HalfColumn.Y] + offset * table[k, HalfColumn.COS]
            found, _, s, aside = where(ground, x, y)
            assert found == half
            assert aside == pytest.approx(offset, abs=3e-4)
            gap = abs(s - table[k, HalfColumn.S])
            assert min(gap, track.lengths[half] - gap) < 5e-4


def test_the_halves_meet_in_one_line():
    ground = TrackRaster.from_track(STRAIGHT)
    assert where(ground, 12.34, 1e-6)[0] == 0
    assert where(ground, 12.34, -1e-6)[0] == 1
    assert where(ground, 12.34, 0.1)[3] == pytest.approx(0.1 - HALF_WIDTH)
    assert where(ground, 12.34, -0.1)[3] == pytest.approx(HALF_WIDTH - 0.1)


@pytest.mark.parametrize("place", [(12.0, 3.0), (-1e6, 0.0), (1e6, 1e6), (12.0, -1.2)])
def test_beside_the_road_is_nowhere(place):
    half, _, _, offset = where(TrackRaster.from_track(STRAIGHT), *place)
    assert (half, offset) == (-1, OFF_TRACK_OFFSET)
