"""Commands to the simulation, from our link to our host."""

import sys

import pytest
from helpers.assetto.foreign_pages import let_go, pages

from trailbrake.sims.assetto import codec, spec
from trailbrake.sims.assetto.wire import acpmf
from trailbrake.sims.assetto.wire.sim_state_writer import SimStatePages, SimStateWriter, requested_fields
from trailbrake.state import Controls, Phase, SimCommand
from trailbrake.transport.shm import SharedMemory

REQUEST = codec.SimState(pause=1, disable_collisions=1, extra_sleep_ms=7, time_scale=10.0)


@pytest.mark.parametrize(
    ("command", "change"),
    [
        (SimCommand(), {}),
        (SimCommand(pause=True), {"pause": 1}),
        (SimCommand(pause=False), {"pause": 0}),
        (SimCommand(collisions=True), {"disable_collisions": 0}),
        (SimCommand(collisions=False), {"disable_collisions": 1}),
        (SimCommand(time_scale=0.5), {"time_scale": 0.5}),
        (SimCommand(extra_sleep=0.0), {"extra_sleep_ms": 0}),
        (SimCommand(extra_sleep=0.002), {"extra_sleep_ms": 2}),
        (SimCommand(extra_sleep=0.0021), {"extra_sleep_ms": 3}),
        (SimCommand(extra_sleep=0.255), {"extra_sleep_ms": 255}),
        (SimCommand(extra_sleep=9.0), {"extra_sleep_ms": 255}),
        (SimCommand(extra_sleep=-1.0), {"extra_sleep_ms": 0}),
        (SimCommand(restart=True), {}),  # an edge
    ],
)
def test_a_command_changes_what_it_names_and_nothing_else(command, change):
    assert requested_fields(command) == change


def test_the_pages_request_a_restart_for_a_tenth_of_a_second(tmp_path):
    folder = pages(tmp_path)
    writer = SimStateWriter(SharedMemory(tmp_path), 0, False)
    assert (writer.is_restarting, writer.is_paused) == (False, False)
    writer.reset_requests()
    writer.apply_command(SimCommand())
    assert not (folder / spec.SIM_STATE_V1).exists(), "nothing is requested yet"
    writer.apply_command(SimCommand(restart=True, pause=True))
    for now, restarting in ((5.0, True), (5.09, True), (5.125, False)):
        writer.update_restart(now)
        assert (writer.is_restarting, writer.is_paused) == (restarting, True)
        assert (folder / spec.SIM_STATE_V1).read_bytes()[:2] == bytes([1, restarting])
    writer.apply_command(SimCommand(restart=True))
    writer.update_restart(9.0)
    assert writer.is_restarting, "counted from the new request"
    writer.reset_requests()
    assert (writer.is_restarting, writer.is_paused) == (False, False)
    assert (folder / spec.SIM_STATE_V1).read_bytes()[:8] == codec.encode_sim_v1(codec.SimState())
    writer.close()
    assert not (folder / spec.SIM_STATE_V1).exists()


def test_pause_and_resume(session):
    link = session.connect()
    session.drive(link, Controls(throttle=1.0), 20)
    link.send_command(SimCommand(pause=True))
    session.tick(20)  # the host looks for the page now and then
    steps, sequence = session.plant.steps, link.read(session.now).sequence
    state = session.drive(link, Controls(throttle=1.0), 333)
    assert session.plant.steps == steps
    assert session.host.paused
    assert (state.phase, state.sequence) == (Phase.PAUSED, sequence)
    link.send_command(SimCommand(pause=False))
    assert link.read(session.now).phase is Phase.DRIVING  # a pause that ends is no silence
    state = session.drive(link, Controls(throttle=1.0), 2)
    assert state.phase is Phase.DRIVING
    assert state.sequence == sequence + 2
    assert link.counters.stale == 0


def test_restart_is_one_pulse(session):
    link = session.connect()
    session.drive(link, Controls(throttle=1.0), 50)
    link.send_command(SimCommand(restart=True))
    page = session.folder / spec.SIM_STATE_V1
    assert page.read_bytes()[:8] == bytes.fromhex("00010000 0000803f")  # the time scale is 1 from the first write
    session.drive(link, Controls(), 40)
    assert [c.restart for i, c in session.plant.heard if i == 0] == [True]
    assert page.read_bytes()[1] == 0


def test_collisions_between_cars(session):
    link = session.connect()
    for wanted in (False, True):
        link.send_command(SimCommand(collisions=wanted))
        session.drive(link, Controls(), 20)
    assert [c.collisions for _, c in session.plant.heard] == [False, True]


def test_a_pause_of_the_player_s_is_no_loss(session):
    link = session.connect()
    session.drive(link, Controls(throttle=1.0), 10)
    (session.folder / acpmf.GRAPHICS_NAME).write_bytes(acpmf.encode_graphics(acpmf.Graphics(status=acpmf.PAUSE)))
    assert link.read(session.now + 0.3).phase is Phase.PAUSED
    (session.folder / acpmf.GRAPHICS_NAME).write_bytes(acpmf.encode_graphics(acpmf.Graphics(status=acpmf.LIVE)))
    assert link.read(session.now + 0.3).phase is Phase.LOST
    (session.folder / acpmf.GRAPHICS_NAME).unlink()


def test_a_drive_leaves_and_restores_what_others_have_requested(session):
    """The user has switched collisions off; another program requests a pace while the car drives, and a pause."""
    other = SimStatePages(SharedMemory(session.folder))
    other.write_fields({"disable_collisions": 1, "extra_sleep_ms": 2})
    link = session.connect()
    session.drive(link, Controls(), 5)
    link.send_command(SimCommand(time_scale=0.5, extra_sleep=0.007))
    assert other.read_state() == codec.SimState(disable_collisions=1, extra_sleep_ms=7, time_scale=0.5)
    other.write_fields({"time_scale": 2.0})
    link.release()
    assert other.read_state() == codec.SimState(disable_collisions=1, extra_sleep_ms=2, time_scale=2.0)
    link.close()
    assert other.read_state() == codec.SimState(disable_collisions=1, extra_sleep_ms=2, time_scale=2.0)
    other.close(remove=True)


def test_a_pause_of_another_program_s_is_no_loss(session):
    link = session.connect()
    session.drive(link, Controls(throttle=1.0), 10)
    other = SimStatePages(SharedMemory(session.folder))
    other.write_fields({"pause": 1})
    assert link.read(session.now + 0.3).phase is Phase.PAUSED
    other.close(remove=True)
    assert link.read(session.now + 0.6).phase is Phase.LOST


def test_of_two_drives_that_set_the_pace_the_slower_one_does(tmp_path):
    """And when it ends, the other one's pace is back; in the end there is none."""
    memory = SharedMemory(tmp_path)
    quick, slow = SimStateWriter(memory, 0, False), SimStateWriter(memory, 1, False)
    locks = [memory.acquire_lock(spec.controls_name(index)) for index in (0, 1)]
    quick.apply_command(SimCommand(extra_sleep=0.007))
    assert (quick.find_foreign_step_time(0.003), slow.find_foreign_step_time(0.003)) == (0.0, pytest.approx(0.010))
    slow.apply_command(SimCommand(extra_sleep=0.047))
    assert (quick.find_foreign_step_time(0.003), slow.find_foreign_step_time(0.003)) == (pytest.approx(0.050), 0.0)
    slow.reset_requests()
    assert quick.read_state() == codec.SimState(extra_sleep_ms=7)
    slow.apply_command(SimCommand(extra_sleep=0.047))
    quick.reset_requests()
    quick.close()
    locks.pop(0).close()
    assert slow.read_state() == codec.SimState(extra_sleep_ms=47), "that of a drive that goes on"
    slow.reset_requests()
    assert slow.read_state() == codec.SimState(), "nobody requests 7 ms any more"
    slow.close()
    locks.pop().close()


def test_a_link_keeps_a_longer_step_of_another_program(session):
    link = session.connect()
    other = SimStatePages(SharedMemory(session.folder))
    other.write_fields({"extra_sleep_ms": 50})
    assert link.set_step_time(0.020) == pytest.approx(0.053, rel=1e-3)
    assert link.set_step_time(0.100) == pytest.approx(0.100, rel=1e-2)
    assert other.read_state().extra_sleep_ms == 97
    assert link.set_step_time(0.020) == pytest.approx(0.020, rel=0.05)
    link.close()
    assert other.read_state().extra_sleep_ms == 50
    other.close(remove=True)


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
