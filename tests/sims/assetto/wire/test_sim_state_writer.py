"""Commands to the simulation, from our link to our host."""

from trailbrake.sims.assetto import spec
from trailbrake.sims.assetto.wire import acpmf
from trailbrake.state import Controls, Phase, SimCommand


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
