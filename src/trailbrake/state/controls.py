"""`Controls`: the output of a driver."""

import re
from collections.abc import Callable
from dataclasses import dataclass, fields
from operator import attrgetter

from trailbrake.errors import describe_value, suggest_names
from trailbrake.state.car_state import CarState
from trailbrake.state.commands import SimCommand
from trailbrake.state.fields import quantity, slotted_record, suggest_fields


@dataclass(slots=True)
class WheelTorque:
    """The torques on one wheel. NaN leaves a torque to the car's own powertrain or brakes."""

    drive_torque: float = quantity("N m", "drive torque at the wheel, positive forward")
    brake_torque: float = quantity("N m", "brake torque at the wheel, positive whichever way it turns", lo=0.0)


MAX_CUSTOM_VALUES = 50  # free values in one message; see the wire of BeamNG
FourTorques = tuple[WheelTorque, WheelTorque, WheelTorque, WheelTorque]


@suggest_fields
@slotted_record
class Controls:
    """One tick's commands. Steer is positive to the left; pedals are 0..1.

    `gear` is the gear wanted (-1, 0, 1, 2, ...); None leaves it to the simulator's automatic box.
    The link turns it into paddle presses where the wire has paddles.
    NaN leaves a control unchanged that not every car has. `wheels`: torques at the front left, front right, rear left
    and rear right wheel; None = the car's own. The fields from `brake_bias` to `recovery_level` are settings, which
    stay set.
    """

    steer: float = quantity("1", "share of full lock, positive left", lo=-1.0, hi=1.0, default=0.0)
    throttle: float = quantity("1", "throttle pedal", lo=0.0, hi=1.0, default=0.0)
    brake: float = quantity("1", "brake pedal", lo=0.0, hi=1.0, default=0.0)
    clutch: float = quantity("1", "clutch pedal, 1 = pressed (open)", lo=0.0, hi=1.0, default=0.0)
    handbrake: float = quantity("1", "handbrake lever", lo=0.0, hi=1.0, default=0.0)
    gear: int | None = None
    drs: float = quantity("1", "rear wing flap, 1 = open", lo=0.0, hi=1.0)
    boost: float = quantity("1", "share of the hybrid motor's power asked for", lo=0.0, hi=1.0)
    wheels: FourTorques | None = None
    brake_bias: float = quantity("1", "front share of the brake torque", lo=0.0, hi=1.0)
    abs_level: float = quantity("1", "share of the car's own anti-lock brakes, 0 = off", lo=0.0, hi=1.0)
    tc_level: float = quantity("1", "share of the car's own traction control, 0 = off", lo=0.0, hi=1.0)
    turbo_level: float = quantity("1", "share of the car's own boost pressure", lo=0.0, hi=1.0)
    engine_brake_level: float = quantity("1", "share of the car's own engine brake", lo=0.0, hi=1.0)
    delivery_level: float = quantity("1", "share of the hybrid motor's own power", lo=0.0, hi=1.0)
    recovery_level: float = quantity("1", "share of the hybrid motor's own recharging", lo=0.0, hi=1.0)
    custom: tuple[float, ...] = ()  # free values, where the wire has them; they stay until others are sent
    command: SimCommand | None = None  # a request beside driving; the driver declares its fields in COMMANDS


_UNKNOWN_FIELD = re.compile(r"(?:SimCommand.__init__\(\) got an u|U)nexpected keyword argument '(\w+)'(\. Did you .*)?")
_NAMES = [field.name for field in fields(Controls)]
SETTINGS = tuple(_NAMES[_NAMES.index("brake_bias") : _NAMES.index("custom")])
settings_of: Callable[[Controls], tuple[float, ...]] = attrgetter(*SETTINGS)


def describe_driver_exception(error: BaseException) -> str:
    """Return the text of an exception out of a driver; for a misspelled field of what it returns, with the nearest."""
    text = describe_value(error)
    unknown = _UNKNOWN_FIELD.fullmatch(text) if isinstance(error, TypeError) else None
    names = [*_NAMES, *(field.name for field in fields(SimCommand)), *(field.name for field in fields(WheelTorque))]
    return f"{text}; {suggest_names(unknown[1], names)}" if unknown else text


def applied_controls(state: CarState) -> Controls:
    """Return the controls that the simulator reports as applied, where this package does not drive the car."""
    return Controls(
        steer=state.steer,
        throttle=state.throttle,
        brake=state.brake,
        clutch=state.clutch,
        handbrake=state.handbrake,
        gear=state.gear,
    )
