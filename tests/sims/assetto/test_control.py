"""Requests from outside of a drive, in front of our host."""

import time

import pytest

from trailbrake.errors import SimulatorError
from trailbrake.sims.assetto import codec, control, spec
from trailbrake.sims.assetto.control import ControlOptions, send
from trailbrake.state import Controls, Pose, SimCommand
from trailbrake.transport.shm import LockState, SharedMemory

lasting = pytest.mark.skipif(not control.PAGES_PERSIST, reason="it is held until interrupted here: the last test")


def ask(session, **command):
    said = []
    send(SimCommand(**command), ControlOptions(), session.tick, said.append)
    session.tick(20)  # the host looks for pages now and then
    return said


def state(session):
    path = session.folder / spec.SIM_STATE_V1
    return codec.decode_sim_v1(path.read_bytes()) if path.exists() else None


@lasting
def test_pause_time_scale_and_resume(session):
    link = session.connect()
    session.drive(link, Controls(throttle=1.0), 20)
    ask(session, pause=True)
    assert session.host.paused
    ask(session, time_scale=2.0)  # what another asks for stays
    assert state(session) == codec.SimState(pause=1, time_scale=2.0)
    ask(session, pause=False, time_scale=1.0)
    assert not session.host.paused
    assert state(session) is None  # nothing is asked for: the page is gone


@lasting
def test_the_first_time_scale_written_is_not_zero(session):
    ask(session, pause=True)
    assert state(session).time_scale == 1.0
    ask(session, pause=False)


@lasting
def test_a_game_that_is_gone_is_commanded_no_more(told_session, monkeypatch):
    """Its pages outlive a killed host: they stand still, and neither its lock nor the game's process is there."""
    session, memory = told_session, SharedMemory()
    ask(session, pause=True)
    monkeypatch.setattr(SharedMemory, "read_lock_state", lambda memory, name: LockState.ABANDONED)
    for command in ({"pause": True}, {"collisions": False}, {"teleport": Pose(0.0, 0.0)}):
        with pytest.raises(SimulatorError, match="the game is gone: it ended or crashed, and its pages stand still"):
            ask(session, **command)
    ask(session, pause=False)  # what it left is taken back
    assert not memory.page_exists(spec.SIM_STATE_V1)


def test_restart_is_one_pulse(session):
    said = ask(session, restart=True)
    assert [c.restart for i, c in session.plant.heard if i == 0] == [True]
    assert "requested a restart" in said[0]
    assert state(session) is None


def test_without_a_game_nothing_is_restarted(shm, monkeypatch):
    monkeypatch.setenv("TRAILBRAKE_SHM", str(shm))
    said = []
    with pytest.raises(SimulatorError, match="no game is there, so no session can be restarted"):
        send(SimCommand(restart=True), ControlOptions(), time.monotonic, said.append)
    assert not said
    assert not any(map(SharedMemory().page_exists, (spec.SIM_STATE_V1, spec.SIM_STATE_V0)))


def test_pits_and_teleport_leave_the_car_free_again(session):
    assert ask(session, teleport=Pose(100.0, 50.0, 0.0, 1.0)) == ["car 0 was put there and stands"]
    body = session.plant.bodies[0]
    assert (body.x, body.y, body.yaw) == pytest.approx((100.0, 50.0, 1.0), abs=1e-3)
    assert ask(session, to_pits=True) == ["car 0 was put into the pits and stands"]
    assert (body.x, body.y) == (0.0, 0.0)
    assert session.host.cars_with_client == [False, False]
    session.connect()


def test_a_car_that_somebody_of_ours_drives_is_left_alone(session):
    session.connect()
    with pytest.raises(SimulatorError, match="car 0 is driven already by another trailbrake"):
        ask(session, to_pits=True)


def test_where_pages_die_with_their_makers_it_holds_until_it_is_interrupted(session, monkeypatch):
    monkeypatch.setattr(control, "PAGES_PERSIST", False)
    said = []

    def idle():
        session.tick(20)
        if said:
            assert session.host.paused
            raise KeyboardInterrupt
        return session.now

    send(SimCommand(pause=True), ControlOptions(), idle, said.append)
    assert said[-1] == "held until this program is interrupted"
    session.tick(20)
    assert not session.host.paused


def old_state(session):
    path = session.folder / spec.SIM_STATE_V0
    return codec.decode_sim_v0(path.read_bytes()) if path.exists() else None


@lasting
def test_both_versions_request_the_same(session):
    """A patch before 0.2.8 reads v0 alone: a request in v1 alone would do nothing there, without a word."""
    ask(session, pause=True, collisions=False)
    assert old_state(session) == codec.SimState(pause=1, disable_collisions=1)
    assert state(session) == codec.SimState(pause=1, disable_collisions=1)
    ask(session, pause=False, collisions=True)
    assert (state(session), old_state(session)) == (None, None)


@lasting
def test_what_a_client_of_an_old_patch_requests_stays(session):
    (session.folder / spec.SIM_STATE_V0).write_bytes(bytes([1, 0, 1, 0]))
    ask(session, time_scale=2.0)
    assert state(session) == codec.SimState(pause=1, disable_collisions=1, time_scale=2.0)
    ask(session, pause=False, time_scale=1.0, collisions=True)


@lasting
def test_a_command_says_what_the_simulation_does_now(told_session):
    session = told_session
    (said,) = ask(session, pause=True)
    assert said == "requested a pause, time scale 1; the simulation stands still"
    (said,) = ask(session, pause=False, time_scale=1.0)
    assert said == "requested no pause, time scale 1; the simulation runs at 1.00 times real time"


@pytest.mark.parametrize(
    ("requested", "pace", "line"),
    [
        (codec.SimState(pause=1), 1.0, "the simulation runs on at 1.00 times real time: is Custom AI on"),
        (codec.SimState(time_scale=4.0), 1.01, "a patch before 0.2.8 has no time scale"),
        (codec.SimState(extra_sleep_ms=7), 0.3, "7 ms of sleep after every step; the simulation runs at 0.30 times"),
        (codec.SimState(disable_collisions=1), 1.0, "no collisions between cars"),
        (codec.SimState(), float("nan"), "no page shows whether the simulation follows"),
    ],
)
def test_what_a_command_says(requested, pace, line):
    assert line in control.describe_effect(requested, pace)
