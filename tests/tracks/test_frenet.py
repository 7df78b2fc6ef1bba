import math
import os
import subprocess
import sys
import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from trailbrake.tracks import frenet, layout
from trailbrake.tracks.road import Road, RoadColumn
from trailbrake.tracks.road_builder import build_road
from trailbrake.tracks.track_library import load_track

CLOSED = ("hartmoor", "pinegrove", "kartwerk", "copperbowl")
ROADS = {name: load_track(name).road for name in (*CLOSED, "serpent_pass", "proving_ground")}
names = st.sampled_from(sorted(ROADS))
shares = st.floats(0.0, 1.0, exclude_max=True)
sides = st.floats(-1.0, 1.0)


def circle(radius=100.0, rows=400, left=True):
    angle = np.arange(rows) * 2.0 * np.pi / rows
    sign = 1.0 if left else -1.0
    return Road.from_columns(
        2.0 * np.pi * radius / rows,
        True,
        radius * np.cos(angle),
        sign * radius * np.sin(angle),
        sign * (angle + np.pi / 2.0),
        np.full(rows, sign / radius),
        width_left=5.0,
    )


def place(road, share, side):
    """A place on the road or its run-off that has one perpendicular only."""
    s = share * road.length
    i, j, _ = frenet.bracket_rows(road.kernel_table, s)
    left = side > 0.0
    reach = road.table[i, RoadColumn.WIDTH_LEFT if left else RoadColumn.WIDTH_RIGHT]
    reach += road.table[i, RoadColumn.RUNOFF_LEFT if left else RoadColumn.RUNOFF_RIGHT]
    inside = max(0.0, math.copysign(1.0, side) * max(road.table[[i, j], RoadColumn.CURVATURE], key=abs))
    return s, side * min(reach, 0.9 / inside if inside else math.inf)


def along(road, a, b):
    """Distance from a to b along the road, the short way round."""
    step = a - b
    return abs(step - road.length * round(step / road.length)) if road.closed else abs(step)


@settings(max_examples=400)
@given(names, shares, sides)
def test_locate_inverts_point(name, share, side):
    road = ROADS[name]
    s, offset = place(road, share, side)
    x, y, _ = road.point(s, offset)
    found, found_offset, row = road.locate(x, y, int(s / road.spacing))
    assert along(road, found, s) < 2e-9  # one Newton step of a thousandth of a millimetre, and rounding
    assert found_offset == pytest.approx(offset, abs=2e-9)
    assert along(road, row * road.spacing, found) < 1.001 * road.spacing


@settings(max_examples=200)
@given(names, shares, st.floats(-1.0, 1.0), st.integers(-6, 6))
def test_hint_and_global_search_agree_on_the_road(name, share, side, away):
    road = ROADS[name]
    s = share * road.length
    width = road.column_at(s, RoadColumn.WIDTH_LEFT if side > 0 else RoadColumn.WIDTH_RIGHT)
    x, y, _ = road.point(s, side * float(width))
    rows = len(road.table)
    hint = int(s / road.spacing) + away
    hint = hint % rows if road.closed else min(max(hint, 0), rows - 1)
    assert road.locate(x, y, hint) == pytest.approx(road.locate(x, y), abs=1e-9)


@given(st.floats(-math.pi, math.pi), st.floats(40.0, 300.0), st.booleans())
@settings(max_examples=200)
def test_circle_is_found_as_mathematics_has_it(angle, distance, left):
    road = circle(left=left)
    s, offset, _ = road.locate(distance * math.cos(angle), distance * math.sin(angle))
    assert offset == pytest.approx((100.0 - distance) * (1.0 if left else -1.0), abs=1e-5)
    expected = (angle if left else -angle) % (2.0 * math.pi) * 100.0
    assert along(road, s, expected) < 1e-5
    assert 0.0 <= s < road.length


@pytest.mark.parametrize("name", CLOSED)
def test_no_steps_anywhere_round_a_lap_seam_included(name):
    road = ROADS[name]
    s = np.linspace(-5.0, road.length + 5.0, 40_000)
    reach = 0.8 * np.minimum(
        road.column_at(s, RoadColumn.WIDTH_LEFT), 1.0 / np.maximum(road.column_at(s, RoadColumn.CURVATURE), 1e-9)
    )
    found = road.locate_many(road.points(s, reach)[:, :2])
    step = np.mod(np.diff(found[:, 0]) + 0.5 * road.length, road.length) - 0.5 * road.length
    assert step.min() > 0.0
    assert step.max() < 1.01 * (s[1] - s[0]) + 1e-6
    assert np.abs(found[:, 1] - reach).max() < 1e-6


def hairpin():
    """Two straights 16 m apart, joined by a half circle: either lies in the other's run-off."""
    return build_road(layout.parse_layout("""
        closed = false
        runoff = 20.0
        [[segment]]
        straight = 100.0
        [[segment]]
        radius = 8.0
        turn = 180.0
        transition = 2.0
        [[segment]]
        straight = 100.0
        """, "hairpin.toml"))  # fmt: skip


def test_a_hint_keeps_to_its_own_leg_where_two_come_close():
    road = hairpin()
    x, y, _ = road.point(30.0, 10.0)  # nearer to the other leg's centreline
    assert road.locate(x, y)[0] > 150.0
    assert road.locate(x, y, int(28.0 / road.spacing))[:2] == pytest.approx((30.0, 10.0), abs=1e-6)


@settings(max_examples=200)
@given(names, shares, shares)
def test_teleport_is_found_in_spite_of_the_old_hint(name, share, old):
    road = ROADS[name]
    x, y, _ = road.point(share * road.length, 0.0)
    s, offset, _ = road.locate(x, y, int(old * len(road.table)))
    if abs(offset) < 1e-6:
        assert along(road, s, share * road.length) < 1e-5
    else:  # the run-off of the leg where it was: the hint is believed
        assert (
            abs(offset) < road.table[:, RoadColumn.WIDTH_LEFT].max() + road.table[:, RoadColumn.RUNOFF_LEFT].max() + 2.0
        )


@given(st.sampled_from(["serpent_pass", "proving_ground"]), st.floats(0.1, 25.0), st.floats(-3.0, 3.0))
@settings(max_examples=100)
def test_open_road_goes_on_straight_beyond_its_ends(name, beyond, offset):
    road = ROADS[name]
    for s in (-beyond, road.length + beyond):
        x, y, z = road.point(s, offset)
        for hint in (-1, 0 if s < 0 else len(road.table) - 1):
            found = road.locate(x, y, hint)
            assert found[:2] == pytest.approx((s, offset), abs=1e-9)
        assert z == pytest.approx(road.point(0.0 if s < 0 else road.length)[2], abs=0.1 * beyond + 0.2)


@given(st.floats(-1e7, 1e7), st.floats(-1e7, 1e7), st.integers(-5, 10**6))
@settings(max_examples=200)
def test_any_place_has_an_answer(x, y, hint):
    for road in ROADS.values():
        s, offset, row = road.locate(x, y, hint)
        assert math.isfinite(s)
        assert math.isfinite(offset)
        assert 0 <= row < len(road.table)


def test_at_wraps_and_goes_on_across_the_seam():
    road = circle()
    s = np.array([0.0, road.length - 1.0, road.length - 1e-3, road.length, -1.0, 2.0 * road.length + 1.0])
    yaw = road.column_at(s, RoadColumn.YAW)
    assert np.cos(yaw) == pytest.approx(np.cos(s / 100.0 + np.pi / 2.0), abs=1e-4)
    assert yaw[2] == pytest.approx(2.5 * np.pi, abs=1e-3)  # unwrapped: just before a whole turn
    assert np.asarray(road.column_at(3.0, RoadColumn.WIDTH_LEFT)).shape == ()
    assert road.column_at([[1.0, 2.0]], RoadColumn.GRIP).shape == (1, 2)


def test_open_road_holds_its_end_columns():
    road = ROADS["serpent_pass"]
    assert road.column_at(-10.0, RoadColumn.Z) == road.table[0, RoadColumn.Z]
    assert road.column_at(road.length + 10.0, RoadColumn.Z) == road.table[-1, RoadColumn.Z]


def test_banked_surface_is_high_on_the_left_for_positive_bank():
    road = Road.from_columns(1.0, False, np.arange(5.0), np.zeros(5), np.zeros(5), np.zeros(5), bank=0.2)
    assert road.point(2.0, 1.0)[2] == pytest.approx(math.tan(0.2))


def test_table_of_the_wrong_shape_is_refused():
    with pytest.raises(ValueError, match=r"Road\.table"):
        Road(np.zeros((5, 3)), 1.0, True)


@pytest.mark.slow
def test_plain_python_twin_gives_the_same_numbers():
    code = """
import numpy as np
from trailbrake.kernels import BACKEND
from trailbrake.tracks.track_library import load_track
assert BACKEND == "python"
road = load_track("kartwerk").road
rng = np.random.default_rng(5)
s, offset = rng.uniform(0, road.length, 40), rng.uniform(-4, 4, 40)
points = road.points(s, offset)
print(repr([tuple(map(float, road.locate(p[0], p[1], int(a)))) for p, a in zip(points, s)]))
print(repr([float(v) for v in road.column_at(s, 3)]))
"""
    environment = {**os.environ, "TRAILBRAKE_KERNELS": "python"}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    places, yaws = (eval(line) for line in done.stdout.splitlines())
    road = ROADS["kartwerk"]
    rng = np.random.default_rng(5)
    s, offset = rng.uniform(0, road.length, 40), rng.uniform(-4, 4, 40)
    for point, a, expected in zip(road.points(s, offset), s, places, strict=True):
        assert road.locate(point[0], point[1], int(a)) == pytest.approx(expected, abs=1e-9)
    assert road.column_at(s, RoadColumn.YAW) == pytest.approx(yaws, abs=1e-12)


def test_locate_is_cheap():
    road = ROADS["hartmoor"]
    points = np.ascontiguousarray(road.points(np.linspace(0.0, road.length, 100_000), 3.0)[:, :2])
    road.locate_many(points[:10])
    best = math.inf
    for _ in range(5):
        begin = time.perf_counter()
        road.locate_many(points)
        best = min(best, time.perf_counter() - begin)
    assert best / len(points) < 1e-6  # s; 0.1e-6 on an idle machine
