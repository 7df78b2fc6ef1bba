"""`sniff beamng`: the simulator's messages as named fields. It answers, so that the game goes on, and touches no pedal.

Generation 1 only: a message of generation 2 is known by nothing but its contract.
"""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from time import monotonic

from trailbrake.errors import WireError
from trailbrake.findings import Field
from trailbrake.sims.beamng import spec
from trailbrake.sims.beamng.codec import StateMessage, decode_state, encode_command
from trailbrake.sims.beamng.doctor import NOTHING
from trailbrake.transport.udp import Address, Udp, address

_LOOK = 0.05  # s within which the thread notices that it is over
_CUSTOM = StateMessage._fields.index("custom")
# The banks of the message: (group, its last field); wheels are groups of their own.
_BANKS = (("driver", "steering_input"), ("kinematics", "altitude"), ("electrics", "wheelspeed"))
_UNITS = {
    "steering": "deg, left +", "steering_input": "-1..1, right +", "groundspeed": "m/s", "altitude": "m",
    "roll": "rad", "pitch": "rad", "yaw": "rad", "maxrpm": "1/min", "rpm": "1/min", "wheelspeed": "m/s",
    **{f"pos{axis}": "m" for axis in "XYZ"}, **{f"vel{axis}": "m/s" for axis in "XYZ"},
    **{f"acc{axis}": "m/s^2" for axis in "XYZ"},
    "angularVelocity": "rad/s", "wheelSpeed": "m/s", "brakingTorque": "N m", "propulsionTorque": "N m",
    "frictionTorque": "N m", "downForce": "N",
}  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Options:
    """Show BeamNG's messages as named fields.

    Attributes:
        listen: our HOST:PORT, where states come in.
        peer: the simulator's HOST:PORT, where the answers go.
        wait: seconds to wait for the first message.
    """

    listen: str = f"127.0.0.1:{spec.SEND_PORT}"
    peer: str = f"127.0.0.1:{spec.RECEIVE_PORT}"
    wait: float = 5.0


class _Listener:
    """Answers every message in a thread of its own, since the simulator stands still until it is answered."""

    def __init__(self, udp: Udp, peer: Address) -> None:
        self.newest: StateMessage | None = None
        self.messages = self.wrong_size = 0
        self.came = threading.Event()
        self._udp, self._peer, self._over = udp, peer, False
        self._thread = threading.Thread(target=self._work, name="sniff", daemon=True)
        self._thread.start()

    def _work(self) -> None:
        highest = -1.0
        while not self._over:
            if not self._udp.wait(_LOOK) or (data := self._udp.receive_data()) is None:
                continue
            try:
                message = decode_state(data)
            except WireError:
                self.wrong_size += 1
                continue
            self.messages += 1
            self.newest = message
            # One more than the message's own id: higher than any answer before it, in either way of counting.
            highest = max(highest, message.message_id)
            self._udp.send(encode_command(NOTHING._replace(message_id=highest + 1.0)), self._peer)
            self.came.set()

    def close(self) -> None:
        """End the thread."""
        self._over = True
        self._thread.join()


@contextmanager
def watch(options: Options) -> Iterator[Callable[[], list[Field]]]:
    """Listen and answer; the value is what returns the fields of now.

    Raises:
        UsageError: no address. SimulatorError: the port is taken.
    """
    peer = address(options.peer, where="--peer")
    udp = Udp(address(options.listen, where="--listen"), where=f"--listen {options.listen}")
    listener = _Listener(udp, peer)
    patience, before, at = options.wait, 0, monotonic()

    def look() -> list[Field]:
        nonlocal patience, before, at
        listener.came.wait(patience)
        patience = 0.0  # from now on whoever looks again has let time pass himself
        count, now = listener.messages, monotonic()
        rate = (count - before) / (now - at) if now > at else 0.0
        before, at = count, now
        wire = [
            Field("wire", "messages", str(count)),
            Field("wire", "messages per second", f"{rate:.0f}", "1/s"),
            Field("wire", "of another size", str(listener.wrong_size)),
        ]
        return wire if listener.newest is None else [*wire, *_of_message(listener.newest)]

    try:
        yield look
    finally:
        listener.close()
        udp.close()


def _of_message(message: StateMessage) -> Iterator[Field]:
    yield Field("wire", "message_id", f"{message.message_id:.12g}")
    banks = iter(_BANKS)
    group, last = next(banks)
    for name, value in zip(message._fields[1:_CUSTOM], message[1:_CUSTOM], strict=True):
        if name.startswith("wheel") and "_" in name:
            wheel, _, short = name.partition("_")
            yield Field(wheel, short, f"{value:.6g}", _UNITS[short])
            continue
        yield Field(group, name, f"{value:.6g}", _UNITS.get(name, ""))
        if name == last:
            group, last = next(banks, (group, ""))
    for number, value in enumerate(message.custom, 1):
        if value != 0.0:  # the stock simulator sends zeros
            yield Field("custom", str(number), f"{value:.6g}")
