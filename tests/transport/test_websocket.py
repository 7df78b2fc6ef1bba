"""Our ends against those of the websockets library, in a thread of their own."""

import contextlib
import errno
import socket
import sys
import threading

import pytest
from helpers.waiting import wait_for
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect
from websockets.sync.server import serve

from trailbrake.transport import tcp
from trailbrake.transport.tcp import MAX_MESSAGE, wait_readable
from trailbrake.transport.websocket import call_websocket, find_refusal, is_address, is_loopback, listen_for_websockets

ANSWERED = []  # channels of the test that runs
SOON = 5.0  # s, far more than anything here takes
HERE = ["127.0.0.1:4567"]


@pytest.fixture
def listener():
    listener = listen_for_websockets()
    yield listener
    listener.close()
    while ANSWERED:
        ANSWERED.pop().close()


def beside(work):
    """Run `work` in a thread; return a function that waits for its result."""
    result = []
    thread = threading.Thread(target=lambda: result.append(work()), daemon=True)
    thread.start()

    def finished(channel=None):
        wait_for(lambda: (channel is not None and channel.poll_texts() and False) or not thread.is_alive())
        assert result, "the other end failed"
        return result[0]

    return finished


def client(listener, path="/socket.io/?EIO=4&transport=websocket"):
    host, port = listener.address
    return connect(f"ws://{host}:{port}{path}", open_timeout=SOON, max_size=None)


def answered(listener):
    """Return a channel whose handshake is done."""
    assert wait_readable([listener], SOON)
    channel = wait_for(listener.accept)
    ANSWERED.append(channel)
    wait_for(lambda: channel.poll_texts() or channel.is_open or channel.is_closed)
    return channel


@contextlib.contextmanager
def call_by_hand(listener):
    """Yield a socket that has asked for a WebSocket, and the channel that answers it."""
    with contextlib.closing(socket.create_connection(listener.address)) as peer:
        peer.sendall(
            b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n"
        )
        yield peer, answered(listener)


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
    wait_for(lambda: texts.extend(channel.poll_texts()) or len(texts) == 2)
    assert texts == ["2", "grüße 追い越し " + "x" * 200_000]
    channel.send_text("3")
    channel.send_text("y" * 3_000_000)  # more than the system takes at once
    wait_for(lambda: channel.poll_texts() or channel.unsent_bytes == 0)
    assert done(channel) == ["3", "y" * 3_000_000]
    wait_for(lambda: channel.poll_texts() or channel.is_closed)
    assert channel.close_reason


def test_fragments_are_one_message(listener):
    def peer():
        with client(listener) as other:
            other.send(["42[", '"steer"', ",{}]"])
            return other.recv(SOON)

    done = beside(peer)
    channel = answered(listener)
    assert wait_for(channel.poll_texts) == ['42["steer",{}]']
    channel.send_text("bye")
    assert done(channel) == "bye"


@pytest.mark.parametrize(("sent", "code"), [(b"\x00\x01", 1003), ("x" * (MAX_MESSAGE + 1), 1009)])
def test_what_is_not_accepted_ends_the_channel_with_its_code(listener, sent, code):
    def peer():
        with client(listener) as other, contextlib.suppress(Exception):  # it is hung up on while it still sends
            other.send(sent)
            other.recv(SOON)
        return other.protocol.close_code

    done = beside(peer)
    channel = answered(listener)
    assert done(channel) == code
    assert not channel.is_open
    if code == 1003:
        wait_for(lambda: channel.poll_texts() or channel.is_closed)
        assert channel.close_reason == "the other end sent a binary message: this wire carries text"


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
    wait_for(lambda: channel.poll_texts() or channel.is_closed)
    assert channel.close_reason == "the other end sent a text that is not UTF-8"


def test_a_browser_that_only_wants_a_page_is_sent_away(listener):
    def peer():
        with socket.create_connection(listener.address, timeout=SOON) as plain:
            plain.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
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
    wait_for(lambda: channel.poll_texts() or channel.is_closed)
    assert channel.close_reason

    def second():
        with client(listener) as other:
            other.send("still here?")
        return True

    done = beside(second)
    channel = answered(listener)
    assert wait_for(channel.poll_texts) == ["still here?"]
    done(channel)


def test_we_call_a_server():
    heard = []

    def handler(other):
        heard.append(other.request.path)
        for text in other:
            other.send(text.upper())

    with serve(handler, "127.0.0.1", 0) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        caller = call_websocket(server.socket.getsockname(), "/socket.io/?EIO=4&transport=websocket")
        channel = wait_for(caller.poll_channel)
        wait_for(lambda: channel.poll_texts() or channel.is_open)
        channel.send_text("hello")
        assert wait_readable([channel], SOON)
        assert wait_for(channel.poll_texts) == ["HELLO"]
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
        channel = wait_for(call_websocket(server.socket.getsockname(), "/").poll_channel)
        wait_for(lambda: channel.poll_texts() or channel.is_closed)
        assert (channel.http_status, channel.is_open) == (400, False)
        assert "400" in channel.close_reason
        server.shutdown()


def test_a_peer_that_has_gone_before_the_end_of_our_output_has_hung_up(listener):
    """Windows closed while driving by hand: the system then refuses to end a connection that is no more."""

    class Gone:
        def __init__(self, connection):
            self.connection = connection

        def __getattr__(self, name):
            return getattr(self.connection, name)

        def shutdown(self, how):
            raise OSError(errno.ENOTCONN, "Transport endpoint is not connected")

    with call_by_hand(listener) as (peer, channel):
        channel._socket = Gone(channel._socket)
        peer.sendall(b"\x88\x82\0\0\0\0\x03\xe9")  # a close frame, code 1001
        channel.poll_texts()
    wait_for(lambda: channel.poll_texts() or channel.is_closed)
    assert channel.close_reason == "the other end hung up"


def refusal(listener, **headers):
    """The status and the text with which a request is refused."""

    def peer():
        with (
            pytest.raises(InvalidStatus) as caught,
            connect(f"ws://127.0.0.1:{listener.address[1]}/", open_timeout=SOON, **headers),
        ):
            pass
        return caught.value.response.status_code, caught.value.response.body.decode()

    done = beside(peer)
    channel = answered(listener)
    found = done(channel)
    assert not channel.is_open
    return found


def test_a_page_of_another_site_is_refused(listener):
    assert refusal(listener, origin="http://evil.example") == (403, "a page of http://evil.example\n")


def test_a_page_that_is_named_is_served():
    with contextlib.closing(listen_for_websockets(allowed_origins=("http://localhost:8000",))) as listener:

        def peer():
            with connect(f"ws://127.0.0.1:{listener.address[1]}/", origin="http://localhost:8000") as other:
                other.send("I am it")
            return True

        done = beside(peer)
        channel = answered(listener)
        assert wait_for(channel.poll_texts) == ["I am it"]
        done(channel)


def test_empty_fragments_without_end_take_no_memory(listener):
    with call_by_hand(listener) as (peer, channel):
        peer.sendall(b"\x01\x80\0\0\0\0" + b"\0\x80\0\0\0\0" * 2000)
        wait_for(lambda: channel.poll_texts() or channel._frames_received > 2000)
        assert sys.getsizeof(channel._fragments) < 200


def test_pings_of_a_peer_that_does_not_read_end_the_channel(listener, monkeypatch):
    monkeypatch.setattr(tcp, "MAX_UNSENT", 100_000)
    with call_by_hand(listener) as (peer, channel):
        ping = b"\x89\xfd\0\0\0\0" + b"p" * 125
        with contextlib.suppress(OSError):
            peer.settimeout(SOON)
            for _ in range(400):
                peer.sendall(ping * 1000)
                channel.poll_texts()
                assert channel.unsent_bytes < 3 << 20
                if channel.is_closed:
                    break
        wait_for(lambda: channel.poll_texts() or channel.is_closed)
        assert channel.close_reason.startswith("the other end does not read")


@pytest.mark.parametrize(
    "upgrade", [b"", b"Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"]
)
@pytest.mark.parametrize("origin", [b"", b"Origin: http://evil.example\r\n"])
@pytest.mark.parametrize(
    "rest", [b"\xff" * 20, b"\x88\x80\0\0\0\0", b"\x81\x01a", b"42[]", b"\x89\x80\0\0\0\0", b"\x81\x81\0\0\0\0a"]
)
def test_bytes_behind_a_request_end_that_connection_only(listener, upgrade, origin, rest):
    """They came with it in one piece; the library then ended its output before the request was answered."""
    with contextlib.closing(socket.create_connection(listener.address)) as peer:
        key = b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n" if upgrade else b""
        peer.sendall(b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n" + upgrade + key + origin + b"\r\n" + rest)
        assert wait_readable([listener], SOON)
        channel = wait_for(listener.accept)
        ANSWERED.append(channel)
        assert wait_readable([channel], SOON)
        for _ in range(3):
            channel.poll_texts()
            channel.send_text("x")
        peer.shutdown(socket.SHUT_WR)
        wait_for(lambda: channel.poll_texts() or channel.is_closed)
        assert channel.close_reason


@pytest.mark.parametrize(
    ("hosts", "origins"),
    [
        (HERE, []),  # a program
        ([], []),
        (["localhost:4567"], []),
        (["[::1]:4567"], []),
        (HERE, ["http://127.0.0.1:4567"]),  # as websocket-client names itself
        (HERE, ["http://localhost:8000"]),  # allowed by name
        (HERE, ["HTTP://LOCALHOST:8000"]),
    ],
)
def test_programs_and_named_pages_may_come(hosts, origins):
    assert find_refusal(hosts, origins, ["http://localhost:8000"]) == ""


@pytest.mark.parametrize(
    ("hosts", "origins"),
    [
        (HERE, ["http://evil.example"]),
        (HERE, ["null"]),  # a file, or a frame without rights
        (HERE, [""]),
        (HERE, ["http://127.0.0.1:8000"]),  # another server's page
        (HERE, ["https://127.0.0.1:4567"]),
        (HERE, ["http://127.0.0.1:4567.evil.example"]),
        (["evil.example:4567"], ["http://evil.example:4567"]),  # a name that leads here
        (["evil.example:4567"], []),
        (["127.0.0.1.evil.example"], []),
        ([*HERE, "evil.example"], []),
        (HERE, ["http://127.0.0.1:4567", "http://evil.example"]),
    ],
)
def test_pages_of_other_sites_and_foreign_names_are_refused(hosts, origins):
    assert find_refusal(hosts, origins, ["http://localhost:8000"])


def test_other_machines_may_call_an_open_server_by_its_name_and_their_browsers_may_not():
    assert find_refusal(["rig.local:4567"], [], is_local=False) == ""
    assert find_refusal(["rig.local:4567"], ["http://rig.local:4567"], is_local=False)
    assert find_refusal(["192.168.1.5:4567"], ["http://192.168.1.5:4567"], is_local=False) == ""


def test_addresses():
    assert [is_loopback(host) for host in ("127.0.0.1", "127.8.0.1", "localhost", "0.0.0.0", "rig")] == [
        True, True, True, False, False
    ]  # fmt: skip
    assert not is_address("[::1")
    assert not is_address("")
