"""What is drawn in the game, against its page's own layout and limits."""

import itertools
import struct

import numpy as np
import pytest
from helpers.assetto.foreign_pages import pages

from trailbrake.cars.car_library import load_car
from trailbrake.errors import WireError
from trailbrake.planning.course import Course
from trailbrake.sims.assetto import codec, draw, spec
from trailbrake.sims.assetto.draw import DebugLinesWriter, encode_line
from trailbrake.state import CarState, Controls, DebugLine
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


def test_axes_and_colour():
    line = encode_line(DebugLine((1.0, 2.0, 3.0), (4.0, 5.0, 6.0), 0xFF8000))
    assert (line.start, line.end) == ((2.0, 3.0, 1.0), (5.0, 6.0, 4.0))  # left, up, forward
    assert line.color == 0xFF0080FF  # red in the lowest byte


@pytest.mark.parametrize(
    ("rgb", "wire"), [(0, 0xFF000000), (0x010000, 0xFF000001), (0x000100, 0xFF000100), (0x000001, 0xFF010000),
                      (0x123456, 0xFF563412), (0xFFFFFF, 0xFFFFFFFF)]
)  # fmt: skip
def test_a_colour_is_opaque_with_red_in_the_lowest_byte(rgb, wire):
    assert encode_line(DebugLine((0.0, 0.0, 0.0), (1.0, 0.0, 0.0), rgb)).color == wire


def test_the_page_has_the_newest_lines_and_goes_with_its_writer(tmp_path):
    page = pages(tmp_path) / spec.DEBUG_LINES
    writer = DebugLinesWriter(SharedMemory(tmp_path))
    assert not page.exists()
    record = codec.LineRecord((1.0, 2.0, 3.0), (4.0, 5.0, 6.0), 0xFF00FF00)
    writer.write_lines([record] * 3)
    data = page.read_bytes()
    assert len(data) >= 16384
    assert struct.unpack_from("<i6fI", data) == (3, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 0xFF00FF00)
    writer.write_lines([])
    assert page.read_bytes()[:4] == bytes(4)
    with pytest.raises(WireError):
        writer.write_lines([record] * 586)
    writer.close()
    assert not page.exists()
    writer.close()


def test_several_writers_share_the_page(tmp_path):
    def draw(writer, first, count):
        writer.write_lines([codec.LineRecord((float(first + k), 0.1, 0.0)) for k in range(count)])

    def read():
        drawn = codec.decode_debug_lines((folder / spec.DEBUG_LINES).read_bytes())
        return sorted(round(line.start[0]) for line in drawn)

    folder = pages(tmp_path)
    one, two = DebugLinesWriter(SharedMemory(tmp_path)), DebugLinesWriter(SharedMemory(tmp_path))
    for first in (0, 10, 20):
        draw(one, first, 3)
        draw(two, 1000 + first, 2)
        assert read() == [first, first + 1, first + 2, 1000 + first, 1001 + first]
    draw(two, 21, 2)  # two of the other one's, as both draw one plan
    assert read() == [20, 21, 22]
    draw(one, 0, 400)
    draw(two, 1000, 500)
    draw(one, 0, 400)
    assert read() == [*range(293), *range(1000, 1292)], "half of a page that is full"
    one.close()
    assert read() == [*range(1000, 1292)], "those of one who still draws"
    draw(two, 1000, 500)
    assert read() == [*range(1000, 1500)]
    two.close()
    assert not (folder / spec.DEBUG_LINES).exists() or read() == []
