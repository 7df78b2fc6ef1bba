"""The agent's end in front of simulators that are played by hand: the answers, one for one, and the clocks."""

import json
import threading

import pytest
from websockets.sync.client import connect

from trailbrake.exchange.link import STALE_S
from trailbrake.sims.udacity_pid import spec
from trailbrake.sims.udacity_pid.link import Link
from trailbrake.state import Controls, Phase, SimCommand
from trailbrake.transport import rendezvous

TELEMETRY = {"steering_angle": "0", "throttle": "0", "speed": "10", "cte": "1.0"}
ENGINE, BARE = "/socket.io/?EIO=4&transport=websocket", "/"


class Agent:
    """A listening link on a clock of our own. `call(path)` is a simulator; a thread of its own shakes hands."""

    def __init__(self, folder):
        self.link, self.now = Link(doors=folder), 0.0
        self.link.open(0.0)
        self.port = rendezvous.lookup(folder, "udacity_pid")

    def look(self, until):
        for _ in range(20000):
            self.link.fresh()
            if until():
                return
        raise AssertionError("it never came")

    def call(self, path):
        made = []
        thread = threading.Thread(
            target=lambda: made.append(connect(f"ws://127.0.0.1:{self.port}{path}", close_timeout=0.01))
        )
        thread.start()
        while thread.is_alive():
            self.link.fresh()
        return made[0]

    def show(self, simulator, text):
        received, unreadable = self.link.counters.received, self.link.unreadable
        simulator.send(text)
        self.look(lambda: self.link.counters.received > received or self.link.unreadable > unreadable)


@pytest.fixture
def agent(tmp_path):
    made = Agent(tmp_path)
    yield made
    made.link.close()


def framed(path, data):
    return json.dumps({"telemetry": data}) if path == BARE else "42" + json.dumps(["telemetry", data])


def answers(path, simulator, count):
    found = []
    while len(found) < count:
        text = simulator.recv(5.0)
        if path == BARE:
            found.append(json.loads(text))
        elif text.startswith("42"):
            found.append(json.loads(text[2:]))
    return found


@pytest.mark.parametrize("path", [ENGINE, BARE])
def test_each_telemetry_is_answered_once_in_the_framing_that_it_came_in(agent, path):
    with agent.call(path) as simulator:
        agent.show(simulator, framed(path, TELEMETRY))
        agent.now = 0.5
        state = agent.link.read(agent.now)
        assert (state.driving_line, state.phase) == (-0.25, Phase.DRIVING)
        agent.link.write(Controls(steer=0.5, throttle=0.25))
        agent.link.write(Controls(steer=1.0))  # has been answered: waits for the next
        assert answers(path, simulator, 1) == [["steer", {"steering_angle": -0.5, "throttle": 0.25}]]
        assert agent.link.dialect == ("bare" if path == BARE else "legacy")


def test_frames_of_42_without_any_handshake(agent):
    with agent.call(BARE) as simulator:
        agent.show(simulator, framed(ENGINE, TELEMETRY))
        agent.link.read(0.5)
        agent.link.write(Controls())
        assert simulator.recv(5.0) == '42["steer",{"steering_angle":-0.0,"throttle":0.0}]'
        assert agent.link.dialect == "raw"


def test_without_a_clock_on_the_wire_ours_counts_and_laps_stay_unknown(agent):
    with agent.call(ENGINE) as simulator:
        times = []
        for now in (1.0, 1.25):
            agent.link.read(now)
            agent.show(simulator, framed(ENGINE, TELEMETRY))
            state = agent.link.read(now)
            times.append(state.time)
            agent.link.write(Controls())
    assert times == [1.0, 1.25]
    assert state.lap != state.lap  # nobody tells


def test_what_cannot_be_read_is_counted_and_answered_all_the_same(agent):
    with agent.call(ENGINE) as simulator:
        agent.show(simulator, framed(ENGINE, {"cte": "left"}))
        assert answers(ENGINE, simulator, 1)[0][0] == "steer"
        assert (agent.link.unreadable, agent.link.counters.received) == (1, 0)


def test_driven_by_hand_is_a_pause_and_silence_a_loss(agent):
    with agent.call(ENGINE) as simulator:
        agent.show(simulator, framed(ENGINE, TELEMETRY))
        simulator.send('42["telemetry",{}]')
        agent.look(lambda: agent.link.read(0.1).phase is Phase.PAUSED)
        assert ["manual", {}] in answers(ENGINE, simulator, 1)
        assert agent.link.read(0.1 + 1.1 * STALE_S).phase is Phase.LOST


def test_a_restart_is_the_event_that_loads_the_track_again(agent):
    with agent.call(ENGINE) as simulator:
        agent.show(simulator, framed(ENGINE, TELEMETRY))
        agent.link.command(SimCommand(restart=True))
        assert ["reset", {}] in answers(ENGINE, simulator, 1)


def test_the_road_has_a_width():
    from trailbrake.errors import UsageError

    with pytest.raises(UsageError, match="--half-width: no width of a road, expected > 0 m, got 0"):
        Link(spec.LiveOptions(half_width=0.0))
