"""`CarState`: all that a simulator can supply about a car, declared once, in SI units and one frame.

World frame right-handed, Z up; body frame ISO 8855 (x forward, y left, z up); yaw counter-clockwise from
world X. NaN or None means "this simulator does not supply it". Slots, not frozen, and never `asdict`:
one of these is made per tick.
"""

from collections.abc import Callable
from copy import copy
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Any, NamedTuple

from trailbrake.state.fields import quantity, slotted_record
from trailbrake.state.signals import NO_SIGNALS, SignalValues

FL, FR, RL, RR = 0, 1, 2, 3  # wheel order everywhere
WHEEL_NAMES = ("fl", "fr", "rl", "rr")
LinePoints = tuple[tuple[float, float], ...]  # x, y of points in driving order, m, world
PI = 3.141592653589793


class Phase(IntEnum):
    """The phase of the session, as the link sees it."""

    DRIVING = 0
    PAUSED = 1
    LOST = 2  # the wire went silent or stale
    FINISHED = 3


@slotted_record
class WheelState:
    """One wheel. The order in `CarState.wheels` is front left, front right, rear left, rear right."""

    x: float = quantity("m", "contact point, world X", frame="world")
    y: float = quantity("m", "contact point, world Y", frame="world")
    z: float = quantity("m", "contact point, world Z", frame="world")
    angular_velocity: float = quantity("rad/s", "spin, positive rolling forward")
    slip_ratio: float = quantity("1", "longitudinal slip, positive driving, negative braking")
    slip_angle: float = quantity("rad", "ISO 8855 slip angle, positive when the contact patch moves to the left")
    combined_slip: float = quantity("1", "slip over the slip of peak grip, 1 = at the peak", lo=0.0)
    load: float = quantity("N", "vertical tyre load", lo=0.0)
    camber: float = quantity("rad", "inclination, ISO 8855")
    pressure: float = quantity("Pa", "tyre pressure above ambient", lo=0.0)
    core_temperature: float = quantity("degC", "tyre core temperature")
    disc_temperature: float = quantity("degC", "brake disc temperature")
    wear: float = quantity("1", "tyre wear as the simulator counts it")
    on_track: float = quantity("1", "1 on a surface that counts for a lap, 0 off it", lo=0.0, hi=1.0)
    drive_torque: float = quantity("N m", "torque of the powertrain at the wheel, positive forward")
    brake_torque: float = quantity("N m", "torque of the brakes at the wheel, positive whichever way it turns", lo=0.0)


@dataclass(slots=True)
class OtherCar:
    """Another car, as the wire describes it."""

    index: int = -1
    x: float = quantity("m", "position, world X", frame="world")
    y: float = quantity("m", "position, world Y", frame="world")
    z: float = quantity("m", "position, world Z", frame="world")
    yaw: float = quantity("rad", "heading, counter-clockwise from world X", lo=-PI, hi=PI, frame="world")
    velocity_x: float = quantity("m/s", "velocity, world X", frame="world")
    velocity_y: float = quantity("m/s", "velocity, world Y", frame="world")
    speed: float = quantity("m/s", "ground speed", lo=0.0)
    lap_progress: float = quantity("1", "share of the lap driven", lo=0.0, hi=1.0)
    steering_wheel_angle: float = quantity("rad", "angle of the steering wheel, positive left")
    engine_speed: float = quantity("rad/s", "crankshaft speed", lo=0.0)
    is_braking: float = quantity("1", "1 while the brake light is on", lo=0.0, hi=1.0)
    acceleration_x: float = quantity("m/s^2", "acceleration without gravity, forward", frame="body")
    acceleration_y: float = quantity("m/s^2", "acceleration without gravity, left", frame="body")
    damage: float = quantity("1", "largest damage of a part of the body, as the simulator counts it", lo=0.0)


class StandIn(NamedTuple):
    """The pixels that stand for a frame which cannot be decoded."""

    pixels: Any


class Image:
    """A camera frame that is decoded on first use.

    Args:
        data: the encoded bytes as they came.
        decode: turns `data` into a (height, width, 3) uint8 RGB array, or into a StandIn.
    """

    __slots__ = ("_decode", "_is_damaged", "_pixels", "data")

    def __init__(self, data: bytes, decode: Callable[[bytes], Any]) -> None:
        self.data = data
        self._decode = decode
        self._pixels: Any = None
        self._is_damaged = False

    @property
    def pixels(self) -> Any:
        """The (height, width, 3) uint8 RGB array."""
        if self._pixels is None:
            decoded = self._decode(self.data)
            self._is_damaged = isinstance(decoded, StandIn)
            self._pixels = decoded.pixels if self._is_damaged else decoded
        return self._pixels

    @property
    def is_damaged(self) -> bool:
        """Whether `data` cannot be decoded: `pixels` are then those of an earlier frame, or black."""
        return self.pixels is not None and self._is_damaged


def _four_wheels() -> list[WheelState]:
    return [WheelState(), WheelState(), WheelState(), WheelState()]


@slotted_record
class CarState:
    """The car at one instant of simulator time."""

    time: float = quantity("s", "simulator time", lo=0.0)
    sequence: int = -1  # grows by one per sample; a gap is a lost sample
    age: float = quantity("s", "wall time since the newest sample arrived, filled by the link", lo=0.0, default=0.0)
    phase: Phase = Phase.DRIVING

    x: float = quantity("m", "centre of mass, world X", frame="world")
    y: float = quantity("m", "centre of mass, world Y", frame="world")
    z: float = quantity("m", "centre of mass, world Z", frame="world")
    yaw: float = quantity("rad", "heading, counter-clockwise from world X", lo=-PI, hi=PI, frame="world")
    pitch: float = quantity("rad", "positive nose down (ISO 8855)", lo=-PI, hi=PI, frame="world")
    roll: float = quantity("rad", "positive right side down (ISO 8855)", lo=-PI, hi=PI, frame="world")
    speed: float = quantity("m/s", "ground speed", lo=0.0)
    velocity_x: float = quantity("m/s", "velocity, forward", frame="body")
    velocity_y: float = quantity("m/s", "velocity, left", frame="body")
    velocity_z: float = quantity("m/s", "velocity, up", frame="body")
    acceleration_x: float = quantity("m/s^2", "acceleration without gravity, forward", frame="body")
    acceleration_y: float = quantity("m/s^2", "acceleration without gravity, left", frame="body")
    acceleration_z: float = quantity("m/s^2", "acceleration without gravity, up", frame="body")
    roll_rate: float = quantity("rad/s", "angular velocity about x", frame="body")
    pitch_rate: float = quantity("rad/s", "angular velocity about y", frame="body")
    yaw_rate: float = quantity("rad/s", "angular velocity about z, positive turning left", frame="body")

    steer: float = quantity("1", "steer as applied, share of full lock, positive left", lo=-1.0, hi=1.0)
    steering_wheel_angle: float = quantity("rad", "angle of the steering wheel, positive left")
    throttle: float = quantity("1", "throttle as applied", lo=0.0, hi=1.0)
    brake: float = quantity("1", "brake as applied", lo=0.0, hi=1.0)
    clutch: float = quantity("1", "clutch as applied, 1 = pressed (open), 0 = released (engaged)", lo=0.0, hi=1.0)
    handbrake: float = quantity("1", "handbrake as applied", lo=0.0, hi=1.0)
    gear: int | None = None  # -1 reverse, 0 neutral, 1, 2, ...
    engine_speed: float = quantity("rad/s", "crankshaft speed", lo=0.0)
    max_engine_speed: float = quantity("rad/s", "crankshaft speed at the limiter", lo=0.0)
    engine_load: float = quantity("1", "engine torque over the largest at this speed", lo=0.0, hi=1.0)
    fuel_litres: float = quantity("l", "fuel left", lo=0.0)
    fuel: float = quantity("1", "fuel left, share of a full tank", lo=0.0, hi=1.0)
    damage: float = quantity("1", "largest damage of a part of the body, as the simulator counts it", lo=0.0)
    low_beam: float = quantity("1", "1 while the headlights are on, low beam", lo=0.0, hi=1.0)
    high_beam: float = quantity("1", "1 while the headlights are on, high beam", lo=0.0, hi=1.0)
    left_signal: float = quantity("1", "1 while the left turn signal is lit", lo=0.0, hi=1.0)
    right_signal: float = quantity("1", "1 while the right turn signal is lit", lo=0.0, hi=1.0)
    abs_active: float = quantity("1", "1 while the anti-lock brakes act", lo=0.0, hi=1.0)
    tc_active: float = quantity("1", "1 while the traction control acts", lo=0.0, hi=1.0)

    lap: float = quantity("1", "number of the lap under way, from 1", lo=0.0)
    lap_time: float = quantity("s", "time in the current lap", lo=0.0)
    best_lap_time: float = quantity("s", "best valid lap of the session", lo=0.0)
    lap_progress: float = quantity("1", "share of the lap driven", lo=0.0, hi=1.0)
    driving_line: float = quantity(
        "1", "place across the road: 1 at the left edge, -1 at the right, 0 on the simulator's line", lo=-1.0, hi=1.0
    )
    contacts: float = quantity("1", "count of contacts with walls or cars since the start", lo=0.0)
    contact_depth: float = quantity("m", "depth of the present contact", lo=0.0)

    wheels: list[WheelState] = field(default_factory=_four_wheels)
    others: list[OtherCar] = field(default_factory=list)
    image: Image | None = None
    line_ahead: LinePoints = ()  # points of the simulator's line, from the one just behind the car on
    signals: SignalValues = NO_SIGNALS  # what the drive has selected of the simulator's own values


def copy_state(state: CarState) -> CarState:
    """Return a state that may be changed without changing this one; pictures and arrays are shared."""
    own = copy(state)
    own.wheels = [copy(wheel) for wheel in state.wheels]
    own.others = [copy(other) for other in state.others]
    return own
