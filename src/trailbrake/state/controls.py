"""`Controls`, what a driver answers, and `SimCommand`, what a session (never a driver) may ask of a simulator."""

from collections.abc import Callable
from dataclasses import dataclass, fields
from operator import attrgetter

from trailbrake.state.fields import quantity, record


@dataclass(slots=True)
class WheelTorque:
    """What acts on one wheel. NaN leaves that torque to the car's own powertrain or brakes."""

    drive_torque: float = quantity("N m", "drive torque at the wheel, positive forward")
    brake_torque: float = quantity("N m", "brake torque at the wheel, positive whichever way it turns", lo=0.0)


FourTorques = tuple[WheelTorque, WheelTorque, WheelTorque, WheelTorque]


@record
class Controls:
    """One tick's commands. Steer is positive to the left; pedals are 0..1.

    `gear` is the gear wanted (-1, 0, 1, 2, ...); None leaves it to the simulator's automatic box.
    The link turns a wish into paddle presses where the wire has paddles.
    NaN leaves alone what not every car has. `wheels`: torques at the front left, front right, rear left and rear
    right wheel; None = the car's own. From `brake_bias` on are the settings: what stays set for a while.
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


_NAMES = [field.name for field in fields(Controls)]
SETTINGS = tuple(_NAMES[_NAMES.index("brake_bias") :])
settings_of: Callable[[Controls], tuple[float, ...]] = attrgetter(*SETTINGS)


@dataclass(slots=True)
class Pose:
    """A place to stand: position (m, world) and yaw (rad)."""

    x: float
    y: float
    z: float
    yaw: float


@dataclass(slots=True)
class SimCommand:
    """A request beside `Controls`, to a Link that declares it in ACCEPTS. None or False = leave alone."""

    pause: bool | None = None
    restart: bool = False
    teleport: Pose | None = None
    to_pits: bool = False
    time_scale: float | None = None
    collisions: bool | None = None  # car against car
