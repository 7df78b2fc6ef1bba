"""What is drawn in the game, against its page's own layout and limits."""

import itertools
import struct

import numpy as np
import pytest

from trailbrake.cars.car_library import load_car
from trailbrake.planning.course import Course
from trailbrake.sims.assetto import codec, draw, spec
from trailbrake.state import CarState, Controls
from trailbrake.tracks.road import Road, RoadColumn
from trailbrake.tracks.track_library import load_track
from trailbrake.transport.shm import SharedMemory

# Colours that read alike with red and blue exchanged (section 2.6).
ALIKE = {0xFFFFFFFF, 0xFF00FF00, 0xFFFF00FF, 0xFF808080}


def a_course(accelerations, closed=True, n=2000):
    """A circle of radius 300 m, or its open like, with a plan made for it."""
    angle = 2.0 * np.pi * np.arange(n) / n
    x, y = 300.0 * np.sin(angle), 300.0 - 300.0 * np.cos(angle)
    line = Road.from_columns(2.0 * np.pi * 300.0 / n, closed, x, y, angle, np.full(n, 1.0 / 300.0), z=2.0)
    course = Course(load_track("kartwerk"), load_car("kart"))
    course.__dict__["line"] = line  # where the cached property would put its own
    course.__dict__["profile"] = type("Plan", (), {"acceleration": np.resize(accelerations, n)})
    return course


def test_the_plan_goes_all_round_in_colours_that_read_alike_both_ways():
    lines = draw.plan_lines(a_course([3.0, -3.0, 0.0]))
    assert len(lines) == 585 - 40
    assert {line.color for line in lines} == {draw.GREEN, draw.MAGENTA, draw.GREY} <= ALIKE
    assert draw.WHITE in ALIKE
    assert lines[0].start == pytest.approx((0.0, 2.15, 0.0), abs=1e-6)  # game's x, y (up), z; a little above the road
    assert lines[-1].end == pytest.approx(lines[0].start)  # closed
    assert all(a.end == b.start for a, b in itertools.pairwise(lines))
    # A quarter round our circle is at (300, 300): the game's z and x.
    assert lines[len(lines) // 4].start == pytest.approx((300.0, 2.15, 300.0), abs=3.0)


def test_colours_tell_what_to_do():
    course = a_course([3.0])
    assert {line.color for line in draw.plan_lines(course)} == {draw.GREEN}
    assert {line.color for line in draw.plan_lines(a_course([-3.0]))} == {draw.MAGENTA}


def test_an_open_line_has_two_ends():
    lines = draw.plan_lines(a_course([0.0], closed=False))
    assert np.linalg.norm(np.subtract(lines[-1].end, lines[0].start)) < 2.0  # one row short of the circle
    assert lines[-1].end != lines[0].start
    assert len(draw.plan_lines(a_course([0.0], closed=False, n=5))) == 4


def test_the_preview_is_two_seconds_of_the_line():
    lines = draw.preview_lines(a_course([0.0]), 0.0, 50.0, (1.0, 2.0, 3.0))
    assert lines[0].start == pytest.approx((2.0, 3.3, 1.0))
    assert len(lines) == 39
    length = sum(np.linalg.norm(np.subtract(line.end, line.start)) for line in lines[1:])
    assert length == pytest.approx(100.0, rel=0.05)
    assert {line.color for line in lines} == {draw.WHITE}


def test_a_page_is_full_to_its_last_line_and_wiped_in_the_end(tmp_path):
    course = a_course([3.0, -3.0, 0.0])
    drawing = draw.PlanDrawing(course, doors=tmp_path)
    drawing.start({})
    state = CarState(x=0.0, y=0.0, z=2.0, speed=40.0)
    drawing.tick(state, Controls())
    page = SharedMemory(tmp_path).open_page(spec.DEBUG_LINES, 16384)
    raw = page.read(16384)
    (count,) = struct.unpack_from("<i", raw)
    assert count == 545 + 39 <= 585  # as many as the page holds, by the document
    first = struct.unpack_from("<6fI", raw, 4 + 39 * 28)  # behind the way ahead
    assert first[6] in ALIKE
    assert first[:3] == pytest.approx((0.0, 2.15, 0.0))
    assert len(codec.decode_debug_lines(raw)) == count
    # Ten times a second: nothing for the next samples, though the car is elsewhere.
    for _ in range(32):
        drawing.tick(CarState(x=300.0, y=300.0, z=2.0, speed=0.0), Controls())
    assert page.read(16384) == raw
    drawing.tick(CarState(x=300.0, y=300.0, z=2.0, speed=0.0), Controls())
    assert page.read(16384) != raw
    drawing.close()
    assert page.read(4) == b"\0\0\0\0"
    page.close()
    assert not SharedMemory(tmp_path).page_exists(spec.DEBUG_LINES)
    drawing.close()


def test_a_line_has_the_document_s_layout():
    """The golden vector of section 10, with a line of ours."""
    golden = bytes.fromhex("010000000000803f0000004000004040000080400000a0400000c04000ff00ff")
    assert codec.encode_debug_lines([codec.LineRecord((1, 2, 3), (4, 5, 6), draw.GREEN)]) == golden


def test_the_real_plan_is_drawn_too():
    course = Course(load_track("kartwerk"), load_car("kart"))
    lines = draw.plan_lines(course)
    assert len(lines) <= 545
    places = np.array([line.start for line in lines])
    _, offset = course.line.locate_many(places[:, [2, 0]], 0).T
    assert np.abs(offset).max() < 1e-6
    assert places[:, 1] == pytest.approx(course.line.column(RoadColumn.Z)[0] + 0.15, abs=5.0)
