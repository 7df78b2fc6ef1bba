"""What a generation says: messages made of states and commands taken from messages, for both ends of the wire.

One interface for the fixed messages of generation 1 and the listed signals of generation 2, so that the host's and
the link's logic, which is the same in both, is there once. A message is a tuple whose first member is its id.
"""

from typing import Any, Protocol

from trailbrake.cars.params import CarParams
from trailbrake.sims.beamng import codec, contract, convert
from trailbrake.sims.beamng.codec import Values
from trailbrake.sims.beamng.convert import Held
from trailbrake.sims.beamng.signals import Listed
from trailbrake.sims.beamng.spec import LiveOptions, ServeOptions
from trailbrake.state import CarState, Controls


class Dialect(Protocol):
    """One generation. Messages are opaque but for their first member, the id.

    Attributes:
        sent_doubles: how many the simulator sends.
        received_doubles: how many it receives.
    """

    @property
    def sent_doubles(self) -> int:
        """How many doubles the simulator sends."""

    @property
    def received_doubles(self) -> int:
        """How many doubles it receives."""

    def held(self) -> Held:
        """Host: return what is held before the first command."""

    def told_of(self, state: CarState, car: CarParams) -> Any:
        """Host: return what a message says of `state` whatever the controller says; see `convert.told_of`."""

    def message_of(self, told: Any, message_id: int, held: Held, custom: Values) -> bytes:
        """Host: return the message that tells it, and what is held; see `convert.complete`."""

    def stair(self, data: bytes, frame: bytes) -> bytes:
        """Host: return the message `data` with what changes once per graphics frame as in `frame`."""

    def decode_command(self, data: bytes) -> Any:
        """Host: return the command in a datagram; WireError where it is none."""

    def take(self, command: Any, held: Held) -> None:
        """Host: bring what is held up to date with a command."""

    def custom_of_command(self, command: Any) -> Values:
        """Host: return the command's free values."""

    def command_of(self, controls: Controls, reply_id: float, custom: Values) -> bytes:
        """Link: return the bytes that ask for `controls`."""

    def decode_state(self, data: bytes) -> Any:
        """Link: return the message in a datagram; WireError where it is none."""

    def state_of(self, message: Any, step: float, before: CarState | None) -> CarState:
        """Link: return the state that a message tells; see `convert.state_from_wire`."""

    def custom_of_state(self, message: Any) -> Values:
        """Link: return the message's free values."""


class Fixed:
    """Generation 1: 111 numbers out, 64 in."""

    sent_doubles = codec.STATE_SIZE // codec.DOUBLE
    received_doubles = codec.COMMAND_SIZE // codec.DOUBLE
    held = Held
    # The codec's and the converter's functions as they are: nothing is called twice on the way.
    told_of = staticmethod(convert.told_of)
    message_of = staticmethod(convert.complete)
    stair = staticmethod(codec.stale_state)
    decode_command = staticmethod(codec.decode_command)
    take = staticmethod(convert.take)
    decode_state = staticmethod(codec.decode_seen_state)
    state_of = staticmethod(convert.state_from_seen)

    def custom_of_command(self, command: codec.CommandMessage) -> Values:
        """Return bank B."""
        return command.custom

    def command_of(self, controls: Controls, reply_id: float, custom: Values) -> bytes:
        """Return the bytes that ask for `controls`."""
        return codec.encode_command(convert.controls_to_wire(controls, reply_id, custom))

    def custom_of_state(self, message: codec.Seen) -> Values:
        """Return bank H."""
        custom: Values = message[-1]
        return custom


def of_options(options: ServeOptions | LiveOptions) -> Dialect:
    """Return the generation that the options ask for; for generation 2 the contract's file is read.

    Raises:
        UsageError: there is no such file.
        DataError: it is no contract.
    """
    if options.generation == 1 or options.contract is None:
        return Fixed()
    return Listed(contract.load(options.contract))
