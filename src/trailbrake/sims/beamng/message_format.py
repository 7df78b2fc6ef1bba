"""The message format of a generation: encodes and decodes the messages of both ends of the wire.

`MessageFormat` is either the fixed messages of generation 1 or the listed signals of generation 2: classes with the
same members, so that host and link are the same for both. A message is a tuple whose first member is its id; the rest
of its content is private to the format.
"""

import math
from collections.abc import Sequence
from typing import TypeAlias

from trailbrake.sims.beamng import codec, convert, signal_contract
from trailbrake.sims.beamng.codec import Doubles
from trailbrake.sims.beamng.convert import LatchedCommand
from trailbrake.sims.beamng.signal_format import SignalListFormat, find_supplied_fields
from trailbrake.sims.beamng.signals import CouplingSignals
from trailbrake.sims.beamng.spec import ACCEPTS, SUPPLIES, LiveOptions, ServeOptions
from trailbrake.state import CarState, Controls, WheelState
from trailbrake.state.fields import declared_quantities


class FixedFormat:
    """Generation 1: 111 doubles from the simulator, 64 to it."""

    state_doubles = codec.STATE_SIZE // codec.DOUBLE
    command_doubles = codec.COMMAND_SIZE // codec.DOUBLE
    state_custom_names = command_custom_names = tuple(f"custom {number}" for number in range(1, codec.CUSTOM_COUNT + 1))
    make_latched_command = LatchedCommand
    # The functions of codec and converter themselves: a wrapper would add a call to each message.
    encode_plant_part = staticmethod(convert.state_to_wire)
    finish_message = staticmethod(convert.finish_message)
    hold_slow_banks = staticmethod(codec.hold_slow_banks)
    decode_command = staticmethod(codec.decode_command)
    apply_command = staticmethod(convert.apply_command)
    decode_state = staticmethod(codec.decode_state_subset)
    state_from_message = staticmethod(convert.state_from_wire)

    def extract_command_custom(self, command: codec.CommandMessage) -> Doubles:
        """Return bank B."""
        return command.custom

    def encode_controls(self, controls: Controls, reply_id: float, custom: Doubles) -> bytes:
        """Return the command message for `controls`."""
        return codec.encode_command(convert.controls_to_wire(controls, reply_id, custom))

    def extract_state_custom(self, message: codec.StateSubset) -> Doubles:
        """Return bank H."""
        custom: Doubles = message[-1]
        return custom

    def read_clock(self, message: codec.StateSubset) -> float:
        """Return NaN: generation 1 has no clock."""
        return math.nan

    def select_signals(self, names: Sequence[str]) -> "FixedFormat":
        """Return this format with `read_signals` for these signals."""
        return FixedFormatWithSignals(names)

    def read_signals(self, message: codec.StateSubset) -> Doubles:
        """Return nothing: no signals are selected."""
        return ()


def _state_from_doubles(subset: Doubles, step: float, previous: CarState | None = None) -> CarState:
    """Return the CarState of a state message as `codec.decode_state_doubles` decodes it."""
    return convert.state_from_wire(codec.select_subset_of_doubles(subset), step, previous)


class FixedFormatWithSignals(FixedFormat):
    """Generation 1 with selected signals: a state message is decoded whole, and is the tuple of its doubles."""

    decode_state = staticmethod(codec.decode_state_doubles)
    state_from_message = staticmethod(_state_from_doubles)

    def __init__(self, names: Sequence[str]) -> None:
        self._reader = CouplingSignals(names)

    def read_signals(self, message: Doubles) -> Doubles:
        """Return the values of the selected signals."""
        return self._reader.read_values(message)

    def extract_state_custom(self, message: Doubles) -> Doubles:
        """Return bank H."""
        return message[-codec.CUSTOM_COUNT :]


MessageFormat: TypeAlias = FixedFormat | SignalListFormat


def make_message_format(options: ServeOptions | LiveOptions) -> MessageFormat:
    """Return the format of the generation in the options; for generation 2 this reads the contract's file.

    Raises:
        UsageError: the contract's file does not exist.
        DataError: the file is not a contract.
    """
    if options.generation == 1 or options.contract is None:
        return FixedFormat()
    contract = signal_contract.load_contract(options.contract)
    if isinstance(options, LiveOptions):
        return SignalListFormat(contract, options.brake_torque)
    return SignalListFormat(contract)


def find_supplied(options: LiveOptions) -> frozenset[str]:
    """Return the names of STATE_FIELDS that messages with these options supply: for a contract, what it lists."""
    layout = make_message_format(options)
    if not isinstance(layout, SignalListFormat):
        return SUPPLIES
    names = [*declared_quantities(CarState), "gear", *(f"wheels.{name}" for name in declared_quantities(WheelState))]
    return find_supplied_fields(layout, names) | {"time", "sequence", "age", "phase"}


def find_accepted(options: LiveOptions) -> frozenset[str]:
    """Return the names of CONTROL_FIELDS that commands with these options pass on: for a contract, what acts."""
    layout = make_message_format(options)
    return layout.accepts if isinstance(layout, SignalListFormat) else ACCEPTS
