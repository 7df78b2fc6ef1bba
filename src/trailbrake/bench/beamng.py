"""`bench beamng`: exchanges per second over the coupling's wire, between two processes on this machine.

Rows of `bench beamng` about the worked cases: the speed that two times and a controller's habits come to.

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

from trailbrake.bench.rows import BenchRow, measure_median
from trailbrake.cars.car_library import load_car
from trailbrake.sims.beamng.codec import COMMAND_SIZE
from trailbrake.sims.beamng.host import Host
from trailbrake.sims.beamng.link import Link
from trailbrake.sims.beamng.spec import LiveOptions, ServeOptions
from trailbrake.sims.beamng.timing import PHYSICS_STEP, compute_timing
from trailbrake.state import CarState, Controls
from trailbrake.system import steady_clock
from trailbrake.system.realtime import low_latency_interpreter
from trailbrake.tracks.track_library import load_track
from trailbrake.world.plant import World

CAR, TRACK = "gt3", "hartmoor"
RUNS, EXCHANGES, WARM_UP = 3, 60_000, 2_000
PATIENCE = 60.0  # s until a host has to be there, and between its messages
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


def measure_cases() -> list[BenchRow]:
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


def measure_rows() -> list[BenchRow]:
    """Measure all rows of this bench (about three minutes)."""
    what = f"a message each physics step, window 1, strict, full CarState, {EXCHANGES} exchanges over loopback UDP"
    serve = [sys.executable, "-m", "trailbrake", "serve", "beamng", f"--track={TRACK}", f"--car={CAR}"]
    world, world_note = measure_median(RUNS, lambda: _measure_exchanges(serve))
    link, link_note = measure_median(
        RUNS, lambda: _measure_exchanges([sys.executable, "-m", "trailbrake.bench.beamng"])
    )
    return [
        BenchRow("lockstep_exchanges_per_s", world, "1/s", "higher",
            f"the world as a process of its own, {CAR} on {TRACK}; {what}; {world * PHYSICS_STEP:.1f}x real time; "
            f"{world_note}"),
        BenchRow("link_exchanges_per_s", link, "1/s", "higher", f"a world that does nothing; {what}; {link_note}"),
        *measure_cases(),
    ]  # fmt: skip


def _measure_exchanges(command: list[str]) -> float:
    """Return exchanges per second of a host that `command` starts, with a controller that answers at once."""
    receive = find_free_port()
    with run_host(command, listen := find_free_port(), receive, PHYSICS_STEP):
        link = Link(
            LiveOptions(listen=f"127.0.0.1:{listen}", peer=f"127.0.0.1:{receive}", simulink_time=PHYSICS_STEP,
                        wait=PATIENCE),
            idle=lambda: steady_clock.sleep_until(steady_clock.now() + 0.005),
        )  # fmt: skip
        link.open(steady_clock.now())
        try:
            controls = Controls(throttle=0.3)
            with low_latency_interpreter():  # as a drive does, and a host
                for _ in range(WARM_UP):
                    _exchange_once(link, controls)
                began = steady_clock.now()
                for _ in range(EXCHANGES):
                    _exchange_once(link, controls)
                return EXCHANGES / (steady_clock.now() - began)
        finally:
            link.release()
            link.close()


def _exchange_once(link: Link, controls: Controls) -> None:
    while not link.has_new_sample():
        link.wait(PATIENCE)
    link.read(steady_clock.now())
    link.write(controls)


class NullPlant(World):
    """A world whose car stands still: what is left is the wire."""

    def __init__(self) -> None:
        super().__init__(load_track(TRACK), [load_car(CAR)], period=PHYSICS_STEP)
        self._state = super().car_state(0)

    def step(self, controls: object) -> None:
        """Do nothing."""

    def car_state(self, car: int) -> CarState:
        """Return the same state each time."""
        return self._state


def serve_null_plant(send: str, receive_port: int) -> None:
    """Serve a NullPlant for ever."""
    made = Host(NullPlant(), ServeOptions(send=send, receive_port=receive_port, simulink_time=PHYSICS_STEP))
    made.open(steady_clock.now())
    with low_latency_interpreter():
        while True:
            made.tick(steady_clock.now())
            while made.waits:
                made.wait(PATIENCE)
                made.tick(steady_clock.now())


if __name__ == "__main__":
    flags = dict(word.removeprefix("--").split("=") for word in sys.argv[1:])
    serve_null_plant(flags["send"], int(flags["receive-port"]))
