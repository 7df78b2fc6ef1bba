"""From the controls, as asked for, to what the substeps work with: one lane at a time, in loops of vector code."""

import math

from trailbrake.kernels import inline
from trailbrake.kernels.lanes import get, put
from trailbrake.kernels.maths import clamp
from trailbrake.world.layout import Array, Axle, Control, Param, State, Work
from trailbrake.world.powertrain import IDLE_GAIN

ABS_FROM = 2.0  # m/s: below it ABS leaves the brakes alone, so that the car can stop and stand
DAMPING = 0.010  # s: stretch rate that counts as stretch at rest, so that a stopped car comes to rest (carcass damping)
PER_DAMPED_SPEED = 1.0 / 8.0  # s/m: from 8 m/s on rolling itself damps enough
PER_HOLD_SPEED = 1.0 / 0.3  # s/m: below it a sliding tyre's stretch is taken back to the peak's, static friction
LEAST_PACE = 1.0  # m/s, to which drag by the tangent of the speed over its square is held


@inline
def _held(wish: float, least: float) -> float:
    """Return a control within its range; NaN counts as 0."""
    return clamp(wish if wish == wish else 0.0, least, 1.0)


@inline
def pedals(block: Array, j: int, dt: float) -> None:
    """Write the controls as applied, the air's areas by the flap, ABS's target and the car's mass with its fuel."""
    put(block, State.APPLIED, j, _held(get(block, Control.STEER, j), -1.0))
    put(block, State.THROTTLE, j, _held(get(block, Control.THROTTLE, j), 0.0))
    put(block, State.BRAKE, j, _held(get(block, Control.BRAKE, j), 0.0))
    put(block, State.CLUTCH, j, _held(get(block, Control.CLUTCH, j), 0.0))
    put(block, State.HANDBRAKE, j, _held(get(block, Control.HANDBRAKE, j), 0.0))
    drs = _held(get(block, Control.DRS, j), 0.0)
    drag = get(block, Param.DRAG, j) * (1.0 - drs * get(block, Param.DRS_DRAG, j))
    vx, vy = get(block, State.VX, j), get(block, State.VY, j)
    pace = max(math.sqrt(vx * vx + vy * vy), LEAST_PACE)
    put(block, Work.DRAG, j, 0.5 * drag * pace)
    put(block, Work.DRAG_SLOPE, j, 0.5 * drag / pace)
    put(block, Work.LIFT_REAR, j, get(block, Axle.LIFT + 1, j) * (1.0 - drs * get(block, Param.DRS_LIFT, j)))
    speed = abs(vx)
    put(block, Work.PER_ABS_SLIP2, j, get(block, Param.PER_ABS_SLIP2, j) if speed > ABS_FROM else 0.0)
    put(block, Work.DAMPING, j, (DAMPING / dt) * max(0.0, 1.0 - speed * PER_DAMPED_SPEED))
    burnt = (get(block, Param.FUEL_START, j) - get(block, State.FUEL, j)) * get(block, Param.FUEL_DENSITY, j)
    mass = get(block, Param.MASS, j) - burnt
    sprung = mass - get(block, Param.UNSPRUNG, j)
    put(block, State.INVERSE_MASS, j, 1.0 / mass)
    put(block, Work.INVERSE_SPRUNG, j, 1.0 / sprung)
    put(block, Work.DOWN, j, dt * get(block, State.PRESS, j))
    put(block, Work.WISH, j, get(block, State.APPLIED, j) * get(block, Param.STEER_MAX, j))
    put(block, Work.LEAN_GAIN, j, get(block, State.PRESS, j) * get(block, Param.ROLL_ARM, j) * sprung)


@inline
def wheel(block: Array, a: int, i: int, side: float, j: int, dt: float) -> None:
    """Write wheel `i`'s brake and drive torques, its toe, camber and grip; hold its tyre's stretch at walking pace.

    The inner wheel of a bend turns further, by Ackermann's share of what parallel wheels would lack. Camber acts as
    an additional slip angle (Pacejka, Tire and Vehicle Dynamics, 3rd ed. 2012, section 4.3.6) and takes grip across
    away with its square. A sliding contact patch does not hold more stretch than its friction.
    """
    per_inertia = get(block, Axle.INVERSE_INERTIA + a, j)
    step = dt * per_inertia
    pedal = get(block, State.BRAKE, j) * get(block, Axle.BRAKE + a, j)
    lever = get(block, State.HANDBRAKE, j) * get(block, Axle.HANDBRAKE + a, j)
    asked = get(block, Control.BRAKE_TORQUE + i, j)
    own = asked != asked
    put(block, Work.PEDAL + i, j, step * (pedal if own else 0.0))
    put(block, Work.FIXED + i, j, step * (lever if own else abs(asked)))
    put(block, Work.ROLL + i, j, step * get(block, State.SOFT + i, j))
    asked = get(block, Control.DRIVE_TORQUE + i, j)
    own = asked != asked
    put(block, Work.OWN + i, j, 1.0 if own else 0.0)
    put(block, Work.SHARE + i, j, 0.5 * get(block, Param.DRIVE_FRONT + a, j) * per_inertia if own else 0.0)
    put(block, Work.ASKED + i, j, 0.0 if own else step * asked)

    steer = get(block, State.STEER, j) if a == 0 else 0.0
    inward = get(block, Param.ACKERMANN, j) * (steer * steer) - get(block, Axle.TOE + a, j)
    put(block, Work.TURNED + i, j, side * inward)
    roll, hop = get(block, State.ROLL, j), get(block, State.HOP + i, j)
    above = get(block, State.HEAVE, j) - get(block, Axle.X + a, j) * get(block, State.PITCH, j)
    above += side * get(block, Axle.HALF_TRACK + a, j) * roll
    camber = get(block, Axle.CAMBER + a, j) + get(block, Axle.CAMBER_GAIN + a, j) * (hop - above)
    lean = roll - side * camber  # of the wheel's top to the right, against the road
    put(block, Work.CAMBER_SLIP + i, j, get(block, Axle.CAMBER_SLIP + a, j) * lean)
    grip = get(block, State.GRIP + i, j)
    across = -grip * max(1.0 - get(block, Axle.CAMBER_LOSS + a, j) * (lean * lean), 0.0)
    put(block, Work.MU_X + i, j, grip * get(block, Axle.MU_X + a, j))
    put(block, Work.MU_X_LOAD + i, j, grip * get(block, Axle.MU_X_LOAD + a, j))
    put(block, Work.MU_Y + i, j, across * get(block, Axle.MU_Y + a, j))
    put(block, Work.MU_Y_LOAD + i, j, across * get(block, Axle.MU_Y_LOAD + a, j))

    stiffness, rate = get(block, Axle.STIFFNESS + a, j), get(block, State.BUMP_RATE + i, j)
    ground = get(block, Axle.LOAD_AT_REST + a, j) + get(block, Axle.TYRE_DAMPING + a, j) * rate
    put(block, Work.GROUND + i, j, ground + stiffness * get(block, State.BUMP + i, j))
    put(block, Work.GROUND_STEP + i, j, dt * stiffness * rate)

    rolling = abs(get(block, State.SPIN + i, j)) * get(block, Axle.RADIUS + a, j)
    fastest = max(max(abs(get(block, State.VX, j)), abs(get(block, State.VY, j))), rolling)
    most = 1.0 + fastest * PER_HOLD_SPEED
    put(block, State.SLIP_X + i, j, clamp(get(block, State.SLIP_X + i, j), -most, most))
    put(block, State.SLIP_Y + i, j, clamp(get(block, State.SLIP_Y + i, j), -most, most))


@inline
def scale(block: Array, a: int, j: int, dt: float) -> None:
    """Write what a step does to an axle's wheels, whatever the car does: by sliding, rolling and forces."""
    per_inertia = get(block, Axle.INVERSE_INERTIA + a, j)
    put(block, Work.SPIN_STEP + a, j, dt * per_inertia * get(block, Axle.RADIUS + a, j))
    put(block, Work.SLIP_STEP_X + a, j, dt * get(block, Axle.PER_SLIP_X + a, j))
    put(block, Work.SLIP_STEP_Y + a, j, dt * get(block, Axle.PER_SLIP_Y + a, j))
    put(block, Work.FADE_X + a, j, dt * get(block, Axle.PER_SIGMA_X + a, j))
    put(block, Work.FADE_Y + a, j, dt * get(block, Axle.PER_SIGMA_Y + a, j))
    put(block, Work.AGILITY + a, j, dt * get(block, Axle.INVERSE_UNSPRUNG + a, j))


@inline
def scale_engine(block: Array, j: int, dt: float) -> None:
    """Write the same of rack, engine and clutch."""
    put(block, Work.RACK, j, dt * get(block, Param.STEER_RATE, j))
    put(block, Work.PER_TORQUE, j, dt * get(block, Param.INVERSE_ENGINE, j))
    put(block, Work.CLUTCH_HOLD, j, dt * get(block, Param.CLUTCH_TORQUE, j))


@inline
def share(block: Array, a: int, left: int, right: int, j: int, dt: float) -> None:
    """Write what the differential of an axle may take from one wheel for the other in a step; after `wheel`.

    The lock is the difference of the outputs: half is taken, half given.
    """
    half = 0.5 * get(block, Axle.INVERSE_INERTIA + a, j)
    half *= get(block, Work.OWN + left, j) * get(block, Work.OWN + right, j)
    put(block, Work.LOCK_LEAST + a, j, half * dt * get(block, Axle.LOCK_PRELOAD + a, j))
    half *= get(block, Param.DRIVE_FRONT + a, j)
    put(block, Work.LOCK_DRIVING + a, j, half * get(block, Axle.LOCK_POWER + a, j))
    put(block, Work.LOCK_COASTING + a, j, half * get(block, Axle.LOCK_COAST + a, j))


@inline
def drive(block: Array, j: int, dt: float) -> None:
    """Write what a step does to engine and centre differential; after `share` and `gearbox`."""
    own = get(block, Work.OWN, j) * get(block, Work.OWN + 1, j)
    own *= get(block, Work.OWN + 2, j) * get(block, Work.OWN + 3, j)
    put(block, Work.CENTRE_LEAST, j, 0.25 * own * dt * get(block, Param.CENTRE_PRELOAD, j))
    put(block, Work.CENTRE_SHARE, j, 0.25 * own * get(block, Param.CENTRE_LOCK, j))
    put(block, Work.IDLE_THROTTLE, j, get(block, Work.LEAST_THROTTLE, j) + IDLE_GAIN)
    put(block, Work.FOLLOW, j, min(dt * get(block, Work.MATCH, j), 1.0))
    put(block, Work.CLUTCH_OPEN, j, get(block, Work.CLUTCH_AT, j) * get(block, Work.CLUTCH_GAIN, j))
