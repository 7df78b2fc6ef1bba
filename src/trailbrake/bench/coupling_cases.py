"""Rows of `bench beamng` about the worked cases: the speed that two times and a controller's habits come to.

A world as a process of its own, at real-time pace, with the game's window; before it a controller made here of a socket
and nothing of ours, which answers each message after a delay of the network or after computing. In virtual time the
cases are exact (tests/sims/beamng/test_window.py); over real sockets waking up comes on top, so these are figures.

Source: protocol page beamng-coupling, section 6, worked cases 1 and 2.
"""

import heapq
import socket
import struct
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from time import perf_counter

from trailbrake.bench.rows import BenchRow
from trailbrake.sims.beamng.codec import COMMAND_SIZE
from trailbrake.sims.beamng.timing import compute_timing

SECONDS, SETTLE = 3.0, 1.0  # of wall time; the first of them do not count
FIRST_S = 60.0  # until the first message
EXIT_S = 60.0  # until a terminated host has ended


def find_free_port() -> int:
    """Return a free UDP port."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


@contextmanager
def run_host(command: Sequence[str], send: int, receive: int, simulink_time: float) -> Iterator[None]:
    """Run `command` as a host that sends to one port of this machine and listens on another.

    Args:
        command: the program and its arguments, without the ports and the period.
        send: port of the controller.
        receive: port of the host.
        simulink_time: s.
    """
    words = [*command, f"--send=127.0.0.1:{send}", f"--receive-port={receive}", f"--simulink-time={simulink_time!r}"]
    process = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        yield
    finally:
        process.terminate()
        process.wait(EXIT_S)


@dataclass(frozen=True)
class CouplingCase:
    """One row.

    Attributes:
        name: of the row.
        simulink_time: s.
        ping_time: s.
        echo_id: whether an answer carries the id of its message; otherwise it carries its own number, from 1.
        delay_s: s from a message to its answer; several may be on their way.
        first_lead_s: s by which the first answer comes earlier.
        compute_s: s that the controller computes on a message, one message after the other.
        expected_speed: simulator time over real time in theory.
    """

    name: str
    simulink_time: float
    ping_time: float
    echo_id: bool = False
    delay_s: float = 0.0
    first_lead_s: float = 0.0
    compute_s: float = 0.0
    expected_speed: float = 1.0


CASES = (
    CouplingCase("case_window_4", 0.0005, 0.002, delay_s=0.002),
    CouplingCase(
        "case_window_4_echo", 0.0005, 0.002, echo_id=True, delay_s=0.002, first_lead_s=0.0012, expected_speed=0.75
    ),
    CouplingCase("case_window_1", 0.0005, 0.00001, delay_s=0.002, expected_speed=0.25),
    CouplingCase("case_window_2", 0.001, 0.002, delay_s=0.002),
    CouplingCase(
        "case_window_2_echo", 0.001, 0.002, echo_id=True, delay_s=0.002, first_lead_s=0.0012, expected_speed=0.5
    ),
    CouplingCase("case_compute_in_time", 0.001, 0.00001, compute_s=0.0009),
    CouplingCase("case_compute_too_long", 0.0005, 0.00001, compute_s=0.001, expected_speed=0.5),
    CouplingCase("case_compute_with_room", 0.005, 0.00001, compute_s=0.001),
)


def measure_rows() -> list[BenchRow]:
    """Measure all cases (about half a minute)."""
    return [_make_row(case, _measure_speed(case)) for case in CASES]


def _make_row(case: CouplingCase, speed: float) -> BenchRow:
    network = f"answers {case.delay_s * 1e3:g} ms later" if case.delay_s else f"computes {case.compute_s * 1e3:g} ms"
    return BenchRow(
        case.name, speed, "1", "higher",
        f"simulator time over real time, {case.expected_speed:g} in theory; simulinkTime {case.simulink_time:g} s, "
        f"pingTime {case.ping_time:g} s, a controller that {network}, "
        f"id {'of the message' if case.echo_id else 'counted from 1'}",
    )  # fmt: skip


def _measure_speed(case: CouplingCase) -> float:
    receive = find_free_port()
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as wire:
        wire.bind(("127.0.0.1", 0))
        words = ["--window=beamng", "--speed=real", f"--ping-time={case.ping_time!r}"]
        command = [sys.executable, "-m", "trailbrake", "serve", "beamng", *words]
        with run_host(command, wire.getsockname()[1], receive, case.simulink_time):
            sent = answer_messages(case, wire, ("127.0.0.1", receive), SECONDS, perf_counter)
    return sent * compute_timing(case.simulink_time, case.ping_time).message_period / (SECONDS - SETTLE)


def answer_messages(
    case: CouplingCase, wire: socket.socket, address: tuple[str, int], seconds: float, clock: Callable[[], float]
) -> int:
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
            number = struct.unpack_from("<d", message)[0] if case.echo_id else float(count)
            if case.compute_s:
                while clock() < now + case.compute_s:
                    pass
                wire.sendto(_encode_command(number), address)
            else:
                heapq.heappush(due, (now + case.delay_s - (case.first_lead_s if count == 1 else 0.0), number))
        while due and due[0][0] <= clock():
            wire.sendto(_encode_command(heapq.heappop(due)[1]), address)
        try:
            message = wire.recv(65535)
        except BlockingIOError:
            message = b""
    return counted


def _encode_command(number: float) -> bytes:
    return struct.pack("<d", number) + bytes(COMMAND_SIZE - 8)
