"""The agent's end in front of simulators that are played by hand: the answers, one for one, and the clocks."""

import json
import threading

import pytest
from websockets.sync.client import connect

from trailbrake.driving.loop.supervisor import Supervisor
from trailbrake.event_sims.link import LONGEST_S, STALE_AFTER_S, UNKNOWN_S, UNPROMPTED, DeadTime
from trailbrake.sims.udacity_pid import spec
from trailbrake.sims.udacity_pid.link import Link
from trailbrake.state import Controls, Phase, SimCommand
from trailbrake.transport import rendezvous

TELEMETRY = {"steering_angle": "0", "throttle": "0", "speed": "10", "cte": "1.0"}
ENGINE, BARE = "/socket.io/?EIO=4&transport=websocket", "/"


class Agent:
    """A listening link on a clock of our own. `call(path)` is a simulator; a thread of its own shakes hands."""

    def __init__(self, folder):
        self.link, self.now = Link(spec.LiveOptions(), doors=folder), 0.0
        self.link.open(0.0)
        self.port = rendezvous.lookup_port(folder, "udacity_pid")

    def look(self, until):
        for _ in range(20000):
            self.link.has_new_sample()
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
            self.link.has_new_sample()
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
        assert agent.link.read(0.1 + 1.1 * STALE_AFTER_S).phase is Phase.LOST


def test_a_restart_is_the_event_that_loads_the_track_again(agent):
    with agent.call(ENGINE) as simulator:
        agent.show(simulator, framed(ENGINE, TELEMETRY))
        agent.link.send_command(SimCommand(restart=True))
        assert ["reset", {}] in answers(ENGINE, simulator, 1)


def test_the_road_has_a_width():
    from trailbrake.errors import UsageError

    with pytest.raises(UsageError, match="--half-width: no width of a road, expected > 0 m, got 0"):
        Link(spec.LiveOptions(half_width=0.0))


def test_a_stop_is_sent_without_telemetry_at_a_limited_rate_and_never_reverses(agent):
    with agent.call(ENGINE) as simulator:
        agent.show(simulator, framed(ENGINE, TELEMETRY | {"speed": "22.37"}))  # mph: 10 m/s
        agent.link.read(0.0)
        agent.link.write(Controls(throttle=1.0))
        supervisor, sent = Supervisor(), []
        for tick in range(1200):  # a minute at the rate of the loop
            state = agent.link.read(0.05 * tick)
            if supervisor.is_stale(state):
                agent.link.write(supervisor.safe_stop_controls(state))
        agent.link.send_command(SimCommand(restart=True))  # comes last
        while (answer := answers(ENGINE, simulator, 1)[0])[0] != "reset":
            sent.append(answer[1]["throttle"])
        assert sent[0] == 1.0
        stops = sent[1:]
        braking = stops.index(0.0)
        assert 8 <= braking <= 12  # 10 Hz, for the second in which a car that brakes at 10 m/s^2 would still roll
        assert set(stops[:braking]) == {-0.6}
        assert set(stops[braking:]) == {0.0}  # below 0 a standing car goes backwards
        assert 55 <= len(stops) <= 75  # 1 Hz later: each brings a telemetry
    assert agent.link.counters.stale == 1


def test_a_command_with_throttle_is_never_sent_unrequested(agent):
    with agent.call(ENGINE) as simulator:
        agent.show(simulator, framed(ENGINE, TELEMETRY))
        for now in (0.1, 0.5, 1.0):
            agent.link.read(now)
            agent.link.write(Controls(throttle=0.5))
        agent.link.send_command(SimCommand(restart=True))
        assert [name for name, _ in answers(ENGINE, simulator, 2)] == ["steer", "reset"]


def test_after_a_silence_telemetries_that_come_together_get_one_answer(agent):
    with agent.call(ENGINE) as simulator:
        agent.show(simulator, framed(ENGINE, TELEMETRY))
        agent.link.read(0.0)
        agent.link.write(Controls())
        for tick in range(100):
            agent.link.read(0.05 * tick)
            agent.link.write(Controls(brake=0.6))
        batch = "".join(framed(ENGINE, TELEMETRY))
        protocol = simulator.protocol
        with simulator.protocol_mutex:  # in one piece: one telemetry for each stop
            for _ in range(15):
                protocol.send_text(batch.encode())
            simulator.socket.sendall(b"".join(protocol.data_to_send()))
        agent.look(lambda: agent.link.counters.received >= 16)
        assert agent.link.counters.received == 16
        agent.link.read(5.1)
        agent.link.write(Controls(throttle=0.25))
        agent.link.send_command(SimCommand(restart=True))
        sent = []
        while (answer := answers(ENGINE, simulator, 1)[0])[0] != "reset":
            sent.append(answer[1]["throttle"])
        assert sent.count(0.25) == 1
        assert sent[-1] == 0.25


@pytest.mark.parametrize("text", ["garbage", '42["telemetry",{"speed":', "42[]", '42{"a":1}'])
def test_a_frame_that_cannot_be_read_is_answered_too(agent, text):
    """The simulator waits for a command after each telemetry: without one the car keeps the last, until it gives up."""
    with agent.call(ENGINE) as simulator:
        agent.show(simulator, framed(ENGINE, TELEMETRY))
        agent.link.read(0.0)
        agent.link.write(Controls(throttle=0.5))
        agent.show(simulator, text)
        assert [data["throttle"] for _, data in answers(ENGINE, simulator, 2)] == [0.5, 0.5]
        assert agent.link.unreadable == 1
        for _ in range(50):
            simulator.send(text)
        agent.look(lambda: agent.link.unreadable == 51)
        agent.link.send_command(SimCommand(restart=True))
        count = 0
        while answers(ENGINE, simulator, 1)[0][0] != "reset":
            count += 1
        assert count <= 50


def test_telemetry_that_can_no_longer_be_read_is_a_silent_simulator(agent):
    """The simulator goes on, and each message brings a command: it must be the brake, not the last throttle."""
    with agent.call(ENGINE) as simulator:
        agent.show(simulator, framed(ENGINE, TELEMETRY))
        agent.link.read(0.1)
        agent.link.write(Controls(throttle=0.5))
        supervisor, pedals = Supervisor(), []
        for tick in range(20):
            agent.show(simulator, framed(ENGINE, {**TELEMETRY, "speed": "fast"}))
            state = agent.link.read(0.1 + 0.05 * tick)
            if supervisor.is_stale(state):
                agent.link.write(supervisor.safe_stop_controls(state))
        for _, data in answers(ENGINE, simulator, 20):
            pedals.append(data["throttle"])
        assert pedals[1] == 0.5
        assert pedals[-1] < 0.0


def test_dead_time_is_that_of_the_command_whose_effect_is_seen():
    dead_time = DeadTime()
    assert dead_time.seconds == UNKNOWN_S
    dead_time.begin_call(0, 0.0)
    for k in range(UNPROMPTED, 100):  # each telemetry is answered at once, two are always on their way
        dead_time.note_telemetry(0.05 * k)
        dead_time.note_command(0.05 * k)
    assert dead_time.seconds == pytest.approx(0.1)


def test_a_longer_dead_time_counts_at_once_and_a_shorter_one_slowly():
    dead_time = DeadTime()
    dead_time.begin_call(0, 0.0)
    for time in (0.1, 0.2):
        dead_time.note_telemetry(time)
    for sent, seen in ((1.0, 1.1), (2.0, 2.3), (3.0, 3.1)):
        dead_time.note_command(sent)
        dead_time.note_telemetry(seen)
    assert 0.28 < dead_time.seconds < 0.3
    before = dead_time.seconds
    for seen in (4.0 + 2.0 * LONGEST_S, 2.0):  # a simulator that stood still, and one that was restarted
        dead_time.note_command(4.0)
        dead_time.note_telemetry(seen)
    assert dead_time.seconds == before
