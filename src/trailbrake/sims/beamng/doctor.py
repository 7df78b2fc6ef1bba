"""`doctor beamng`: finds out why no data arrive, or why the coupling is slow.

In generation 1 its answers change no control. Generation 2 has no such answer: there the answers hold the brake.

Diagnoses a coupling from received datagrams: findings from their bytes, senders and times, without a socket.
"""

import math
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from statistics import median, quantiles
from struct import Struct
from typing import Any

from trailbrake.errors import SimulatorError, UsageError, WireError
from trailbrake.findings import Finding
from trailbrake.sims.beamng import spec
from trailbrake.sims.beamng.codec import DOUBLE, STATE_SIZE, STATE_SUBSET_FIELDS, StateMessage, decode_state
from trailbrake.sims.beamng.signal_contract import load_contract
from trailbrake.sims.beamng.signal_format import SignalListFormat, encode_idle_answer
from trailbrake.sims.beamng.timing import PHYSICS_STEP, CouplingTiming, expected_speed
from trailbrake.simulator_tools import DoctorTool
from trailbrake.transport.udp import Address, UdpSocket, parse_address

LISTEN_S = 1.25 * spec.BLOCK_TIMEOUT  # s to listen without an answer: a waiting game sends once per time-out
LOCAL_HOSTS = ("127.0.0.1", "localhost")
MESSAGE_ID = Struct("<d")
SLOW_PACE = 0.95  # share of real time below which the coupling counts as slow
DISPLAY_RATES = (60.0, 75.0, 90.0, 100.0, 120.0, 144.0, 165.0, 240.0)  # Hz
DISPLAY_RATE_TOLERANCE = 0.02  # share by which a frame may miss a display's rate
DISPLAY_FRAME_SPREAD = 0.08  # interquartile range of frame times over their median, below which a display sets the pace
BURST_GAP = 4.0  # a gap longer than this many median gaps separates two bursts
MAX_PLAUSIBLE = 1e9  # in any unit: a larger value means that the datagram is not a message
MOVING_SPEED = 1.0  # m/s above which distance over speed gives the time between two messages


@dataclass(frozen=True, slots=True)
class ReceivedDatagram:
    """A received datagram: time of arrival (s, any clock), bytes, and the sender's address."""

    received_at: float
    data: bytes
    sender: Address


def diagnose_packets(datagrams: Sequence[ReceivedDatagram], seconds: float, port_is_free: bool | None) -> Finding:
    """Return whether datagrams arrive.

    Args:
        datagrams: received without answering.
        seconds: how long they were received.
        port_is_free: whether no program listens on the simulator's port; None = unknown.
    """
    if datagrams:
        return Finding("packets", "ok", f"{len(datagrams)} in {seconds:g} s without an answer")
    found = f"none in {seconds:g} s"
    if port_is_free:
        return Finding("packets", "problem", f"{found}; no program listens for commands: the controller is not loaded",
                       "load it: `trailbrake setup beamng` has the line. A vehicle reset unloads it where it was "
                       "loaded without the extension")  # fmt: skip
    if port_is_free is False:
        return Finding("packets", "problem", f"{found}, though a program listens for commands",
                       "the game sends to another address: compare udpSendIP and udpSendPort with --listen; or it is "
                       "paused")  # fmt: skip
    return Finding("packets", "problem", found,
                   "is the controller loaded (`trailbrake setup beamng`), does udpSendIP name this machine, does a "
                   "firewall let UDP in?")  # fmt: skip


def diagnose_size(datagrams: Sequence[ReceivedDatagram], expected: int = STATE_SIZE) -> Finding:
    """Return whether the datagrams have the size of a state message, by default that of generation 1."""
    wrong = sorted({len(arrival.data) for arrival in datagrams if len(arrival.data) != expected})
    if not wrong:
        return Finding("size", "ok", f"{expected} bytes each")
    found = f"{', '.join(map(str, wrong))} bytes instead of {expected}"
    if all(count % DOUBLE == 0 and count > DOUBLE for count in wrong):
        if wrong[0] == STATE_SIZE:
            return Finding("size", "problem", found, "that is generation 1: leave --contract out")
        signals = wrong[0] // DOUBLE - 1
        advice = "the second generation of the coupling? then give its list: --contract FILE.csv"
        if expected != STATE_SIZE:
            advice = f"the contract lists {expected // DOUBLE - 1}: give the file that the game has loaded"
        return Finding("size", "problem", found, f"{signals} signals: {advice}")
    return Finding("size", "problem", found, "another program sends to this port: choose another one for either")


def diagnose_senders(datagrams: Sequence[ReceivedDatagram]) -> Finding:
    """Return whether one simulator sends, or several send to the same port."""
    who = sorted({arrival.sender for arrival in datagrams})
    if len(who) <= 1:
        return Finding("senders", "ok", "one")
    names = ", ".join(f"{host}:{port}" for host, port in who)
    return Finding("senders", "problem", f"{len(who)}: {names}",
                   "two vehicles or two games share the port: give each vehicle its own pair of ports "
                   "(`trailbrake setup beamng --vehicles 2`)")  # fmt: skip


def diagnose_clients(
    datagrams: Sequence[ReceivedDatagram], seconds: float, timing: CouplingTiming, timeout: float
) -> Finding:
    """Return whether another client answers, from the datagrams received without answering.

    Without answers the game fills its window and then sends once per time-out.

    Args:
        datagrams: received without answering.
        seconds: how long they were received.
        timing: of the coupling.
        timeout: s, the game's time-out.
    """
    most = timing.unanswered + 1 + math.ceil(seconds / timeout)
    if len(datagrams) <= most:
        return Finding("clients", "ok", "the simulator waits for us alone")
    return Finding("clients", "problem", f"{len(datagrams)} messages in {seconds:g} s without an answer from here",
                   "another client answers: stop it. Or the game has lost count, as after a client that paused for "
                   "more than 2 s: stop and start the coupling")  # fmt: skip


def _decode_messages(
    datagrams: Sequence[ReceivedDatagram], layout: SignalListFormat | None
) -> list[tuple[float, StateMessage]]:
    """Return the messages with their times of arrival; a quantity that a contract does not list is 0."""
    found = []
    for arrival in datagrams:
        try:
            if layout is None:
                message = decode_state(arrival.data)
            else:
                subset = layout.select_subset(layout.decode_state(arrival.data))
                listed = zip(STATE_SUBSET_FIELDS, subset, strict=False)
                known: dict[str, Any] = {name: 0.0 if value != value else value for name, value in listed}
                message = StateMessage()._replace(**known)
        except WireError:
            continue  # `diagnose_size` reports it
        m = message
        values = m.message_id, m.posX, m.posY, m.posZ, m.velX, m.velY, m.velZ
        if all(abs(value) < MAX_PLAUSIBLE for value in values):  # False for NaN
            found.append((arrival.received_at, message))
    return found


def diagnose_answered(
    datagrams: Sequence[ReceivedDatagram],
    timing: CouplingTiming,
    compute: float,
    layout: SignalListFormat | None = None,
) -> Iterator[Finding]:
    """Yield the findings from datagrams that were answered at once.

    Args:
        datagrams: in order of arrival.
        timing: as set in the game.
        compute: s that the user's controller computes per message; 0 = unknown.
        layout: of the messages of generation 2; None for generation 1.
    """
    messages = _decode_messages(datagrams, layout)
    if len(messages) < 20:
        yield Finding("answers", "problem", f"only {len(messages)} messages came while they were answered",
                      "the answers do not arrive: compare udpReceiveIP and udpReceivePort with --peer")  # fmt: skip
        return
    yield _diagnose_loss(messages)
    yield _diagnose_period(messages, timing)
    gaps = [b - a for (a, _), (b, _) in pairwise(messages)]
    wall = messages[-1][0] - messages[0][0]
    speed = (messages[-1][1].message_id - messages[0][1].message_id) * timing.message_period / max(wall, 1e-9)
    if speed >= SLOW_PACE:
        yield Finding("pace", "ok", f"{speed:.2f} of real time while each message is answered at once")
    else:
        yield Finding("pace", "problem", f"{speed:.2f} of real time while each message is answered at once",
                      "raise pingTime to the network's round trip (`trailbrake probe beamng` measures it), or "
                      "simulinkTime")  # fmt: skip
    yield _diagnose_vsync(gaps)
    yield _diagnose_compute(timing, compute)


def _diagnose_loss(messages: Sequence[tuple[float, StateMessage]]) -> Finding:
    lost = sum(max(round(b.message_id - a.message_id) - 1, 0) for (_, a), (_, b) in pairwise(messages))
    back = sum(b.message_id <= a.message_id for (_, a), (_, b) in pairwise(messages))
    if not lost and not back:
        return Finding("ids", "ok", "each one higher than the last")
    return Finding("ids", "problem", f"{lost} missing, {back} not higher than the one before, of {len(messages)}",
                   "the network loses or reorders datagrams: a cable instead of radio; or two vehicles share the "
                   "port")  # fmt: skip


def _diagnose_period(messages: Sequence[tuple[float, StateMessage]], timing: CouplingTiming) -> Finding:
    """Compare the message period with the distance that a moving car covers between two messages."""
    steps = [
        math.dist((a.posX, a.posY, a.posZ), (b.posX, b.posY, b.posZ)) / speed / (b.message_id - a.message_id)
        for (_, a), (_, b) in pairwise(messages)
        if b.message_id > a.message_id and (speed := math.hypot(b.velX, b.velY, b.velZ)) > MOVING_SPEED
    ]
    if len(steps) < 10:
        return Finding("period", "unknown", "the car is at rest: the distance between two messages gives no period",
                       "let it roll, and run the doctor again")  # fmt: skip
    step = median(steps)
    if abs(step - timing.message_period) < 0.5 * PHYSICS_STEP:
        return Finding("period", "ok", f"{timing.message_period * 1e3:g} ms")
    whole_steps = round(step / PHYSICS_STEP) * PHYSICS_STEP
    flags_ms = timing.message_period * 1e3
    return Finding("period", "problem", f"the car's distance gives {step * 1e3:.2f} ms, the flags {flags_ms:g} ms",
                   f"give --simulink-time as the game has it: {whole_steps:g}")  # fmt: skip


def _diagnose_vsync(gaps: Sequence[float]) -> Finding:
    """Return whether messages arrive in bursts at the steady rate of a display: a sign of V-Sync."""
    pause = BURST_GAP * median(gaps)
    starts, since = [], 0.0
    for gap in gaps:
        since += gap
        if gap > pause:
            starts.append(since)
            since = 0.0
    if len(starts) < 10:
        return Finding("V-Sync", "unknown", "messages arrive without the bursts of graphics frames")
    frame = median(starts[1:])
    low, _, high = quantiles(starts[1:], n=4)
    rate = 1.0 / frame
    display = min(DISPLAY_RATES, key=lambda hz: abs(hz - rate))
    if abs(rate / display - 1.0) < DISPLAY_RATE_TOLERANCE and (high - low) < DISPLAY_FRAME_SPREAD * frame:
        return Finding("V-Sync", "problem", f"bursts as steady as a display of {display:g} Hz",
                       "V-Sync seems to be on: switch it off in the game's display options")  # fmt: skip
    return Finding("V-Sync", "ok", f"bursts at {rate:.0f} Hz, the rate of the game's frames")


def _diagnose_compute(timing: CouplingTiming, compute: float) -> Finding:
    period = f"{timing.message_period * 1e3:g} ms"
    if not compute > 0.0:
        return Finding("compute", "unknown", f"the computing time of your controller for a message, against {period}",
                       "give --compute S; `trailbrake probe beamng` and `drive --json` (loop) measure it")  # fmt: skip
    if compute <= timing.message_period:
        return Finding("compute", "ok", f"{compute * 1e3:g} ms, within the period of {period}")
    steps = math.ceil(compute / PHYSICS_STEP - 1e-9)
    speed = expected_speed(timing, compute, compute)
    return Finding("compute", "problem", f"{compute * 1e3:g} ms, longer than the period of {period}: {speed:.2f} of "
                   "real time at best", f"set simulinkTime to {steps * PHYSICS_STEP:g} or more")  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class DoctorOptions:
    """Say why there is no data from BeamNG, or why it is slow.

    Attributes:
        listen: our HOST:PORT, for states.
        peer: the simulator's HOST:PORT, for commands.
        simulink_time: s, as set in the simulator. Default: the contract's, or 0.005.
        ping_time: s, as set in the simulator. Default: the contract's, or 0.00001.
        contract: the CSV file with the signals of generation 2; the answers then hold the brake.
        seconds: how long to answer, after 2.5 s of listening.
        compute: s that your controller computes for a message; 0 = unknown.
    """

    listen: str = f"127.0.0.1:{spec.SEND_PORT}"
    peer: str = f"127.0.0.1:{spec.RECEIVE_PORT}"
    simulink_time: float | None = None
    ping_time: float | None = None
    contract: Path | None = None
    seconds: float = 3.0
    compute: float = 0.0


def examine(options: DoctorOptions) -> Iterator[Finding]:
    """Yield the findings, the first cause first, as far as the received data allow.

    Raises:
        UsageError: an option is out of range, or an address is not valid.
    """
    live = spec.LiveOptions(simulink_time=options.simulink_time, ping_time=options.ping_time, contract=options.contract)
    layout = None if options.contract is None else SignalListFormat(load_contract(options.contract))
    size = STATE_SIZE if layout is None else DOUBLE * layout.state_doubles
    if not (0.0 < options.seconds <= 600.0 and 0.0 <= options.compute < math.inf):
        raise UsageError("no times to measure with", where="--seconds, --compute", expected="0 to 600, and 0 or more",
                         got=f"{options.seconds:g}, {options.compute:g}")  # fmt: skip
    timing = live.timing
    peer = parse_address(options.peer, where="--peer")
    try:
        udp = UdpSocket(parse_address(options.listen, where="--listen"), where=f"--listen {options.listen}")
    except SimulatorError as error:
        yield Finding("door", "problem", f"{options.listen} cannot be opened: {error.what}",
                      "two clients cannot share it: stop the other one (Simulink, another `trailbrake`), or give each "
                      "a port")  # fmt: skip
        return
    try:
        yield Finding("door", "ok", f"{options.listen} is ours")
        quiet = _collect_unanswered(udp, LISTEN_S)
        yield diagnose_packets(quiet, LISTEN_S, None if quiet else _is_port_free(peer))
        if not quiet:
            return
        yield diagnose_size(quiet, size)
        yield diagnose_senders(quiet)
        yield diagnose_clients(quiet, LISTEN_S, timing, spec.BLOCK_TIMEOUT)
        if all(len(arrival.data) == size for arrival in quiet):
            answered = _collect_answered(udp, options.seconds, peer, quiet[-1], layout)
            yield from diagnose_answered(answered, timing, options.compute, layout)
    finally:
        udp.close()


def _collect_unanswered(udp: UdpSocket, seconds: float) -> list[ReceivedDatagram]:
    """Return the datagrams that arrive in `seconds` without an answer."""
    arrivals = []
    until = time.perf_counter() + seconds
    while (left := until - time.perf_counter()) > 0.0:
        if udp.wait_readable(left) and (got := udp.receive()) is not None:
            arrivals.append(ReceivedDatagram(time.perf_counter(), *got))
    return arrivals


def _collect_answered(
    udp: UdpSocket, seconds: float, peer: Address, first: ReceivedDatagram, layout: SignalListFormat | None
) -> list[ReceivedDatagram]:
    """Answer each message, `first` included; return the datagrams that arrive in `seconds`."""
    arrivals = []
    size = len(first.data)
    last = -1.0
    got: tuple[bytes, Address] | None = (first.data, first.sender)
    until = time.perf_counter() + seconds
    while (left := until - time.perf_counter()) > 0.0:
        if got is not None and len(got[0]) == size:
            # One more than the message's own id: higher than any answer before it, in either way of counting.
            last = max(last, MESSAGE_ID.unpack_from(got[0])[0])
            udp.send(encode_idle_answer(last + 1.0, layout), peer)
        got = udp.receive() if udp.wait_readable(left) else None
        if got is not None:
            arrivals.append(ReceivedDatagram(time.perf_counter(), *got))
    return arrivals


def _is_port_free(peer: Address) -> bool | None:
    """Return whether no program uses the simulator's port; None if the port is on another machine."""
    if peer[0] not in LOCAL_HOSTS:
        return None
    try:
        UdpSocket(peer, where="--peer").close()
    except SimulatorError:
        return False
    return True


DOCTOR = DoctorTool(DoctorOptions, examine)
