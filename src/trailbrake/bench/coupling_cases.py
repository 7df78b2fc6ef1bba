"""Rows of `bench beamng` about the worked cases: the speed that two times and a controller's habits come to.

A world as a process of its own, at real-time pace, with the game's window; before it a controller made here of a socket
and nothing of ours, which answers each message after a delay of the network or after computing. In virtual time the
cases are exact (tests/sims/beamng/test_window.py); over real sockets waking up comes on top, so these are figures.

Source: protocol page beamng-coupling, section 6, worked cases 1 and 2.
"""

import heapq
import socket
import struct
import sys
from collections.abc import Callable
from dataclasses import dataclass
from time import perf_counter

from trailbrake.bench.coupled import free_port, host
from trailbrake.bench.rows import Row
from trailbrake.sims.beamng.codec import COMMAND_SIZE
from trailbrake.sims.beamng.timing import as_the_game

SECONDS, SETTLE = 3.0, 1.0  # of wall time; the first of them do not count
FIRST_S = 60.0  # until the first message


@dataclass(frozen=True)
class Case:
    """One row.

    Attributes:
        name: of the row.
        simulink_time: s.
        ping_time: s.
        echo: the answer's id is the message's own; else its number, from 1.
        delay: s from a message to its answer, which other messages do not wait for.
        first: s by which the first answer is sooner.
        compute: s that the controller works on a message, one after the other.
        expected: simulator time over real time in theory.
    """

    name: str
    simulink_time: float
    ping_time: float
    echo: bool = False
    delay: float = 0.0
    first: float = 0.0
    compute: float = 0.0
    expected: float = 1.0


CASES = (
    Case("case_window_4", 0.0005, 0.002, delay=0.002),
    Case("case_window_4_echo", 0.0005, 0.002, echo=True, delay=0.002, first=0.0012, expected=0.75),
    Case("case_window_1", 0.0005, 0.00001, delay=0.002, expected=0.25),
    Case("case_window_2", 0.001, 0.002, delay=0.002),
    Case("case_window_2_echo", 0.001, 0.002, echo=True, delay=0.002, first=0.0012, expected=0.5),
    Case("case_compute_in_time", 0.001, 0.00001, compute=0.0009),
    Case("case_compute_too_long", 0.0005, 0.00001, compute=0.001, expected=0.5),
    Case("case_compute_with_room", 0.005, 0.00001, compute=0.001),
)


def rows() -> list[Row]:
    """Measure all cases (about half a minute)."""
    return [_row(case, _measure(case)) for case in CASES]


def _row(case: Case, speed: float) -> Row:
    network = f"answers {case.delay * 1e3:g} ms later" if case.delay else f"computes {case.compute * 1e3:g} ms"
    return Row(
        case.name, speed, "1", "higher",
        f"simulator time over real time, {case.expected:g} in theory; simulinkTime {case.simulink_time:g} s, pingTime "
        f"{case.ping_time:g} s, a controller that {network}, id {'of the message' if case.echo else 'counted from 1'}",
    )  # fmt: skip


def _measure(case: Case) -> float:
    receive = free_port()
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as wire:
        wire.bind(("127.0.0.1", 0))
        words = ["--window=beamng", "--speed=real", f"--ping-time={case.ping_time!r}"]
        command = [sys.executable, "-m", "trailbrake", "serve", "beamng", *words]
        with host(command, wire.getsockname()[1], receive, case.simulink_time):
            sent = answer(case, wire, ("127.0.0.1", receive), SECONDS, perf_counter)
    return sent * as_the_game(case.simulink_time, case.ping_time).step / (SECONDS - SETTLE)


def answer(case: Case, wire: socket.socket, to: tuple[str, int], seconds: float, clock: Callable[[], float]) -> int:
    """Be the controller for `seconds` from the first message; return how many came after the first SETTLE of them."""
    wire.settimeout(FIRST_S)
    message = wire.recv(65535)
    wire.setblocking(False)
    due: list[tuple[float, float]] = []  # when, and the id
    began, count, counted = clock(), 0, 0
    while (now := clock()) < began + seconds:
        if message:
            counted += now - began >= SETTLE
            count += 1
            number = struct.unpack_from("<d", message)[0] if case.echo else float(count)
            if case.compute:
                while clock() < now + case.compute:
                    pass
                wire.sendto(_command(number), to)
            else:
                heapq.heappush(due, (now + case.delay - (case.first if count == 1 else 0.0), number))
        while due and due[0][0] <= clock():
            wire.sendto(_command(heapq.heappop(due)[1]), to)
        try:
            message = wire.recv(65535)
        except BlockingIOError:
            message = b""
    return counted


def _command(number: float) -> bytes:
    return struct.pack("<d", number) + bytes(COMMAND_SIZE - 8)
