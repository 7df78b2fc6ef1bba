"""The pages that all clients share."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from strangers import let_go, pages

from trailbrake.sims.assetto import codec, spec
from trailbrake.sims.assetto.session import SharedPages
from trailbrake.sims.assetto.slot import Counts
from trailbrake.transport.shm import SharedMemory


@pytest.fixture
def shared(tmp_path):
    made = SharedPages(SharedMemory(tmp_path), False, Counts())
    yield made
    made.close()
    let_go()


def draw(folder, *lines, count=None):
    data = bytearray(codec.encode_debug_lines(lines))
    if count is not None:
        data[:4] = count.to_bytes(4, "little", signed=True)
    (pages(folder) / spec.DEBUG_LINES).write_bytes(bytes(data).ljust(codec.DEBUG_SIZE, b"\0"))


def test_without_pages_nothing_is_asked_for(shared):
    shared.look()
    assert shared.take_sim() == codec.SimState()
    shared.take_lines()
    assert shared.lines == ()


def test_lines_are_read_counted_and_checked(shared, tmp_path):
    good = codec.DebugLine((1.0, 2.0, 3.0), (4.0, 5.0, 6.0), 0xFF00FF00)
    draw(tmp_path, good, good)
    shared.look()
    for _ in range(3):
        shared.take_lines()
    assert shared.lines == (good, good)
    assert (shared._counts.number["messages_in"], shared.rejected_lines) == (1, 0)  # a message is a change
    draw(tmp_path, good, good._replace(end=(math.nan, 0.0, 0.0)))
    shared.take_lines()
    assert shared.lines == (good,)
    assert shared.rejected_lines == 1


@pytest.mark.parametrize("count", [-1, 586, 2**31 - 1])
def test_a_count_that_the_page_cannot_hold(shared, tmp_path, count):
    draw(tmp_path, codec.DebugLine(), count=count)
    shared.look()
    shared.take_lines()
    assert (shared.lines, shared.rejected_lines) == ((), 1)
    draw(tmp_path, *[codec.DebugLine()] * 585)
    shared.take_lines()
    assert len(shared.lines) == 585


def test_a_page_that_goes_takes_its_wish_along(shared, tmp_path):
    (pages(tmp_path) / spec.SIM_STATE_V0).write_bytes(b"\1\0\0\0")
    shared.look()
    assert shared.take_sim().pause == 1
    (pages(tmp_path) / spec.SIM_STATE_V0).unlink()
    shared.look()
    assert shared.take_sim().pause == 0


@given(raw=st.binary(min_size=8, max_size=8))
def test_any_bytes_give_a_pace_that_can_be_kept(raw):
    shared = SharedPages.__new__(SharedPages)
    shared.sim = codec.decode_sim_v1(raw)
    assert 0.0 < shared.time_scale < math.inf
