"""One UDP socket that never blocks; it counts the datagrams that the system does not accept.

Which of several senders a UDP socket listens to: the first one, until it has been silent for a while.

A port is open to every program that can reach it, and a datagram has no signature. A link therefore holds on to the
first sender whose datagrams it can read; those of others are foreign, and are counted. When the held sender has been
silent, the next readable datagram of any sender takes its place: that is how a restarted simulator, which sends from
another port, is found.
"""

import ipaddress
import math
import select
import socket
import struct
import sys
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from time import perf_counter

from trailbrake.errors import SimulatorError, UsageError, describe_os_error
from trailbrake.transport.client_notices import print_to_stderr

Address = tuple[str, int]
MAX_DATAGRAM = 65535  # bytes, more than any datagram holds
_RECEIVE_BUFFER = 1 << 20  # bytes the system keeps for us: a second of every wire that we speak
# Where one system call can wait for a datagram and receive it, the answer arrives 10 to 20 us sooner than with a wait
# and a receive. Not for short waits: the call's time limit has the resolution of the system tick, up to 10 ms.
_CAN_WAIT_IN_RECEIVE = sys.platform == "linux"
_SHORT_WAIT_S = 0.02  # s
_DONT_WAIT = socket.MSG_DONTWAIT if _CAN_WAIT_IN_RECEIVE else 0
_TIMEVAL = struct.Struct("@ll")  # s and us
MAX_SPIN_S = 500e-6  # of one spin: more than another process needs to answer, far less than the shortest useful sleep
_PREEMPTED_S = 500e-6  # between two polls: meanwhile the system has run another process on the core
_MAX_SKIPPED_WAITS = 255  # waits at most without a spin after one without success
_RESET_AFTER_SUCCESSES = 20  # successful spins reset the back-off
SILENCE_S = 0.5  # s without a datagram of the held sender after which another may take its place


class AdaptiveSpin:
    """Polls for a while before a sleep, where polling has paid off before. One for each socket.

    A process that sleeps runs again 20 to 100 us after its datagram has arrived; a polling one runs at once. In
    lockstep two processes wait for each other's every message, which takes half of the time. But polling occupies a
    core, and where cores are short, that of the very process that should answer. So each spin has a short limit, and
    after one without success the next waits go without (exponential back-off).

    Args:
        clock: s, steady.
    """

    def __init__(self, clock: Callable[[], float] = perf_counter) -> None:
        self._clock = clock
        self._backoff = self._waits_to_skip = self._successes = 0

    def spin_until(self, is_ready: Callable[[], object]) -> bool:
        """Call `is_ready()` until it returns something true; False after MAX_SPIN_S, or where this wait is skipped."""
        if self._waits_to_skip:
            self._waits_to_skip -= 1
            return False
        clock = self._clock
        began = last = clock()
        while True:
            there = is_ready()
            now = clock()
            if now - last > _PREEMPTED_S or (not there and now - began > MAX_SPIN_S):
                self._backoff = (
                    0 if self._successes >= _RESET_AFTER_SUCCESSES else min(2 * self._backoff + 1, _MAX_SKIPPED_WAITS)
                )
                self._waits_to_skip, self._successes = self._backoff, 0
                return bool(there)
            if there:
                break
            last = now
        self._successes += 1
        return True


def parse_address(text: str, *, where: str) -> Address:
    """Return HOST:PORT as an address; IPv4 or a name. UsageError names `where`."""
    host, _, port = text.rpartition(":")
    if not host or not port.isdecimal() or len(port) > 5 or int(port) > 65535:  # Python reads no thousands of digits
        raise UsageError("not an address", where=where, expected="HOST:PORT, port 0..65535", got=text[:80])
    with suppress(ValueError):  # a name
        return str(ipaddress.IPv4Address(host)), int(port)
    try:
        return socket.gethostbyname(host), int(port)
    except (OSError, UnicodeError, TypeError) as error:
        raise UsageError(f"no such host: {error}", where=where, got=text) from error


class UdpSocket:
    """A bound, non-blocking datagram socket.

    Args:
        bind: the address to listen on; port 0 = any free one.
        where: the origin of the address, for the error line.

    Attributes:
        address: where it listens.
        unsent: datagrams that the system did not accept: its queue was full, or there is no route to the receiver.

    Raises:
        UsageError: no number of a port.
        SimulatorError: the port is taken, or the address is not this machine's.
    """

    def __init__(self, bind: Address = ("127.0.0.1", 0), *, where: str = "udp") -> None:
        self.unsent = 0
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        try:
            self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, _RECEIVE_BUFFER)
            if sys.platform == "win32":
                self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_EXCLUSIVEADDRUSE, 1)
            self._socket.bind(bind)
        except OverflowError as error:
            self._socket.close()
            raise UsageError("no port", where=where, expected="0..65535", got=str(bind[1])) from error
        except OSError as error:
            self._socket.close()
            raise SimulatorError(
                f"cannot listen on {bind[0]}:{bind[1]}: {describe_os_error(error)}",
                where=where,
                hint="another program may have the port: stop it, or choose another port",
            ) from error
        self._socket.setblocking(_CAN_WAIT_IN_RECEIVE)  # where it blocks, _AT_ONCE says each time that it shall not
        self._received_early: tuple[bytes, Address] | None = None  # what `wait` has taken
        self._is_known_readable = False  # a wait has just returned True: no need to poll
        self._timeout = 0.0
        self._wait_poll, self._poll_now = self._build_pollers()
        self._spin = AdaptiveSpin()
        self.address: Address = self._socket.getsockname()

    @property
    def port(self) -> int:
        """The port that it listens on."""
        return self.address[1]

    def _build_pollers(self) -> tuple[Callable[[float], object], Callable[[], object]]:
        """Return a function that waits so many s for a datagram and one that polls; both return whether one waits."""
        if _CAN_WAIT_IN_RECEIVE:
            poll = select.poll()
            poll.register(self._socket, select.POLLIN)
            # The poll is a C function without a wrapper: some waits call it a thousand times.
            return lambda seconds: poll.poll(math.ceil(seconds * 1e3)), partial(poll.poll, 0)
        return self._select_readable, partial(self._select_readable, 0.0)

    def _select_readable(self, seconds: float) -> object:
        if self._socket.fileno() < 0:  # closed, and close() of a link reads once more
            return False
        return select.select([self._socket], [], [], seconds)[0]

    def send(self, data: bytes, to: Address) -> bool:
        """Send one datagram; return whether the system accepted it."""
        try:
            self._socket.sendto(data, _DONT_WAIT, to)
        except OSError:  # full queue, no route, or an earlier datagram's "port unreachable"
            self.unsent += 1
            return False
        return True

    def receive(self) -> tuple[bytes, Address] | None:
        """Return the oldest datagram that waits and who sent it; None where there is none."""
        kept = self._received_early
        if kept is not None:
            self._received_early = None
            return kept
        while self._is_known_readable or self._poll_now():  # a poll costs a third of a receive that finds nothing
            self._is_known_readable = False
            try:
                return self._socket.recvfrom(MAX_DATAGRAM, _DONT_WAIT)
            except BlockingIOError:  # there was one, and its checksum was wrong
                return None
            except ConnectionError:  # Windows: no socket received an earlier datagram of ours; this one may be there
                continue
        return None

    def receive_data(self) -> bytes | None:
        """Return the oldest datagram that waits, without its sender: quicker than `receive`; None without one."""
        kept = self._received_early
        if kept is not None:
            self._received_early = None
            return kept[0]
        while self._is_known_readable or self._poll_now():
            self._is_known_readable = False
            try:
                return self._socket.recv(MAX_DATAGRAM, _DONT_WAIT)
            except BlockingIOError:
                return None
            except ConnectionError:
                continue
        return None

    def receive_expected(self) -> bytes | None:
        """Return what `receive_data` does: quicker where a datagram waits, slower where none does."""
        self._is_known_readable = True
        return self.receive_data()

    def wait_readable(self, seconds: float) -> bool:
        """Wait for a datagram, at most `seconds`; return whether one waits.

        On Windows True may also mean that no socket received an earlier datagram of ours; then `receive` returns None.
        """
        if self._received_early is not None:
            return True
        if seconds > MAX_SPIN_S and self._spin.spin_until(self._poll_now):
            self._is_known_readable = True
            return True
        if not _CAN_WAIT_IN_RECEIVE or seconds < _SHORT_WAIT_S:
            return bool(self._wait_poll(max(seconds, 0.0)))
        if seconds != self._timeout:
            self._timeout = seconds
            whole = int(seconds)
            timeout = _TIMEVAL.pack(whole, int((seconds - whole) * 1e6))
            self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, timeout)
        try:
            self._received_early = self._socket.recvfrom(MAX_DATAGRAM)
        except BlockingIOError:  # the time is over
            return False
        return True

    def close(self) -> None:
        """Close the socket; a second time does nothing."""
        self._socket.close()


class SenderGuard:
    """Holds one sender.

    Times are s of any steady clock. Time without a look at the socket is no silence: after a program has hung
    for longer than `SILENCE_S`, the held sender's datagrams may wait behind those of others.

    Args:
        name: of the simulator, in front of the line about a second sender.
        say: prints that line, once.

    Attributes:
        sender: the held sender; None before the first.
        heard_at: time of its newest datagram.
        foreign: number of datagrams of other senders while the held one was not silent.
    """

    __slots__ = ("_has_said", "_name", "_observed_at", "_say", "foreign", "heard_at", "sender")

    def __init__(self, name: str, say: Callable[[str], None] = print_to_stderr) -> None:
        self.sender: object = None
        self.foreign = 0
        self._name, self._say, self._has_said = name, say, False
        self.heard_at = self._observed_at = 0.0

    def observe(self, now: float) -> None:
        """Note that the socket is looked at."""
        if not 0.0 <= now - self._observed_at <= SILENCE_S:
            self.heard_at = now
        self._observed_at = now

    def admit(self, sender: object, now: float) -> bool:
        """Return whether a datagram of `sender` may be read; count and report those that may not."""
        self.observe(now)
        if sender == self.sender or self.sender is None or now - self.heard_at > SILENCE_S:
            return True
        self.foreign += 1
        if not self._has_said:
            self._has_said = True
            self._say(
                f"{self._name}: datagrams of a second sender, {describe_sender(sender)}, are ignored while "
                f"{describe_sender(self.sender)} sends: does a second simulator run?"
            )
        return False

    def hold(self, sender: object, now: float) -> None:
        """Hold `sender`, whose admitted datagram could be read."""
        self.sender = sender
        self.heard_at = self._observed_at = now


def describe_sender(sender: object) -> str:
    """Return HOST:PORT of an address; any other sender as text."""
    return f"{sender[0]}:{sender[1]}" if isinstance(sender, tuple) else str(sender)
