"""TCP connections that never block: a listening end, a calling end, and what every kind of channel over them shares.

A channel (`json_objects.JsonObjectChannel`, `websocket.WebSocketChannel`) turns the bytes of one connection into
messages. The loop that owns a channel polls it.

Connections that a server has accepted and that have not proved yet to be its client.

A server of one client does not give its place to the first connection: that one may be silent. It holds a few, lets
each show what it is, and takes the first that speaks as a client does. Their number and their time are limited, and the
oldest goes first, so that a client gets through while another program opens connections without end.
"""

import errno
import select
import socket
import sys
import time
from collections.abc import Callable, Sequence
from typing import Generic, Protocol, TypeVar

from trailbrake.errors import SimulatorError, describe_os_error
from trailbrake.transport.udp import Address

RECEIVE_SIZE = 1 << 16  # bytes of one read
MAX_MESSAGE = 4 << 20  # bytes of one message: a camera frame of 2000 x 2000 pixels fits, in base64
MAX_UNSENT = 4 * MAX_MESSAGE  # bytes that may wait for a peer which does not read; beyond that it is hung up on
MAX_MESSAGES_PER_POLL = 256  # messages of one poll; the rest waits in the system's buffers, and the peer with it
_MAX_SELECT = 1024  # `select` waits for descriptors below this one only, elsewhere than on Windows
_CONNECT_PENDING = (errno.EINPROGRESS, errno.EWOULDBLOCK, errno.EAGAIN, getattr(errno, "WSAEWOULDBLOCK", errno.EAGAIN))
MAX_PENDING = 64  # connections held
HANDSHAKE_S = 5.0  # s that a connection may take until messages can be exchanged
_MAX_ACCEPTS = 32  # connections accepted in one poll: each costs the tick a tenth of a millisecond
_MAX_READY = 8  # connections read in one poll


class TcpChannel:
    """One connection, with the bytes that wait to be sent over it.

    Attributes:
        is_closed: no more messages will be received or sent.
        close_reason: why it closed; "" while it is open.
        peer: HOST:PORT of the other end.
    """

    def __init__(self, connection: socket.socket) -> None:
        connection.setblocking(False)
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.is_closed, self.close_reason = False, ""
        self.peer = _describe_peer(connection)
        self._socket = connection
        self._outgoing = bytearray()

    @property
    def is_open(self) -> bool:
        """Whether messages can be exchanged."""
        return not self.is_closed

    @property
    def unsent_bytes(self) -> int:
        """Bytes that the peer has not read yet: grows when the peer stops reading."""
        return len(self._outgoing)

    def fileno(self) -> int:
        """Return the socket's number, for `wait_readable`; -1 when closed."""
        return self._socket.fileno()

    def _flush_output(self) -> None:
        while self._outgoing:
            try:
                del self._outgoing[: self._socket.send(self._outgoing)]
            except BlockingIOError:
                return

    def _try_flush(self) -> None:
        """Send what the system accepts now; the rest goes with the next poll."""
        try:
            self._flush_output()
        except OSError as error:
            self._mark_broken(error)
        self._check_unsent()

    def _check_unsent(self) -> None:
        if len(self._outgoing) > MAX_UNSENT:
            self._mark_closed(f"the other end does not read: {len(self._outgoing)} bytes wait for it")

    def close(self) -> None:
        """Hang up."""
        self._mark_closed("closed")

    def _mark_broken(self, error: OSError) -> None:
        self._mark_closed(f"the connection broke: {describe_os_error(error)}")

    def _mark_closed(self, reason: str) -> None:
        if not self.is_closed:
            self.is_closed, self.close_reason = True, reason
            self._socket.close()
            self._outgoing.clear()


def _describe_peer(connection: socket.socket) -> str:
    try:
        host, port = connection.getpeername()[:2]
    except OSError:  # it has hung up already
        return ""
    return f"{host}:{port}"


C = TypeVar("C", bound=TcpChannel)


class TcpListener(Generic[C]):
    """Accepts clients.

    Args:
        make_channel: builds the channel of an accepted connection.
        bind: the address to listen on; port 0 = any free one.
        where: the origin of the address, for the error line.

    Attributes:
        address: where it listens.

    Raises:
        SimulatorError: the port is taken, or the address is not this machine's.
    """

    def __init__(self, make_channel: Callable[[socket.socket], C], bind: Address, *, where: str) -> None:
        self._make_channel = make_channel
        try:
            self._socket = socket.create_server(bind)
        except OSError as error:
            raise SimulatorError(
                f"cannot listen on {bind[0]}:{bind[1]}: {describe_os_error(error)}",
                where=where,
                hint="another program may have the port: stop it, or choose another port",
            ) from error
        self._socket.setblocking(False)
        self.address: Address = self._socket.getsockname()[:2]

    def accept(self) -> C | None:
        """Return the channel of the next client; None where no client waits."""
        try:
            connection, _ = self._socket.accept()
        except OSError:  # no client, or one that hung up before it was accepted
            return None
        return self._make_channel(connection)

    def fileno(self) -> int:
        """Return the socket's number, for `wait_readable`; -1 when closed."""
        return self._socket.fileno()

    def close(self) -> None:
        """Stop listening; open channels stay."""
        self._socket.close()


class TcpCaller(Generic[C]):
    """A connection attempt. Poll `poll_channel()` until it returns a channel or `failure` is set.

    Args:
        make_channel: builds the channel once the connection stands.
        address: the server.

    Attributes:
        failure: the name of the system's error; "" while there is none.
    """

    def __init__(self, make_channel: Callable[[socket.socket], C], address: Address) -> None:
        self._make_channel = make_channel
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        self._socket.setblocking(False)
        self.failure = ""
        code = self._socket.connect_ex(address)
        if code not in (0, *_CONNECT_PENDING):
            self._mark_failed(code)

    def poll_channel(self) -> C | None:
        """Return the channel once the connection stands; None until then."""
        if self.failure:
            return None
        ready, broken = _poll_writable(self._socket.fileno(), 0.0)
        if not ready and not broken:
            return None
        code = self._socket.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
        if code or not ready:  # Windows reports a refused connection as an exceptional condition
            self._mark_failed(code or errno.ECONNREFUSED)
            return None
        return self._make_channel(self._socket)

    def _mark_failed(self, code: int) -> None:
        self.failure = errno.errorcode.get(code, str(code)).removeprefix("WSA")  # Windows has its own names
        self._socket.close()

    def fileno(self) -> int:
        """Return the socket's number, for `wait_writable`; -1 when closed."""
        return self._socket.fileno()

    def close(self) -> None:
        """Give the attempt up."""
        self._socket.close()


class HasFileno(Protocol):
    """A channel or a listener."""

    def fileno(self) -> int:
        """Return the socket's number; -1 when closed."""


def wait_readable(ends: Sequence[HasFileno], seconds: float) -> bool:
    """Wait until one of `ends` has data to read or a client to accept, at most `seconds`; return whether one has."""
    return bool(find_readable(ends, max(seconds, 0.0)))


E = TypeVar("E", bound=HasFileno)


def find_readable(ends: Sequence[E], seconds: float = 0.0) -> list[E]:
    """Return those of `ends` that have data to read, or have been hung up on; wait for one at most `seconds`."""
    by_number = {number: end for end in ends if (number := end.fileno()) >= 0}
    if not by_number:
        return []
    if _needs_poll(max(by_number)):
        poll = select.poll()
        for number in by_number:
            poll.register(number, select.POLLIN)
        return [by_number[number] for number, _ in poll.poll(seconds * 1e3)]
    return [by_number[number] for number in select.select(list(by_number), [], [], seconds)[0]]


def wait_writable(end: HasFileno | None, seconds: float) -> None:
    """Wait until a connection attempt has been answered, at most `seconds`; without an attempt for all of them."""
    number = end.fileno() if end is not None else -1
    if number < 0:
        time.sleep(max(seconds, 0.0))
    else:
        _poll_writable(number, max(seconds, 0.0))


def _poll_writable(number: int, seconds: float) -> tuple[bool, bool]:
    """Return whether the socket `number` can be written, and whether it is broken; wait at most `seconds`."""
    if _needs_poll(number):
        poll = select.poll()
        poll.register(number, select.POLLOUT)
        events = [event for _, event in poll.poll(seconds * 1e3)]
        return bool(events), any(event & select.POLLERR for event in events)
    _, writable, broken = select.select([], [number], [number], seconds)
    return bool(writable), bool(broken)


def _needs_poll(number: int) -> bool:
    return number >= _MAX_SELECT and sys.platform != "win32"


class PendingCalls(Generic[C]):
    """The connections of `listener` that wait.

    Args:
        listener: open.
        handshake_s: s that a connection may take until it is open.

    Attributes:
        dropped: connections that were hung up on, since too many waited or they took too long.
    """

    def __init__(self, listener: TcpListener[C], handshake_s: float = HANDSHAKE_S) -> None:
        self._listener, self._handshake_s = listener, handshake_s
        self._since: dict[C, float] = {}  # the oldest first
        self.dropped = 0
        self._turn = 0  # of those that have something to read

    @property
    def channels(self) -> list[C]:
        """The connections that wait, the oldest first."""
        return list(self._since)

    def accept_calls(self, now: float) -> list[C]:
        """Accept those that call, and hang up on those that are too many or too slow.

        Args:
            now: s, any steady clock.

        Returns:
            the new ones that are still there.
        """
        accepted: list[C] = []
        called = self._listener.accept()
        while called is not None:
            accepted.append(called)
            self._since[called] = now
            if len(self._since) > MAX_PENDING:
                self._drop(next(iter(self._since)))
            called = self._listener.accept() if len(accepted) < _MAX_ACCEPTS else None
        if self._since:
            for channel, since in list(self._since.items()):
                if channel.is_closed:
                    del self._since[channel]
                elif not channel.is_open and now - since > self._handshake_s:
                    self._drop(channel)
        return [channel for channel in accepted if channel in self._since]

    def find_ready(self) -> list[C]:
        """Return some of those that have something to read; others have their turn at the next call."""
        if not self._since:
            return []
        ready = find_readable(self.channels)
        if len(ready) > _MAX_READY:
            first = self._turn % len(ready)
            self._turn += _MAX_READY
            ready = [*ready[first:], *ready[:first]][:_MAX_READY]
        return ready

    def _drop(self, channel: C) -> None:
        self.dropped += 1
        channel.close()
        del self._since[channel]

    def release(self, channel: C) -> C:
        """Return `channel`, which waits no longer: its new owner polls and closes it."""
        del self._since[channel]
        return channel

    def close(self) -> None:
        """Hang up on all of them; the listener stays open."""
        for channel in self._since:
            channel.close()
        self._since.clear()
