"""A relay between our host and agents that are not ours: both see each other as if it were not there."""

import time

import pytest
from helpers.event_pairs import place
from helpers.socketio_agents import Agent, listening

from trailbrake.driving.session_recording import LinkRecordingSession
from trailbrake.errors import UsageError
from trailbrake.event_sims.options import EventRecordOptions, EventServeOptions, host_period
from trailbrake.sims import registry
from trailbrake.sims.udacity_pid.host import Host
from trailbrake.world.plant import World

SOON = 20.0


class Straight(Agent):
    def drive(self, data):
        return 0.0, 0.5


def open_session(agent_port):
    options = EventRecordOptions(connect=f"127.0.0.1:{agent_port}")
    return LinkRecordingSession(registry.find("udacity_pid"), options, 0)


def call_relay(session, dialect="bare"):
    """Return a host that calls the relay of a session."""
    track, car = place()
    port = session._link._door.address[1]
    options = EventServeOptions(connect=f"127.0.0.1:{port}", pace="lockstep", dialect=dialect)
    host = Host(World(track, [car], period=host_period(options)), options)
    host.open(time.monotonic())
    return host


@pytest.mark.parametrize("dialect", ["auto", "bare"])
def test_what_passes_is_recorded_and_passes_unchanged(dialect):
    agent, states = Straight(), []
    with listening(agent) as agent_port, open_session(agent_port) as session:
        host, deadline = call_relay(session, dialect), time.monotonic() + SOON
        while len(states) < 30:
            assert time.monotonic() < deadline, "it never came"
            host.tick(time.monotonic())
            states += [state for state, _ in session.record_available(time.monotonic())]
        host.close()
        counts = session.summary()["link"]
    assert [float(data["time"]) for data in agent.seen[:20]] == pytest.approx([state.time for state in states[:20]])
    assert states[-1].speed > 0.3
    assert states[-1].throttle == pytest.approx(0.5)
    assert counts["received"] >= len(states)


def test_an_agent_that_is_not_there_yet_is_called_until_it_is(capsys):
    agent = Straight()
    with listening(agent) as agent_port:
        pass
    with open_session(agent_port) as session:
        host, said, deadline = call_relay(session), "", time.monotonic() + SOON
        while "no agent" not in said:
            assert time.monotonic() < deadline
            host.tick(time.monotonic())
            list(session.record_available(time.monotonic()))
            said += capsys.readouterr().err
        there = f"127.0.0.1:{agent_port}"
        assert said.splitlines() == [
            f"udacity_pid: only watches: the agent at {there} drives",
            f"udacity_pid: the simulator has called; no agent answers at {there} yet",
        ]
        host.close()


def test_one_address_is_not_both_ends():
    with pytest.raises(UsageError, match="--connect: the agent and its relay at one address"):
        LinkRecordingSession(registry.find("udacity_pid"), EventRecordOptions(connect="127.0.0.1:4567"))
