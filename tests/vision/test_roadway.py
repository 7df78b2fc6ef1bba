import math

import numpy as np
import pytest

from trailbrake.vision.lanes import is_road, road_middle

GRASS, ASPHALT, WHITE, SKY = (90, 130, 60), (95, 95, 98), (235, 235, 230), (150, 180, 220)


def picture(*stretches, size=(120, 160)):
    """Sky above, grass below, and asphalt in columns from .. to."""
    pixels = np.empty((*size, 3), np.uint8)
    pixels[:] = GRASS
    pixels[: size[0] // 2] = SKY
    for start, end in stretches:
        pixels[size[0] // 2 :, start:end] = ASPHALT
    return pixels


def test_asphalt_is_road_and_nothing_else_is():
    assert is_road(np.array([GRASS, ASPHALT, WHITE, SKY, (5, 5, 5)], np.uint8)).tolist() == [False, True] + [False] * 3


@pytest.mark.parametrize(("start", "end", "where"), [(40, 120, 0.0), (0, 80, -0.5), (100, 160, 0.623)])
def test_the_middle_of_a_stretch(start, end, where):
    assert road_middle(picture((start, end)), 0.7) == pytest.approx(where, abs=0.02)


def test_a_line_does_not_part_the_road_and_a_gap_does():
    pixels = picture((40, 120))
    pixels[60:, 78:82] = WHITE
    assert road_middle(pixels, 0.7) == pytest.approx(0.0, abs=0.02)
    assert road_middle(picture((0, 30), (80, 160)), 0.7) == pytest.approx(0.5, abs=0.02)  # the wider one


def test_no_road():
    assert math.isnan(road_middle(picture(), 0.7))
    assert math.isnan(road_middle(picture((40, 120)), 0.2))  # the sky
    assert road_middle(picture((40, 120)), 1.0) == pytest.approx(0.0, abs=0.02)  # the last row
