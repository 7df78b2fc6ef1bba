"""Our ends against those of the websockets library, in a thread of their own."""

import contextlib
import socket
import threading
import time

import pytest
from websockets.sync.client import connect
from websockets.sync.server import serve

from trailbrake.errors import SimulatorError
from trailbrake.transport.websocket import LARGEST, Caller, Listener, wait

ANSWERED = []  # channels of the test that runs
SOON = 5.0  # s, far more than anything here takes


@pytest.fixture
def listener():
    listener = Listener()
    yield listener
    listener.close()
    while ANSWERED:
        ANSWERED.pop().close()


def until(look):
    """Return the first true answer of `look`."""
    deadline = time.monotonic() + SOON
    while time.monotonic() < deadline:
        if answer := look():
            return answer
        time.sleep(0.001)
    raise AssertionError("it never came")


def beside(work):
    """Run `work` in a thread; return a function that waits for its result."""
    result = []
    thread = threading.Thread(target=lambda: result.append(work()), daemon=True)
    thread.start()

    def finished(channel=None):
        until(lambda: (channel is not None and channel.poll() and False) or not thread.is_alive())
        assert result, "the other end failed"
        return result[0]

    return finished


def client(listener, path="/socket.io/?EIO=4&transport=websocket"):
    host, port = listener.address
    return connect(f"ws://{host}:{port}{path}", open_timeout=SOON, max_size=None)


def answered(listener):
    """Return a channel whose handshake is done."""
    assert wait([listener], SOON)
    channel = until(listener.accept)
    ANSWERED.append(channel)
    until(lambda: channel.poll() or channel.is_open or channel.is_closed)
    return channel


def test_texts_go_both_ways(listener):
    def peer():
        with client(listener) as other:
            other.send("2")
            other.send("grüße 追い越し " + "x" * 200_000)
            return [other.recv(SOON), other.recv(SOON)]

    done = beside(peer)
    channel = answered(listener)
    assert channel.path == "/socket.io/?EIO=4&transport=websocket"
    texts = []
    until(lambda: texts.extend(channel.poll()) or len(texts) == 2)
    assert texts == ["2", "grüße 追い越し " + "x" * 200_000]
    channel.send("3")
    channel.send("y" * 3_000_000)  # more than the system takes at once
    until(lambda: channel.poll() or channel.unsent == 0)
    assert done(channel) == ["3", "y" * 3_000_000]
    until(lambda: channel.poll() or channel.is_closed)
    assert channel.why


def test_fragments_are_one_message(listener):
    def peer():
        with client(listener) as other:
            other.send(["42[", '"steer"', ",{}]"])
            return other.recv(SOON)

    done = beside(peer)
    channel = answered(listener)
    assert until(channel.poll) == ['42["steer",{}]']
    channel.send("bye")
    assert done(channel) == "bye"


@pytest.mark.parametrize(
    ("sent", "code"),
    [(b"\x00\x01", 1003), ("x" * (LARGEST + 1), 1009)],
)
def test_what_we_do_not_take_ends_the_channel_with_its_code(listener, sent, code):
    def peer():
        with client(listener) as other, contextlib.suppress(Exception):  # it is hung up on while it still sends
            other.send(sent)
            other.recv(SOON)
        return other.protocol.close_code

    done = beside(peer)
    channel = answered(listener)
    assert done(channel) == code
    assert not channel.is_open


def test_text_that_is_not_utf_8(listener):
    def peer():
        with client(listener) as other:
            other.send(b"\xff\xfe", text=True)
            with contextlib.suppress(Exception):
                other.recv(SOON)
        return other.protocol.close_code

    done = beside(peer)
    channel = answered(listener)
    assert done(channel) == 1007


def test_a_browser_that_only_wants_a_page_is_sent_away(listener):
    def peer():
        with socket.create_connection(listener.address, timeout=SOON) as plain:
            plain.sendall(b"GET / HTTP/1.1\r\nHost: here\r\n\r\n")
            return plain.recv(4096)

    done = beside(peer)
    channel = answered(listener)
    assert channel.is_closed
    assert not channel.is_open
    assert done().startswith(b"HTTP/1.1 426")


@pytest.mark.parametrize("noise", [b"", b"\x00" * 100, b"GET / HTTP/1.1\r\n" + b"a: b\r\n" * 10_000])
def test_noise_closes_only_its_own_channel(listener, noise):
    def peer():
        with socket.create_connection(listener.address, timeout=SOON) as plain:
            try:
                plain.sendall(noise)
                plain.shutdown(socket.SHUT_WR)
                plain.recv(4096)
            except OSError:  # we had hung up
                pass
        return True

    done = beside(peer)
    channel = answered(listener)
    done(channel)
    until(lambda: channel.poll() or channel.is_closed)
    assert channel.why

    def second():
        with client(listener) as other:
            other.send("still here?")
        return True

    done = beside(second)
    channel = answered(listener)
    assert until(channel.poll) == ["still here?"]
    done(channel)


def test_we_call_a_server():
    heard = []

    def handler(other):
        heard.append(other.request.path)
        for text in other:
            other.send(text.upper())

    with serve(handler, "127.0.0.1", 0) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        caller = Caller(server.socket.getsockname(), "/socket.io/?EIO=4&transport=websocket")
        channel = until(caller.channel)
        until(lambda: channel.poll() or channel.is_open)
        channel.send("hello")
        assert wait([channel], SOON)
        assert until(channel.poll) == ["HELLO"]
        assert heard == ["/socket.io/?EIO=4&transport=websocket"]
        channel.close()
        channel.close()
        assert channel.is_closed
        server.shutdown()


def test_a_refused_handshake_tells_its_status():
    def refuse(connection, request):
        return connection.respond(400, "unsupported version\n")

    with serve(lambda other: None, "127.0.0.1", 0, process_request=refuse) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        channel = until(Caller(server.socket.getsockname(), "/").channel)
        until(lambda: channel.poll() or channel.is_closed)
        assert (channel.status, channel.is_open) == (400, False)
        assert "400" in channel.why
        server.shutdown()


def test_nobody_there():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = free.getsockname()
    caller = Caller(address, "/")
    until(lambda: caller.channel() or caller.failed)
    assert caller.failed == "ECONNREFUSED"


def test_a_taken_port_is_said(listener):
    with pytest.raises(SimulatorError, match=rf"--listen: cannot listen on 127.0.0.1:{listener.address[1]}: "):
        Listener(listener.address, where="--listen")


def test_waiting_for_closed_ends_returns(listener):
    listener.close()
    assert not wait([listener], 10.0)
