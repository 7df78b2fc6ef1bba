"""The pages that all clients share."""

import math

import pytest
from helpers.assetto.foreign_pages import let_go, pages
from hypothesis import given
from hypothesis import strategies as st

from trailbrake.sims.assetto import codec, spec
from trailbrake.sims.assetto.wire.host_pages import HostPages, SharedPages
from trailbrake.state.commands import MAX_TIME_SCALE, MIN_TIME_SCALE


@pytest.fixture
def shared(tmp_path):
    made = SharedPages(HostPages(tmp_path))
    yield made
    made.close()
    let_go()


def draw(folder, *lines, count=None):
    data = bytearray(codec.encode_debug_lines(lines))
    if count is not None:
        data[:4] = count.to_bytes(4, "little", signed=True)
    (pages(folder) / spec.DEBUG_LINES).write_bytes(bytes(data).ljust(codec.DEBUG_SIZE, b"\0"))


def test_without_pages_nothing_is_asked_for(shared):
    shared.open_pages()
    assert shared.read_sim_state() == codec.SimState()
    shared.read_debug_lines()
    assert shared.debug_lines == ()


def test_lines_are_read_counted_and_checked(shared, tmp_path):
    good = codec.LineRecord((1.0, 2.0, 3.0), (4.0, 5.0, 6.0), 0xFF00FF00)
    draw(tmp_path, good, good)
    shared.open_pages()
    for _ in range(3):
        shared.read_debug_lines()
    assert shared.debug_lines == (good, good)
    assert (shared._pages.counts["messages_in"], shared.rejected_lines) == (1, 0)  # a message is a change
    draw(tmp_path, good, good._replace(end=(math.nan, 0.0, 0.0)))
    shared.read_debug_lines()
    assert shared.debug_lines == (good,)
    assert shared.rejected_lines == 1


@pytest.mark.parametrize(("count", "drawn", "rejected"), [(-1, 0, 1), (586, 585, 0), (2**31 - 1, 585, 0)])
def test_a_count_that_the_page_cannot_hold(shared, tmp_path, count, drawn, rejected):
    draw(tmp_path, codec.LineRecord(), count=count)
    shared.open_pages()
    shared.read_debug_lines()
    assert (len(shared.debug_lines), shared.rejected_lines) == (drawn, rejected)
    draw(tmp_path, *[codec.LineRecord()] * 585)
    shared.read_debug_lines()
    assert len(shared.debug_lines) == 585


def test_a_page_that_goes_takes_its_wish_along(shared, tmp_path):
    (pages(tmp_path) / spec.SIM_STATE_V0).write_bytes(b"\1\0\0\0")
    shared.open_pages()
    assert shared.read_sim_state().pause == 1
    (pages(tmp_path) / spec.SIM_STATE_V0).unlink()
    shared.open_pages()
    assert shared.read_sim_state().pause == 0


@given(raw=st.binary(min_size=8, max_size=8))
def test_any_bytes_give_a_pace_that_can_be_kept(raw):
    shared = SharedPages.__new__(SharedPages)
    shared.sim_state = codec.decode_sim_v1(raw)
    assert MIN_TIME_SCALE <= shared.time_scale <= MAX_TIME_SCALE
