import numpy as np
import pytest
from frames import STRAIGHT

from trailbrake.tracks.miniature.layout import HALF_WIDTH
from trailbrake.tracks.miniature.load import load, names
from trailbrake.tracks.miniature.track import Row
from trailbrake.world.camera.raster import NOWHERE, Ground, foot


def where(ground, x, y):
    return foot(ground.left, ground.right, ground.near, ground.corner, x, y)


@pytest.mark.parametrize("name", names())
def test_the_foot_of_a_place_is_found_to_a_fraction_of_a_millimetre(name):
    track = load(name)
    ground = Ground.of(track)
    rng = np.random.default_rng(0)
    for half, table in enumerate(track.halves):
        rows = rng.integers(0, len(table), 300)
        offsets = rng.uniform(-HALF_WIDTH + 0.001, HALF_WIDTH - 0.001, 300)
        for k, offset in zip(rows.tolist(), offsets.tolist(), strict=True):
            x = table[k, Row.X] - offset * table[k, Row.SIN]
            y = table[k, Row.Y] + offset * table[k, Row.COS]
            found, _, s, aside = where(ground, x, y)
            assert found == half
            assert aside == pytest.approx(offset, abs=3e-4)
            gap = abs(s - table[k, Row.S])
            assert min(gap, track.lengths[half] - gap) < 5e-4


def test_the_halves_meet_in_one_line():
    ground = Ground.of(STRAIGHT)
    assert where(ground, 12.34, 1e-6)[0] == 0
    assert where(ground, 12.34, -1e-6)[0] == 1
    assert where(ground, 12.34, 0.1)[3] == pytest.approx(0.1 - HALF_WIDTH)
    assert where(ground, 12.34, -0.1)[3] == pytest.approx(HALF_WIDTH - 0.1)


@pytest.mark.parametrize("place", [(12.0, 3.0), (-1e6, 0.0), (1e6, 1e6), (12.0, -1.2)])
def test_beside_the_road_is_nowhere(place):
    half, _, _, offset = where(Ground.of(STRAIGHT), *place)
    assert (half, offset) == (-1, NOWHERE)
