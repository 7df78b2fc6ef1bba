# ruff: noqa: N815 - the wire's own names
"""Bytes <-> messages of BeamNG's tight coupling, with the wire's own names, units and oddities.

Source: protocol page beamng-coupling, sections 2 to 4, 10 and 11. A message is a row of little-endian binary64 and
nothing else: no header, no length, no checksum, so that its size is all that tells it from noise. Generation 1 has
fixed messages, 888 bytes out of the simulator and 512 into it; generation 2 has one double per signal of a contract.
Where the published table and the game disagree this is the game: slot 0 is an id, the last wheel is rear right.

Signs and units are changed in `convert.py`, not here. NaN in a command means "leave alone".
"""

from collections.abc import Callable, Sequence
from operator import itemgetter
from struct import Struct
from typing import Any, NamedTuple

from trailbrake.errors import WireError

DOUBLE = 8  # bytes
CUSTOM = 50  # free values at the end of either message
Values = tuple[float, ...]
NO_CUSTOM: Values = (0.0,) * CUSTOM

# The free values apart from the rest: mostly they are zeros, and then nothing has to be packed or unpacked.
_STATE = Struct("<61d")
_COMMAND = Struct("<14d")
_CUSTOM = Struct(f"<{CUSTOM}d")
_ZEROS = bytes(_CUSTOM.size)
STATE_SIZE = _STATE.size + _CUSTOM.size
COMMAND_SIZE = _COMMAND.size + _CUSTOM.size


class StateMessage(NamedTuple):
    """Simulator to controller, 888 bytes: banks A to G, and H as `custom`."""

    message_id: float = 0.0  # counts the messages from 0
    throttle: float = 0.0  # 0..1, as applied
    throttle_input: float = 0.0  # 0..1, as asked
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
    custom: Values = NO_CUSTOM  # bank H; the stock simulator sends zeros


class Prepared(NamedTuple):
    """A state message but for what hangs on the controller, which `complete_state` puts in."""

    inputs: Values  # the numbers as far as steering_input
    rest: bytes  # those behind them, without the free values


class CommandMessage(NamedTuple):
    """Controller to simulator, 512 bytes: bank A, and B as `custom`. Torques are about the wheel's axle."""

    message_id: float = 0.0  # taken only where it is higher than any before
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
    custom: Values = NO_CUSTOM  # bank B; the stock simulator ignores it


# Of a state message the doubles that our state is made of, in the order of the bytes.
SEEN = (
    "message_id", "throttle", "brake", "clutch", "parkingbrake", "steering", "posX", "posY", "posZ", "velX", "velY",
    "velZ", "groundspeed", "accX", "accY", "accZ", "roll", "pitch", "yaw", "gear", "rpm",
    *(f"wheel{wheel}_{what}" for wheel in ("FL", "FR", "RL", "RR") for what in ("angularVelocity", "downForce")),
)  # fmt: skip
Seen = tuple[Any, ...]  # those of SEEN, and `custom`; a plain tuple, since only those are taken apart fast
seen: Callable[[StateMessage], Seen] = itemgetter(*map(StateMessage._fields.index, (*SEEN, "custom")))
_SEE = Struct("<" + "".join("d" if name in SEEN else f"{DOUBLE}x" for name in StateMessage._fields[:-1])).unpack_from

# A state message in parts: what hangs on the controller lies before _INPUTS_END, but for the wheels' torques.
_INPUTS_END = StateMessage._fields.index("steering_input") + 1
_INPUTS, _REST = Struct(f"<{_INPUTS_END}d"), Struct(f"<{len(StateMessage._fields) - 1 - _INPUTS_END}d")
_TORQUES = Struct("<2d")  # a wheel's
_TORQUE_PLACES = [  # bytes, in `Prepared.rest`
    DOUBLE * (at - _INPUTS_END) for at, name in enumerate(StateMessage._fields) if name.endswith("_brakingTorque")
]
# Bytes from which on a message is slow, fast, slow, ...: slow are bank A without the id, and C without `wheelspeed`.
_BANKS = [DOUBLE * StateMessage._fields.index(name) for name in ("throttle", "posX", "ignitionLevel", "wheelspeed")]

# `_new` builds a named tuple from its fields in order without the keyword machinery of its constructor.
_new = tuple.__new__


def _wrong_size(what: str, expected: int, got: int) -> WireError:
    return WireError(f"{what} of another size", expected=f"{expected} bytes", got=str(got))


def _decode_custom(data: bytes) -> Values:
    """Return the free values at the end of a message."""
    return NO_CUSTOM if data.endswith(_ZEROS) else _CUSTOM.unpack_from(data, len(data) - _CUSTOM.size)


def _encode_custom(custom: Values) -> bytes:
    return _ZEROS if custom is NO_CUSTOM else _CUSTOM.pack(*custom)


def decode_state(data: bytes) -> StateMessage:
    """Decode what a simulator sends; WireError unless it is 888 bytes."""
    if len(data) != STATE_SIZE:
        raise _wrong_size("a state message", STATE_SIZE, len(data))
    return _new(StateMessage, (*_STATE.unpack_from(data), _decode_custom(data)))


def decode_seen_state(data: bytes) -> Seen:
    """Decode of a state message what a state needs: `seen(decode_state(data))`; WireError unless it is 888 bytes."""
    if len(data) != STATE_SIZE:
        raise _wrong_size("a state message", STATE_SIZE, len(data))
    return (*_SEE(data), _decode_custom(data))


def prepare_state(values: Values) -> Prepared:
    """Return the state message of `values`, its numbers without the free ones, ready for `complete_state`."""
    return _new(Prepared, (values[:_INPUTS_END], _REST.pack(*values[_INPUTS_END:])))


def complete_state(
    prepared: Prepared,
    message_id: float,
    throttle: float,
    brake: float,
    steering: float,
    torques: Sequence[tuple[float, float]] = (),
    custom: Values = NO_CUSTOM,
) -> bytes:
    """Encode what a simulator sends, 888 bytes.

    Args:
        prepared: of `prepare_state`.
        message_id: counts the messages.
        throttle: for `throttle_input`.
        brake: for `brake_input`.
        steering: for `steering_input`.
        torques: each wheel's for `brakingTorque` and `propulsionTorque`; empty for those that are prepared.
        custom: the free values.
    """
    (_, applied_throttle, _, applied_brake, _, clutch, clutch_in, parking, parking_in, wheel, _), rest = prepared
    if torques:
        changed = bytearray(rest)
        for place, pair in zip(_TORQUE_PLACES, torques, strict=True):
            _TORQUES.pack_into(changed, place, *pair)
        rest = bytes(changed)
    inputs = _INPUTS.pack(message_id, applied_throttle, throttle, applied_brake, brake, clutch, clutch_in, parking,
                          parking_in, wheel, steering)  # fmt: skip
    return inputs + rest + _encode_custom(custom)


def encode_state(m: StateMessage) -> bytes:
    """Encode what a simulator sends, 888 bytes."""
    prepared = prepare_state(m[:-1])
    return complete_state(prepared, m[0], m.throttle_input, m.brake_input, m.steering_input, custom=m.custom)


def stale_state(data: bytes, frame: bytes) -> bytes:
    """Return the state message `data` with what the game works out once per graphics frame as `frame` has it."""
    a, b, c, d = _BANKS
    return data[:a] + frame[a:b] + data[b:c] + frame[c:d] + data[d:]


def decode_command(data: bytes) -> CommandMessage:
    """Decode what a controller sends; WireError unless it is 512 bytes."""
    if len(data) != COMMAND_SIZE:
        raise _wrong_size("a command message", COMMAND_SIZE, len(data))
    return _new(CommandMessage, (*_COMMAND.unpack_from(data), _decode_custom(data)))


def encode_command(m: CommandMessage) -> bytes:
    """Encode what a controller sends, 512 bytes."""
    return _COMMAND.pack(*m[:-1]) + _encode_custom(m.custom)


class SignalCodec:
    """The messages of generation 2 in one direction: an id and `count` signals in the contract's order."""

    __slots__ = ("_struct", "size")

    def __init__(self, count: int) -> None:
        self._struct = Struct(f"<{1 + count}d")
        self.size = self._struct.size

    def decode(self, data: bytes) -> tuple[float, Values]:
        """Return (message_id, signals); WireError where the size is not the contract's."""
        if len(data) != self.size:
            raise _wrong_size("a message of signals", self.size, len(data))
        v = self._struct.unpack(data)
        return v[0], v[1:]

    def encode(self, message_id: float, signals: Values) -> bytes:
        """Encode a message of `signals`."""
        return self._struct.pack(message_id, *signals)
