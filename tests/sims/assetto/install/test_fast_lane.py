"""Lines against bytes made by hand, and against files that lie about themselves."""

import math
import struct
import tracemalloc

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from trailbrake.errors import DataError, UsageError
from trailbrake.sims.assetto.install import fast_lane

NO_GRID = struct.pack("<i", 0)


def line(n=4, *, grid=NO_GRID, speed=50.0, extras=None):
    """A version 7 file, number by number off the page: point k is at (k, 10 + k, -k)."""
    data = struct.pack("<iiii", 7, n, 123456, 0)
    for k in range(n):
        data += struct.pack("<ffffi", k, 10.0 + k, -k, 2.0 * k, k)
    data += struct.pack("<i", n if extras is None else extras)
    for k in range(n):
        data += struct.pack(
            "<18f", speed + k, 0.5, 0.25, 0.0, 100.0, 4.0 + k, 5.0 + k, 0.0625, 1.0, 0.0, 1.0, 0.0, 2.0, 0.0, 0.0, 1.0,
            7.0, 0.125,
        )  # fmt: skip
    return data + grid


def test_a_file_made_by_hand():
    lane = fast_lane.decode_fast_lane(line())
    assert (lane.version, lane.lap_time, lane.sample_count) == (7, 123456, 0)
    assert lane.points["place"].tolist() == [[k, 10 + k, -k] for k in range(4)]
    assert lane.points["length"].tolist() == [0.0, 2.0, 4.0, 6.0]
    assert lane.points["id"].tolist() == [0, 1, 2, 3]
    assert lane.extras["side_left"].tolist() == [4.0, 5.0, 6.0, 7.0]
    assert lane.extras["side_right"].tolist() == [5.0, 6.0, 7.0, 8.0]
    assert lane.extras["normal"].tolist() == [[0.0, 1.0, 0.0]] * 4
    assert lane.extras["forward"].tolist() == [[0.0, 0.0, 1.0]] * 4
    assert (lane.extras["camber"][0], lane.extras["tag"][0], lane.extras["grade"][0]) == (0.0625, 7.0, 0.125)
    assert lane.speed.tolist() == [50.0, 51.0, 52.0, 53.0]


def test_sizes_are_the_documents():
    # 1754 points make 830628 bytes with their grid (section 7); without it these are left.
    assert (fast_lane.POINT.itemsize, fast_lane.EXTRA.itemsize) == (20, 72)
    assert len(line(100, grid=b"")) == 20 + 100 * 20 + 100 * 72


def test_speeds_that_no_car_reaches_in_m_per_s_are_km_per_h():
    assert fast_lane.decode_fast_lane(line(speed=180.0)).speed == pytest.approx(
        [50.0, 50.2778, 50.5556, 50.8333], abs=1e-3
    )


@pytest.mark.parametrize("grid", [struct.pack("<i", 0), struct.pack("<i6f", 1, *range(6)) + b"rest", b""])
def test_what_was_read_is_written_again(grid):
    data = line(grid=grid)
    assert fast_lane.encode_fast_lane(fast_lane.decode_fast_lane(data)) == data


def test_a_file_without_extras():
    data = line(extras=0)[: 20 + 4 * 20]
    lane = fast_lane.decode_fast_lane(data)
    assert lane.extras is None
    assert lane.speed is None
    assert fast_lane.encode_fast_lane(lane) == data


def test_the_old_version():
    data = struct.pack("<ii", -1, 3) + b"".join(struct.pack("<ffffi", k, 1.0, 2.0, 0.0, k) for k in range(3))
    lane = fast_lane.decode_fast_lane(data)
    assert lane.version == -1
    assert lane.extras is None
    assert lane.points["place"][2].tolist() == [2.0, 1.0, 2.0]
    assert fast_lane.encode_fast_lane(lane) == data


def at(data, offset, fmt, value):
    return data[:offset] + struct.pack(fmt, value) + data[offset + struct.calcsize(fmt) :]


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "x.ai: the line is cut short, expected a header, got 0 bytes"),
        (line()[:12], "x.ai: the line is cut short, expected a header, got 12 bytes"),
        (at(line(), 0, "<i", 8), "x.ai: unknown version of a line, expected 7 or -1, got 8"),
        (at(line(), 4, "<i", 0), "x.ai: no number of points, expected 3 .. 18 points, as many as 392 bytes can hold"),
        (at(line(), 4, "<i", -5), "no number of points"),
        (at(line(), 4, "<i", 2**31 - 1), "no number of points"),
        (at(line(), 96, "<i", 3), "x.ai: the line contradicts itself, expected 4 extras, one a point, got 3"),
        (line()[:98], "expected a count of extras, got the end of the file"),
        (line()[:300], "no number of extras, expected 3 .. 2 extras"),
        (at(line(), 16 + 20 + 4, "<f", math.nan), r"x.ai: point 1 at byte 36: a point is nowhere"),
        (at(line(), 16 + 60, "<f", math.inf), r"x.ai: point 3 at byte 76: a point is nowhere"),
        (at(line(), 100 + 72 + 20, "<f", math.nan), "x.ai: side_left of point 1: an edge is nowhere"),
        (struct.pack("<ii", -1, 2**30), "no number of points, expected 3 .. 0 points"),
    ],
)
def test_files_that_lie(data, message):
    with pytest.raises(DataError, match=message) as error:
        fast_lane.decode_fast_lane(data, "x.ai")
    assert "\n" not in str(error.value)


def test_a_count_of_two_thousand_million_allocates_nothing():
    data = at(line(), 4, "<i", 2**31 - 1)
    tracemalloc.start()
    try:
        with pytest.raises(DataError):
            fast_lane.decode_fast_lane(data)
        assert tracemalloc.get_traced_memory()[1] < 100_000
    finally:
        tracemalloc.stop()


def test_reading(tmp_path, monkeypatch):
    path = tmp_path / "fast_lane.ai"
    with pytest.raises(UsageError, match=r"cannot read the line, got (No such file|File not found)"):
        fast_lane.read_fast_lane(path)
    path.write_bytes(line())
    assert len(fast_lane.read_fast_lane(path).points) == 4
    monkeypatch.setattr(fast_lane, "MAX_BYTES", 100)
    with pytest.raises(DataError, match=r"fast_lane.ai: the line is too large, expected 100 bytes at most, got \d+"):
        fast_lane.read_fast_lane(path)


@settings(max_examples=100)
@given(cut=st.integers(0, 391), where=st.integers(0, 391), value=st.integers(0, 255))
def test_a_good_file_cut_or_scribbled_on(cut, where, value):
    good = line()
    scribbled = bytearray(good)
    scribbled[where] = value
    for data in (good[:cut], bytes(scribbled)):
        try:
            lane = fast_lane.decode_fast_lane(data)
        except DataError:
            continue
        assert fast_lane.encode_fast_lane(lane)[: len(data)] == data[: len(fast_lane.encode_fast_lane(lane))]
