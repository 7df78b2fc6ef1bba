"""Commands to the simulation, from our link to our host."""

import pytest
from helpers.assetto.foreign_pages import pages

from trailbrake.sims.assetto import codec, spec
from trailbrake.sims.assetto.wire import acpmf
from trailbrake.sims.assetto.wire.sim_state_writer import SimStateWriter, change_sim_state
from trailbrake.state import Controls, Phase, SimCommand
from trailbrake.transport.shm import SharedMemory


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
    for before in (codec.SimState(), codec.SimState(1, 1, 1, 9, 3.0)):
        assert change_sim_state(before, command) == before._replace(**change)


def test_the_pages_request_a_restart_for_a_tenth_of_a_second(tmp_path):
    folder = pages(tmp_path)
    writer = SimStateWriter(SharedMemory(tmp_path), False)
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


def test_time_scale(session):
    link = session.connect()
    assert session.host.time_scale == 1.0
    link.send_command(SimCommand(time_scale=10.0))
    session.tick(20)
    assert session.host.time_scale == 10.0
    link.release()
    session.tick(20)
    assert session.host.time_scale == 1.0


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
