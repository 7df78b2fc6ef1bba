"""The simulator's end against bots of all ages: scripted golden frames, and python-socketio as a modern one."""

import asyncio
import contextlib
import itertools
import json
import sys
import threading
import time

import pytest
import socketio
import uvicorn
from helpers.waiting import wait_for
from websockets.exceptions import ConnectionClosed
from websockets.sync.server import serve

from sims.trend.toy import Toy
from trailbrake.errors import UsageError
from trailbrake.sims.trend import spec
from trailbrake.sims.trend.host import Host

SOON = 5.0
OPEN = '0{"sid":"e0f4","upgrades":[],"pingTimeout":60000,"pingInterval":25000}'
GREETING = ('42["restart",{}]', '42["steer",{"steering_angle":"0.0","throttle":"0"}]')


def run(host, until, seconds=SOON):
    """Tick `host` in real time until `until()`."""
    deadline = time.monotonic() + seconds
    while not until():
        assert time.monotonic() < deadline, "it never came"
        host.tick(time.monotonic())


@contextlib.contextmanager
def bot(handler, **options):
    """Serve `handler` on a port; yield the port."""
    with serve(handler, "127.0.0.1", 0, max_size=None, **options) as server:

        def until_shutdown():
            try:
                server.serve_forever()
            except OSError:  # where shutdown() closes the socket that this selects on, and the system minds
                if sys.platform != "win32":
                    raise

        thread = threading.Thread(target=until_shutdown, daemon=True)
        thread.start()
        yield server.socket.getsockname()[1]
        server.shutdown()
        thread.join()


@contextlib.contextmanager
def simulator(port, plant=None, **options):
    host = Host(plant or Toy(), spec.ServeOptions(connect=f"127.0.0.1:{port}", **options))
    host.open(time.monotonic())
    yield host
    host.close()


class Legacy:
    """A bot on python-socketio 4: greets before its 40, answers every telemetry at once."""

    def __init__(self, answer=lambda data: '42["steer",{"steering_angle":"-10","throttle":"1"}]', frames=10_000):
        self.answer, self.frames = answer, frames
        self.heard, self.seen, self.paths = [], [], []

    def __call__(self, connection):
        self.paths.append(connection.request.path)
        for text in (OPEN, *GREETING, "40"):
            connection.send(text)
        with contextlib.suppress(ConnectionClosed):
            for text in connection:
                self.heard.append(text)
                if text == "2":
                    connection.send("3")
                if text.startswith('42["telemetry"'):
                    self.seen.append(json.loads(text[2:])[1])
                    if len(self.seen) <= self.frames:
                        connection.send(self.answer(self.seen[-1]))


def test_a_legacy_bot_drives():
    plant, driver = Toy(), Legacy()
    with bot(driver) as port, simulator(port, plant) as host:
        run(host, lambda: plant.steps >= 60)
    assert driver.paths == ["/socket.io/?EIO=4&transport=websocket"]
    assert "40" not in driver.heard  # it would run the connect handler a second time
    assert driver.heard[0] == "2"
    assert plant.restarts == 1
    assert plant.controls[-1].steer == pytest.approx(0.25)
    first = driver.seen[0]
    assert set(first) == {"steering_angle", "throttle", "brakes", "speed", "time", "lap", "status", "image"}
    assert all(isinstance(value, str) for value in first.values())
    assert (first["lap"], first["status"]) == ("1", "0")


class Listener(Legacy):
    """A bot that keeps several telemetries in flight, and answers as `chosen(batch)` says.

    `batch` are the telemetries that wait in its socket; it returns those that get an answer. `sent` counts commands.
    """

    def __init__(self, chosen):
        super().__init__()
        self.chosen, self.sent = chosen, 0

    def __call__(self, connection):
        for text in (OPEN, *GREETING, "40"):
            connection.send(text)
        self.sent = 2
        with contextlib.suppress(ConnectionClosed):
            batch = []
            while True:
                try:
                    text = connection.recv(timeout=0.05 if batch else None)
                    if text.startswith('42["telemetry"'):
                        batch.append(json.loads(text[2:])[1])
                    continue
                except TimeoutError:
                    self.seen += batch
                    answered, batch = self.chosen(batch), []
                    for _ in answered:
                        connection.send(self.answer(None))
                        self.sent += 1


def test_each_command_is_one_step_and_one_telemetry_at_any_number_in_flight():
    plant, driver = Toy(), Legacy()
    with bot(driver) as port, simulator(port, plant) as host:
        ticks = 0

        def stepped():
            nonlocal ticks
            ticks += plant.steps > 0
            return plant.steps >= 100

        run(host, stepped)
        sent = sum(text.startswith('42["telemetry"') for text in driver.heard)
        counts = host.read_counters()
    # Two openings and the restart show the start, then the greeting's steer and each answer advance one step of 0.02 s.
    assert [float(data["time"]) for data in driver.seen[:3]] == [0.0, 0.0, 0.0]
    times = [float(data["time"]) for data in driver.seen[3:]]
    assert times == pytest.approx([0.02 * (k + 1) for k in range(len(times))])
    assert plant.restarts == 1
    assert counts["rejected"] == 0
    assert sent <= plant.steps + 3
    assert ticks < 2 * plant.steps  # it waits for the bot, and does not spin


def test_a_bot_that_answers_only_the_newest_telemetry_is_served_at_once():
    plant, driver = Toy(), Listener(lambda batch: batch[-1:])
    with bot(driver) as port, simulator(port, plant) as host:
        run(host, lambda: plant.steps >= 12)
        assert host.read_counters()["timeouts"] == 0
    times = [float(data["time"]) for data in driver.seen]
    assert times[4:] == pytest.approx([0.04 + 0.02 * k for k in range(len(times) - 4)])  # one for each command


def test_a_bot_that_leaves_some_without_an_answer_goes_on_with_fewer_in_flight():
    left_out = []

    def all_but_some(batch):
        if len(left_out) < 2:
            left_out.append(batch.pop())
        return batch

    plant, driver = Toy(), Listener(all_but_some)
    with bot(driver) as port, simulator(port, plant) as host:
        run(host, lambda: plant.steps >= 20)
        counts = host.read_counters()
    assert counts["timeouts"] == 0
    assert len(driver.seen) - len(left_out) <= driver.sent <= len(driver.seen)


def test_what_a_bot_receives_in_lockstep_repeats_however_its_messages_are_cut():
    def once(delays):
        plant, driver = Toy(), Legacy()
        with bot(driver) as port, simulator(port, plant) as host:
            deadline = time.monotonic() + SOON
            while plant.steps < 60:
                assert time.monotonic() < deadline
                for _ in range(next(delays)):  # several commands may wait in the socket, or none
                    threading.Event().wait(0.0005)
                host.tick(time.monotonic())
        return driver.seen[:50]

    assert once(itertools.cycle([0])) == once(itertools.cycle([7, 0, 0, 1]))


def test_lockstep_waits_for_the_bot():
    plant, driver = Toy(), Legacy(frames=20)
    with bot(driver) as port, simulator(port, plant) as host:
        run(host, lambda: len(driver.seen) >= 20)
        deadline = time.monotonic() + 0.3
        while time.monotonic() < deadline:
            host.tick(time.monotonic())
        assert plant.steps == 21  # the steer of the greeting, and 20 answers


def test_real_pace_does_not():
    plant, driver = Toy(), Legacy(frames=5)
    with bot(driver) as port, simulator(port, plant, pace="real") as host:
        run(host, lambda: len(driver.seen) >= 5)
        before = plant.steps
        for _ in range(10):
            host.tick(time.monotonic())
        assert plant.steps == before + 10


def test_a_bot_that_never_answers_is_left_with_a_clear_line(capfd):
    driver = Legacy(frames=5)
    with bot(driver) as port, simulator(port, patience=0.2) as host:
        run(host, lambda: host.read_counters()["timeouts"] == 1)
        assert "trend: the agent has not answered for 0.2 s" in capfd.readouterr().err
        driver.frames = 10_000
        run(host, lambda: len(driver.paths) == 2 and len(driver.seen) > 20)  # and is called again


def test_a_suspended_machine_is_no_silent_bot(capfd):
    driver = Legacy(frames=5)
    with bot(driver) as port, simulator(port, patience=0.2) as host:
        run(host, lambda: len(driver.seen) >= 5)
        for _ in range(3):  # nothing is received: only the clock has moved on
            host.tick(time.monotonic() + 1000.0)
        assert host.read_counters()["timeouts"] == 0
        host.tick(time.monotonic() + 1000.5)
        assert host.read_counters()["timeouts"] == 1
    assert capfd.readouterr().err.count("the agent has not answered") == 1


def test_a_bot_that_throws_on_every_frame():
    def throws(data):
        raise RuntimeError("no idea")

    driver = Legacy(answer=throws)
    with bot(driver, logger=None) as port, simulator(port) as host:
        run(host, lambda: host.read_counters()["calls"] >= 2)


def test_a_server_that_only_knows_the_old_number():
    plant, driver = Toy(), Legacy()

    def picky(connection, request):
        return None if "EIO=3" in request.path else connection.respond(400, "unsupported\n")

    with bot(driver, process_request=picky) as port, simulator(port, plant) as host:
        run(host, lambda: plant.steps >= 5)
    assert driver.paths == ["/socket.io/?EIO=3&transport=websocket"]


def test_nobody_is_there_yet():
    plant, driver = Toy(), Legacy()
    with bot(driver) as port:
        pass
    with simulator(port, plant) as host:
        for _ in range(5):
            host.tick(time.monotonic())
        assert plant.steps == 0


@pytest.mark.parametrize("answer", ['42["steer",{"steering_angle":"left","throttle":"1"}]', '42["steer",null]'])
def test_an_unreadable_command_keeps_the_last_and_is_said_once(answer, capfd):
    plant = Toy()
    driver = Legacy(answer=lambda data: answer)
    with bot(driver) as port, simulator(port, plant) as host:
        run(host, lambda: plant.steps >= 10)
        assert host.read_counters()["rejected"] > 5
    assert plant.controls[-1].throttle == 0.0
    assert capfd.readouterr().err.count("a message that cannot be read") == 1


def test_a_race_ends():
    plant, driver = Toy(), Legacy()
    with bot(driver) as port, simulator(port, plant, laps=1) as host:
        run(host, lambda: driver.seen and driver.seen[-1]["status"] == "1")
        assert host.is_done
        steps = plant.steps
        for _ in range(20):
            host.tick(time.monotonic())
    assert plant.steps == steps
    assert driver.seen[-1]["lap"] == "2"


def test_python_socketio_is_a_modern_bot():
    plant, heard = Toy(), []
    server = socketio.AsyncServer(async_mode="asgi")

    @server.event
    async def connect(sid, environ):
        await server.emit("restart", {})
        await server.emit("steer", {"steering_angle": "0.0", "throttle": "0"})

    @server.on("telemetry")
    async def telemetry(sid, data):
        heard.append(data)
        await server.emit("steer", {"steering_angle": "-10", "throttle": "1"}, skip_sid=True)

    class Quiet(uvicorn.Server):
        def install_signal_handlers(self):
            """Those of the test stay."""

    app = Quiet(uvicorn.Config(socketio.ASGIApp(server), port=0, log_level="error", ws="websockets-sansio"))
    thread = threading.Thread(target=lambda: asyncio.run(app.serve()), daemon=True)
    thread.start()
    wait_for(lambda: app.started)
    port = app.servers[0].sockets[0].getsockname()[1]
    with simulator(port, plant) as host:
        run(host, lambda: plant.steps >= 40)
    app.should_exit = True
    thread.join(SOON)
    assert plant.restarts == 1
    assert plant.controls[-1].throttle == 1.0
    assert heard[-1]["speed"] == pytest.approx(heard[-1]["speed"])
    assert float(heard[-1]["speed"]) > 0.5


def test_an_address_that_is_none():
    host = Host(Toy(), spec.ServeOptions(connect="nowhere"))
    with pytest.raises(UsageError, match="--connect: not an address, expected HOST:PORT"):
        host.open(0.0)
