# ruff: noqa: N815 - the wire's own names
"""Bytes <-> messages of BeamNG's tight coupling, with the wire's own names, units and oddities.

Source: protocol page beamng-coupling, sections 2 to 4, 10 and 11. A message is a sequence of little-endian binary64
numbers without header, length or checksum; only its size identifies it. Generation 1 has fixed messages, 888 bytes from
the simulator and 512 bytes to it; generation 2 has one double per signal of a contract. Where the published table and
the game differ, this codec follows the game: slot 0 is an id, and the last wheel is rear right.

`convert.py` changes signs and units. NaN in a command means "do not change".
"""

import math
from collections.abc import Callable
from operator import itemgetter
from struct import Struct
from typing import Any, NamedTuple

from trailbrake.errors import WireError
from trailbrake.transport.wire_packing import packs_fields

DOUBLE = 8  # bytes
CUSTOM_COUNT = 50  # custom values at the end of either message
Doubles = tuple[float, ...]
NO_CUSTOM: Doubles = (0.0,) * CUSTOM_COUNT

# The custom values have a struct of their own: usually they are all zero and need no packing or unpacking.
_STATE = Struct("<61d")
_COMMAND = Struct("<14d")
_CUSTOM = Struct(f"<{CUSTOM_COUNT}d")
_ALL = Struct(f"<{61 + CUSTOM_COUNT}d")
_CUSTOM_ZEROS = bytes(_CUSTOM.size)
STATE_SIZE = _STATE.size + _CUSTOM.size
COMMAND_SIZE = _COMMAND.size + _CUSTOM.size


class StateMessage(NamedTuple):
    """Simulator to controller, 888 bytes: banks A to G, and H as `custom`."""

    message_id: float = 0.0  # counts the messages from 0
    throttle: float = 0.0  # 0..1, as applied
    throttle_input: float = 0.0  # 0..1, as requested
    brake: float = 0.0
    brake_input: float = 0.0
    clutch: float = 0.0
    clutch_input: float = 0.0
    parkingbrake: float = 0.0
    parkingbrake_input: float = 0.0
    steering: float = 0.0  # degrees of the steering wheel, positive LEFT
    steering_input: float = 0.0  # -1..1, positive RIGHT
    posX: float = 0.0  # m, world, Z up
    posY: float = 0.0
    posZ: float = 0.0
    velX: float = 0.0  # m/s, world
    velY: float = 0.0
    velZ: float = 0.0
    groundspeed: float = 0.0  # m/s
    accX: float = 0.0  # m/s^2, body, gravity included; positive LEFT
    accY: float = 0.0  # positive BACKWARD
    accZ: float = 0.0  # -9.81 at rest
    roll: float = 0.0  # rad
    pitch: float = 0.0
    yaw: float = 0.0  # rad, counter-clockwise, 0 = facing world -Y
    altitude: float = 0.0  # m
    ignitionLevel: float = 0.0  # 0 off, 1 accessory, 2 on, 3 starting
    gear: float = 0.0  # negative = reverse, 0 = neutral
    fuel: float = 0.0  # 0..1 of the tank
    engineLoad: float = 0.0
    highbeam: float = 0.0
    lowbeam: float = 0.0
    maxrpm: float = 0.0  # 1/min
    reverse: float = 0.0
    rpm: float = 0.0  # 1/min
    signal_L: float = 0.0
    signal_R: float = 0.0
    wheelspeed: float = 0.0  # m/s, mean of the wheels' absolute speeds
    wheelFL_angularVelocity: float = 0.0  # rad/s, positive rolling forward
    wheelFL_wheelSpeed: float = 0.0  # m/s
    wheelFL_brakingTorque: float = 0.0  # N m, positive when braking
    wheelFL_propulsionTorque: float = 0.0  # N m, positive forward
    wheelFL_frictionTorque: float = 0.0  # N m
    wheelFL_downForce: float = 0.0  # N
    wheelFR_angularVelocity: float = 0.0
    wheelFR_wheelSpeed: float = 0.0
    wheelFR_brakingTorque: float = 0.0
    wheelFR_propulsionTorque: float = 0.0
    wheelFR_frictionTorque: float = 0.0
    wheelFR_downForce: float = 0.0
    wheelRL_angularVelocity: float = 0.0
    wheelRL_wheelSpeed: float = 0.0
    wheelRL_brakingTorque: float = 0.0
    wheelRL_propulsionTorque: float = 0.0
    wheelRL_frictionTorque: float = 0.0
    wheelRL_downForce: float = 0.0
    wheelRR_angularVelocity: float = 0.0
    wheelRR_wheelSpeed: float = 0.0
    wheelRR_brakingTorque: float = 0.0
    wheelRR_propulsionTorque: float = 0.0
    wheelRR_frictionTorque: float = 0.0
    wheelRR_downForce: float = 0.0
    custom: Doubles = NO_CUSTOM  # bank H; the stock simulator sends zeros


class PartialMessage(NamedTuple):
    """A state message without the fields that depend on the controller; `finish_state` adds them."""

    inputs: Doubles  # the fields up to steering_input
    rest: bytes  # the encoded fields after steering_input, without the custom values


class ControllerPart(NamedTuple):
    """The fields of a state message that depend on the controller.

    Attributes:
        throttle: `throttle_input`, 0..1.
        brake: `brake_input`, 0..1.
        steering: `steering_input`, -1..1, positive RIGHT.
        clutch: `clutch_input`, 0..1.
        parkingbrake: `parkingbrake_input`, 0..1.
    """

    throttle: float
    brake: float
    steering: float
    clutch: float = 0.0
    parkingbrake: float = 0.0


class CommandMessage(NamedTuple):
    """Controller to simulator, 512 bytes: bank A, and B as `custom`. Torques are about the wheel's axle."""

    message_id: float = 0.0  # the simulator accepts it only if it is higher than all before
    throttle: float = 0.0  # 0..1
    brake: float = 0.0  # 0..1
    steering: float = 0.0  # -1..1, positive RIGHT
    reserved: float = 0.0  # a gear once; ignored
    wheelFL_brakingTorque: float = 0.0  # N m, NEGATIVE brakes
    wheelFR_brakingTorque: float = 0.0
    wheelRL_brakingTorque: float = 0.0
    wheelRR_brakingTorque: float = 0.0
    wheelFL_propulsionTorque: float = 0.0  # N m, positive forward
    wheelFR_propulsionTorque: float = 0.0
    wheelRL_propulsionTorque: float = 0.0
    wheelRR_propulsionTorque: float = 0.0
    drive_mode: float = 0.0  # below 0.5 pedals, else torques
    custom: Doubles = NO_CUSTOM  # bank B; the stock simulator ignores it


# Leaves every control alone.
NO_CHANGE_COMMAND = CommandMessage._make((0.0, *[math.nan] * (len(CommandMessage._fields) - 2), NO_CUSTOM))

# The fields of a state message that CarState needs, in the order of the bytes.
STATE_SUBSET_FIELDS = (
    "message_id", "throttle", "brake", "clutch", "parkingbrake", "steering", "posX", "posY", "posZ", "velX", "velY",
    "velZ", "groundspeed", "accX", "accY", "accZ", "roll", "pitch", "yaw", "gear", "fuel", "engineLoad", "highbeam",
    "lowbeam", "maxrpm", "rpm", "signal_L", "signal_R",
    *(f"wheel{wheel}_{what}" for wheel in ("FL", "FR", "RL", "RR")
      for what in ("angularVelocity", "brakingTorque", "propulsionTorque", "downForce")),
)  # fmt: skip
# The values of STATE_SUBSET_FIELDS and `custom`. A plain tuple: CPython unpacks it faster than a named tuple.
StateSubset = tuple[Any, ...]
select_state_subset: Callable[[StateMessage], StateSubset] = itemgetter(
    *map(StateMessage._fields.index, (*STATE_SUBSET_FIELDS, "custom"))
)
_unpack_subset = Struct(
    "<" + "".join("d" if name in STATE_SUBSET_FIELDS else f"{DOUBLE}x" for name in StateMessage._fields[:-1])
).unpack_from

# The parts of a state message: all fields that depend on the controller are before _INPUTS_END.
_INPUTS_END = StateMessage._fields.index("steering_input") + 1
_INPUTS, _REST = Struct(f"<{_INPUTS_END}d"), Struct(f"<{len(StateMessage._fields) - 1 - _INPUTS_END}d")
# Byte offsets at which the update rate changes: slow, fast, slow, fast. Bank A without the id and bank C without
# `wheelspeed` are slow: the game computes them once per graphics frame.
_BANK_STARTS = [
    DOUBLE * StateMessage._fields.index(name) for name in ("throttle", "posX", "ignitionLevel", "wheelspeed")
]

# `_new` builds a named tuple from its fields in order without the keyword machinery of its constructor.
_new = tuple.__new__


def _wrong_size_error(message: str, expected: int, size: int) -> WireError:
    return WireError(f"{message} of another size", expected=f"{expected} bytes", got=str(size))


def _decode_custom(data: bytes) -> Doubles:
    """Return the custom values at the end of a message."""
    return NO_CUSTOM if data.endswith(_CUSTOM_ZEROS) else _CUSTOM.unpack_from(data, len(data) - _CUSTOM.size)


def _encode_custom(custom: Doubles) -> bytes:
    return _CUSTOM_ZEROS if custom is NO_CUSTOM else _CUSTOM.pack(*custom)


def decode_state(data: bytes) -> StateMessage:
    """Decode a state message; WireError unless it has 888 bytes."""
    if len(data) != STATE_SIZE:
        raise _wrong_size_error("a state message", STATE_SIZE, len(data))
    return _new(StateMessage, (*_STATE.unpack_from(data), _decode_custom(data)))


def decode_state_subset(data: bytes) -> StateSubset:
    """Decode STATE_SUBSET_FIELDS and `custom` of a state message; WireError unless it has 888 bytes."""
    if len(data) != STATE_SIZE:
        raise _wrong_size_error("a state message", STATE_SIZE, len(data))
    return (*_unpack_subset(data), _decode_custom(data))


def decode_state_doubles(data: bytes) -> Doubles:
    """Decode all 111 doubles of a state message; WireError unless it has 888 bytes."""
    if len(data) != STATE_SIZE:
        raise _wrong_size_error("a state message", STATE_SIZE, len(data))
    return _ALL.unpack(data)


_SUBSET_PLACES = [StateMessage._fields.index(name) for name in STATE_SUBSET_FIELDS]
_select_places: Callable[[Doubles], Doubles] = itemgetter(*_SUBSET_PLACES)


def select_subset_of_doubles(doubles: Doubles) -> StateSubset:
    """Return what `decode_state_subset` returns, from `decode_state_doubles`."""
    return (*_select_places(doubles), doubles[-CUSTOM_COUNT:])


def encode_partial_state(values: Doubles) -> PartialMessage:
    """Encode the 61 fixed fields of a state message as far as they do not depend on the controller."""
    return _new(PartialMessage, (values[:_INPUTS_END], _REST.pack(*values[_INPUTS_END:])))


@packs_fields()
def finish_state(
    partial: PartialMessage, message_id: float, controller: ControllerPart, custom: Doubles = NO_CUSTOM
) -> bytes:
    """Return a complete state message, 888 bytes.

    Args:
        partial: from `encode_partial_state`.
        message_id: number of the message, from 0.
        controller: the fields that depend on the controller.
        custom: the 50 custom values.
    """
    (_, applied_throttle, _, applied_brake, _, clutch, _, parking, _, wheel, _), rest = partial
    throttle, brake, steering, clutch_in, parking_in = controller
    inputs = _INPUTS.pack(message_id, applied_throttle, throttle, applied_brake, brake, clutch, clutch_in, parking,
                          parking_in, wheel, steering)  # fmt: skip
    return inputs + rest + _encode_custom(custom)


def hold_slow_banks(data: bytes, frame_data: bytes) -> bytes:
    """Return the state message `data` with the slow banks of `frame_data`, the message at the last graphics frame."""
    a, b, c, d = _BANK_STARTS
    return data[:a] + frame_data[a:b] + data[b:c] + frame_data[c:d] + data[d:]


def decode_command(data: bytes) -> CommandMessage:
    """Decode a command message; WireError unless it has 512 bytes."""
    if len(data) != COMMAND_SIZE:
        raise _wrong_size_error("a command message", COMMAND_SIZE, len(data))
    return _new(CommandMessage, (*_COMMAND.unpack_from(data), _decode_custom(data)))


@packs_fields()
def encode_command(message: CommandMessage) -> bytes:
    """Encode a command message, 512 bytes."""
    return _COMMAND.pack(*message[:-1]) + _encode_custom(message.custom)


class SignalCodec:
    """Encodes and decodes the messages of generation 2 in one direction: an id and `count` signals in order."""

    __slots__ = ("_struct", "size")

    def __init__(self, count: int) -> None:
        self._struct = Struct(f"<{1 + count}d")
        self.size = self._struct.size

    def decode(self, data: bytes) -> tuple[float, Doubles]:
        """Return (message_id, signals); WireError unless the size is that of the contract."""
        if len(data) != self.size:
            raise _wrong_size_error("a message of signals", self.size, len(data))
        v = self._struct.unpack(data)
        return v[0], v[1:]

    @packs_fields()
    def encode(self, message_id: float, signals: Doubles) -> bytes:
        """Encode a message of `signals`."""
        return self._struct.pack(message_id, *signals)
