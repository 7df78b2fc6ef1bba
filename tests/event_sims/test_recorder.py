"""A recorder between our host and agents that are not ours: both see each other as if it were not there."""

import json
import time

import pytest
from helpers.event_pairs import place
from helpers.socketio_agents import Agent, listening

from trailbrake.errors import DataError, UsageError
from trailbrake.event_sims.options import EventRecordOptions, EventServeOptions, host_period
from trailbrake.event_sims.recorder import EventRecordingSession, build_relay_settings
from trailbrake.sims.udacity_pid import spec
from trailbrake.sims.udacity_pid.host import Host
from trailbrake.sims.udacity_pid.link import Link
from trailbrake.world.plant import World

SOON = 20.0


class Straight(Agent):
    def drive(self, data):
        return 0.0, 0.5


def open_session(tmp_path, agent_port, source=None):
    options = EventRecordOptions(connect=f"127.0.0.1:{agent_port}", raw=tmp_path / f"{source is None}.events.jsonl")
    settings = build_relay_settings(options, 0, None)
    return EventRecordingSession(Link(spec.LiveOptions()), options, settings, source)


@pytest.mark.parametrize("dialect", ["auto", "bare"])
def test_what_passes_is_recorded_and_passes_unchanged(tmp_path, dialect):
    agent, states = Straight(), []
    with listening(agent) as agent_port, open_session(tmp_path, agent_port) as session:
        port = session._relay._listener.address[1]
        track, car = place()
        options = EventServeOptions(connect=f"127.0.0.1:{port}", pace="lockstep", dialect=dialect)
        host = Host(World(track, [car], period=host_period(options)), options)
        host.open(time.monotonic())
        deadline = time.monotonic() + SOON
        while len(states) < 30:
            assert time.monotonic() < deadline, "it never came"
            host.tick(time.monotonic())
            states += [state for state, _ in session.record_available(time.monotonic())]
        host.close()
        counts = session.summary()["link"]
    assert [float(data["time"]) for data in agent.seen[:20]] == pytest.approx([state.time for state in states[:20]])
    assert states[-1].speed > 0.3
    assert states[-1].throttle == pytest.approx(0.5)
    assert counts["received"] == len(states)
    assert counts["commands"] >= 29
    assert counts["rejected"] == 0
    with open_session(tmp_path, 1, source=tmp_path / "True.events.jsonl") as again:
        found = []
        while not again.ended:
            found += [state for state, _ in again.record_available(0.0)]
    assert [state.time for state in found] == [state.time for state in states]
    first = json.loads((tmp_path / "True.events.jsonl").read_text().splitlines()[0])
    assert set(first) == {"time", "sender", "text"}


def test_an_agent_that_is_not_there_yet_is_called_until_it_is(tmp_path):
    agent = Straight()
    with listening(agent) as agent_port:
        pass
    with open_session(tmp_path, agent_port) as session:
        port = session._relay._listener.address[1]
        track, car = place()
        options = EventServeOptions(connect=f"127.0.0.1:{port}", pace="lockstep", dialect="bare")
        host = Host(World(track, [car], period=host_period(options)), options)
        host.open(time.monotonic())
        deadline = time.monotonic() + SOON
        while not session.warnings:
            assert time.monotonic() < deadline
            host.tick(time.monotonic())
            list(session.record_available(time.monotonic()))
        assert session.warnings.popleft() == (
            f"the simulator has called; no agent answers at 127.0.0.1:{agent_port} yet"
        )
        host.close()


def test_addresses_and_tables_that_cannot_be():
    same = EventRecordOptions(connect="127.0.0.1:4567")
    with pytest.raises(UsageError, match="--connect: the agent and the recorder at one address"):
        build_relay_settings(same, None, None)
    with pytest.raises(UsageError, match="make no table"):
        build_relay_settings(EventRecordOptions(), None, "laps.csv")


def test_a_file_that_is_no_recording_is_named_with_its_line(tmp_path):
    file = tmp_path / "x.events.jsonl"
    file.write_text('{"time":0.0,"sender":"agent","text":"2"}\nnonsense\n')
    with open_session(tmp_path, 1, source=file) as session, pytest.raises(DataError, match="line 2: no line of a raw"):
        list(session.record_available(0.0))
