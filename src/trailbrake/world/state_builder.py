"""`StateBuilder`: a `CarState` from the rows of one car of a batch.

The substeps keep no torques: each is computed here from what they keep, when a state is wanted. So they cost nothing
where nobody reads them. The lock of a differential is taken from the tyre forces that it has to balance: exact where
its wheels turn alike or its lock slips.
"""

import math
from collections import namedtuple
from collections.abc import Callable, Iterable
from dataclasses import fields
from enum import IntEnum
from functools import partial
from struct import Struct
from typing import Any, NamedTuple

import numpy as np

from trailbrake.cars.params import CarParams
from trailbrake.kernels import bind_entry, inline_jit, jit
from trailbrake.kernels.maths import clamp
from trailbrake.state import CarState, Phase, WheelState
from trailbrake.units import RPM, G
from trailbrake.world.param_packing import engine_map, pack_car
from trailbrake.world.powertrain import IDLE_GAIN, LIMITER_OFFSET
from trailbrake.world.row_layout import MAP_POINTS, Array, AxleRow, ControlRow, ParamRow, StateRow, WorkRow

NAN = math.nan
DRIVING = Phase.DRIVING
FIRST = int(WorkRow.COUNT)  # row of the first parameter


@inline_jit
def compute_engine_load(column: Array, params: Array, engine_map: Array) -> float:
    """Return the engine's torque over the largest at its speed, 0..1; 0 while it brakes or a shift cuts it.

    Args:
        column: (ControlRow.COUNT,) state and controls of the car.
        params: (AxleRow.COUNT - WorkRow.COUNT,) of the car.
        engine_map: (MAP_POINTS,) full-throttle torque, N m.
    """
    speed = column[StateRow.ENGINE_SPEED]
    at = clamp(speed * params[ParamRow.MAP_POINTS_PER_SPEED - FIRST], 0.0, MAP_POINTS - 1.001)
    i = int(at)
    share = params[ParamRow.TURBO_SHARE - FIRST]
    full = (engine_map[i] + (at - i) * (engine_map[i + 1] - engine_map[i])) * (
        1.0 - share + share * column[StateRow.TURBO]
    )
    if full <= 0.0 or column[StateRow.FUEL] <= 0.0 or column[StateRow.SHIFT_TIME_LEFT] > 0.0:
        return 0.0
    idle = params[ParamRow.IDLE - FIRST]
    slope = params[ParamRow.ENGINE_DRAG_SLOPE - FIRST]
    drag = max(params[ParamRow.ENGINE_DRAG - FIRST] + slope * speed, 0.0)
    idle_drag = params[ParamRow.ENGINE_DRAG - FIRST] + slope * idle
    idle_throttle = idle_drag / max(full + idle_drag, 1.0) + IDLE_GAIN * (1.0 - speed / idle)
    throttle = max(column[StateRow.THROTTLE] * column[StateRow.TC_FACTOR], min(idle_throttle, 1.0))
    throttle *= clamp(LIMITER_OFFSET - params[ParamRow.CUT_SLOPE - FIRST] * speed, 0.0, 1.0)
    return clamp((throttle * (full + drag) - drag) / full, 0.0, 1.0)


@inline_jit
def compute_centre_torque(column: Array, params: Array, dt: float) -> float:
    """Return the torque (N m) that the centre differential takes from each front wheel for a rear one."""
    impulse = column[StateRow.GEARBOX_IMPULSE]
    for wheel in range(4):
        drive = column[ControlRow.DRIVE_TORQUE + wheel]
        if drive == drive:  # a torque of the control turns a wheel: nothing locks
            return 0.0
    most = 0.25 * (dt * params[ParamRow.CENTRE_PRELOAD - FIRST] + params[ParamRow.CENTRE_LOCK - FIRST] * abs(impulse))
    difference = 0.0  # of the axles' speeds before the lock acts
    for axle in range(2):
        per_inertia = params[AxleRow.INVERSE_INERTIA + axle - FIRST]
        left = 2 * axle
        gained = column[StateRow.SPIN + left] + column[StateRow.SPIN + left + 1]
        force = column[StateRow.FX + left] + column[StateRow.FX + left + 1]
        gained -= dt * per_inertia * params[AxleRow.RADIUS + axle - FIRST] * force
        gained += params[ParamRow.DRIVE_FRONT + axle - FIRST] * per_inertia * impulse
        difference += gained if axle == 0 else -gained
    return clamp(0.5 * difference * params[ParamRow.CENTRE_INERTIA - FIRST], -most, most) / dt


@inline_jit
def compute_drive_torque(column: Array, params: Array, wheel: int, centre: float, dt: float) -> float:
    """Return the torque (N m) of the drivetrain at a wheel, positive forward.

    Args:
        column: (ControlRow.COUNT,) state and controls of the car.
        params: (AxleRow.COUNT - WorkRow.COUNT,) of the car.
        wheel: 0 to 3.
        centre: from `compute_centre_torque`.
        dt: s, length of a substep.
    """
    drive: float = column[ControlRow.DRIVE_TORQUE + wheel]
    if drive == drive:
        return drive
    axle = wheel // 2
    left = 2 * axle
    share = params[ParamRow.DRIVE_FRONT + axle - FIRST]
    out = share * column[StateRow.GEARBOX_IMPULSE] / dt
    torque: float = 0.5 * out - (centre if axle == 0 else -centre)
    other = column[ControlRow.DRIVE_TORQUE + left + 1 - wheel % 2]
    if other == other:
        return torque
    per_step = 1.0 / (dt * params[AxleRow.INVERSE_INERTIA + axle - FIRST])
    driving = column[StateRow.GEARBOX_IMPULSE] * column[StateRow.RATIO] > 0.0
    lock = params[AxleRow.LOCK_POWER + axle - FIRST] if driving else params[AxleRow.LOCK_COAST + axle - FIRST]
    most = 0.5 * (params[AxleRow.LOCK_PRELOAD + axle - FIRST] + lock * abs(out))
    slip = (column[StateRow.SPIN + left] - column[StateRow.SPIN + left + 1]) * per_step
    force = column[StateRow.FX + left] - column[StateRow.FX + left + 1]
    moved = clamp(0.5 * (slip - params[AxleRow.RADIUS + axle - FIRST] * force), -most, most)
    return torque - moved if wheel == left else torque + moved


@inline_jit
def compute_brake_torque(column: Array, params: Array, wheel: int, drive_torque: float) -> float:
    """Return the torque (N m) of the brakes at a wheel, positive: what they can give, at a locked wheel what it takes.

    Args:
        column: (ControlRow.COUNT,) state and controls of the car.
        params: (AxleRow.COUNT - WorkRow.COUNT,) of the car.
        wheel: 0 to 3.
        drive_torque: of the drivetrain at the wheel, N m.
    """
    axle = wheel // 2
    external: float = column[ControlRow.BRAKE_TORQUE + wheel]
    service = column[StateRow.BRAKE] * params[AxleRow.BRAKE + axle - FIRST] * column[StateRow.ABS_FACTOR + wheel]
    own: float = service + column[StateRow.HANDBRAKE] * params[AxleRow.HANDBRAKE + axle - FIRST]
    most = own if external != external else abs(external)
    if column[StateRow.SPIN + wheel] != 0.0:
        return most
    held = abs(drive_torque - params[AxleRow.RADIUS + axle - FIRST] * column[StateRow.FX + wheel])
    rolling = column[StateRow.ROLLING_ARM + wheel] * column[StateRow.LOAD + wheel]
    return clamp(held - rolling, 0.0, most)


def number_fields(names: Iterable[str]) -> Any:
    """Return a named tuple of 0, 1, 2, ...: where each field is in a flat array of them."""
    names = list(names)
    return namedtuple("Positions", names)(*range(len(names)))


_FIELDS = [field.name for field in fields(CarState)]
# The kernel writes the numbers of a CarState in the order of its fields, then those of its four wheels.
CAR = number_fields(_FIELDS[: _FIELDS.index("wheels")])
WHEEL = number_fields(field.name for field in fields(WheelState))
CAR_COUNT, WHEEL_COUNT = len(CAR), len(WHEEL)
_WHEELS = [slice(CAR_COUNT + WHEEL_COUNT * wheel, CAR_COUNT + WHEEL_COUNT * (wheel + 1)) for wheel in range(4)]
_COUNT = CAR_COUNT + 4 * WHEEL_COUNT
_UNPACK = Struct(f"@{_COUNT}d").unpack


class WheelConstant(IntEnum):
    """Columns of `CarConstants.wheels`."""

    X = 0  # m, ahead of the centre of mass
    Y = 1  # m, left of it
    SIDE = 2  # 1 left, -1 right
    PEAK_SLIP_RATIO = 3
    PEAK_SLIP_TANGENT = 4  # tangent of the slip angle of the peak
    CAMBER = 5  # rad
    CAMBER_GAIN = 6  # rad/m
    HAS_HEAT = 7  # 1 where the car file describes the tyre's temperature


class CarConstants(NamedTuple):
    """What the kernel needs of the car.

    Attributes:
        height: m, centre of mass at rest.
        max_steer: rad, of the road wheels.
        steer_ratio: angle of the steering wheel over that of the road wheels.
        tank: l.
        limiter: rad/s, largest engine speed.
        dt: s, length of a substep.
        wheels: (4, len(WheelConstant)).
        params: (AxleRow.COUNT - WorkRow.COUNT,) as the substeps have them.
        engine_map: (MAP_POINTS,) full-throttle torque, N m.
    """

    height: float
    max_steer: float
    steer_ratio: float
    tank: float
    limiter: float
    dt: float
    wheels: Array
    params: Array
    engine_map: Array


@jit
def write_state(column: Array, car: CarConstants, values: Array) -> None:
    """Write the numbers of a CarState that depend on the state of the car; leave time, lap and sequence as they are.

    Args:
        column: (ControlRow.COUNT,) rows of state and controls of the car, float64.
        car: constants of the car.
        values: (CAR_COUNT + 4 * WHEEL_COUNT,) written.
    """
    x, y, z = column[StateRow.X], column[StateRow.Y], column[StateRow.Z]
    yaw, heave, wheels = column[StateRow.YAW], column[StateRow.HEAVE], car.wheels
    vx, vy, pitch_on, roll_on = column[StateRow.VX], column[StateRow.VY], column[StateRow.PITCH], column[StateRow.ROLL]
    # The contact points and the point under the centre of mass move with the road's frame; the body rolls and pitches
    # against it.
    cy, sy, sp, sr = math.cos(yaw), math.sin(yaw), column[StateRow.ROAD_PITCH], column[StateRow.ROAD_ROLL]
    cp, cr = math.sqrt(1.0 - sp * sp), math.sqrt(1.0 - sr * sr)
    # Columns of the rotation Rz(yaw) Ry(pitch) Rx(roll), ISO 8855: the road's axes at the car in the world.
    xx, xy, xz = cy * cp, sy * cp, -sp
    yx, yy, yz = cy * sp * sr - sy * cr, sy * sp * sr + cy * cr, cp * sr
    zx, zy, zz = cy * sp * cr + sy * sr, sy * sp * cr - cy * sr, cp * cr
    up = car.height + heave
    values[CAR.x], values[CAR.y], values[CAR.z] = x + up * zx, y + up * zy, z + up * zz
    values[CAR.yaw], values[CAR.pitch], values[CAR.roll] = yaw, math.asin(sp) + pitch_on, math.asin(sr) + roll_on
    values[CAR.speed] = math.hypot(vx, vy)
    values[CAR.velocity_x], values[CAR.velocity_y] = vx, vy
    values[CAR.velocity_z] = column[StateRow.HEAVE_RATE] + vx * pitch_on - vy * roll_on  # the body leans on the road
    ax, ay, turn = column[StateRow.AX], column[StateRow.AY], column[StateRow.YAW_RATE]
    values[CAR.acceleration_x], values[CAR.acceleration_y] = ax, ay
    rise = column[StateRow.AZ] + column[StateRow.NORMAL_GRAVITY] - G * cp * cr
    values[CAR.acceleration_z] = rise + ax * pitch_on - ay * roll_on
    values[CAR.roll_rate] = column[StateRow.ROAD_ROLL_RATE] + column[StateRow.ROLL_RATE] - turn * pitch_on
    values[CAR.pitch_rate] = column[StateRow.ROAD_PITCH_RATE] + column[StateRow.PITCH_RATE] + turn * roll_on
    values[CAR.yaw_rate] = turn
    steer, throttle, brake = column[StateRow.STEER], column[StateRow.THROTTLE], column[StateRow.BRAKE]
    values[CAR.steer], values[CAR.steering_wheel_angle] = steer / car.max_steer, steer * car.steer_ratio
    values[CAR.throttle], values[CAR.brake] = throttle, brake
    values[CAR.clutch], values[CAR.handbrake] = 1.0 - column[StateRow.CLUTCH_ENGAGEMENT], column[StateRow.HANDBRAKE]
    values[CAR.gear], values[CAR.engine_speed] = column[StateRow.GEAR], column[StateRow.ENGINE_SPEED]
    values[CAR.max_engine_speed] = car.limiter
    values[CAR.engine_load] = compute_engine_load(column, car.params, car.engine_map)
    values[CAR.fuel_litres], values[CAR.fuel] = column[StateRow.FUEL], column[StateRow.FUEL] / car.tank
    front = min(column[StateRow.ABS_FACTOR], column[StateRow.ABS_FACTOR + 1])
    rear = min(column[StateRow.ABS_FACTOR + 2], column[StateRow.ABS_FACTOR + 3])
    values[CAR.abs_active] = 1.0 if brake > 0.0 and min(front, rear) < 1.0 else 0.0
    values[CAR.tc_active] = 1.0 if throttle > 0.0 and column[StateRow.TC_FACTOR] < 1.0 else 0.0
    values[CAR.contacts], values[CAR.contact_depth] = column[StateRow.CONTACTS], column[StateRow.CONTACT_DEPTH]
    centre = compute_centre_torque(column, car.params, car.dt)
    for wheel in range(4):
        bx, by, side = wheels[wheel, WheelConstant.X], wheels[wheel, WheelConstant.Y], wheels[wheel, WheelConstant.SIDE]
        raised, has_heat = column[StateRow.GROUND_HEIGHT + wheel], wheels[wheel, WheelConstant.HAS_HEAT] > 0.0
        travel = column[StateRow.HOP + wheel] - heave + bx * pitch_on - by * roll_on
        camber = wheels[wheel, WheelConstant.CAMBER] + wheels[wheel, WheelConstant.CAMBER_GAIN] * travel
        slip_x = column[StateRow.SLIP_X + wheel] * wheels[wheel, WheelConstant.PEAK_SLIP_RATIO]
        slip_y = column[StateRow.SLIP_Y + wheel] * wheels[wheel, WheelConstant.PEAK_SLIP_TANGENT]
        at = CAR_COUNT + WHEEL_COUNT * wheel
        values[at + WHEEL.x] = x + bx * xx + by * yx + raised * zx
        values[at + WHEEL.y] = y + bx * xy + by * yy + raised * zy
        values[at + WHEEL.z] = z + bx * xz + by * yz + raised * zz
        values[at + WHEEL.angular_velocity] = column[StateRow.SPIN + wheel]
        values[at + WHEEL.slip_ratio], values[at + WHEEL.slip_angle] = slip_x, math.atan(slip_y)
        values[at + WHEEL.combined_slip] = column[StateRow.SLIP + wheel]
        values[at + WHEEL.load] = column[StateRow.LOAD + wheel]
        values[at + WHEEL.camber] = roll_on - side * camber
        values[at + WHEEL.pressure] = values[at + WHEEL.disc_temperature] = NAN  # no model
        values[at + WHEEL.core_temperature] = column[StateRow.TEMPERATURE + wheel] if has_heat else NAN
        values[at + WHEEL.wear] = column[StateRow.WEAR + wheel] if has_heat else NAN
        values[at + WHEEL.on_track] = column[StateRow.ON_TRACK + wheel]
        drive = compute_drive_torque(column, car.params, wheel, centre, car.dt)
        values[at + WHEEL.drive_torque] = drive
        values[at + WHEEL.brake_torque] = compute_brake_torque(column, car.params, wheel, drive)


class StateBuilder:
    """Builds the CarStates of one car of a batch. Tyre pressures and disc temperatures have no model: NaN.

    Args:
        car: its parameters.
        column: (ControlRow.COUNT,) its rows of state and controls, a view, float64.
        dt: s, length of a substep of the batch.
    """

    def __init__(self, car: CarParams, column: Array, dt: float) -> None:
        body = car.body
        wheels = np.zeros((4, len(WheelConstant)))
        for first, x, track, tyre, links in (
            (0, body.cg_to_front, body.track_front, car.tyre_front, car.suspension_front),
            (2, -body.cg_to_rear, body.track_rear, car.tyre_rear, car.suspension_rear),
        ):
            for wheel, side in ((first, 1.0), (first + 1, -1.0)):
                values = {
                    WheelConstant.X: x,
                    WheelConstant.Y: side * 0.5 * track,
                    WheelConstant.SIDE: side,
                    WheelConstant.PEAK_SLIP_RATIO: tyre.peak_slip_ratio,
                    WheelConstant.PEAK_SLIP_TANGENT: math.tan(tyre.peak_slip_angle),
                    WheelConstant.CAMBER: links.camber,
                    WheelConstant.CAMBER_GAIN: links.camber_gain,
                    WheelConstant.HAS_HEAT: float(tyre.thermal is not None),
                }
                for constant, value in values.items():
                    wheels[wheel, constant] = value
        steering = car.steering
        constants = CarConstants(
            height=float(body.cg_height),
            max_steer=float(steering.max_angle),
            steer_ratio=float(steering.ratio),
            tank=float(car.fuel.capacity),
            limiter=float(car.engine.limiter_rpm * RPM),
            dt=float(dt),
            wheels=wheels,
            params=pack_car(car, tyre_heat=False),
            engine_map=engine_map(car),
        )
        self._constants = constants
        self._values: Any = np.full(_COUNT, NAN)
        self._arguments = column, constants, self._values
        self._write: Callable[[], object] | None = None

    def change_car(self, car: CarParams) -> None:
        """Use other brakes and another engine from now on, as settings change them."""
        self._constants.params[:] = pack_car(car, tyre_heat=False)
        self._constants.engine_map[:] = engine_map(car)

    def build_state(self, time: float, sequence: int, laps: tuple[float, float, float, float]) -> CarState:
        """Return a new CarState.

        Args:
            time: s.
            sequence: number of the step.
            laps: number of the lap, lap_time (s), best_lap_time (s) and lap_progress.
        """
        if self._write is None:  # the first call compiles the kernel
            self._write = partial(bind_entry(write_state, *self._arguments), *self._arguments)
        self._write()
        # Slices of a tuple: a call with a list takes twice as long.
        numbers: tuple[Any, ...] = _UNPACK(self._values)
        wheel = WheelState
        arguments: tuple[Any, ...] = *numbers[:CAR_COUNT], [wheel(*numbers[part]) for part in _WHEELS]
        state = CarState(*arguments)
        state.time, state.sequence, state.age, state.phase = time, sequence, 0.0, DRIVING
        state.gear = int(numbers[CAR.gear])
        state.lap, state.lap_time, state.best_lap_time, state.lap_progress = laps
        return state
