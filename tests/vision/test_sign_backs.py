import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from trailbrake.vision.sign_backs import BACK_COLOUR, find_sign_backs
from vision import draw

# Protocol page formula-trend, section 5: 0.21 m above the camera; boards of 0.115 m, twice as wide as tall.
HEIGHT, WIDTH = 0.21, 0.115


def with_board(distance, left=0.0, colour=BACK_COLOUR, height=HEIGHT, width=WIDTH):
    pixels = draw.frame(look="A")
    row, column = draw.ROW - draw.FOCAL * height / distance, draw.COLUMN - draw.FOCAL * left / distance
    w, h = 0.5 * draw.FOCAL * width / distance, 0.25 * draw.FOCAL * WIDTH / distance
    pixels[max(round(row - h), 0) : max(round(row + h), 0), max(round(column - w), 0) : round(column + w)] = colour
    return draw.through_jpeg(pixels)


@pytest.mark.parametrize("distance", [0.8, 1.5, 2.5])
def test_a_board_from_behind_tells_how_far_and_where(distance):
    (back,) = find_sign_backs(with_board(distance, left=0.1))
    assert back.distance == pytest.approx(distance, rel=0.1)
    assert back.column == pytest.approx(draw.COLUMN - draw.FOCAL * 0.1 / distance, abs=2.0)


@pytest.mark.parametrize(
    "other",
    [{"colour": (8, 4, 4)}, {"colour": (175, 25, 32)}, {"colour": (120, 110, 100)}, {"height": 0.05}, {"height": 0.5},
     {"width": 0.4}, {"width": 0.05}],
)  # fmt: skip
def test_fronts_cars_and_posts_are_no_backs(other):
    assert find_sign_backs(with_board(1.5, **other)) == []
    assert find_sign_backs(draw.through_jpeg(draw.frame(look="B"))) == []


@settings(max_examples=20)
@given(arrays(np.uint8, (240, 320, 3), elements=st.integers(40, 80), fill=st.sampled_from([48, 59, 63])))
def test_any_picture_has_an_answer(pixels):
    for back in find_sign_backs(pixels):
        assert 0.0 < back.distance < 120.0
        assert 0 <= back.column < 320
