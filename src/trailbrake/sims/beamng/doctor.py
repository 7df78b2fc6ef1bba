"""`doctor beamng`: finds out why no data arrive, or why the coupling is slow.

In generation 1 its answers change no control. Generation 2 has no such answer: there the answers hold the brake.
"""

import math
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from struct import Struct

from trailbrake.errors import SimulatorError, UsageError
from trailbrake.findings import Finding
from trailbrake.sims.beamng import diagnosis, spec
from trailbrake.sims.beamng.codec import DOUBLE, NO_CHANGE_COMMAND, STATE_SIZE, encode_command
from trailbrake.sims.beamng.diagnosis import ReceivedDatagram
from trailbrake.sims.beamng.signal_contract import load_contract
from trailbrake.sims.beamng.signal_format import SignalListFormat
from trailbrake.simulator_tools import DoctorTool
from trailbrake.state import Controls
from trailbrake.transport.udp import Address, UdpSocket, parse_address

LISTEN_S = 1.25 * spec.BLOCK_TIMEOUT  # s to listen without an answer: a waiting game sends once per time-out
LOCAL_HOSTS = ("127.0.0.1", "localhost")
MESSAGE_ID = Struct("<d")


@dataclass(frozen=True, kw_only=True)
class DoctorOptions:
    """Say why there is no data from BeamNG, or why it is slow.

    Attributes:
        listen: our HOST:PORT, which receives states.
        peer: the simulator's HOST:PORT, which receives commands.
        simulink_time: s, as set in the simulator. By default the contract's, or 0.005.
        ping_time: s, as set in the simulator. By default the contract's, or 0.00001.
        contract: the CSV file that lists the signals of generation 2; the answers then hold the brake.
        seconds: how long to answer and measure.
        compute: s that your controller computes for a message; 0 = not known.
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
        yield diagnosis.diagnose_packets(quiet, LISTEN_S, None if quiet else _is_port_free(peer))
        if not quiet:
            return
        yield diagnosis.diagnose_size(quiet, size)
        yield diagnosis.diagnose_senders(quiet)
        yield diagnosis.diagnose_clients(quiet, LISTEN_S, timing, spec.BLOCK_TIMEOUT)
        if all(len(arrival.data) == size for arrival in quiet):
            answered = _collect_answered(udp, options.seconds, peer, quiet[-1], layout)
            yield from diagnosis.diagnose_answered(answered, timing, options.compute, layout)
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
            udp.send(_encode_answer(last + 1.0, layout), peer)
        got = udp.receive() if udp.wait_readable(left) else None
        if got is not None:
            arrivals.append(ReceivedDatagram(time.perf_counter(), *got))
    return arrivals


def _encode_answer(reply_id: float, layout: SignalListFormat | None) -> bytes:
    """Return an answer that changes no control; for a contract one that holds the brake."""
    if layout is None:
        return encode_command(NO_CHANGE_COMMAND._replace(message_id=reply_id))
    return layout.encode_controls(Controls(brake=1.0), reply_id, ())


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
