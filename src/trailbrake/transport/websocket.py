"""WebSockets that never block: a listening end and a calling end, each polled by whoever owns the loop.

The protocol (RFC 6455) is the websockets library's; here is only the moving of bytes. Text messages only: a peer that
sends binary ones, breaks the rules or sends more than `LARGEST` at once is hung up on, and `why` says so.
"""

import contextlib
import errno
import select
import socket

from websockets.client import ClientProtocol
from websockets.exceptions import InvalidStatus
from websockets.frames import Frame, Opcode
from websockets.http11 import Request, Response
from websockets.protocol import State
from websockets.server import ServerProtocol
from websockets.uri import parse_uri

from trailbrake.errors import SimulatorError
from trailbrake.transport.udp import Address

LARGEST = 4 << 20  # bytes of one message: a camera frame of 2000 x 2000 as base64 fits
_CHUNK = 1 << 16
_UNSUPPORTED, _NOT_UTF8, _WENT_AWAY = 1003, 1007, 1001  # close codes, RFC 6455 section 7.4.1
_PENDING = (errno.EINPROGRESS, errno.EWOULDBLOCK, errno.EAGAIN, getattr(errno, "WSAEWOULDBLOCK", errno.EAGAIN))


class Channel:
    """One WebSocket over one TCP connection.

    Attributes:
        path: what was asked for, query included.
        is_open: the handshake is done, and nobody has hung up.
        is_closed: nothing will come or go any more.
        why: why it closed; "" while it is not.
        status: the HTTP status of a refused handshake; 0 where there was none.
    """

    def __init__(self, connection: socket.socket, protocol: "ServerProtocol | ClientProtocol", path: str) -> None:
        connection.setblocking(False)
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.path, self.is_closed, self.why, self.status = path, False, "", 0
        self._socket, self._protocol = connection, protocol
        self._outgoing = bytearray()
        self._last = False  # nothing more goes out once `_outgoing` is empty
        self._parts: list[bytes] = []  # of a message that comes in fragments
        self._texts: list[str] = []
        self._ready = not isinstance(protocol, ClientProtocol)

    @property
    def is_open(self) -> bool:
        """Whether texts can go both ways."""
        return self._ready and not self.is_closed and self._protocol.state is State.OPEN

    def poll(self) -> list[str]:
        """Move what can be moved and return the texts that have come, oldest first. Never blocks."""
        if self.is_closed:
            return []
        try:
            self._receive()
            self._flush()
        except OSError as error:
            self._end(f"the connection broke: {error.strerror or error}")
        texts, self._texts = self._texts, []
        return texts

    def _receive(self) -> None:
        while not self.is_closed:
            try:
                data = self._socket.recv(_CHUNK)
            except BlockingIOError:
                return
            if data:
                self._protocol.receive_data(data)
            else:
                self._protocol.receive_eof()
            self._events()
            if not data:
                self._flush()
                self._end(self._reason() or "the other end hung up")

    def _events(self) -> None:
        for event in self._protocol.events_received():
            if isinstance(event, Frame):
                self._frame(event)
            elif isinstance(event, Request):
                self._answer(event)
            elif isinstance(event, Response):
                self._ready = event.status_code == 101
                self.status = event.status_code
        self._queue()

    def _queue(self) -> None:
        for data in self._protocol.data_to_send():
            self._outgoing += data
            self._last = self._last or not data  # the protocol's sign for the end of what we send

    def _answer(self, request: Request) -> None:
        assert isinstance(self._protocol, ServerProtocol)
        self.path = request.path
        self._protocol.send_response(self._protocol.accept(request))

    def _frame(self, frame: Frame) -> None:
        if frame.opcode is Opcode.BINARY:
            self._protocol.fail(_UNSUPPORTED, "text only")
        if frame.opcode not in (Opcode.TEXT, Opcode.CONT):
            return
        self._parts.append(bytes(frame.data))
        if not frame.fin:
            return
        data, self._parts = b"".join(self._parts), []
        try:
            self._texts.append(data.decode())
        except UnicodeDecodeError:
            self._protocol.fail(_NOT_UTF8, "not UTF-8")

    def _reason(self) -> str:
        error = self._protocol.handshake_exc or self._protocol.parser_exc
        if isinstance(error, InvalidStatus):
            return f"the handshake was answered with HTTP {error.response.status_code}"
        return str(error) if error else ""

    def send(self, text: str) -> None:
        """Send one text; what the system does not take at once goes with the next poll."""
        if self.is_open:
            self._protocol.send_text(text.encode())
            self._queue()
            try:
                self._flush()
            except OSError as error:
                self._end(f"the connection broke: {error.strerror or error}")

    def _flush(self) -> None:
        while self._outgoing:
            try:
                del self._outgoing[: self._socket.send(self._outgoing)]
            except BlockingIOError:
                return
        if self._last:
            # Not closed yet: what the peer still sends would be answered by a reset that may overtake our last words.
            self._last = False
            self._socket.shutdown(socket.SHUT_WR)

    @property
    def unsent(self) -> int:
        """Bytes that wait for the other end to read: a peer that stopped reading lets this grow."""
        return len(self._outgoing)

    def _end(self, why: str) -> None:
        if not self.is_closed:
            self.is_closed, self.why = True, why
            self._socket.close()

    def close(self) -> None:
        """Say goodbye and hang up."""
        if self.is_open:
            self._protocol.send_close(_WENT_AWAY)
            self._queue()
            with contextlib.suppress(OSError):  # it may have hung up before us
                self._flush()
        self._end("closed")

    def fileno(self) -> int:
        """Return the socket's number, for `wait`; -1 when closed."""
        return self._socket.fileno()


class Listener:
    """Waits for WebSocket clients.

    Args:
        bind: the address to listen on; port 0 = any free one.
        where: what the address comes from, for the error's line.

    Attributes:
        address: where it listens.
    """

    def __init__(self, bind: Address = ("127.0.0.1", 0), *, where: str = "websocket") -> None:
        try:
            self._socket = socket.create_server(bind)
        except OSError as error:
            raise SimulatorError(
                f"cannot listen on {bind[0]}:{bind[1]}: {error.strerror or error}",
                where=where,
                hint="another program may have the port: stop it, or choose another port",
            ) from error
        self._socket.setblocking(False)
        self.address: Address = self._socket.getsockname()[:2]

    def accept(self) -> Channel | None:
        """Return the next client that has called, its handshake still to come; None where there is none."""
        try:
            connection, _ = self._socket.accept()
        except BlockingIOError:
            return None
        except OSError:  # it hung up before we picked up
            return None
        return Channel(connection, ServerProtocol(max_size=LARGEST), "")

    def fileno(self) -> int:
        """Return the socket's number, for `wait`; -1 when closed."""
        return self._socket.fileno()

    def close(self) -> None:
        """Stop listening; open channels stay."""
        self._socket.close()


class Caller:
    """A call that is under way: TCP first, then the handshake. Poll `channel()` until it is there or failed.

    Args:
        address: whom to call.
        path: what to ask for, query included.
    """

    def __init__(self, address: Address, path: str) -> None:
        self._address, self._path = address, path
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        self._socket.setblocking(False)
        self.failed = ""
        code = self._socket.connect_ex(address)
        if code not in (0, *_PENDING):
            self._refuse(code)

    def channel(self) -> Channel | None:
        """Return the channel once TCP is there, its handshake sent; None while it is not, see `failed`."""
        if self.failed or not select.select([], [self._socket], [self._socket], 0.0)[1]:
            if not self.failed and select.select([], [], [self._socket], 0.0)[2]:  # Windows: refused
                self._refuse(errno.ECONNREFUSED)
            return None
        code = self._socket.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
        if code:
            self._refuse(code)
            return None
        host, port = self._address
        protocol = ClientProtocol(parse_uri(f"ws://{host}:{port}{self._path}"), max_size=LARGEST)
        channel = Channel(self._socket, protocol, self._path)
        protocol.send_request(protocol.connect())
        channel._events()
        return channel

    def _refuse(self, code: int) -> None:
        self.failed = errno.errorcode.get(code, str(code)).removeprefix("WSA")  # Windows: its own names
        self._socket.close()

    def close(self) -> None:
        """Give the call up."""
        self._socket.close()


def wait(ends: "list[Channel | Listener]", seconds: float) -> bool:
    """Wait until one of the ends has something to read, at most `seconds`; return whether one has."""
    numbers = [number for number in (end.fileno() for end in ends) if number >= 0]
    return bool(numbers and select.select(numbers, [], [], max(seconds, 0.0))[0])
