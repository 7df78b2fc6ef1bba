"""The simulator's end in front of agents that are played by hand."""

import contextlib
import json
import socket
import threading
import time

import pytest
from helpers.event_pairs import place
from helpers.socketio_agents import Agent, listening
from websockets.exceptions import ConnectionClosed
from websockets.sync.server import serve

from trailbrake.event_sims.host import _MAX_COMMANDS
from trailbrake.event_sims.options import EventServeOptions, host_period
from trailbrake.sims.udacity_pid import spec
from trailbrake.sims.udacity_pid.host import Host
from trailbrake.sims.udacity_pid.link import Link
from trailbrake.state import Controls
from trailbrake.world.plant import World

SOON = 5.0


class Straight(Agent):
    """Drives straight on; `said` are texts that it sends instead of its answers, one after the other."""

    def __init__(self, *said):
        super().__init__()
        self.said = list(said)

    def drive(self, data):
        return 0.0, 0.5

    def answer(self, data):
        return self.said.pop(0) if self.said else super().answer(data)


def simulator(port, **options):
    track, car = place()
    options = EventServeOptions(connect=f"127.0.0.1:{port}", **{"pace": "lockstep"} | options)
    host = Host(World(track, [car], period=host_period(options)), options)
    host.open(time.monotonic())
    return host


def run(host, until):
    deadline, ticks = time.monotonic() + SOON, 0
    while not until():
        assert ticks < 1000 or time.monotonic() < deadline, "it never came"  # a tick may compile kernels for a minute
        host.tick(time.monotonic())
        ticks += 1


@pytest.mark.parametrize("dialect", ["auto", "bare"])
def test_an_agent_without_a_handshake_gets_one_telemetry_per_command(dialect):
    agent = Straight()
    with listening(agent) as port:
        host = simulator(port, dialect=dialect)
        try:
            run(host, lambda: len(agent.seen) >= 30)
        finally:
            host.close()
    times = [data["time"] for data in agent.seen]
    assert times == sorted(set(times))
    assert set(agent.seen[0]) == {"steering_angle", "throttle", "speed", "cte", "time", "lap"} | (
        {"process"} if dialect == "bare" else set()
    )
    assert float(agent.seen[29]["speed"]) > 0.5


def test_a_command_that_cannot_be_read_is_counted_said_once_and_costs_no_telemetry(capfd):
    agent = Straight({"steering_angle": "0.1", "throttle": 0.3}, {})
    with listening(agent) as port:
        host = simulator(port)
        try:
            run(host, lambda: len(agent.seen) >= 10)
            assert host.read_counters()["rejected"] == 2
        finally:
            host.close()
    said = f"a message that cannot be read from 127.0.0.1:{port}: steering_angle: text instead of a number"
    assert capfd.readouterr().err.count(said) == 1


def test_events_and_frames_that_the_simulator_does_not_know_are_named_once(capfd):
    class Confused(Straight):
        def __call__(self, connection):
            connection.send('42["stear",{}]')
            connection.send("hello")
            super().__call__(connection)

    agent = Confused()
    with listening(agent) as port:
        host = simulator(port)
        try:
            run(host, lambda: len(agent.seen) >= 3)
            assert host.read_counters()["rejected"] == 2
        finally:
            host.close()
    assert capfd.readouterr().err == (
        f"udacity_pid: a message that cannot be read from 127.0.0.1:{port}: no such event, expected steer, manual, "
        "reset, got stear\n"
        f"udacity_pid: a message that cannot be read from 127.0.0.1:{port}: no event, got hello\n"
    )


def test_a_simulator_that_nobody_answers_says_so_once_and_why_a_call_fails(capfd):
    with socket.create_server(("127.0.0.1", 0)) as silent:  # accepts and never says a word
        port = silent.getsockname()[1]
        host = simulator(port)
        try:
            for now in range(60):
                host.tick(time.monotonic() + now)
            assert host.read_counters()["calls"] >= 4  # it has not stayed with the first
        finally:
            host.close()
    assert capfd.readouterr().err == (
        f"udacity_pid: no agent answers at 127.0.0.1:{port} yet; it goes on calling\n"
        "udacity_pid: what answers does not shake hands within 10 s: no agent?\n"
    )


def test_a_server_that_is_no_agent_is_named_once(capfd):
    def refuse(connection, request):
        return connection.respond(404, "no such page\n")

    with serve(lambda connection: None, "127.0.0.1", 0, process_request=refuse) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        host = simulator(server.socket.getsockname()[1])
        try:
            run(host, lambda: host.read_counters()["calls"] >= 3)
        finally:
            host.close()
            server.shutdown()
            thread.join()
    assert capfd.readouterr().err == "udacity_pid: the handshake was answered with HTTP 404: no such page\n"


def test_the_browser_build_pulls_to_the_right():
    def steer(dialect):
        agent = Straight()
        with listening(agent) as port:
            host = simulator(port, dialect=dialect)
            try:
                run(host, lambda: len(agent.seen) >= 60)
            finally:
                host.close()
        return float(agent.seen[59]["steering_angle"])

    assert steer("auto") == pytest.approx(0.0, abs=1e-4)
    assert steer("bare") == pytest.approx(25.0 * 0.0174533, rel=0.02)  # the share of the lock of 25 degrees


@pytest.mark.parametrize("pace", ["lockstep", "real"])
def test_an_agent_that_floods_and_never_reads_costs_a_bounded_memory(pace):
    said = json.dumps(["steer", {"steering_angle": 0.0, "throttle": 0.1}])

    def flood(connection):
        with contextlib.suppress(ConnectionClosed, OSError):
            protocol = connection.protocol
            with connection.protocol_mutex:
                for _ in range(2000):
                    protocol.send_text(f"42{said}".encode())
                data = b"".join(protocol.data_to_send())
                for _ in range(100):
                    connection.socket.sendall(data)

    with listening(flood) as port:
        host = simulator(port, pace=pace)
        try:
            run(host, lambda: host.read_counters()["messages_in"] >= 300)
            before = host.read_counters()["messages_in"]
            for _ in range(300):
                host.tick(time.monotonic())
                assert len(host._commands) <= 2 * _MAX_COMMANDS
            assert host.read_counters()["messages_in"] - before <= 300 * 20
        finally:
            host.close()


def test_a_second_simulator_is_refused_in_one_line_and_waits_its_turn(tmp_path, capfd):
    link = Link(spec.LiveOptions(listen="127.0.0.1:0"))
    link.open(0.0)
    port = link._door.address[1]
    hosts = [simulator(port, pace="real"), simulator(port, pace="real")]
    now, sequence = time.monotonic(), -1

    def drive(until):
        nonlocal now, sequence
        deadline = time.monotonic() + 4 * SOON
        while not until():
            assert time.monotonic() < deadline, "it never came"
            now += 0.02
            for host in hosts:
                if host is hosts[0] or sequence >= 20:
                    host.tick(now)
            state = link.read(now)
            if state.sequence != sequence:
                sequence = state.sequence
                link.write(Controls(throttle=0.3))

    try:
        drive(lambda: sequence >= 20)
        drive(lambda: hosts[1].read_counters()["calls"] >= 5)
        assert capfd.readouterr().err == (
            "udacity_pid: the handshake was answered with HTTP 503: another simulator drives here\n"
        )
        assert link.refused >= 4
        hosts.pop(0).close()
        seen = sequence
        drive(lambda: sequence >= seen + 20)
    finally:
        for host in hosts:
            host.close()
        link.close()
