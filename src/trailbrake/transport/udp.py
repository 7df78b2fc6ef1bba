"""One UDP socket that never blocks: what comes is taken when it is there, what cannot be sent is counted."""

import ipaddress
import select
import socket
import sys
from collections.abc import Callable

from trailbrake.errors import SimulatorError, UsageError

Address = tuple[str, int]
LARGEST = 65535  # bytes, more than any datagram holds
_BUFFER = 1 << 20  # bytes the system keeps for us: a second of every wire that we speak


def address(text: str, *, where: str) -> Address:
    """Return HOST:PORT as an address; IPv4 or a name. UsageError names `where`."""
    host, _, port = text.rpartition(":")
    if not host or not port.isdecimal() or int(port) > 65535:
        raise UsageError("not an address", where=where, expected="HOST:PORT, port 0..65535", got=text)
    try:
        return str(ipaddress.IPv4Address(host)), int(port)
    except ValueError:
        pass
    try:
        return socket.gethostbyname(host), int(port)
    except (OSError, UnicodeError, TypeError) as error:
        raise UsageError(f"no such host: {error}", where=where, got=text) from error


class Udp:
    """A bound, non-blocking datagram socket.

    Args:
        bind: the address to listen on; port 0 = any free one.
        where: what the address comes from, for the error's line.

    Attributes:
        address: where it listens.
        unsent: datagrams that the system did not take: its queue was full, or there is no way to the receiver.

    Raises:
        UsageError: no number of a port.
        SimulatorError: the port is taken, or the address is not this machine's.
    """

    def __init__(self, bind: Address = ("127.0.0.1", 0), *, where: str = "udp") -> None:
        self.unsent = 0
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        try:
            self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, _BUFFER)
            if sys.platform == "win32":
                self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_EXCLUSIVEADDRUSE, 1)
            self._socket.bind(bind)
        except OverflowError as error:
            self._socket.close()
            raise UsageError("no port", where=where, expected="0..65535", got=str(bind[1])) from error
        except OSError as error:
            self._socket.close()
            raise SimulatorError(
                f"cannot listen on {bind[0]}:{bind[1]}: {error.strerror or error}",
                where=where,
                hint="another program may have the port: stop it, or choose another port",
            ) from error
        self._socket.setblocking(False)
        self.address: Address = self._socket.getsockname()

    @property
    def port(self) -> int:
        """The port that it listens on."""
        return self.address[1]

    def send(self, data: bytes, to: Address) -> bool:
        """Send one datagram; return whether the system took it."""
        try:
            self._socket.sendto(data, to)
        except OSError:  # full queue, no route, or an earlier datagram's "port unreachable"
            self.unsent += 1
            return False
        return True

    def receive(self) -> tuple[bytes, Address] | None:
        """Return the oldest datagram that waits and who sent it; None where there is none."""
        while True:
            try:
                return self._socket.recvfrom(LARGEST)
            except BlockingIOError:
                return None
            except ConnectionError:  # Windows: an earlier datagram of ours found nobody. Says nothing about this one
                continue

    def newest(self, passed_over: Callable[[bytes, Address], None] | None = None) -> tuple[bytes, Address] | None:
        """Return the newest datagram that waits; the older ones go to `passed_over`."""
        newest = None
        while (got := self.receive()) is not None:
            if newest is not None and passed_over is not None:
                passed_over(*newest)
            newest = got
        return newest

    def wait(self, seconds: float) -> bool:
        """Wait until a datagram is there, at most `seconds`; return whether one is.

        On Windows True may also mean "an earlier one of ours found nobody", after which `receive` returns None.
        """
        return bool(select.select([self._socket], [], [], max(seconds, 0.0))[0])

    def close(self) -> None:
        """Close the socket; a second time does nothing."""
        self._socket.close()
