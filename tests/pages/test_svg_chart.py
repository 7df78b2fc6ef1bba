"""Charts: round numbers at the axes, and what is no number is left out."""

import math
import re

import pytest

from trailbrake.pages.svg_chart import ChartFrame, draw_polyline, find_range, find_ticks


@pytest.mark.parametrize(
    ("bounds", "ticks"),
    [
        ((0.0, 1.0), [0.0, 0.2, 0.4, 0.6, 0.8, 1.0]),
        ((17.9, 60.7), [20.0, 30.0, 40.0, 50.0, 60.0]),
        ((-3.66, 3.66), [-2.0, 0.0, 2.0]),
        ((0.0, 1821.0), [0.0, 500.0, 1000.0, 1500.0]),
        ((3690.0, 6800.0), [4000.0, 5000.0, 6000.0]),
        ((5.0, 5.0), [5.0]),
    ],
)
def test_an_axis_has_lines_at_round_numbers(bounds, ticks):
    assert find_ticks(bounds) == pytest.approx(ticks)


def test_the_range_of_finite_numbers():
    assert find_range([[1.0, math.nan], [math.inf, -2.0]]) == (-2.0, 1.0)
    assert find_range([]) == find_range([[math.nan]]) == (0.0, 1.0)


def test_the_corners_of_a_frame():
    frame = ChartFrame((0.0, 10.0), (-1.0, 1.0), 100, 80)
    assert (float(frame.place_x(0.0)), float(frame.place_x(10.0))) == (52.0, 88.0)
    assert (float(frame.place_y(-1.0)), float(frame.place_y(1.0))) == (56.0, 12.0)
    assert draw_polyline("one", frame.place_x([0, 5, 10]), frame.place_y([0, math.nan, 1])) == (
        '<polyline class="one" points="52.0,34.0 88.0,12.0"/>'
    )


def test_a_figure_has_its_parts_and_an_escaped_title():
    frame = ChartFrame((0.0, 1.0), (0.0, 1.0))
    figure = frame.draw_figure("a < b", frame.draw_points([0.5, math.inf], [0.5, 0.5]))
    assert figure.count("<circle") == 1
    assert "a &lt; b</figcaption>" in figure
    assert re.findall(r'text-anchor="(middle|end)">([0-9.]+)</text>', figure)[-1] == ("end", "1")
