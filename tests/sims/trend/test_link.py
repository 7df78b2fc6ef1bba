"""The agent's end against our host in lockstep, python-socketio as the modern simulator, and rudeness."""

import asyncio
import base64
import contextlib
import json
import socket as sockets
import threading
import time
from io import BytesIO

import numpy as np
import pytest
import socketio
from helpers.waiting import let_pass, wait_until
from PIL import Image as Picture
from websockets.sync.client import connect

from sims.trend.toy import Ends
from trailbrake.errors import SimulatorError
from trailbrake.event_sims.link import REPEAT_INTERVAL_S, STALE_AFTER_S
from trailbrake.event_sims.options import EventLiveOptions
from trailbrake.sims.trend.link import Link
from trailbrake.state import Controls, Phase, SimCommand
from trailbrake.transport import rendezvous

SOON = 5.0


@pytest.fixture
def ends(tmp_path):
    ends = Ends(tmp_path)
    ends.link.open(0.0)
    yield ends
    ends.close()


def drive(ends, ticks, controls):
    states = []
    for _ in range(ticks):
        now = ends.tick()
        fresh, state = ends.link.has_new_sample(), ends.link.read(now)
        if fresh:
            states.append(state)
            ends.link.write(controls)
    return states


def test_every_command_brings_one_new_state(ends):
    states = drive(ends, 50, Controls(steer=0.5, throttle=1.0))
    assert len(states) == 50
    times = [state.time for state in states]
    assert times == pytest.approx([times[0] + i * ends.link.period for i in range(50)], abs=1e-3)
    assert [s.sequence for s in states] == list(range(states[0].sequence, states[0].sequence + 50))
    assert states[-1].speed > 1.5
    assert states[-1].steer == pytest.approx(0.5)
    assert ends.plant.controls[-1].throttle == 1.0
    assert ends.link.dialect == "legacy"  # our host behaves as the Unity program
    assert ends.host.read_counters()["rejected"] == 0
    assert ends.plant.restarts == 1  # the greeting


def test_the_picture_is_the_one_of_that_instant(ends):
    state = drive(ends, 20, Controls())[-1]
    assert state.image.pixels.shape == (240, 320, 3)
    assert int(state.image.pixels.mean()) == pytest.approx(state.time / ends.plant.period, abs=1.5)


def test_laps_are_timed_by_the_wire(ends):
    states = drive(ends, 160, Controls())
    assert states[-1].lap == 4
    assert states[-1].best_lap_time == pytest.approx(2.0, abs=0.05)
    assert 0.0 <= states[-1].lap_time < 2.0


def test_a_restart_begins_again(ends):
    drive(ends, 60, Controls())
    ends.link.send_command(SimCommand(restart=True))
    states = drive(ends, 3, Controls())
    assert ends.plant.restarts == 2
    assert states[-1].time < 0.3
    assert states[-1].lap == 1
    assert ends.link.counters.resyncs == 1


def test_two_drives_are_equal_to_the_bit(tmp_path):
    def once(folder):
        folder.mkdir()
        ends = Ends(folder)
        ends.link.open(0.0)
        states = drive(ends, 40, Controls(steer=0.3, throttle=0.7))
        ends.close()
        return [(s.time, s.speed, s.steer, s.image.data) for s in states]

    assert once(tmp_path / "a") == once(tmp_path / "b")


def test_on_closing_the_pedal_is_let_go(ends):
    drive(ends, 10, Controls(throttle=1.0))
    ends.link.release()
    ends.tick()  # the answer to the newest telemetry comes first
    ends.tick()
    assert ends.plant.controls[-1].throttle == 0.0


def test_nobody_calls(tmp_path):
    clock = iter(range(1000))
    link = Link(EventLiveOptions(wait=5.0), doors=tmp_path, idle=lambda: float(next(clock)))
    with pytest.raises(SimulatorError, match="no simulator has called, expected a call within 5 s"):
        link.open(0.0)


def test_a_simulator_that_falls_silent_is_lost_and_may_come_back(ends, tmp_path):
    drive(ends, 10, Controls())
    state = ends.link.read(ends.now + 1.5 * STALE_AFTER_S)
    assert state.phase is Phase.LOST
    assert ends.link.counters.stale == 1
    ends.host.close()
    assert ends.link.read(ends.now + 3.0).phase is Phase.LOST
    second = Ends(tmp_path)
    second.link, second.now = ends.link, ends.now + 3.0
    states = drive(second, 80, Controls())
    assert states[-1].phase is Phase.DRIVING
    assert ends.link.counters.resyncs >= 1
    second.close()


def jpeg(value=90):
    out = BytesIO()
    Picture.fromarray(np.full((240, 320, 3), value, np.uint8)).save(out, "JPEG")
    return out.getvalue()


def telemetry(at, **changes):
    data = {"steering_angle": "0", "throttle": "0", "speed": "1.5", "time": f"{at:.3f}", "lap": "1", "status": "0",
            "image": base64.b64encode(jpeg()).decode()}  # fmt: skip
    return data | changes


class Agent:
    """A listening link, polled in a thread of its own; answers every state with the same controls."""

    def __init__(self, folder):
        self.link = Link(EventLiveOptions(), doors=folder)
        self.link.open(time.monotonic())
        self.port = rendezvous.lookup_port(folder, "trend")
        self.states = []
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self):
        while not self._stop.wait(0.001):
            state = self.link.read(time.monotonic())
            if state.sequence != (self.states[-1].sequence if self.states else -1):
                self.states.append(state)
                self.link.write(Controls(steer=0.5, throttle=0.5))

    def seen(self, count):
        wait_until(lambda: len(self.states) >= count, SOON)
        return self.states

    def close(self):
        self._stop.set()
        self._thread.join()
        self.link.close()


@pytest.fixture
def agent(tmp_path):
    agent = Agent(tmp_path)
    yield agent
    agent.close()


def test_python_socketio_is_a_modern_simulator(agent):
    answers = []

    async def simulate():
        client = socketio.AsyncClient()
        done = asyncio.Event()

        @client.on("steer")
        async def steer(data):
            answers.append(data)
            if len(answers) < 5:
                await client.emit("telemetry", telemetry(0.04 * len(answers)))
            else:
                done.set()

        await client.connect(f"http://127.0.0.1:{agent.port}", transports=["websocket"])
        await asyncio.wait_for(done.wait(), SOON)
        await client.disconnect()

    asyncio.run(simulate())
    assert answers[0] == {"steering_angle": "0.0", "throttle": "0.0"}
    assert answers[-1] == {"steering_angle": "-20.0", "throttle": "0.5"}
    assert [s.speed for s in agent.seen(4)] == [1.5] * 4


def call(agent, eio=4):
    return connect(
        f"ws://127.0.0.1:{agent.port}/socket.io/?EIO={eio}&transport=websocket", max_size=None, close_timeout=0.1
    )


def until_steer(simulator):
    while True:
        text = simulator.recv(SOON)
        if text.startswith('42["steer"'):
            return json.loads(text[2:])[1]


def show(simulator, data):
    simulator.send("42" + json.dumps(["telemetry", data]))


@pytest.mark.parametrize("eio", [3, 4])
def test_a_legacy_simulator_with_either_number(agent, eio):
    with call(agent, eio) as simulator:
        simulator.send("2")
        until_steer(simulator)  # the greeting
        show(simulator, telemetry(0.04))
        assert until_steer(simulator) == {"steering_angle": "-20.0", "throttle": "0.5"}
        assert agent.seen(1)[0].speed == 1.5


def test_driving_by_hand_is_answered_and_is_a_pause(agent):
    with call(agent) as simulator:
        simulator.send("2")
        until_steer(simulator)
        for data in (None, {}):
            show(simulator, data)
            while not (text := simulator.recv(SOON)).startswith('42["manual"'):
                pass
            assert text == '42["manual",{}]'


def test_a_picture_cut_short_shows_the_last_good_one(agent):
    with call(agent) as simulator:
        simulator.send("2")
        until_steer(simulator)
        for at, picture in ((0.04, jpeg(90)), (0.08, jpeg(200)[:300]), (0.12, b""), (0.16, jpeg(200))):
            show(simulator, telemetry(at, image=base64.b64encode(picture).decode()))
            until_steer(simulator)
        means = [int(state.image.pixels.mean()) for state in agent.seen(4)]
    assert means == [90, 90, 90, 200]
    assert agent.link.unreadable == 2


@pytest.mark.slow
def test_a_frame_of_50_mb_ends_that_connection_only(agent):
    with contextlib.suppress(Exception), call(agent) as simulator:
        simulator.send("2")
        until_steer(simulator)
        show(simulator, telemetry(0.04, image="A" * 50_000_000))
        simulator.recv(SOON)
    with call(agent) as simulator:
        simulator.send("2")
        until_steer(simulator)
        show(simulator, telemetry(0.04))
        until_steer(simulator)
    assert len(agent.seen(1)) == 1


class Listener:
    """A link at a public address, on a clock of our own, polled here; `steers` are the commands sent so far."""

    def __init__(self):
        self.link, self.now = Link(EventLiveOptions(listen="127.0.0.1:0")), 0.0
        self.link.open(0.0)
        self.port = self.link._door.address[1]

    def call(self):
        made = []
        thread = threading.Thread(target=lambda: made.append(call(self)), daemon=True)
        thread.start()
        while thread.is_alive():
            self.link.has_new_sample()
        return made[0]

    def show(self, simulator, data):
        received = self.link.counters.received
        show(simulator, data)
        deadline = time.monotonic() + SOON
        while self.link.counters.received == received and time.monotonic() < deadline:
            self.link.has_new_sample()

    def steers(self, simulator):
        """Return the data of the commands since the last call."""
        self.link.send_command(SimCommand(restart=True))
        found = []
        while True:
            text = simulator.recv(SOON)
            if text.startswith('42["steer"'):
                found.append(json.loads(text[2:])[1])
            elif text.startswith('42["restart"'):
                return found


@pytest.fixture
def listener():
    made = Listener()
    yield made
    made.link.close()


def drive_once(listener, simulator, speed="1.5"):
    simulator.send("2")
    listener.show(simulator, telemetry(0.04, speed=speed))
    until_steer(simulator)  # the greeting
    listener.link.read(0.0)
    listener.link.write(Controls(throttle=1.0))
    assert [data["throttle"] for data in listener.steers(simulator)] == ["1.0"]


def test_repeated_telemetries_start_no_storm_and_one_alone_is_answered(listener):
    with listener.call() as simulator:
        drive_once(listener, simulator)
        listener.show(simulator, telemetry(0.04))  # nothing has moved
        assert len(listener.steers(simulator)) == 1  # at once: it waits for a command
        for _ in range(100):
            listener.show(simulator, telemetry(0.04))
        assert listener.steers(simulator) == []
        listener.link.read(REPEAT_INTERVAL_S)
        assert len(listener.steers(simulator)) == 1  # and the stream does not run dry
        listener.show(simulator, telemetry(0.08))
        listener.link.read(0.1)
        listener.link.write(Controls(throttle=0.5))
        assert [data["throttle"] for data in listener.steers(simulator)] == ["0.5"]


def test_a_car_that_nobody_sees_is_not_braked_longer_than_it_rolls(listener):
    with listener.call() as simulator:
        drive_once(listener, simulator, speed="2.0")
        for tick in range(60):
            listener.link.read(0.05 * tick)
            listener.link.write(Controls(brake=0.6, steer=0.25))
        sent = listener.steers(simulator)
    assert {data["steering_angle"] for data in sent} == {"-10.0"}  # the last steer is held
    pedals = [data["throttle"] for data in sent]
    assert set(pedals) == {"-0.6", "0.0"}
    assert 9 <= pedals.count("-0.6") <= 11  # at 2 m/s^2, the most that its brakes do, it stands after 1 s
    assert pedals == sorted(pedals)


def test_a_silent_connection_first_does_not_keep_the_simulator_out():
    with sockets.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]

    def idle():
        let_pass(0.001)
        return time.monotonic()

    link = Link(EventLiveOptions(listen=f"127.0.0.1:{port}", wait=60.0), idle=idle)
    link.port = port
    thread = threading.Thread(target=link.open, args=(time.monotonic(),), daemon=True)
    thread.start()
    with contextlib.ExitStack() as stack:
        silent = None
        while silent is None:
            with contextlib.suppress(ConnectionRefusedError):
                silent = stack.enter_context(sockets.create_connection(("127.0.0.1", port)))
        simulator = stack.enter_context(call(link))
        simulator.send("2")
        show(simulator, telemetry(0.04))
        thread.join(30.0)
        assert not thread.is_alive()
        assert link.read(time.monotonic()).phase is Phase.DRIVING
        link.close()
