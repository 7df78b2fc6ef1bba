"""What datagrams that came say about a coupling: findings from bytes, senders and times; no sockets, no clock."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median, quantiles

from trailbrake.errors import WireError
from trailbrake.findings import Finding
from trailbrake.sims.beamng.codec import DOUBLE, STATE_SIZE, StateMessage, decode_state
from trailbrake.sims.beamng.timing import PHYSICS_STEP, Timing, expected_speed
from trailbrake.transport.udp import Address

SLOW = 0.95  # of real time, below which it counts as slow
DISPLAYS = (60.0, 75.0, 90.0, 100.0, 120.0, 144.0, 165.0, 240.0)  # Hz
LIKE_A_DISPLAY = 0.02  # share by which a frame may miss a display's rate
STEADY = 0.08  # spread of frames, over their median, that only a display keeps
BURST_GAP = 4.0  # times the median gap: the pause between two bursts
SANE = 1e9  # of any unit: what is larger is no message
MOVING = 1.0  # m/s from which the way between two messages tells the time


@dataclass(frozen=True, slots=True)
class Arrival:
    """A datagram: when it came (s, any clock), its bytes, and who sent it."""

    at: float
    data: bytes
    sender: Address


def packets(arrivals: Sequence[Arrival], seconds: float, port_is_free: bool | None) -> Finding:
    """Say whether anything comes.

    Args:
        arrivals: that came while nobody answered.
        seconds: how long that was.
        port_is_free: whether nobody listens on the simulator's port; None where that cannot be known.
    """
    if arrivals:
        return Finding("packets", "ok", f"{len(arrivals)} in {seconds:g} s without an answer")
    found = f"none in {seconds:g} s"
    if port_is_free:
        return Finding("packets", "problem", f"{found}, and nobody listens for commands: the controller is not loaded",
                       "load it: `trailbrake setup beamng` has the line. A vehicle reset unloads it where it was "
                       "loaded without the extension")  # fmt: skip
    if port_is_free is False:
        return Finding("packets", "problem", f"{found}, though somebody listens for commands",
                       "the game sends to another address: compare udpSendIP and udpSendPort with --listen; or it is "
                       "paused")  # fmt: skip
    return Finding("packets", "problem", found,
                   "is the controller loaded (`trailbrake setup beamng`), does udpSendIP name this machine, does a "
                   "firewall let UDP in?")  # fmt: skip


def size(arrivals: Sequence[Arrival]) -> Finding:
    """Say whether the datagrams are the messages of generation 1."""
    wrong = sorted({len(arrival.data) for arrival in arrivals if len(arrival.data) != STATE_SIZE})
    if not wrong:
        return Finding("size", "ok", f"{STATE_SIZE} bytes each")
    found = f"{', '.join(map(str, wrong))} bytes instead of {STATE_SIZE}"
    if all(count % DOUBLE == 0 and count > DOUBLE for count in wrong):
        return Finding("size", "problem", found,
                       f"{wrong[0] // DOUBLE - 1} signals: the second generation of the coupling? then --generation 2 "
                       "--contract FILE.csv")  # fmt: skip
    return Finding("size", "problem", found, "another program sends to this port: choose another one for either")


def senders(arrivals: Sequence[Arrival]) -> Finding:
    """Say whether one simulator sends, or several to the same port."""
    who = sorted({arrival.sender for arrival in arrivals})
    if len(who) <= 1:
        return Finding("senders", "ok", "one")
    names = ", ".join(f"{host}:{port}" for host, port in who)
    return Finding("senders", "problem", f"{len(who)}: {names}",
                   "two vehicles or two games share the port: give each vehicle a pair of ports of its own "
                   "(`trailbrake setup beamng --vehicles 2`)")  # fmt: skip


def clients(arrivals: Sequence[Arrival], seconds: float, timing: Timing, timeout: float) -> Finding:
    """Say whether somebody else answers, from what came while we kept silent.

    Without answers the game fills its window and then sends once per time-out.

    Args:
        arrivals: while nobody here answered.
        seconds: how long that was.
        timing: of the coupling.
        timeout: s, the game's.
    """
    most = timing.unanswered + 1 + math.ceil(seconds / timeout)
    if len(arrivals) <= most:
        return Finding("clients", "ok", "the simulator waits for us alone")
    return Finding("clients", "problem", f"{len(arrivals)} messages in {seconds:g} s though nobody here answers",
                   "another client answers: stop it. Or the game has lost count, as after a client that paused for "
                   "more than 2 s: stop and start the coupling")  # fmt: skip


def _messages(arrivals: Sequence[Arrival]) -> list[tuple[float, StateMessage]]:
    found = []
    for arrival in arrivals:
        try:
            message = decode_state(arrival.data)
        except WireError:
            continue  # `size` tells
        known = (message.message_id, message.posX, message.posY, message.posZ, message.velX, message.velY, message.velZ)
        if all(abs(value) < SANE for value in known):  # False for NaN
            found.append((arrival.at, message))
    return found


def answered(arrivals: Sequence[Arrival], timing: Timing, compute: float) -> Iterator[Finding]:
    """Return what the messages say that came while each was answered at once.

    Args:
        arrivals: in the order of their coming.
        timing: as the game was told.
        compute: s that the user's controller takes per message; 0 where that is not known.
    """
    messages = _messages(arrivals)
    if len(messages) < 20:
        yield Finding("answers", "problem", f"only {len(messages)} messages came while they were answered",
                      "the answers do not arrive: compare udpReceiveIP and udpReceivePort with --peer")  # fmt: skip
        return
    yield _loss(messages)
    yield _period(messages, timing)
    gaps = [b - a for (a, _), (b, _) in pairwise(messages)]
    wall = messages[-1][0] - messages[0][0]
    speed = (messages[-1][1].message_id - messages[0][1].message_id) * timing.step / max(wall, 1e-9)
    if speed >= SLOW:
        yield Finding("pace", "ok", f"{speed:.2f} of real time while each message is answered at once")
    else:
        yield Finding("pace", "problem", f"{speed:.2f} of real time while each message is answered at once",
                      "raise pingTime to the network's round trip (`trailbrake probe beamng` measures it), or "
                      "simulinkTime")  # fmt: skip
    yield _vsync(gaps)
    yield _compute(timing, compute)


def _loss(messages: Sequence[tuple[float, StateMessage]]) -> Finding:
    lost = sum(max(round(b.message_id - a.message_id) - 1, 0) for (_, a), (_, b) in pairwise(messages))
    back = sum(b.message_id <= a.message_id for (_, a), (_, b) in pairwise(messages))
    if not lost and not back:
        return Finding("ids", "ok", "each one higher than the last")
    return Finding("ids", "problem", f"{lost} missing, {back} not higher than the one before, of {len(messages)}",
                   "the network loses or reorders datagrams: a cable instead of radio; or two vehicles share the "
                   "port")  # fmt: skip


def _period(messages: Sequence[tuple[float, StateMessage]], timing: Timing) -> Finding:
    """Compare the step with the way that a moving car goes between two messages."""
    steps = [
        math.dist((a.posX, a.posY, a.posZ), (b.posX, b.posY, b.posZ)) / speed / (b.message_id - a.message_id)
        for (_, a), (_, b) in pairwise(messages)
        if b.message_id > a.message_id and (speed := math.hypot(b.velX, b.velY, b.velZ)) > MOVING
    ]
    if len(steps) < 10:
        return Finding("period", "unknown", "the car stands: its way between two messages tells no time",
                       "let it roll, and look again")  # fmt: skip
    step = median(steps)
    if abs(step - timing.step) < 0.5 * PHYSICS_STEP:
        return Finding("period", "ok", f"{timing.step * 1e3:g} ms")
    seen = round(step / PHYSICS_STEP) * PHYSICS_STEP
    return Finding("period", "problem", f"the car's way says {step * 1e3:.2f} ms, the flags {timing.step * 1e3:g} ms",
                   f"give --simulink-time as the game has it: {seen:g}")  # fmt: skip


def _vsync(gaps: Sequence[float]) -> Finding:
    """Look for bursts that come as steadily as a display's frames."""
    pause = BURST_GAP * median(gaps)
    starts, since = [], 0.0
    for gap in gaps:
        since += gap
        if gap > pause:
            starts.append(since)
            since = 0.0
    if len(starts) < 10:
        return Finding("V-Sync", "unknown", "messages come without the bursts of graphics frames")
    frame = median(starts[1:])
    low, _, high = quantiles(starts[1:], n=4)
    rate = 1.0 / frame
    display = min(DISPLAYS, key=lambda hz: abs(hz - rate))
    if abs(rate / display - 1.0) < LIKE_A_DISPLAY and (high - low) < STEADY * frame:
        return Finding("V-Sync", "problem", f"bursts as steady as a display of {display:g} Hz",
                       "V-Sync seems to be on: switch it off in the game's display options")  # fmt: skip
    return Finding("V-Sync", "ok", f"bursts at {rate:.0f} Hz, as the game's frames come")


def _compute(timing: Timing, compute: float) -> Finding:
    period = f"{timing.step * 1e3:g} ms"
    if not compute > 0.0:
        return Finding("compute", "unknown", f"how long your controller takes for a message, against {period}",
                       "give --compute S; `trailbrake probe beamng` and `drive --json` (loop) measure it")  # fmt: skip
    if compute <= timing.step:
        return Finding("compute", "ok", f"{compute * 1e3:g} ms, within the period of {period}")
    steps = math.ceil(compute / PHYSICS_STEP - 1e-9)
    speed = expected_speed(timing, compute, compute)
    return Finding("compute", "problem", f"{compute * 1e3:g} ms, longer than the period of {period}: {speed:.2f} of "
                   "real time at best", f"set simulinkTime to {steps * PHYSICS_STEP:g} or more")  # fmt: skip
