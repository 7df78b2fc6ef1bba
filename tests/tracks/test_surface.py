import math
import time

import numpy as np
import pytest

from trailbrake.kernels import jit
from trailbrake.tracks.frenet import span
from trailbrake.tracks.kerbs import WIDTH
from trailbrake.tracks.load import load
from trailbrake.tracks.road import Column, Road
from trailbrake.tracks.surface import KERB_HEIGHT, KERB_PITCH, KERB_TEETH, kerb_height, surface_at, surface_between
from trailbrake.tracks.track import SURFACES

OFF = (0.6, 0.08)


def straight(**more):
    s = np.arange(0.0, 61.0, 1.5)
    columns = {"width_left": 5.0, "width_right": 4.0, "grip": 0.9, "kerb_left": WIDTH, "kerb_right": 0.5} | more
    return Road.from_columns(1.5, False, s, 0.0 * s, 0.0 * s, 0.0 * s, **columns)


def at(road, s, offset):
    return surface_at(road.table, road.spacing, road.closed, s, offset, *OFF)


def test_road_kerb_and_ground():
    road = straight()
    assert at(road, 20.0, 0.0) == (0.9, 0.0, 0.0, True)
    assert at(road, 20.0, 4.999) == (0.9, 0.0, 0.0, True)
    assert at(road, 20.0, -3.999) == (0.9, 0.0, 0.0, True)
    grip, rolling, height, on_track = at(road, 20.0, 5.6)
    assert grip == pytest.approx(0.9 * SURFACES["kerb"].grip)  # the road's own grip counts: wet kerbs are slippery
    assert (rolling, on_track) == (SURFACES["kerb"].rolling, False)
    assert 0.5 * KERB_HEIGHT < height <= KERB_HEIGHT
    assert at(road, 20.0, 5.0 + WIDTH + 0.001) == (*OFF, 0.0, False)
    assert at(road, 20.0, -4.2)[0] == pytest.approx(0.9 * SURFACES["kerb"].grip)
    assert at(road, 20.0, -4.6) == (*OFF, 0.0, False)


def test_without_a_kerb_the_ground_begins_at_the_edge():
    road = straight(kerb_left=0.0)
    assert at(road, 20.0, 5.0) == (0.9, 0.0, 0.0, True)
    assert at(road, 20.0, math.nextafter(5.0, 6.0)) == (*OFF, 0.0, False)


def test_a_kerb_has_no_edge_to_hit():
    across = np.linspace(0.0, WIDTH, 2001)
    for s in (0.0, 0.5 * KERB_PITCH, 7.13):
        height = np.array([kerb_height(s, a, WIDTH) for a in across])
        assert height[0] == 0.0
        assert height[-1] == pytest.approx(0.0, abs=1e-12)
        slope = np.diff(height) / np.diff(across)
        assert np.abs(slope[[0, -1]]).max() < 1e-3  # tangent to road and ground
        assert np.abs(np.diff(slope)).max() < 1e-3  # and no crease between
        assert np.abs(slope).max() < 0.2
    assert max(kerb_height(0.5 * KERB_PITCH, a, WIDTH) for a in across) == pytest.approx(KERB_HEIGHT, rel=1e-5)


def test_teeth_repeat_along_the_road():
    s = np.linspace(0.0, 10.0 * KERB_PITCH, 4001)
    height = np.array([kerb_height(a, 0.65 * WIDTH, WIDTH) for a in s])
    assert np.ptp(height) == pytest.approx(KERB_TEETH, rel=1e-3)
    spectrum = np.abs(np.fft.rfft(height[:-1] - height[:-1].mean()))
    assert int(spectrum.argmax()) == 10


def test_a_kerb_that_narrows_is_lower():
    top = [max(kerb_height(0.3, a, width) for a in np.linspace(0.0, width, 101)) for width in (0.3, 0.6, 1.2, 2.0)]
    assert top[0] == pytest.approx(0.25 * top[2])
    assert top[1] == pytest.approx(0.5 * top[2])
    assert top[3] == pytest.approx(top[2])


def test_rows_known_already_give_the_same():
    road = load("hartmoor").road
    rng = np.random.default_rng(2)
    kinds = set()
    for s, offset in zip(rng.uniform(-10.0, road.length + 10.0, 3000), rng.uniform(-9.0, 9.0, 3000), strict=True):
        found = at(road, s, offset)
        rows = span(road.table, road.spacing, road.closed, s)
        assert surface_between(road.table, *rows, s, offset, *OFF) == found
        side = (Column.WIDTH_LEFT, Column.KERB_LEFT) if offset > 0.0 else (Column.WIDTH_RIGHT, Column.KERB_RIGHT)
        edge, kerb = (float(road.at(s, c)) for c in side)
        beyond = abs(offset) - edge
        if min(abs(beyond), abs(beyond - kerb)) > 1e-9:
            kind = "road" if beyond <= 0.0 else "kerb" if beyond < kerb else "ground"
            kinds.add(kind)
            assert (found[3], found[0] == OFF[0]) == (kind == "road", kind == "ground")
    assert kinds == {"road", "kerb", "ground"}


@jit
def _drive(table, spacing, closed, s, offset, out):
    for k in range(s.shape[0]):
        out[k, 0], out[k, 1], out[k, 2], _ = surface_at(table, spacing, closed, s[k], offset[k], 0.6, 0.08)


def test_it_is_cheap_and_finite_everywhere():
    road = load("hartmoor").road
    rng = np.random.default_rng(1)
    s = np.arange(100_000) * 0.3
    offset = rng.uniform(-9.0, 9.0, len(s))
    out = np.empty((len(s), 3))
    best = math.inf
    for _ in range(5):
        begin = time.perf_counter()
        _drive(road.table, road.spacing, road.closed, s, offset, out)
        best = min(best, time.perf_counter() - begin)
    assert np.isfinite(out).all()
    assert 0.0 <= out[:, 2].min() <= out[:, 2].max() <= KERB_HEIGHT
    print(f"surface_at: {best / len(s) * 1e9:.0f} ns a call")
    assert best / len(s) < 0.5e-6  # s; 25e-9 on an idle machine
