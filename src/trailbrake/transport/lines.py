"""TCP connections that carry lines of text, neither end ever blocking: a listening end and a calling end."""

import errno
import select
import socket

from trailbrake.errors import SimulatorError
from trailbrake.transport.udp import Address

LARGEST = 4 << 20  # bytes of one line: a camera frame of 2000 x 2000 as base64 fits
_CHUNK = 1 << 16
_PENDING = (errno.EINPROGRESS, errno.EWOULDBLOCK, errno.EAGAIN, getattr(errno, "WSAEWOULDBLOCK", errno.EAGAIN))


class LineChannel:
    """One connection.

    Attributes:
        is_closed: nothing will come or go any more.
        why: why it closed; "" while it is not.
    """

    def __init__(self, connection: socket.socket) -> None:
        connection.setblocking(False)
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.is_closed, self.why = False, ""
        self._socket = connection
        self._incoming, self._outgoing = bytearray(), bytearray()

    def poll(self) -> list[str]:
        """Move what can be moved and return the lines that have come, oldest first, without their ends.

        Empty lines are left out. Bytes that are no UTF-8 become replacement characters: what is in a line is for others
        to judge. A line that is too long ends the connection.
        """
        if self.is_closed:
            return []
        lines: list[str] = []
        try:
            self._flush()
            while True:
                data = self._socket.recv(_CHUNK)
                if not data:
                    self._end("the other end hung up")
                    break
                self._incoming += data
                if b"\n" in data:
                    *whole, rest = self._incoming.split(b"\n")
                    self._incoming = bytearray(rest)
                    lines += [line.decode("utf-8", "replace").strip() for line in whole]
                if len(self._incoming) > LARGEST:
                    self._end(f"a line of more than {LARGEST} bytes")
                    break
        except BlockingIOError:
            pass
        except OSError as error:
            self._end(f"the connection broke: {error.strerror or error}")
        return [line for line in lines if line]

    def send(self, line: str) -> None:
        """Send one line; what the system does not take at once goes with the next poll."""
        if not self.is_closed:
            self._outgoing += line.encode() + b"\n"
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

    @property
    def unsent(self) -> int:
        """Bytes that wait for the other end to read: a peer that stopped reading lets this grow."""
        return len(self._outgoing)

    def wait(self, seconds: float) -> bool:
        """Wait until there is something to read, at most `seconds`; return whether there is."""
        return not self.is_closed and bool(select.select([self._socket], [], [], max(seconds, 0.0))[0])

    def _end(self, why: str) -> None:
        if not self.is_closed:
            self.is_closed, self.why = True, why
            self._socket.close()

    def close(self) -> None:
        """Hang up."""
        self._end("closed")


class LineListener:
    """Waits for clients.

    Args:
        bind: the address to listen on; port 0 = any free one.
        where: what the address comes from, for the error's line.

    Attributes:
        address: where it listens.

    Raises:
        SimulatorError: the port is taken, or the address is not this machine's.
    """

    def __init__(self, bind: Address = ("127.0.0.1", 0), *, where: str = "tcp") -> None:
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

    def accept(self) -> LineChannel | None:
        """Return the next client that has called; None where there is none."""
        try:
            connection, _ = self._socket.accept()
        except OSError:  # nobody, or one that hung up before we picked up
            return None
        return LineChannel(connection)

    def close(self) -> None:
        """Stop listening; open channels stay."""
        self._socket.close()


class LineCaller:
    """A call that is under way. Poll `channel()` until it is there, or `failed` says why not."""

    def __init__(self, address: Address) -> None:
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        self._socket.setblocking(False)
        self.failed = ""
        code = self._socket.connect_ex(address)
        if code not in (0, *_PENDING):
            self._refuse(code)

    def channel(self) -> LineChannel | None:
        """Return the channel once it is there; None while it is not."""
        if self.failed:
            return None
        _, ready, broken = select.select([], [self._socket], [self._socket], 0.0)
        if not ready and not broken:
            return None
        code = self._socket.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
        if code or not ready:  # Windows tells a refused call as an exception
            self._refuse(code or errno.ECONNREFUSED)
            return None
        return LineChannel(self._socket)

    def _refuse(self, code: int) -> None:
        self.failed = errno.errorcode.get(code, str(code)).removeprefix("WSA")  # Windows: its own names
        self._socket.close()

    def close(self) -> None:
        """Give the call up."""
        self._socket.close()
