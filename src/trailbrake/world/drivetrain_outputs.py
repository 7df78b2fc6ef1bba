"""Torques at the wheels and the engine's load, from the rows of one car after a substep.

The substeps keep no torques: each is computed here from what they keep, when a state is wanted. So they cost nothing
where nobody reads them. The lock of a differential is taken from the tyre forces that it has to balance: exact where
its wheels turn alike or its lock slips.
"""

from trailbrake.kernels import inline_jit
from trailbrake.kernels.maths import clamp
from trailbrake.world.powertrain import IDLE_GAIN, LIMITER_OFFSET
from trailbrake.world.row_layout import MAP_POINTS, Array, AxleRow, ControlRow, ParamRow, StateRow, WorkRow

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
