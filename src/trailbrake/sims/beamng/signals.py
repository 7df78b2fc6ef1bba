"""The signals of BeamNG's wire: what its messages carry beyond CarState, and how to read them.

Units and signs are those of CarState; the wire's own differ for angles, engine speeds and the steering input.

What the signal names of generation 2 mean: a field of generation 1, a quantity of the car, a control, or unknown.

Source: protocol page beamng-coupling, section 11, and the game's `cosimulationCoupling.lua` and `cosimulationNames.lua`
(0.33). The game finds a wheel signal by the parts of its name in any order (`wheelSpeedFR`, `FRwheelSpeed`), and an
electrics signal among its electrics values, whose names are those of generation 1 with `gearIndex` for the gear.
"""

import re
from collections.abc import Callable, Sequence
from typing import NamedTuple

from trailbrake.cars.params import CarParams
from trailbrake.frames import nose_direction, up_vector
from trailbrake.sims.beamng.codec import CUSTOM_COUNT, Doubles, StateMessage
from trailbrake.sims.beamng.signal_contract import ContractSignal, load_contract
from trailbrake.sims.beamng.spec import NAME, LiveOptions
from trailbrake.state import CarState, Signal
from trailbrake.state.signals import make_signal
from trailbrake.units import DEG, RPM

WHEELS = ("FL", "FR", "RL", "RR")
WHEEL_SLOTS = {
    "wheelSpeed": "wheelSpeed", "angularVelocity": "angularVelocity", "downforce": "downForce",
    "brakingTorque": "brakingTorque", "propulsionTorque": "propulsionTorque", "frictionTorque": "frictionTorque",
}  # fmt: skip
TORQUE_KINDS = ("propulsionTorque", "brakingTorque", "frictionTorque")
PEDALS = ("throttle", "brake", "clutch", "parkingBrake", "steeringWheelPosition")
TIMESTAMPS = ("imuReadingTimestamp", "gpsReadingTimestamp", "idealRADARReadingTimestamp", "roadsReadingTimestamp")

# Signals that generation 1 has as a field.
SLOT_OF_SIGNAL = {
    "vehiclePositionX": "posX", "vehiclePositionY": "posY", "vehiclePositionZ": "posZ",
    "vehicleVelocityX": "velX", "vehicleVelocityY": "velY", "vehicleVelocityZ": "velZ",
    "vehicleAccelerationX": "accX", "vehicleAccelerationY": "accY", "vehicleAccelerationZ": "accZ",
    "vehicleRoll": "roll", "vehiclePitch": "pitch", "vehicleYaw": "yaw",
    "vehicleGroundSpeed": "groundspeed", "vehicleAltitude": "altitude",
    "throttle": "throttle", "throttleInput": "throttle_input", "brake": "brake", "brakeInput": "brake_input",
    "clutch": "clutch", "clutchInput": "clutch_input", "parkingBrake": "parkingbrake",
    "parkingBrakeInput": "parkingbrake_input", "steeringWheelPosition": "steering",
    "steeringWheelPositionInput": "steering_input", "gearIndex": "gear",
}  # fmt: skip
_ELECTRICS = ("throttle", "steering_input"), ("ignitionLevel", "wheelspeed")  # banks A and C of generation 1

for _first, _last in _ELECTRICS:
    _names = StateMessage._fields
    SLOT_OF_SIGNAL.update({name: name for name in _names[_names.index(_first) : _names.index(_last) + 1]})


def _right_vector(state: CarState) -> tuple[float, float, float]:
    """Return the unit vector to the car's right, world axes."""
    f, u = nose_direction(state.yaw, state.pitch), up_vector(state.yaw, state.pitch, state.roll)
    return (f[1] * u[2] - f[2] * u[1], f[2] * u[0] - f[0] * u[2], f[0] * u[1] - f[1] * u[0])


def _read_time(state: CarState, car: CarParams) -> float:
    return state.time


# Signals that generation 1 does not have. Rates are about the wire's own body axes, as its angles are.
EXTRA_SIGNALS: dict[str, Callable[[CarState, CarParams], float]] = {
    "vehicleRollRate": lambda s, _: -s.roll_rate,
    "vehiclePitchRate": lambda s, _: s.pitch_rate,
    "vehicleYawRate": lambda s, _: s.yaw_rate,
    "vehicleForwardX": lambda s, _: nose_direction(s.yaw, s.pitch)[0],
    "vehicleForwardY": lambda s, _: nose_direction(s.yaw, s.pitch)[1],
    "vehicleForwardZ": lambda s, _: nose_direction(s.yaw, s.pitch)[2],
    "vehicleUpX": lambda s, _: up_vector(s.yaw, s.pitch, s.roll)[0],
    "vehicleUpY": lambda s, _: up_vector(s.yaw, s.pitch, s.roll)[1],
    "vehicleUpZ": lambda s, _: up_vector(s.yaw, s.pitch, s.roll)[2],
    "vehicleRightX": lambda s, _: _right_vector(s)[0],
    "vehicleRightY": lambda s, _: _right_vector(s)[1],
    "vehicleRightZ": lambda s, _: _right_vector(s)[2],
    "vehicleInitialLength": lambda _, car: car.body.length,
    "vehicleInitialWidth": lambda _, car: car.body.width,
    **dict.fromkeys(TIMESTAMPS, _read_time),
}


def find_wheel(name: str, kinds: tuple[str, ...]) -> tuple[str, str] | None:
    """Return the (kind, wheel) in a signal's name, in any order, as the game finds them; None where there are none."""
    wheel = next((wheel for wheel in WHEELS if wheel in name), "")
    kind = next((kind for kind in kinds if kind in name), "")
    return (kind, wheel) if wheel and kind else None


def find_state_source(name: str) -> str | Callable[[CarState, CarParams], float] | None:
    """Return where the value of a signal comes from: a field of `StateMessage`, or a function of the car.

    None: the meaning of the name is not known.
    """
    if name in SLOT_OF_SIGNAL:
        return SLOT_OF_SIGNAL[name]
    wheel = find_wheel(name, tuple(WHEEL_SLOTS))
    if wheel is not None:
        return f"wheel{wheel[1]}_{WHEEL_SLOTS[wheel[0]]}"
    return EXTRA_SIGNALS.get(name)


def find_command_target(name: str) -> str | None:
    """Return which control a command signal sets: one of PEDALS, or KIND and WHEEL of a torque; None if not known."""
    if name in PEDALS:
        return name
    wheel = find_wheel(name, TORQUE_KINDS)
    return None if wheel is None else "".join(wheel)


def make_snake_name(name: str) -> str:
    """Return a signal's name in lower case: `vehicleYawRate` is `vehicle_yaw_rate`."""
    name = re.sub(r"\b(FL|FR|RL|RR)(?=[a-z])", r"\1_", name)  # FRwheelAngle
    text = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", name)
    return re.sub(r"[^a-z0-9]+", "_", text.lower()).strip("_") or "signal"


class WireSignal(NamedTuple):
    """A signal, its field in `StateMessage`, and the factor that makes its value of the field's."""

    signal: Signal
    slot: str
    factor: float = 1.0


def _declare(
    name: str, slot: str, unit: str, meaning: str, *, span: tuple[float, float] | None = None, factor: float = 1.0
) -> WireSignal:
    if span is None:
        return WireSignal(make_signal(f"{NAME}.{name}", unit, meaning), slot, factor)
    return WireSignal(make_signal(f"{NAME}.{name}", unit, meaning, lo=span[0], hi=span[1]), slot, factor)


_SHARE = 0.0, 1.0
_BANKS = (
    _declare("throttle", "throttle", "1", "throttle as applied, after assistants", span=_SHARE),
    _declare("throttle_input", "throttle_input", "1", "throttle as requested", span=_SHARE),
    _declare("brake", "brake", "1", "brake as applied", span=_SHARE),
    _declare("brake_input", "brake_input", "1", "brake as requested", span=_SHARE),
    _declare("clutch", "clutch", "1", "clutch as applied, 1 = pressed", span=_SHARE),
    _declare("clutch_input", "clutch_input", "1", "clutch as requested", span=_SHARE),
    _declare("parking_brake", "parkingbrake", "1", "parking brake as applied", span=_SHARE),
    _declare("parking_brake_input", "parkingbrake_input", "1", "parking brake as requested", span=_SHARE),
    _declare("steering_wheel_angle", "steering", "rad", "angle of the steering wheel, positive left", factor=DEG),
    _declare("steering_input", "steering_input", "1", "steer as requested, share of full lock, positive left",
             span=(-1.0, 1.0), factor=-1.0),
    _declare("altitude", "altitude", "m", "height"),
    _declare("ignition_level", "ignitionLevel", "1", "0 off, 1 accessory, 2 on, 3 starting", span=(0.0, 3.0)),
    _declare("gear", "gear", "1", "gear, negative = reverse"),
    _declare("fuel", "fuel", "1", "fuel left, share of a full tank", span=_SHARE),
    _declare("engine_load", "engineLoad", "1", "engine torque over the largest", span=_SHARE),
    _declare("high_beam", "highbeam", "1", "1 while the headlights are on, high beam", span=_SHARE),
    _declare("low_beam", "lowbeam", "1", "1 while the headlights are on, low beam", span=_SHARE),
    _declare("max_engine_speed", "maxrpm", "rad/s", "largest crankshaft speed", factor=RPM),
    _declare("reverse", "reverse", "1", "1 in reverse", span=_SHARE),
    _declare("engine_speed", "rpm", "rad/s", "crankshaft speed", factor=RPM),
    _declare("left_signal", "signal_L", "1", "1 while the left turn signal is lit", span=_SHARE),
    _declare("right_signal", "signal_R", "1", "1 while the right turn signal is lit", span=_SHARE),
    _declare("wheel_speed", "wheelspeed", "m/s", "mean of the absolute speeds of the wheels' treads"),
)  # fmt: skip
_WHEEL_VALUES = (
    ("angular_velocity", "angularVelocity", "rad/s", "spin, positive rolling forward"),
    ("wheel_speed", "wheelSpeed", "m/s", "speed of the tread, positive forward"),
    ("braking_torque", "brakingTorque", "N m", "torque of the brake less friction, positive when it brakes"),
    ("propulsion_torque", "propulsionTorque", "N m", "torque of the powertrain, positive forward"),
    ("friction_torque", "frictionTorque", "N m", "torque of bearings and rolling"),
    ("down_force", "downForce", "N", "vertical load"),
)


def _declare_all() -> tuple[WireSignal, ...]:
    wheels = [
        _declare(f"wheel_{wheel.lower()}.{name}", f"wheel{wheel}_{slot}", unit, meaning)
        for wheel in WHEELS
        for name, slot, unit, meaning in _WHEEL_VALUES
    ]
    custom = [
        _declare(f"custom.{number}", f"custom{number}", "1", "free value of the simulator")
        for number in range(1, CUSTOM_COUNT + 1)
    ]
    return (*_BANKS, *wheels, *custom)


WIRE_SIGNALS = _declare_all()
_OF_SLOT = {wire.slot: wire for wire in WIRE_SIGNALS}
_SLOTS = [*StateMessage._fields[:-1], *(f"custom{number}" for number in range(1, CUSTOM_COUNT + 1))]


def _contract_signals(signals: Sequence[ContractSignal]) -> list[tuple[WireSignal, int]]:
    """Return the signals of a contract with their places in a message; a name that comes again gets a number."""
    found: list[tuple[WireSignal, int]] = []
    count: dict[str, int] = {}
    for position, row in enumerate(signals, 1):
        source = find_state_source(row.name)
        wire = _OF_SLOT.get(source) if isinstance(source, str) else None
        if wire is None:
            base = f"contract.{make_snake_name(row.name)}"
            meaning = row.description or f"{row.name} of the contract"
            wire = _declare(base, row.name, "1", meaning)
        name = wire.signal.name
        count[name] = count.get(name, 0) + 1
        if count[name] > 1:
            quantity = wire.signal.quantity
            wire = wire._replace(signal=Signal(f"{name}_{count[name]}", quantity))
        found.append((wire, position))
    return found


def list_signals(live: LiveOptions) -> tuple[Signal, ...]:
    """Return the signals that messages with these options carry: for a contract, those that it lists."""
    if live.contract is None:
        return tuple(wire.signal for wire in WIRE_SIGNALS)
    return tuple(wire.signal for wire, _ in _contract_signals(load_contract(live.contract).state_signals))


class CouplingSignals:
    """Reads selected signals from the doubles of a message.

    Args:
        names: of the signals, in the order of the values.
        contract: the state signals of generation 2; None for generation 1.
    """

    def __init__(self, names: Sequence[str], contract: Sequence[ContractSignal] | None = None) -> None:
        if contract is None:
            known = {wire.signal.name: (wire, _SLOTS.index(wire.slot)) for wire in WIRE_SIGNALS}
        else:
            known = {wire.signal.name: (wire, position) for wire, position in _contract_signals(contract)}
        chosen = [known[name] for name in names]
        self._places = [(position, wire.factor) for wire, position in chosen]

    def read_values(self, doubles: Doubles) -> Doubles:
        """Return the values of the signals in a message."""
        return tuple([doubles[position] * factor for position, factor in self._places])
