"""Diagnoses a coupling from received datagrams: findings from their bytes, senders and times, without a socket."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median, quantiles
from typing import Any

from trailbrake.errors import WireError
from trailbrake.findings import Finding
from trailbrake.sims.beamng.codec import DOUBLE, STATE_SIZE, STATE_SUBSET_FIELDS, StateMessage, decode_state
from trailbrake.sims.beamng.signal_format import SignalListFormat
from trailbrake.sims.beamng.timing import PHYSICS_STEP, CouplingTiming, expected_speed
from trailbrake.transport.udp import Address

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
