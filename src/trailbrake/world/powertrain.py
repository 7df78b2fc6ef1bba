"""Engine, clutch, differentials, brakes and the two assistants: everything that turns wheels.

Couplings between rotating parts are impulses: the torque that would make both speeds equal within the step, limited
to what the coupling can carry. That is stable at any stiffness and lets clutch, differential and brakes stick
and slip without events (Cellier and Kofman, Continuous System Simulation, 2006, chapter 9, on why events are dear).
`gearbox` selects gears in the outer step.
"""

from trailbrake.kernels import inline_jit
from trailbrake.kernels.lane_blocks import get, put
from trailbrake.kernels.maths import clamp
from trailbrake.world.row_layout import Array, AxleRow, ParamRow, StateRow, WorkRow

LIMITER_BAND = 100.0  # one over the share of the limiter's speed over which it takes the throttle away
LIMITER_OFFSET = 1.01 * LIMITER_BAND  # at 1.01 of that speed nothing is left
IDLE_GAIN = 10.0  # throttle that the control of idle gives per missing share of idle speed


@inline_jit
def engine_torque(block: Array, lane: int, speed: float, throttle: float) -> float:
    """Return the crankshaft torque (N m) at `speed` (rad/s): throttle share of the map, drag, idle, limiter."""
    idle = get(block, WorkRow.IDLE_CONTROL_OFFSET, lane) - get(block, ParamRow.IDLE_SLOPE, lane) * speed
    throttle = max(throttle, min(idle, 1.0))
    throttle *= clamp(LIMITER_OFFSET - get(block, ParamRow.CUT_SLOPE, lane) * speed, 0.0, 1.0)
    full = max(get(block, WorkRow.ENGINE_TORQUE, lane) + get(block, WorkRow.ENGINE_TORQUE_SLOPE, lane) * speed, 0.0)
    drag = max(get(block, ParamRow.ENGINE_DRAG, lane) + get(block, ParamRow.ENGINE_DRAG_SLOPE, lane) * speed, 0.0)
    return throttle * (full + drag) - drag


@inline_jit
def advance_engine(block: Array, lane: int) -> None:
    """Advance engine and clutch by a step: torque or match, then coupling.

    Writes the impulse (N m s) of the gearbox on the wheels to GEARBOX_IMPULSE.
    """
    # By its torque, or matched to the next gear by cut or blip, done when the shift is.
    hold = min(get(block, WorkRow.TC_WHEEL_FACTOR, lane), get(block, WorkRow.TC_WHEEL_FACTOR + 1, lane))
    hold = min(hold, min(get(block, WorkRow.TC_WHEEL_FACTOR + 2, lane), get(block, WorkRow.TC_WHEEL_FACTOR + 3, lane)))
    put(block, StateRow.TC_FACTOR, lane, hold)
    spin = get(block, StateRow.ENGINE_SPEED, lane)
    axle = get(block, ParamRow.DRIVE_FRONT, lane) * (
        get(block, StateRow.SPIN, lane) + get(block, StateRow.SPIN + 1, lane)
    )
    axle += get(block, ParamRow.DRIVE_REAR, lane) * (
        get(block, StateRow.SPIN + 2, lane) + get(block, StateRow.SPIN + 3, lane)
    )
    axle *= 0.5
    goal = clamp(
        axle * get(block, WorkRow.NEXT_RATIO, lane), get(block, ParamRow.IDLE, lane), get(block, ParamRow.LIMITER, lane)
    )
    follow = get(block, WorkRow.REV_MATCH_STEP, lane)
    torque = (
        engine_torque(block, lane, spin, get(block, StateRow.THROTTLE, lane) * hold)
        + get(block, WorkRow.MOTOR_TORQUE, lane) * hold
    )
    spin += follow * (goal - spin) if follow > 0.0 else torque * get(block, WorkRow.ENGINE_STEP_PER_TORQUE, lane)

    ratio = get(block, StateRow.RATIO, lane)
    closed = min(
        spin * get(block, WorkRow.CLUTCH_GAIN, lane) - get(block, WorkRow.CLUTCH_OFFSET, lane),
        get(block, WorkRow.CLUTCH_LIMIT, lane),
    )
    closed = max(closed, 0.0)
    put(block, StateRow.CLUTCH_ENGAGEMENT, lane, closed)
    most = closed * get(block, WorkRow.CLUTCH_IMPULSE_MAX, lane)
    impulse = clamp((spin - ratio * axle) * get(block, WorkRow.CLUTCH_INERTIA, lane), -most, most)
    put(block, StateRow.ENGINE_SPEED, lane, max(spin - impulse * get(block, ParamRow.INVERSE_ENGINE, lane), 0.0))
    loss, gain = get(block, ParamRow.EFFICIENCY, lane), get(block, ParamRow.INVERSE_EFFICIENCY, lane)
    out = impulse * ratio
    put(block, StateRow.GEARBOX_IMPULSE, lane, out * (loss if out * axle >= 0.0 else gain))


@inline_jit
def differential_transfer(
    block: Array, axle: int, lane: int, left: float, right: float, size: float, driving: bool
) -> float:
    """Return the spin (rad/s) that the differential of axle `a` takes from the left for the right.

    Within what its lock can carry: preload, and a share of the gearbox's impulse `size` (N m s, without sign).
    """
    share = get(block, WorkRow.LOCK_DRIVING + axle, lane) if driving else get(block, WorkRow.LOCK_COASTING + axle, lane)
    most = get(block, WorkRow.LOCK_PRELOAD_STEP + axle, lane) + share * size
    return clamp(0.5 * (left - right), -most, most)


@inline_jit
def drive_wheels(block: Array, lane: int) -> None:
    """Turn the wheels by the gearbox's impulse through open differentials, or by torques given from outside; lock."""
    out = get(block, StateRow.GEARBOX_IMPULSE, lane)
    s0 = (get(block, StateRow.SPIN, lane) + get(block, WorkRow.EXTERNAL_DRIVE_STEP, lane)) + out * get(
        block, WorkRow.SPIN_PER_IMPULSE, lane
    )
    s1 = (get(block, StateRow.SPIN + 1, lane) + get(block, WorkRow.EXTERNAL_DRIVE_STEP + 1, lane)) + out * get(
        block, WorkRow.SPIN_PER_IMPULSE + 1, lane
    )
    s2 = (get(block, StateRow.SPIN + 2, lane) + get(block, WorkRow.EXTERNAL_DRIVE_STEP + 2, lane)) + out * get(
        block, WorkRow.SPIN_PER_IMPULSE + 2, lane
    )
    s3 = (get(block, StateRow.SPIN + 3, lane) + get(block, WorkRow.EXTERNAL_DRIVE_STEP + 3, lane)) + out * get(
        block, WorkRow.SPIN_PER_IMPULSE + 3, lane
    )
    size = abs(out)
    most = get(block, WorkRow.CENTRE_PRELOAD_STEP, lane) + get(block, WorkRow.CENTRE_LOCK_GAIN, lane) * size
    moved = clamp((0.5 * ((s0 + s1) - (s2 + s3))) * get(block, ParamRow.CENTRE_INERTIA, lane), -most, most)
    front, rear = (
        moved * get(block, AxleRow.INVERSE_INERTIA, lane),
        moved * get(block, AxleRow.INVERSE_INERTIA + 1, lane),
    )
    driving = out * get(block, StateRow.RATIO, lane) > 0.0
    moved = differential_transfer(block, 0, lane, s0, s1, size, driving)
    put(block, StateRow.SPIN, lane, s0 - front - moved)
    put(block, StateRow.SPIN + 1, lane, s1 - front + moved)
    moved = differential_transfer(block, 1, lane, s2, s3, size, driving)
    put(block, StateRow.SPIN + 2, lane, s2 + rear - moved)
    put(block, StateRow.SPIN + 3, lane, s3 + rear + moved)


@inline_jit
def brake_wheel(block: Array, wheel: int, lane: int) -> None:
    """Slow wheel `i` for a step by brakes and rolling resistance; friction never turns a wheel round."""
    step = get(block, WorkRow.FIXED_BRAKE_STEP + wheel, lane) + get(
        block, WorkRow.ROLLING_STEP_PER_LOAD + wheel, lane
    ) * get(block, StateRow.LOAD + wheel, lane)
    step += get(block, WorkRow.SERVICE_BRAKE_STEP + wheel, lane) * get(block, StateRow.ABS_FACTOR + wheel, lane)
    spin = get(block, StateRow.SPIN + wheel, lane)
    put(block, StateRow.SPIN + wheel, lane, spin - clamp(spin, -step, step))
