"""`doctor beamng`: says why there is no data, or why it is slow. It listens, answers a while, and touches no pedal."""

import math
import time
from collections.abc import Iterator
from dataclasses import dataclass

from trailbrake.errors import SimulatorError, UsageError
from trailbrake.findings import Finding
from trailbrake.sims.beamng import diagnose, spec
from trailbrake.sims.beamng.codec import STATE_SIZE, CommandMessage, decode_state, encode_command
from trailbrake.sims.beamng.diagnose import Arrival
from trailbrake.sims.beamng.timing import as_meant
from trailbrake.transport.udp import Address, Udp, address

QUIET = 1.25 * spec.BLOCK_TIMEOUT  # s to listen without an answer: a game that waits says something once per time-out
LOCAL = ("127.0.0.1", "localhost")
N = math.nan  # leaves a control alone
NOTHING = CommandMessage(0.0, N, N, N, N, N, N, N, N, N, N, N, N, N)


@dataclass(frozen=True, kw_only=True)
class Options:
    """Say why there is no data from BeamNG, or why it is slow.

    Attributes:
        listen: our HOST:PORT, where states come in.
        peer: the simulator's HOST:PORT, where commands go.
        simulink_time: s, as set in the simulator.
        ping_time: s, as set in the simulator.
        seconds: how long to answer and measure.
        compute: s that your controller takes for a message; 0 = not known.
    """

    listen: str = f"127.0.0.1:{spec.SEND_PORT}"
    peer: str = f"127.0.0.1:{spec.RECEIVE_PORT}"
    simulink_time: float = spec.SIMULINK_TIME
    ping_time: float = spec.PING_TIME
    seconds: float = 3.0
    compute: float = 0.0


def examine(options: Options) -> Iterator[Finding]:
    """Yield the findings, the first cause first; it ends where nothing more can be known.

    Raises:
        UsageError: flags out of range, or no addresses.
    """
    spec.LiveOptions(simulink_time=options.simulink_time, ping_time=options.ping_time)  # checks their ranges
    if not (0.0 < options.seconds <= 600.0 and 0.0 <= options.compute < math.inf):
        raise UsageError("no times to measure with", where="--seconds, --compute", expected="0 to 600, and 0 or more",
                         got=f"{options.seconds:g}, {options.compute:g}")  # fmt: skip
    timing = as_meant(options.simulink_time, options.ping_time)
    peer = address(options.peer, where="--peer")
    try:
        udp = Udp(address(options.listen, where="--listen"), where=f"--listen {options.listen}")
    except SimulatorError as error:
        yield Finding("door", "problem", f"{options.listen} cannot be opened: {error.what}",
                      "two clients cannot share it: stop the other one (Simulink, another `trailbrake`), or give each "
                      "a port")  # fmt: skip
        return
    try:
        yield Finding("door", "ok", f"{options.listen} is ours")
        quiet = _listen(udp, QUIET)
        yield diagnose.packets(quiet, QUIET, None if quiet else _is_free(peer))
        if not quiet:
            return
        yield diagnose.size(quiet)
        yield diagnose.senders(quiet)
        yield diagnose.clients(quiet, QUIET, timing, spec.BLOCK_TIMEOUT)
        if all(len(arrival.data) == STATE_SIZE for arrival in quiet):
            yield from diagnose.answered(_answer(udp, options.seconds, peer, quiet[-1]), timing, options.compute)
    finally:
        udp.close()


def _listen(udp: Udp, seconds: float) -> list[Arrival]:
    """Return what comes in `seconds`."""
    arrivals = []
    until = time.perf_counter() + seconds
    while (left := until - time.perf_counter()) > 0.0:
        if udp.wait(left) and (got := udp.receive()) is not None:
            arrivals.append(Arrival(time.perf_counter(), *got))
    return arrivals


def _answer(udp: Udp, seconds: float, peer: Address, waiting: Arrival) -> list[Arrival]:
    """Return what comes in `seconds` while each message is answered with "leave everything alone", `waiting` first."""
    arrivals = []
    last = -1.0
    got: tuple[bytes, Address] | None = (waiting.data, waiting.sender)
    until = time.perf_counter() + seconds
    while (left := until - time.perf_counter()) > 0.0:
        if got is not None and len(got[0]) == STATE_SIZE:
            # One more than the message's own id: higher than any answer before it, in either way of counting.
            last = max(last, decode_state(got[0]).message_id)
            udp.send(encode_command(NOTHING._replace(message_id=last + 1.0)), peer)
        got = udp.receive() if udp.wait(left) else None
        if got is not None:
            arrivals.append(Arrival(time.perf_counter(), *got))
    return arrivals


def _is_free(peer: Address) -> bool | None:
    """Return whether nobody has the simulator's port; None where that is another machine's business."""
    if peer[0] not in LOCAL:
        return None
    try:
        Udp(peer, where="--peer").close()
    except SimulatorError:
        return False
    return True
