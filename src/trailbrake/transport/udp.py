"""One UDP socket that never blocks: what comes is taken when it is there, what cannot be sent is counted."""

import ipaddress
import math
import select
import socket
import struct
import sys
from collections.abc import Callable
from functools import partial

from trailbrake.errors import SimulatorError, UsageError
from trailbrake.transport.spin import LONGEST_S, Spin

Address = tuple[str, int]
LARGEST = 65535  # bytes, more than any datagram holds
_BUFFER = 1 << 20  # bytes the system keeps for us: a second of every wire that we speak
# Where one call can wait for a datagram and take it, the other side's answer is there 10 to 20 us sooner than by
# waiting first and taking then. Not for short waits: that call counts in ticks of the system, up to 10 ms.
_WAITS_BY_TAKING = sys.platform == "linux"
_SHORT = 0.02  # s
_AT_ONCE = socket.MSG_DONTWAIT if _WAITS_BY_TAKING else 0
_TIMEOUT = struct.Struct("@ll")  # s and us


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
        self._socket.setblocking(_WAITS_BY_TAKING)  # where it blocks, _AT_ONCE says each time that it shall not
        self._kept: tuple[bytes, Address] | None = None  # what `wait` has taken
        self._seen = False  # `wait` has seen one: no need to look
        self._timeout = 0.0
        self._sleep, self._look = self._lookers()
        self._spin = Spin()
        self.address: Address = self._socket.getsockname()

    @property
    def port(self) -> int:
        """The port that it listens on."""
        return self.address[1]

    def _lookers(self) -> tuple[Callable[[float], object], Callable[[], object]]:
        """Return what waits up to so many s and tells whether there is a datagram, and what tells it at once."""
        if _WAITS_BY_TAKING:
            poll = select.poll()
            poll.register(self._socket, select.POLLIN)
            # The look is a C function as it is: some waits call it a thousand times.
            return lambda seconds: poll.poll(math.ceil(seconds * 1e3)), partial(poll.poll, 0)
        return self._select, partial(self._select, 0.0)

    def _select(self, seconds: float) -> object:
        return select.select([self._socket], [], [], seconds)[0]

    def send(self, data: bytes, to: Address) -> bool:
        """Send one datagram; return whether the system took it."""
        try:
            self._socket.sendto(data, _AT_ONCE, to)
        except OSError:  # full queue, no route, or an earlier datagram's "port unreachable"
            self.unsent += 1
            return False
        return True

    def receive(self) -> tuple[bytes, Address] | None:
        """Return the oldest datagram that waits and who sent it; None where there is none."""
        kept = self._kept
        if kept is not None:
            self._kept = None
            return kept
        while self._seen or self._look():  # a look costs a third of a call that finds nothing
            self._seen = False
            try:
                return self._socket.recvfrom(LARGEST, _AT_ONCE)
            except BlockingIOError:  # there was one, and its checksum was wrong
                return None
            except ConnectionError:  # Windows: an earlier datagram of ours found nobody. Says nothing about this one
                continue
        return None

    def receive_data(self) -> bytes | None:
        """Return the oldest datagram that waits, from whomever: quicker than with its sender; None without one."""
        kept = self._kept
        if kept is not None:
            self._kept = None
            return kept[0]
        while self._seen or self._look():
            self._seen = False
            try:
                return self._socket.recv(LARGEST, _AT_ONCE)
            except BlockingIOError:
                return None
            except ConnectionError:
                continue
        return None

    def expected_data(self) -> bytes | None:
        """Return what `receive_data` does: quicker where a datagram is there, slower where none is."""
        self._seen = True
        return self.receive_data()

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
        if self._kept is not None:
            return True
        if seconds > LONGEST_S and self._spin.until(self._look):
            self._seen = True
            return True
        if not _WAITS_BY_TAKING or seconds < _SHORT:
            return bool(self._sleep(max(seconds, 0.0)))
        if seconds != self._timeout:
            self._timeout = seconds
            whole = int(seconds)
            timeout = _TIMEOUT.pack(whole, int((seconds - whole) * 1e6))
            self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, timeout)
        try:
            self._kept = self._socket.recvfrom(LARGEST)
        except BlockingIOError:  # the time is over
            return False
        return True

    def close(self) -> None:
        """Close the socket; a second time does nothing."""
        self._socket.close()
