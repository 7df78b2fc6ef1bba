"""Lines of a driver on the page, read back as the game reads it."""

import struct

import pytest
from helpers.assetto.foreign_pages import pages

from trailbrake.errors import WireError
from trailbrake.sims.assetto import codec, spec
from trailbrake.sims.assetto.wire.debug_lines_writer import DebugLinesWriter, encode_line
from trailbrake.state import DebugLine
from trailbrake.transport.shm import SharedMemory


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
