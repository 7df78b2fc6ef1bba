import numpy as np
import pytest
from helpers.roads import circle

from trailbrake.env.map_frames import AHEAD, HEIGHT, VIEW, WIDTH, CarPlace, MapFrames

YELLOW = (255, 196, 0)


@pytest.fixture
def frames():
    return MapFrames(*circle(100.0).road.edge_lines(), True, "a circle")


def draw(frames, row, *others):
    angle = np.pi * row / 49.0
    place = CarPlace(100.0 * np.sin(angle), -100.0 * np.cos(angle), angle, 60.0)
    return frames.draw_frame(5.0 * angle, [place, *others])


def find_yellow(picture):
    rows, columns = np.nonzero((np.abs(picture.astype(int) - YELLOW) < 12).all(axis=2))
    return columns, rows


def test_the_car_is_where_it_is_on_both_maps(frames):
    for row in (0, 25, 49):
        picture = draw(frames, row)
        assert (picture.shape, picture.dtype) == ((HEIGHT, WIDTH, 3), np.uint8)
        x, y = find_yellow(picture)
        around = x < VIEW
        assert x[around].mean() == pytest.approx(0.5 * VIEW, abs=1.5)
        assert y[around].mean() == pytest.approx(AHEAD * VIEW, abs=1.5)
    # Half a circle: from the lowest point of the overview to its highest, the same x.
    first, last = (find_yellow(draw(frames, 49)), find_yellow(draw(frames, 49)))
    assert first[1][first[0] >= VIEW].mean() == pytest.approx(last[1][last[0] >= VIEW].mean())


def test_north_is_up_and_east_is_right_on_the_overview(frames):
    places = []
    for row in (0, 24, 49):
        x, y = find_yellow(draw(frames, row))
        places.append((x[x >= VIEW].mean(), y[x >= VIEW].mean()))
    south, east, north = places
    assert north[1] < east[1] < south[1]
    assert east[0] > south[0]
    assert east[0] > north[0]


def test_what_was_driven_stays_on_the_overview(frames):
    before = draw(frames, 0)[120:, VIEW:]
    for row in range(1, 50):
        after = draw(frames, row)[120:, VIEW:]
    green = (after[..., 1] > 150) & (after[..., 0] < 120)
    assert green.sum() > 50
    assert not ((before[..., 1] > 150) & (before[..., 0] < 120)).any()


def test_other_cars_have_another_colour(frames):
    picture = draw(frames, 0, CarPlace(8.0, -99.0, 0.0, 10.0))
    blue = (np.abs(picture.astype(int) - (120, 170, 255)) < 12).all(axis=2)
    rows, _ = np.nonzero(blue[:, :VIEW])
    assert rows.mean() < AHEAD * VIEW - 20
    assert blue[120:, VIEW:].any()
