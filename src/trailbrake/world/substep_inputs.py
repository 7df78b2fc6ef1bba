"""What the substeps use, computed from the controls and the state once per outer step; vector code."""

import math

from trailbrake.kernels import inline_jit
from trailbrake.kernels.lane_blocks import get, put
from trailbrake.kernels.maths import clamp
from trailbrake.world.powertrain import IDLE_GAIN
from trailbrake.world.row_layout import Array, AxleRow, ControlRow, ParamRow, StateRow, WorkRow

ABS_MIN_SPEED = 2.0  # m/s: below it ABS leaves the brakes alone, so that the car can stop and stand
DEFLECTION_DAMPING = (
    0.010  # s: stretch rate that counts as stretch at rest, so that a stopped car comes to rest (carcass damping)
)
PER_DAMPED_SPEED = 1.0 / 8.0  # s/m: from 8 m/s on rolling itself damps enough
PER_HOLD_SPEED = 1.0 / 0.3  # s/m: below it a sliding tyre's stretch is taken back to the peak's, static friction
MIN_DRAG_SPEED = 1.0  # m/s, to which drag by the tangent of the speed over its square is held


@inline_jit
def _clamp_control(wish: float, least: float) -> float:
    """Return a control within its range; NaN counts as 0."""
    return clamp(wish if wish == wish else 0.0, least, 1.0)


@inline_jit
def apply_controls(block: Array, lane: int, dt: float) -> None:
    """Write the controls as applied, the air's areas by flap and wake, ABS's target, the mass with its fuel."""
    put(block, StateRow.APPLIED_STEER, lane, _clamp_control(get(block, ControlRow.STEER, lane), -1.0))
    put(block, StateRow.THROTTLE, lane, _clamp_control(get(block, ControlRow.THROTTLE, lane), 0.0))
    put(block, StateRow.BRAKE, lane, _clamp_control(get(block, ControlRow.BRAKE, lane), 0.0))
    put(block, StateRow.CLUTCH, lane, _clamp_control(get(block, ControlRow.CLUTCH, lane), 0.0))
    put(block, StateRow.HANDBRAKE, lane, _clamp_control(get(block, ControlRow.HANDBRAKE, lane), 0.0))
    drs = _clamp_control(get(block, ControlRow.DRS, lane), 0.0)
    drag = get(block, ParamRow.DRAG, lane) * (1.0 - drs * get(block, ParamRow.DRS_DRAG, lane))
    drag *= 1.0 - get(block, StateRow.WAKE_DRAG, lane)
    vx, vy = get(block, StateRow.VX, lane), get(block, StateRow.VY, lane)
    pace = max(math.sqrt(vx * vx + vy * vy), MIN_DRAG_SPEED)
    put(block, WorkRow.DRAG, lane, 0.5 * drag * pace)
    put(block, WorkRow.DRAG_SLOPE, lane, 0.5 * drag / pace)
    left = 1.0 - get(block, StateRow.WAKE_LIFT, lane)
    rear = get(block, AxleRow.LIFT + 1, lane) * (1.0 - drs * get(block, ParamRow.DRS_LIFT, lane))
    put(block, WorkRow.LIFT, lane, get(block, AxleRow.LIFT, lane) * left)
    put(block, WorkRow.LIFT + 1, lane, rear * left)
    speed = abs(vx)
    put(
        block,
        WorkRow.INVERSE_ABS_SLIP2,
        lane,
        get(block, ParamRow.INVERSE_ABS_SLIP2, lane) if speed > ABS_MIN_SPEED else 0.0,
    )
    put(block, WorkRow.DEFLECTION_DAMPING, lane, (DEFLECTION_DAMPING / dt) * max(0.0, 1.0 - speed * PER_DAMPED_SPEED))
    burnt = (get(block, ParamRow.FUEL_START, lane) - get(block, StateRow.FUEL, lane)) * get(
        block, ParamRow.FUEL_DENSITY, lane
    )
    mass = get(block, ParamRow.MASS, lane) - burnt
    sprung = mass - get(block, ParamRow.UNSPRUNG, lane)
    put(block, StateRow.INVERSE_MASS, lane, 1.0 / mass)
    put(block, WorkRow.INVERSE_SPRUNG, lane, 1.0 / sprung)
    put(block, WorkRow.GRAVITY_STEP, lane, dt * get(block, StateRow.NORMAL_GRAVITY, lane))
    put(
        block,
        WorkRow.STEER_TARGET,
        lane,
        get(block, StateRow.APPLIED_STEER, lane) * get(block, ParamRow.STEER_MAX, lane),
    )
    put(
        block,
        WorkRow.ROLL_GRAVITY_STIFFNESS,
        lane,
        get(block, StateRow.NORMAL_GRAVITY, lane) * get(block, ParamRow.ROLL_ARM, lane) * sprung,
    )


@inline_jit
def prepare_wheel(block: Array, axle: int, wheel: int, side: float, lane: int, dt: float) -> None:
    """Write wheel `i`'s brake and drive torques, its toe, camber and grip; hold its tyre's stretch at walking pace.

    The inner wheel of a bend turns further, by Ackermann's share of what parallel wheels would lack. Camber acts as
    an additional slip angle (Pacejka, Tire and Vehicle Dynamics, 3rd ed. 2012, section 4.3.6) and takes grip across
    away with its square. A sliding contact patch does not hold more stretch than its friction.
    """
    per_inertia = get(block, AxleRow.INVERSE_INERTIA + axle, lane)
    step = dt * per_inertia
    pedal = get(block, StateRow.BRAKE, lane) * get(block, AxleRow.BRAKE + axle, lane)
    lever = get(block, StateRow.HANDBRAKE, lane) * get(block, AxleRow.HANDBRAKE + axle, lane)
    external = get(block, ControlRow.BRAKE_TORQUE + wheel, lane)
    own = external != external
    put(block, WorkRow.SERVICE_BRAKE_STEP + wheel, lane, step * (pedal if own else 0.0))
    put(block, WorkRow.FIXED_BRAKE_STEP + wheel, lane, step * (lever if own else abs(external)))
    put(block, WorkRow.ROLLING_STEP_PER_LOAD + wheel, lane, step * get(block, StateRow.ROLLING_ARM + wheel, lane))
    external = get(block, ControlRow.DRIVE_TORQUE + wheel, lane)
    own = external != external
    put(block, WorkRow.ENGINE_DRIVEN + wheel, lane, 1.0 if own else 0.0)
    put(
        block,
        WorkRow.SPIN_PER_IMPULSE + wheel,
        lane,
        0.5 * get(block, ParamRow.DRIVE_FRONT + axle, lane) * per_inertia if own else 0.0,
    )
    put(block, WorkRow.EXTERNAL_DRIVE_STEP + wheel, lane, 0.0 if own else step * external)

    steer = get(block, StateRow.STEER, lane) if axle == 0 else 0.0
    inward = get(block, ParamRow.ACKERMANN, lane) * (steer * steer) - get(block, AxleRow.TOE + axle, lane)
    put(block, WorkRow.STEER_OFFSET + wheel, lane, side * inward)
    roll, hop = get(block, StateRow.ROLL, lane), get(block, StateRow.HOP + wheel, lane)
    above = get(block, StateRow.HEAVE, lane) - get(block, AxleRow.X + axle, lane) * get(block, StateRow.PITCH, lane)
    above += side * get(block, AxleRow.HALF_TRACK + axle, lane) * roll
    camber = get(block, AxleRow.CAMBER + axle, lane) + get(block, AxleRow.CAMBER_GAIN + axle, lane) * (hop - above)
    lean = roll - side * camber  # of the wheel's top to the right, against the road
    put(block, WorkRow.CAMBER_SLIP + wheel, lane, get(block, AxleRow.CAMBER_SLIP + axle, lane) * lean)
    grip = get(block, StateRow.GRIP + wheel, lane)
    across = -grip * max(1.0 - get(block, AxleRow.CAMBER_LOSS + axle, lane) * (lean * lean), 0.0)
    put(block, WorkRow.MU_X + wheel, lane, grip * get(block, AxleRow.MU_X + axle, lane))
    put(block, WorkRow.MU_X_LOAD + wheel, lane, grip * get(block, AxleRow.MU_X_LOAD + axle, lane))
    put(block, WorkRow.MU_Y + wheel, lane, across * get(block, AxleRow.MU_Y + axle, lane))
    put(block, WorkRow.MU_Y_LOAD + wheel, lane, across * get(block, AxleRow.MU_Y_LOAD + axle, lane))

    stiffness, rate = get(block, AxleRow.STIFFNESS + axle, lane), get(block, StateRow.GROUND_HEIGHT_RATE + wheel, lane)
    ground = get(block, AxleRow.LOAD_AT_REST + axle, lane) + get(block, AxleRow.TYRE_DAMPING + axle, lane) * rate
    put(block, WorkRow.GROUND_LOAD + wheel, lane, ground + stiffness * get(block, StateRow.GROUND_HEIGHT + wheel, lane))
    put(block, WorkRow.GROUND_LOAD_STEP + wheel, lane, dt * stiffness * rate)

    rolling = abs(get(block, StateRow.SPIN + wheel, lane)) * get(block, AxleRow.RADIUS + axle, lane)
    fastest = max(max(abs(get(block, StateRow.VX, lane)), abs(get(block, StateRow.VY, lane))), rolling)
    most = 1.0 + fastest * PER_HOLD_SPEED
    put(block, StateRow.SLIP_X + wheel, lane, clamp(get(block, StateRow.SLIP_X + wheel, lane), -most, most))
    put(block, StateRow.SLIP_Y + wheel, lane, clamp(get(block, StateRow.SLIP_Y + wheel, lane), -most, most))


@inline_jit
def prepare_axle_gains(block: Array, axle: int, lane: int, dt: float) -> None:
    """Write what a step does to an axle's wheels, whatever the car does: by sliding, rolling and forces."""
    per_inertia = get(block, AxleRow.INVERSE_INERTIA + axle, lane)
    put(block, WorkRow.SPIN_STEP + axle, lane, dt * per_inertia * get(block, AxleRow.RADIUS + axle, lane))
    put(block, WorkRow.SLIP_STEP_X + axle, lane, dt * get(block, AxleRow.SLIP_PER_DEFLECTION_X + axle, lane))
    put(block, WorkRow.SLIP_STEP_Y + axle, lane, dt * get(block, AxleRow.SLIP_PER_DEFLECTION_Y + axle, lane))
    put(block, WorkRow.SLIP_DECAY_X + axle, lane, dt * get(block, AxleRow.INVERSE_SIGMA_X + axle, lane))
    put(block, WorkRow.SLIP_DECAY_Y + axle, lane, dt * get(block, AxleRow.INVERSE_SIGMA_Y + axle, lane))
    put(block, WorkRow.HOP_STEP_PER_FORCE + axle, lane, dt * get(block, AxleRow.INVERSE_UNSPRUNG + axle, lane))


@inline_jit
def prepare_engine_gains(block: Array, lane: int, dt: float) -> None:
    """Write the same of rack, engine and clutch."""
    put(block, WorkRow.STEER_STEP_MAX, lane, dt * get(block, ParamRow.STEER_RATE, lane))
    put(block, WorkRow.ENGINE_STEP_PER_TORQUE, lane, dt * get(block, ParamRow.INVERSE_ENGINE, lane))
    put(block, WorkRow.CLUTCH_IMPULSE_MAX, lane, dt * get(block, ParamRow.CLUTCH_TORQUE, lane))


@inline_jit
def prepare_differential(block: Array, axle: int, left: int, right: int, lane: int, dt: float) -> None:
    """Write what the differential of an axle may take from one wheel for the other in a step; after `wheel`.

    The lock is the difference of the outputs: half is taken, half given.
    """
    half = 0.5 * get(block, AxleRow.INVERSE_INERTIA + axle, lane)
    half *= get(block, WorkRow.ENGINE_DRIVEN + left, lane) * get(block, WorkRow.ENGINE_DRIVEN + right, lane)
    put(block, WorkRow.LOCK_PRELOAD_STEP + axle, lane, half * dt * get(block, AxleRow.LOCK_PRELOAD + axle, lane))
    half *= get(block, ParamRow.DRIVE_FRONT + axle, lane)
    put(block, WorkRow.LOCK_DRIVING + axle, lane, half * get(block, AxleRow.LOCK_POWER + axle, lane))
    put(block, WorkRow.LOCK_COASTING + axle, lane, half * get(block, AxleRow.LOCK_COAST + axle, lane))


@inline_jit
def prepare_drivetrain(block: Array, lane: int, dt: float) -> None:
    """Write what a step does to engine and centre differential; after `share` and `gearbox`."""
    own = get(block, WorkRow.ENGINE_DRIVEN, lane) * get(block, WorkRow.ENGINE_DRIVEN + 1, lane)
    own *= get(block, WorkRow.ENGINE_DRIVEN + 2, lane) * get(block, WorkRow.ENGINE_DRIVEN + 3, lane)
    put(block, WorkRow.CENTRE_PRELOAD_STEP, lane, 0.25 * own * dt * get(block, ParamRow.CENTRE_PRELOAD, lane))
    put(block, WorkRow.CENTRE_LOCK_GAIN, lane, 0.25 * own * get(block, ParamRow.CENTRE_LOCK, lane))
    put(block, WorkRow.IDLE_CONTROL_OFFSET, lane, get(block, WorkRow.IDLE_HOLD_THROTTLE, lane) + IDLE_GAIN)
    put(block, WorkRow.REV_MATCH_STEP, lane, min(dt * get(block, WorkRow.REV_MATCH_RATE, lane), 1.0))
    put(
        block,
        WorkRow.CLUTCH_OFFSET,
        lane,
        get(block, WorkRow.CLUTCH_BITE_SPEED, lane) * get(block, WorkRow.CLUTCH_GAIN, lane),
    )
