"""Both versions of SimState, as the game of either age finds them."""

import sys

import pytest
from helpers.assetto.foreign_pages import let_go, pages

from trailbrake.sims.assetto import codec, spec
from trailbrake.sims.assetto.wire.sim_state_pages import SimStatePages
from trailbrake.transport.shm import SharedMemory

REQUEST = codec.SimState(pause=1, disable_collisions=1, extra_sleep_ms=7, time_scale=10.0)


@pytest.fixture
def folder(tmp_path):
    yield pages(tmp_path)
    let_go()


def test_the_old_version_is_the_first_half_of_the_new_one(folder, tmp_path):
    made = SimStatePages(SharedMemory(tmp_path))
    made.close()
    assert not made.is_open
    made.write_state(REQUEST)
    assert made.is_open
    assert (folder / spec.SIM_STATE_V1).read_bytes()[:8] == bytes.fromhex("0100010700002041")
    assert (folder / spec.SIM_STATE_V0).read_bytes()[:8] == bytes.fromhex("0100010700000000")
    for _ in range(2):
        made.close()
    assert not made.is_open
    assert not (folder / spec.SIM_STATE_V1).exists()
    made.write_state(REQUEST)
    made.close(remove=False)
    if sys.platform != "win32":  # a section ends with its last handle there
        assert (folder / spec.SIM_STATE_V1).exists()
    made.write_state(REQUEST)
    made.close(remove=True)
    assert not (folder / spec.SIM_STATE_V1).exists()


def test_pages_of_others_are_read_and_stay(folder, tmp_path):
    assert SimStatePages(SharedMemory(tmp_path)).read_state() == codec.SimState()
    (folder / spec.SIM_STATE_V0).write_bytes(bytes([0, 0, 1, 7]))
    made = SimStatePages(SharedMemory(tmp_path))
    assert made.read_state() == codec.SimState(disable_collisions=1, extra_sleep_ms=7)
    (folder / spec.SIM_STATE_V1).write_bytes(codec.encode_sim_v1(REQUEST._replace(time_scale=0.0)))
    assert made.read_state() == REQUEST._replace(time_scale=1.0)  # 0 is the 1 of a page that was only made
    (folder / spec.SIM_STATE_V1).write_bytes(codec.encode_sim_v1(REQUEST._replace(time_scale=0.5)))
    assert made.read_state() == REQUEST._replace(time_scale=0.5)
    made.write_state(codec.SimState())
    made.close()
    assert (folder / spec.SIM_STATE_V0).exists()
    made.write_state(codec.SimState())
    made.close(remove=True)


def test_a_page_cut_short_requests_nothing(folder, tmp_path):
    (folder / spec.SIM_STATE_V1).write_bytes(b"\1")
    (folder / spec.SIM_STATE_V0).write_bytes(bytes([1, 0, 0, 0]))
    state = SimStatePages(SharedMemory(tmp_path)).read_state()
    assert state.pause == 1
