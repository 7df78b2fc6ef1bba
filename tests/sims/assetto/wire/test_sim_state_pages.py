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
    made.write_fields(REQUEST._asdict())
    assert made.is_open
    assert (folder / spec.SIM_STATE_V1).read_bytes()[:8] == bytes.fromhex("0100010700002041")
    assert (folder / spec.SIM_STATE_V0).read_bytes()[:8] == bytes.fromhex("0100010700000000")
    for _ in range(2):
        made.write_fields(codec.SimState()._asdict())
        made.close()
    assert not made.is_open
    assert not (folder / spec.SIM_STATE_V1).exists()
    made.write_fields(REQUEST._asdict())
    made.close(remove=False)
    if sys.platform != "win32":  # a section ends with its last handle there
        assert (folder / spec.SIM_STATE_V1).exists()
    made.write_fields(REQUEST._asdict())
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
    made.write_fields(codec.SimState()._asdict())
    made.close()
    assert (folder / spec.SIM_STATE_V0).exists()
    made.write_fields(codec.SimState()._asdict())
    made.close(remove=True)


def test_a_page_cut_short_requests_nothing(folder, tmp_path):
    (folder / spec.SIM_STATE_V1).write_bytes(b"\1")
    (folder / spec.SIM_STATE_V0).write_bytes(bytes([1, 0, 0, 0]))
    state = SimStatePages(SharedMemory(tmp_path)).read_state()
    assert state.pause == 1


def test_what_two_programs_write_at_once_does_not_meet(folder, tmp_path):
    one, two = SimStatePages(SharedMemory(tmp_path)), SimStatePages(SharedMemory(tmp_path))
    one.write_fields({"pause": 1})
    assert two.write_fields({"disable_collisions": 1}) == codec.SimState(pause=1, disable_collisions=1)
    assert one.write_fields({"time_scale": 0.5}) == codec.SimState(pause=1, disable_collisions=1, time_scale=0.5)
    assert (folder / spec.SIM_STATE_V0).read_bytes()[:4] == bytes([1, 0, 1, 0])
    one.close()  # it made them
    assert two.read_state().time_scale == 0.5, "another program requests still"
    two.close(remove=True)


@pytest.mark.skipif(sys.platform == "win32", reason="a section that is held cannot be removed there")
def test_pages_that_another_program_has_removed_are_made_again(folder, tmp_path):
    made = SimStatePages(SharedMemory(tmp_path))
    made.write_fields({"pause": 1})
    (folder / spec.SIM_STATE_V1).unlink()
    (folder / spec.SIM_STATE_V0).unlink()
    assert made.write_fields({"extra_sleep_ms": 5}) == codec.SimState(extra_sleep_ms=5)
    assert (folder / spec.SIM_STATE_V1).read_bytes()[:8] == bytes.fromhex("000000050000803f")
    made.close(remove=True)
