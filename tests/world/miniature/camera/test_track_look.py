import numpy as np
import pytest

from trailbrake.errors import UsageError
from trailbrake.world.miniature.camera.track_look import (
    FINEST_FOOTPRINT,
    FOOTPRINT_LEVELS,
    PAINT_REACH,
    PAINT_STEP,
    lane_colours,
    load_look,
    look_names,
)


def column(q):
    return round((PAINT_REACH - q) / PAINT_STEP)


def test_there_are_the_two_looks():
    assert look_names() == ["A", "B"]


def test_an_unknown_look_is_one_line():
    with pytest.raises(UsageError, match="no such look"):
        load_look("C")


def test_look_b_is_flat_white_and_red_with_a_thin_line_between_the_halves():
    finest = lane_colours(load_look("B"))[0]
    for q in (0.7, 0.1, -0.1, -0.7):
        assert finest[column(q)].tolist() == [255, 255, 255]
    for q in (0.39, 0.015, -0.015, -0.39):
        assert finest[column(q)].tolist() == [255, 39, 54]
    assert finest[column(0.025)].tolist() == [255, 255, 255]


def test_look_a_goes_red_blue_red_green_blue_green():
    finest = lane_colours(load_look("A"))[0].astype(int)
    expected = [(240, 92, 85), (96, 126, 160), (240, 92, 85), (106, 176, 95), (96, 126, 160), (106, 176, 95)]
    for k, colour in enumerate(expected):
        at = column(0.65 - 0.26 * k)
        lane = finest[at - 300 : at + 300]
        assert np.abs(lane - colour).max() <= 10
        assert lane[:, 0].std() > 1.0  # streaks


def test_wider_footprints_average_to_the_same_colour():
    levels = lane_colours(load_look("B")).astype(np.float64)
    inner = slice(column(0.5), column(0.02))
    for level in range(4):
        width = FINEST_FOOTPRINT * 2.0**level
        assert levels[level, inner].mean() == pytest.approx(levels[0, inner].mean(), abs=400.0 * width)
    edge = column(0.26)
    assert levels[0, edge + 3, 1] == 255.0
    assert levels[4, edge, 1] == pytest.approx(0.5 * (39.0 + 255.0), abs=6.0)  # half red, half white
    assert levels.shape[0] == FOOTPRINT_LEVELS
