"""What the signal names of generation 2 mean: a field of generation 1, a quantity of the car, a control, or unknown.

Source: protocol page beamng-coupling, section 11, and the game's `cosimulationCoupling.lua` and `cosimulationNames.lua`
(0.33). The game finds a wheel signal by the parts of its name in any order (`wheelSpeedFR`, `FRwheelSpeed`), and an
electrics signal among its electrics values, whose names are those of generation 1 with `gearIndex` for the gear.
"""

import re
from collections.abc import Callable

from trailbrake.cars.params import CarParams
from trailbrake.frames import nose_direction, up_vector
from trailbrake.sims.beamng.codec import StateMessage
from trailbrake.state import CarState

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
