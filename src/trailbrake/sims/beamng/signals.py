"""Generation 2: signals of a contract <-> our state and controls. Where generation 1 has the same, it is made of that.

Source: protocol page beamng-coupling, section 11. There is no drive mode: a torque acts exactly when it is listed. NaN
has no special meaning. Signals of which the page tells no more than a name are refused: they would be guesses.
"""

import math
from collections.abc import Callable
from typing import Any

from trailbrake.cars.params import CarParams
from trailbrake.errors import DataError, near
from trailbrake.frames import direction, up_vector
from trailbrake.sims.beamng import convert
from trailbrake.sims.beamng.codec import (
    DOUBLE,
    NO_CUSTOM,
    CommandMessage,
    Prepared,
    SignalCodec,
    StateMessage,
    Values,
    decode_state,
)
from trailbrake.sims.beamng.contract import Contract, Signal
from trailbrake.sims.beamng.convert import Held
from trailbrake.state import CarState, Controls

NAN = math.nan
WHEELS = ("FL", "FR", "RL", "RR")
_SLOW_GROUPS = ("Driver", "Electrics", "Powertrain")  # worked out once per graphics frame
_NOTHING = StateMessage._make([*[NAN] * 61, NO_CUSTOM])

# Signals that are a slot of generation 1.
_SLOTS = {
    "vehiclePositionX": "posX", "vehiclePositionY": "posY", "vehiclePositionZ": "posZ",
    "vehicleVelocityX": "velX", "vehicleVelocityY": "velY", "vehicleVelocityZ": "velZ",
    "vehicleAccelerationX": "accX", "vehicleAccelerationY": "accY", "vehicleAccelerationZ": "accZ",
    "vehicleRoll": "roll", "vehiclePitch": "pitch", "vehicleYaw": "yaw",
    "vehicleGroundSpeed": "groundspeed", "vehicleAltitude": "altitude",
    "throttle": "throttle", "throttleInput": "throttle_input", "brake": "brake", "brakeInput": "brake_input",
    "clutch": "clutch", "clutchInput": "clutch_input", "parkingBrake": "parkingbrake",
    "parkingBrakeInput": "parkingbrake_input", "steeringWheelPosition": "steering",
    "steeringWheelPositionInput": "steering_input",
}  # fmt: skip
_WHEEL_SLOTS = {"wheelSpeed": "wheelSpeed", "angularVelocity": "angularVelocity", "downforce": "downForce",
                "brakingTorque": "brakingTorque", "propulsionTorque": "propulsionTorque",
                "frictionTorque": "frictionTorque"}  # fmt: skip
_SLOTS.update({f"{name}{wheel}": f"wheel{wheel}_{slot}" for name, slot in _WHEEL_SLOTS.items() for wheel in WHEELS})


def _right(state: CarState) -> tuple[float, float, float]:
    f, u = direction(state.yaw, state.pitch), up_vector(state.yaw, state.pitch, state.roll)
    return (f[1] * u[2] - f[2] * u[1], f[2] * u[0] - f[0] * u[2], f[0] * u[1] - f[1] * u[0])


# Signals that generation 1 has not. Rates about the wire's own body axes, as its angles are.
_MORE: dict[str, Callable[[CarState, CarParams], float]] = {
    "vehicleRollRate": lambda s, _: -s.roll_rate,
    "vehiclePitchRate": lambda s, _: s.pitch_rate,
    "vehicleYawRate": lambda s, _: s.yaw_rate,
    "vehicleForwardX": lambda s, _: direction(s.yaw, s.pitch)[0],
    "vehicleForwardY": lambda s, _: direction(s.yaw, s.pitch)[1],
    "vehicleForwardZ": lambda s, _: direction(s.yaw, s.pitch)[2],
    "vehicleUpX": lambda s, _: up_vector(s.yaw, s.pitch, s.roll)[0],
    "vehicleUpY": lambda s, _: up_vector(s.yaw, s.pitch, s.roll)[1],
    "vehicleUpZ": lambda s, _: up_vector(s.yaw, s.pitch, s.roll)[2],
    "vehicleRightX": lambda s, _: _right(s)[0],
    "vehicleRightY": lambda s, _: _right(s)[1],
    "vehicleRightZ": lambda s, _: _right(s)[2],
    "vehicleInitialLength": lambda _, car: car.body.length,
    "vehicleInitialWidth": lambda _, car: car.body.width,
}
_RATES = {"vehicleRollRate": ("roll_rate", -1.0), "vehiclePitchRate": ("pitch_rate", 1.0),
          "vehicleYawRate": ("yaw_rate", 1.0)}  # fmt: skip
_TORQUE_KINDS = ("propulsionTorque", "brakingTorque")
_TORQUES = [f"{kind}{wheel}" for kind in _TORQUE_KINDS for wheel in WHEELS]
_BACK = ["throttle", "brake", "steeringWheelPosition", *_TORQUES]


class Listed:
    """The messages of one contract.

    Raises:
        DataError: the contract lists a signal that is not known here; the message names its line.
    """

    def __init__(self, contract: Contract) -> None:
        known = [*_SLOTS, *_MORE]
        for signals, names in ((contract.to, known), (contract.back, _BACK)):
            for signal in signals:
                if signal.name not in names:
                    raise DataError(f"the signal {signal.name} is not known", where=f"{contract.where}:{signal.line}",
                                    hint=near(signal.name, names))  # fmt: skip
        self._to, self._back = contract.to, contract.back
        self._out, self._in = SignalCodec(len(contract.to)), SignalCodec(len(contract.back))
        self.sent_doubles, self.received_doubles = 1 + len(contract.to), 1 + len(contract.back)
        # Of each signal its slot in generation 1, or else what works it out.
        fields = StateMessage._fields
        self._pick = [
            fields.index(_SLOTS[signal.name]) if signal.name in _SLOTS else _MORE[signal.name] for signal in contract.to
        ]
        self._slow = {k + 1 for k, signal in enumerate(contract.to) if signal.group in _SLOW_GROUPS}
        self._channels: dict[str, dict[str, int]] = {}
        for k, signal in enumerate(contract.back):
            self._channels.setdefault(signal.name, {})[signal.channel] = k + 1
        self._outputs: dict[str, float] = {}  # newest output of each signal, which `freeze` holds

    def held(self) -> Held:
        """Return what the simulator holds before the first command: torques that are not listed are the car's own."""
        drive, brake = (tuple(0.0 if f"{kind}{wheel}" in self._channels else NAN for wheel in WHEELS)
                        for kind in _TORQUE_KINDS)  # fmt: skip
        listed = any(name in self._channels for name in _TORQUES)
        return Held(torque_mode=listed, drive_torques=drive, brake_torques=brake)  # type: ignore[arg-type]

    def told_of(self, state: CarState, car: CarParams) -> tuple[Prepared, Values]:
        """Return what generation 1 tells, and what it has no place for, in the contract's order."""
        more = tuple(pick(state, car) for pick in self._pick if not isinstance(pick, int))
        return convert.told_of(state, car), more

    def message_of(self, told: tuple[Prepared, Values], message_id: int, held: Held, custom: Values) -> bytes:
        """Return the bytes of (id, signals...)."""
        fixed: Any = decode_state(convert.complete(told[0], message_id, held))
        more = iter(told[1])
        values = [fixed[pick] if isinstance(pick, int) else next(more) for pick in self._pick]
        return self._out.encode(float(message_id), tuple(0.0 if value != value else value for value in values))

    def stair(self, data: bytes, frame: bytes) -> bytes:
        """Return `data` with the signals of the driver, the electrics and the powertrain as in `frame`."""
        places = range(0, self._out.size, DOUBLE)
        return b"".join((frame if at // DOUBLE in self._slow else data)[at : at + DOUBLE] for at in places)

    def decode_command(self, data: bytes) -> Values:
        """Return (id, channels...)."""
        message_id, signals = self._in.decode(data)
        return (message_id, *signals)

    def take(self, command: Values, held: Held) -> None:
        """Bring `held` up to date."""
        values = {name: self._output(name, channels, command) for name, channels in self._channels.items()}
        torques: dict[str, Any] = {
            f"wheel{wheel}_{kind}": values.get(f"{kind}{wheel}", NAN) for kind in _TORQUE_KINDS for wheel in WHEELS
        }
        fixed = CommandMessage(
            throttle=values.get("throttle", NAN),
            brake=values.get("brake", NAN),
            steering=values.get("steeringWheelPosition", NAN),
            drive_mode=NAN,
            **torques,
        )
        convert.take(fixed, held)

    def _output(self, name: str, channels: dict[str, int], command: Values) -> float:
        if "freeze" in channels and command[channels["freeze"]] != 0.0:
            return self._outputs.get(name, 0.0)
        value = command[channels["value"]] if "value" in channels else 0.0
        if "multiply" in channels:
            value *= command[channels["multiply"]]
        if "add" in channels:
            value += command[channels["add"]]
        self._outputs[name] = value
        return value

    def custom_of_command(self, command: Values) -> Values:
        """Return zeros: there are no free values."""
        return NO_CUSTOM

    def command_of(self, controls: Controls, reply_id: float, custom: Values) -> bytes:
        """Return the bytes that ask for `controls`; a torque that is listed and not asked for is 0."""
        fixed = convert.controls_to_wire(controls, reply_id)
        values = {"throttle": fixed.throttle, "brake": fixed.brake, "steeringWheelPosition": fixed.steering}
        for kind in _TORQUE_KINDS:
            values.update({f"{kind}{wheel}": getattr(fixed, f"wheel{wheel}_{kind}") for wheel in WHEELS})
        return self._in.encode(reply_id, tuple(self._channel(signal, values[signal.name]) for signal in self._back))

    def _channel(self, signal: Signal, value: float) -> float:
        if signal.channel == "multiply":
            return 1.0
        return value if signal.channel == "value" and value == value else 0.0

    def decode_state(self, data: bytes) -> Values:
        """Return (id, signals...)."""
        message_id, signals = self._out.decode(data)
        return (message_id, *signals)

    def state_of(self, message: Values, step: float, before: CarState | None) -> CarState:
        """Return the state as far as the signals tell it."""
        named = {signal.name: value for signal, value in zip(self._to, message[1:], strict=True)}
        slots: dict[str, Any] = {_SLOTS[name]: value for name, value in named.items() if name in _SLOTS}
        state = convert.state_from_wire(_NOTHING._replace(message_id=message[0], **slots), step, before)
        for name, (ours, sign) in _RATES.items():
            if name in named:
                setattr(state, ours, sign * named[name])
        return state

    def custom_of_state(self, message: Values) -> Values:
        """Return zeros: there are no free values."""
        return NO_CUSTOM
