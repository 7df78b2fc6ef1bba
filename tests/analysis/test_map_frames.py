import numpy as np
import pytest
from helpers.roads import circle

from trailbrake.analysis.map_frames import AHEAD, HEIGHT, VIEW, WIDTH, DrivenPath, MapFrames

YELLOW = (255, 196, 0)


@pytest.fixture
def frames():
    road = circle(100.0).road
    angle = np.linspace(0.0, np.pi, 50)
    path = DrivenPath(angle * 5.0, 100.0 * np.sin(angle), -100.0 * np.cos(angle), angle, np.full(50, 20.0))
    return MapFrames(*road.edge_lines(), True, path, "a circle")


def find_yellow(picture):
    rows, columns = np.nonzero((np.abs(picture.astype(int) - YELLOW) < 12).all(axis=2))
    return columns, rows


def test_the_car_is_where_it_is_on_both_maps(frames):
    for row in (0, 25, 49):
        picture = frames.draw_frame(row)
        assert (picture.shape, picture.dtype) == ((HEIGHT, WIDTH, 3), np.uint8)
        x, y = find_yellow(picture)
        around = x < VIEW
        assert x[around].mean() == pytest.approx(0.5 * VIEW, abs=1.5)
        assert y[around].mean() == pytest.approx(AHEAD * VIEW, abs=1.5)
    # Half a circle: from the lowest point of the overview to its highest, the same x.
    first, last = (find_yellow(frames.draw_frame(49)), find_yellow(frames.draw_frame(49)))
    assert first[1][first[0] >= VIEW].mean() == pytest.approx(last[1][last[0] >= VIEW].mean())


def test_north_is_up_and_east_is_right_on_the_overview(frames):
    places = []
    for row in (0, 24, 49):
        x, y = find_yellow(frames.draw_frame(row))
        places.append((x[x >= VIEW].mean(), y[x >= VIEW].mean()))
    south, east, north = places
    assert north[1] < east[1] < south[1]
    assert east[0] > south[0]
    assert east[0] > north[0]


def test_what_was_driven_stays_on_the_overview(frames):
    before = frames.draw_frame(0)[120:, VIEW:]
    after = frames.draw_frame(49)[120:, VIEW:]
    green = (after[..., 1] > 150) & (after[..., 0] < 120)
    assert green.sum() > 50
    assert not ((before[..., 1] > 150) & (before[..., 0] < 120)).any()
