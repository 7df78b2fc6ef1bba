"""`sniff beamng`: shows the simulator's messages as named fields. The game needs an answer to each message.

In generation 1 the answers change no control. Generation 2 has no such answer: there the answers hold the brake.
"""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from time import monotonic
from typing import Any

from trailbrake.errors import WireError
from trailbrake.findings import OWN_COUNTS, WireField
from trailbrake.sims.beamng import spec
from trailbrake.sims.beamng.codec import Doubles, StateMessage, decode_state
from trailbrake.sims.beamng.signal_contract import SignalContract, load_contract
from trailbrake.sims.beamng.signal_format import SignalListFormat, encode_idle_answer
from trailbrake.simulator_tools import SniffTool
from trailbrake.transport.udp import Address, UdpSocket, parse_address

_POLL_S = 0.05  # s, longest time until the thread notices `close`
_CUSTOM_INDEX = StateMessage._fields.index("custom")
# The banks of the message: (group, its last field); wheels are groups of their own.
_BANK_ENDS = (("driver", "steering_input"), ("kinematics", "altitude"), ("electrics", "wheelspeed"))
_UNITS = {
    "steering": "deg, left +", "steering_input": "-1..1, right +", "groundspeed": "m/s", "altitude": "m",
    "roll": "rad", "pitch": "rad", "yaw": "rad", "maxrpm": "1/min", "rpm": "1/min", "wheelspeed": "m/s",
    **{f"pos{axis}": "m" for axis in "XYZ"}, **{f"vel{axis}": "m/s" for axis in "XYZ"},
    **{f"acc{axis}": "m/s^2" for axis in "XYZ"},
    "angularVelocity": "rad/s", "wheelSpeed": "m/s", "brakingTorque": "N m", "propulsionTorque": "N m",
    "frictionTorque": "N m", "downForce": "N",
}  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class SniffOptions:
    """Show BeamNG's messages as named fields.

    Attributes:
        listen: our HOST:PORT, for states.
        peer: the simulator's HOST:PORT, for the answers.
        contract: the CSV file with the signals of generation 2; the answers then hold the brake.
        wait: seconds to wait for the first message.
    """

    listen: str = f"127.0.0.1:{spec.SEND_PORT}"
    peer: str = f"127.0.0.1:{spec.RECEIVE_PORT}"
    contract: Path | None = None
    wait: float = 5.0


class _MessageResponder:
    """Answers every message in its own thread: the simulator stands still until it has an answer."""

    def __init__(self, udp: UdpSocket, peer: Address, layout: SignalListFormat | None) -> None:
        self.newest: Any = None
        self._layout = layout
        self.messages = self.wrong_size = 0
        self.message_received = threading.Event()
        self._udp, self._peer, self._closed = udp, peer, False
        self._thread = threading.Thread(target=self._answer_messages, name="sniff", daemon=True)
        self._thread.start()

    def _answer_messages(self) -> None:
        highest = -1.0
        while not self._closed:
            if not self._udp.wait_readable(_POLL_S) or (data := self._udp.receive_data()) is None:
                continue
            try:
                message: Any = decode_state(data) if self._layout is None else self._layout.decode_state(data)
            except WireError:
                self.wrong_size += 1
                continue
            self.messages += 1
            self.newest = message
            # One more than the message's own id: higher than any answer before it, in either way of counting.
            highest = max(highest, message[0])
            self._udp.send(encode_idle_answer(highest + 1.0, self._layout), self._peer)
            self.message_received.set()

    def close(self) -> None:
        """End the thread."""
        self._closed = True
        self._thread.join()


@contextmanager
def watch(options: SniffOptions) -> Iterator[Callable[[], list[WireField]]]:
    """Listen and answer while the context is open; its value is a function that returns the present fields.

    Raises:
        UsageError: an address is not valid, or the contract cannot be read.
        DataError: the contract is none.
        SimulatorError: the port is in use.
    """
    peer = parse_address(options.peer, where="--peer")
    contract = None if options.contract is None else load_contract(options.contract)
    udp = UdpSocket(parse_address(options.listen, where="--listen"), where=f"--listen {options.listen}")
    listener = _MessageResponder(udp, peer, None if contract is None else SignalListFormat(contract))
    wait_s, count_before, time_before = options.wait, 0, monotonic()

    def read_fields() -> list[WireField]:
        nonlocal wait_s, count_before, time_before
        listener.message_received.wait(wait_s)
        wait_s = 0.0  # only the first call waits
        count, now = listener.messages, monotonic()
        rate = (count - count_before) / (now - time_before) if now > time_before else 0.0
        count_before, time_before = count, now
        wire = [
            WireField(OWN_COUNTS, "messages", str(count)),
            WireField(OWN_COUNTS, "messages per second", f"{rate:.0f}", "1/s"),
            WireField(OWN_COUNTS, "of another size", str(listener.wrong_size)),
        ]
        if listener.newest is None:
            return wire
        return [*wire, *(_message_fields(listener.newest) if contract is None else
                         _signal_fields(contract, listener.newest))]  # fmt: skip

    try:
        yield read_fields
    finally:
        listener.close()
        udp.close()


def _signal_fields(contract: SignalContract, message: Doubles) -> Iterator[WireField]:
    yield WireField(OWN_COUNTS, "message_id", f"{message[0]:.12g}")
    for signal, value in zip(contract.state_signals, message[1:], strict=True):
        _, dash, unit = signal.description.rpartition(" - ")  # as the game's editor writes it
        yield WireField(signal.group or "signals", signal.name, f"{value:.6g}", unit if dash else "")


def _message_fields(message: StateMessage) -> Iterator[WireField]:
    yield WireField(OWN_COUNTS, "message_id", f"{message.message_id:.12g}")
    banks = iter(_BANK_ENDS)
    group, last = next(banks)
    for name, value in zip(message._fields[1:_CUSTOM_INDEX], message[1:_CUSTOM_INDEX], strict=True):
        if name.startswith("wheel") and "_" in name:
            wheel, _, short = name.partition("_")
            yield WireField(wheel, short, f"{value:.6g}", _UNITS[short])
            continue
        yield WireField(group, name, f"{value:.6g}", _UNITS.get(name, ""))
        if name == last:
            group, last = next(banks, (group, ""))
    for number, value in enumerate(message.custom, 1):
        if value != 0.0:  # the stock simulator sends zeros
            yield WireField("custom", str(number), f"{value:.6g}")


SNIFF = SniffTool(SniffOptions, watch)
