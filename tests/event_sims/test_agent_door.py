"""Who becomes the simulator, with plain sockets and a WebSocket library of others at the other end."""

import contextlib
import json
import socket
import threading

import pytest
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import connect

from trailbrake.event_sims.agent_door import AgentDoor
from trailbrake.transport.tcp import HANDSHAKE_S, MAX_PENDING

ENGINE = "/socket.io/?EIO=4&transport=websocket"
TELEMETRY = "42" + json.dumps(["telemetry", {"speed": "1"}])
SOON = 10.0


class Door:
    """An agent's door on a clock of our own; `is_silent` is what its link would say."""

    def __init__(self, **options):
        self.now, self.is_silent, self.events = 0.0, False, []
        self.door = AgentDoor(
            ("127.0.0.1", 0), greeting=[("hello", {})], is_silent=lambda: self.is_silent, **{"origins": ()} | options
        )

    def poll(self):
        self.events += self.door.poll_events(self.now)

    def beside(self, work):
        """Return the result of `work`, which runs in a thread while the door is polled."""
        results = []

        def run():
            try:
                results.append(work())
            except Exception as error:
                results.append(error)

        thread = threading.Thread(target=run, daemon=True)
        thread.start()
        while thread.is_alive():
            self.poll()
        if isinstance(results[0], Exception):
            raise results[0]
        return results[0]

    def call(self, **headers):
        return self.beside(
            lambda: connect(f"ws://127.0.0.1:{self.door.address[1]}{ENGINE}", close_timeout=0.01, **headers)
        )

    def until(self, look):
        for _ in range(200_000):
            self.poll()
            if look():
                return
        raise AssertionError("it never came")


@pytest.fixture
def door():
    made = Door()
    yield made
    made.door.close()


def test_a_silent_connection_and_one_without_telemetry_hold_no_place(door):
    with socket.create_connection(door.door.address), door.call() as idle, door.call() as simulator:
        idle.send("2")
        assert door.door.call is None
        simulator.send(TELEMETRY)
        door.until(lambda: door.events)
        assert [event.name for event in door.events] == ["telemetry"]
        assert door.door.calls == 1
        idle.send(TELEMETRY)  # too late
        door.until(lambda: door.door.refused)
        assert door.door.calls == 1


def test_hundreds_of_connections_do_not_keep_the_simulator_out(door):
    with contextlib.ExitStack() as stack:
        for number in range(700):
            crowd = stack.enter_context(socket.create_connection(door.door.address))
            if number % 3 == 0:
                crowd.sendall(b"GET /socket.io/ HTTP/1.1\r\nHost: 127")  # and never more
            if number % 20 == 19:
                door.poll()
        simulator = stack.enter_context(door.call())
        simulator.send(TELEMETRY)
        door.until(lambda: door.events)
        assert door.door.calls == 1
        assert len(door.door._pending.channels) <= MAX_PENDING


def test_a_handshake_that_does_not_end_is_hung_up_on(door):
    with socket.create_connection(door.door.address) as slow:
        slow.sendall(b"GET / HTTP/1.1\r\n")
        door.until(lambda: door.door._pending.channels)
        door.now = HANDSHAKE_S + 1.0
        door.poll()
        slow.settimeout(SOON)
        assert slow.recv(10) == b""


@pytest.mark.parametrize("origin", ["http://evil.example", "null", "https://127.0.0.1"])
def test_a_page_of_another_site_is_no_simulator_and_is_named(door, origin):
    with pytest.raises(InvalidStatus) as caught:
        door.call(origin=origin)
    assert caught.value.response.status_code == 403
    door.until(lambda: door.door.refused == 1)
    assert door.door.warnings == [f"refused a page of {origin}; --origin names a page that may be the simulator"]
    door.door.warnings.clear()
    for port in range(20):
        for _ in range(2):
            with pytest.raises(InvalidStatus):
                door.call(origin=f"http://evil.example:{port}")
    with pytest.raises(InvalidStatus):
        door.call(additional_headers={"Host": "evil.example"})
    assert len(door.door.warnings) == 2  # each once, and not many


def test_a_page_that_the_user_names_is_one():
    door = Door(origins=("http://localhost:8000",))
    with contextlib.closing(door.door), door.call(origin="http://localhost:8000") as simulator:
        simulator.send(TELEMETRY)
        door.until(lambda: door.door.call)


def test_while_one_drives_others_are_refused_and_when_it_is_silent_one_takes_its_place(door):
    with door.call() as first:
        first.send(TELEMETRY)
        door.until(lambda: door.door.call)
        with pytest.raises(InvalidStatus) as caught:
            door.call()
        assert caught.value.response.body == b"another simulator drives here\n"
        door.is_silent = True
        with door.call() as second:
            assert door.door.calls == 1
            second.send(TELEMETRY)
            door.until(lambda: door.door.calls == 2)
            with contextlib.suppress(ConnectionClosed):
                for _ in first:
                    pass  # what was on its way
            assert first.close_code == 1001


def test_one_that_speaks_and_sends_no_telemetry_goes(door):
    with door.call() as chatty:
        for _ in range(200):
            chatty.send("2")
        door.until(lambda: not door.door._pending.channels)
    assert door.door.calls == 0


def test_an_open_port_is_said():
    door = AgentDoor(("0.0.0.0", 0), greeting=(), origins=(), is_silent=lambda: False)
    with contextlib.closing(door):
        assert door.warnings == ["any program that reaches 0.0.0.0:0 may be the simulator: no password here"]
