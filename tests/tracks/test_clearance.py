import math

import numpy as np
import pytest

from trailbrake.tracks import layout
from trailbrake.tracks.clearance import INNER_RADIUS_SHARE, cut_runoff, wall_clearance
from trailbrake.tracks.road import RoadColumn
from trailbrake.tracks.road_builder import build_road


def stadium(radius=20.0, straight=200.0, runoff=30.0, width=8.0):
    """Two straights 2 * radius apart, joined by half circles."""
    text = f"width = {width}\nrunoff = {runoff}\n"
    for length in (straight / 2, straight, straight / 2):
        text += f"\n[[segment]]\nstraight = {length}\nadjust = true\n"
        if length == straight or "radius" not in text:
            text += f"\n[[segment]]\nradius = {radius}\nturn = 180.0\ntransition = 2.0\n"
    return build_road(layout.parse_layout(text, "stadium.toml"))


def test_the_ground_between_two_straights_is_shared():
    road = stadium()
    left, right = wall_clearance(road)
    half_way = 0.5 * np.ptp(road.column(RoadColumn.Y))  # to the other straight, of the same width
    assert half_way == pytest.approx(20.0, abs=0.5)  # clothoids widen the bends a little
    assert left[0] == pytest.approx(half_way, abs=0.02)
    assert np.all(right == math.inf)  # nothing is outside
    bend = road.column(RoadColumn.CURVATURE) > 0.99 / 20.0
    assert left[bend].max() <= INNER_RADIUS_SHARE * 20.0 * 1.02
    assert left[bend].min() > 0.8 * 20.0  # a bend does not take itself for another stretch


def test_run_off_is_cut_to_its_share_and_no_further():
    road = stadium()
    before = road.table.copy()
    least = cut_runoff(road)
    assert least == pytest.approx(INNER_RADIUS_SHARE * 20.0 - 4.0, abs=0.3)
    cut = road.column(RoadColumn.RUNOFF_LEFT)
    assert cut[0] == pytest.approx(0.5 * np.ptp(road.column(RoadColumn.Y)) - 4.0, abs=0.02)
    assert np.all(road.column(RoadColumn.RUNOFF_RIGHT) == 30.0)
    same = [c for c in RoadColumn if c != RoadColumn.RUNOFF_LEFT]
    assert np.array_equal(road.table[:, same], before[:, same])
    assert np.abs(np.diff(cut)).max() < 0.5  # m per row of 1.5 m: a wall without steps


def test_roads_with_room_are_left_alone():
    road = stadium(radius=150.0, runoff=10.0)
    before = road.table.copy()
    assert cut_runoff(road) > 100.0
    assert np.array_equal(road.table, before)


def test_a_road_without_room_for_itself_shows_as_negative():
    road = stadium()
    road.table[:, [RoadColumn.WIDTH_LEFT, RoadColumn.WIDTH_RIGHT]] = 21.0  # wider than half of the way across
    assert cut_runoff(road) < 0.0


def test_the_ends_of_an_open_road_are_different_stretches():
    """A bend of three quarters: its two straight ends lie near each other and share the ground between."""
    text = "closed = false\nwidth = 8.0\nrunoff = 40.0\n"
    for straight, turn in ((150.0, 90.0), (150.0, 90.0), (150.0, 0.0)):
        text += f"\n[[segment]]\nstraight = {straight}\n"
        text += f"\n[[segment]]\nradius = 20.0\nturn = {turn}\ntransition = 2.0\n" if turn else ""
    road = build_road(layout.parse_layout(text, "hook.toml"))
    across = road.column(RoadColumn.Y)[-1] - road.column(RoadColumn.Y)[0]
    left, right = wall_clearance(road)
    assert left[[0, -1]] == pytest.approx(0.5 * across, abs=0.1)
    assert np.all(right == math.inf)
    road.table[:, [RoadColumn.RUNOFF_LEFT, RoadColumn.RUNOFF_RIGHT]] = 150.0
    cut_runoff(road)
    assert road.column(RoadColumn.RUNOFF_LEFT)[[0, -1]] == pytest.approx(0.5 * across - 4.0, abs=0.1)
    assert np.all(road.column(RoadColumn.RUNOFF_RIGHT) == 150.0)
