"""WebSockets over TCP, neither end ever blocking.

The websockets library implements the protocol (RFC 6455); this module moves the bytes. Text messages only: a channel
closes, with a `close_reason`, where its peer sends binary messages, breaks the protocol or exceeds `MAX_MESSAGE`.

Which WebSocket requests a server on this machine accepts: no foreign pages, no foreign names for this address.

A browser runs scripts of any site, and they may open WebSockets to this machine. A browser names the site in the
header `Origin`; programs send none, or the server's own address. The header `Host` is checked too: a site whose name
leads to this machine (DNS rebinding) has an origin of its own name.
"""

import contextlib
import ipaddress
import socket
from collections import deque
from collections.abc import Callable, Sequence
from http import HTTPStatus
from typing import NamedTuple
from urllib.parse import urlsplit

from websockets.client import ClientProtocol
from websockets.exceptions import InvalidStatus
from websockets.frames import Frame, Opcode
from websockets.http11 import Request, Response
from websockets.protocol import State
from websockets.server import ServerProtocol
from websockets.uri import parse_uri

from trailbrake.transport.tcp import (
    MAX_MESSAGE,
    MAX_MESSAGES_PER_POLL,
    RECEIVE_SIZE,
    TcpCaller,
    TcpChannel,
    TcpListener,
)
from trailbrake.transport.udp import Address

SMALL_RECEIVE_SIZE = 1 << 12  # bytes of a read before which whole messages came: a thousand small ones cost time
_MAX_BYTES_PER_POLL = 1 << 20
_MAX_REASON = 120  # bytes of a refusal's text that are shown
_UNSUPPORTED, _NOT_UTF8, _WENT_AWAY, _TRY_LATER = 1003, 1007, 1001, 1013  # close codes, RFC 6455 section 7.4.1


def find_refusal(
    hosts: Sequence[str], origins: Sequence[str], allowed_origins: Sequence[str] = (), *, is_local: bool = True
) -> str:
    """Return why a request is refused; "" where it is accepted.

    Args:
        hosts: the values of its header `Host`.
        origins: those of `Origin`; none for a program that is no browser.
        allowed_origins: of pages that may connect, as "http://localhost:8000".
        is_local: whether only this machine reaches the server; programs of other machines may call it by a name.
    """
    if len(hosts) > 1 or len(origins) > 1:
        return "a request with two hosts or origins"
    host = hosts[0].lower() if hosts else ""
    if host and not is_address(host) and (is_local or origins):
        return f"a request for the host {host[:80]}, expected an address or localhost"
    if not origins:
        return ""
    origin = origins[0].lower()
    if origin in [allowed.lower().rstrip("/") for allowed in allowed_origins]:
        return ""
    if host and origin == f"http://{host}":
        return ""
    return f"a page of {origin[:80]}"


def is_loopback(host: str) -> bool:
    """Return whether only this machine reaches a server that listens at `host`, an address or a name."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def is_address(host: str) -> bool:
    """Return whether a value of the header `Host` is localhost or a number: a name could lead anywhere."""
    try:
        name = urlsplit(f"//{host}").hostname or ""
        if name == "localhost":
            return True
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


class Refusal(NamedTuple):
    """The answer to a request that is not accepted."""

    status: HTTPStatus
    reason: str


class ServerRules(NamedTuple):
    """Which requests a server accepts.

    Attributes:
        allowed_origins: pages that may connect, beside those of its own address.
        is_local: whether only this machine reaches it.
        find_busy_reason: returns why it accepts no client now; "" where it does.
    """

    allowed_origins: tuple[str, ...] = ()
    is_local: bool = True
    find_busy_reason: Callable[[], str] = lambda: ""


class WebSocketChannel(TcpChannel):
    """One WebSocket over one TCP connection.

    Args:
        connection: the socket.
        protocol: of the end that it is.
        path: the requested path, query included.
        rules: of a server: which requests it accepts.

    Attributes:
        path: the requested path, query included.
        http_status: the status of the server's answer to the handshake; 0 before it, and for an accepted client.
        refusal: why this server has refused the client; None where it has not.
        bytes_per_poll: bytes that one poll reads, about; the rest waits in the system's buffers.
    """

    def __init__(
        self,
        connection: socket.socket,
        protocol: "ServerProtocol | ClientProtocol",
        path: str,
        rules: "ServerRules | None" = None,
    ) -> None:
        super().__init__(connection)
        self.path, self.http_status = path, 0
        self.refusal: Refusal | None = None
        self.bytes_per_poll = _MAX_BYTES_PER_POLL
        self._rules = rules or ServerRules()
        self._protocol = protocol
        self._shuts_down_when_empty = False  # the protocol has ended its output
        self._fragments = bytearray()  # of a message that comes in fragments
        self._frames_received = 0
        self._fault = ""  # of the other end, for which the connection was ended
        self._texts: deque[str] = deque()  # received and not returned yet
        self._has_handshake = not isinstance(protocol, ClientProtocol)

    @property
    def is_open(self) -> bool:
        """Whether the handshake is done and both ends can send."""
        return self._has_handshake and not self.is_closed and self._protocol.state is State.OPEN

    def poll_texts(self) -> list[str]:
        """Receive and send what is possible; return the received texts, oldest first."""
        if not self.is_closed:
            try:
                self._receive_bytes()
                self._flush_output()
            except OSError as error:
                if self._protocol.state in (State.CLOSING, State.CLOSED):  # both ends have said goodbye
                    self._mark_closed(self._failure_reason() or "the other end hung up")
                else:
                    self._mark_broken(error)
            self._check_unsent()
        if not self._texts:
            return []
        return [self._texts.popleft() for _ in range(min(len(self._texts), MAX_MESSAGES_PER_POLL))]

    def send_waiting(self) -> list[str]:
        """Send what is possible and receive nothing: what comes waits, and its sender with it; return no texts."""
        if not self.is_closed:
            self._try_flush()
        return []

    def poll_handshake(self) -> None:
        """Receive and send what is possible; texts are kept for `poll_texts`."""
        self._texts.extendleft(reversed(self.poll_texts()))

    def _receive_bytes(self) -> None:
        size, count = SMALL_RECEIVE_SIZE, 0
        while not self.is_closed and len(self._texts) < MAX_MESSAGES_PER_POLL and count < self.bytes_per_poll:
            frames = self._frames_received
            try:
                data = self._socket.recv(size)
            except BlockingIOError:
                return
            count += len(data)
            if data:
                self._protocol.receive_data(data)
            else:
                self._protocol.receive_eof()
            self._handle_protocol_events()
            # Of a large message whose end has not come the rest is read at once.
            size = SMALL_RECEIVE_SIZE if self._frames_received > frames else RECEIVE_SIZE
            if not data:
                self._flush_output()
                self._mark_closed(self._failure_reason() or "the other end hung up")

    def _handle_protocol_events(self) -> None:
        for event in self._protocol.events_received():
            self._frames_received += 1
            if isinstance(event, Frame):
                self._handle_frame(event)
            elif isinstance(event, Request):
                self._accept_request(event)
            elif isinstance(event, Response):
                self._has_handshake = event.status_code == 101
                self.http_status = event.status_code
        self._queue_output()

    def _queue_output(self) -> None:
        for data in self._protocol.data_to_send():
            self._outgoing += data
            self._shuts_down_when_empty |= not data  # empty data is the library's sign for the end of the output

    def _accept_request(self, request: Request) -> None:
        assert isinstance(self._protocol, ServerProtocol)
        if self._protocol.parser_exc is not None:  # no WebSocket follows: the protocol has ended its output already
            return
        self.path = request.path
        if self._protocol.eof_sent:  # bytes that came with the request have ended the protocol before it was answered
            self._mark_closed("the connection was ended by what came with its request")
            return
        headers, rules = request.headers, self._rules
        foreign = find_refusal(
            headers.get_all("Host"), headers.get_all("Origin"), rules.allowed_origins, is_local=rules.is_local
        )
        busy = "" if foreign else rules.find_busy_reason()
        if foreign or busy:
            self.refusal = Refusal(HTTPStatus.FORBIDDEN if foreign else HTTPStatus.SERVICE_UNAVAILABLE, foreign or busy)
            response = self._protocol.reject(self.refusal.status, f"{self.refusal.reason}\n")
        else:
            response = self._protocol.accept(request)
        self._protocol.send_response(response)

    def _handle_frame(self, frame: Frame) -> None:
        if frame.opcode is Opcode.BINARY:
            self._fault = "the other end sent a binary message: this wire carries text"
            self._protocol.fail(_UNSUPPORTED, "text only")
        if frame.opcode not in (Opcode.TEXT, Opcode.CONT):
            return
        self._fragments += frame.data
        if not frame.fin:
            return
        data, self._fragments = self._fragments, bytearray()
        try:
            self._texts.append(data.decode())
        except UnicodeDecodeError:
            self._fault = "the other end sent a text that is not UTF-8"
            self._protocol.fail(_NOT_UTF8, "not UTF-8")

    def _failure_reason(self) -> str:
        if self._fault:
            return self._fault
        error = self._protocol.handshake_exc or self._protocol.parser_exc
        if isinstance(error, InvalidStatus):
            reason = _clean_reason((error.response.body or b"").decode("ascii", "replace"))
            return f"the handshake was answered with HTTP {error.response.status_code}" + (reason and f": {reason}")
        if error:
            return str(error)
        farewell = self._protocol.close_rcvd
        reason = _clean_reason(farewell.reason) if farewell else ""
        return f"the other end hung up: {reason}" if reason else ""

    def send_text(self, text: str) -> None:
        """Send one text; what the system does not accept at once goes with the next poll."""
        if self.is_open:
            self._protocol.send_text(text.encode())
            self._queue_output()
            self._try_flush()

    def send_handshake(self, protocol: ClientProtocol) -> None:
        """Queue the client's request; the next poll sends it."""
        protocol.send_request(protocol.connect())
        self._queue_output()

    def _flush_output(self) -> None:
        super()._flush_output()
        if self._shuts_down_when_empty and not self._outgoing:
            # Not closed yet: a reset in answer to what the peer still sends could overtake our last bytes.
            self._shuts_down_when_empty = False
            with contextlib.suppress(OSError):  # the peer has hung up already, and needs no end of our output
                self._socket.shutdown(socket.SHUT_WR)

    def close(self, reason: str = "") -> None:
        """Send a close frame with a reason and hang up."""
        if self.is_open:
            self._protocol.send_close(_TRY_LATER if reason else _WENT_AWAY, reason)
            self._queue_output()
            with contextlib.suppress(OSError):  # the peer may have hung up before
                self._flush_output()
        self._mark_closed("closed")


def _clean_reason(text: str) -> str:
    """Return the beginning of a text of the other end, without what a terminal would act on."""
    return "".join(character if character.isprintable() else " " for character in text[:_MAX_REASON]).strip()


def listen_for_websockets(
    bind: Address = ("127.0.0.1", 0),
    *,
    where: str = "websocket",
    allowed_origins: tuple[str, ...] = (),
    find_busy_reason: Callable[[], str] = lambda: "",
) -> TcpListener[WebSocketChannel]:
    """Return a listener for WebSocket clients, whose handshake is still to come when they are accepted."""
    rules = ServerRules(allowed_origins, is_loopback(bind[0]), find_busy_reason)

    def make_channel(connection: socket.socket) -> WebSocketChannel:
        return WebSocketChannel(connection, make_server_protocol(), "", rules)

    return TcpListener(make_channel, bind, where=where)


def make_server_protocol() -> ServerProtocol:
    """Return the protocol of a server's end of one connection."""
    return ServerProtocol(max_size=MAX_MESSAGE)


def call_websocket(address: Address, path: str) -> TcpCaller[WebSocketChannel]:
    """Return a connection attempt: TCP first; the returned channel has sent its handshake.

    Args:
        address: the server.
        path: the requested path, query included.
    """

    def make_channel(connection: socket.socket) -> WebSocketChannel:
        host, port = address
        protocol = ClientProtocol(parse_uri(f"ws://{host}:{port}{path}"), max_size=MAX_MESSAGE)
        channel = WebSocketChannel(connection, protocol, path)
        channel.send_handshake(protocol)
        return channel

    return TcpCaller(make_channel, address)
