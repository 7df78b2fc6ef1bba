"""From the controls, as asked for, to what the substeps work with: one lane at a time, in loops of vector code."""

from trailbrake.kernels import inline
from trailbrake.kernels.lanes import get, put
from trailbrake.kernels.maths import clamp
from trailbrake.world.layout import Array, Axle, Control, Param, State, Work

ABS_FROM = 2.0  # m/s: below it ABS leaves the brakes alone, so that the car can stop and stand
NEVER = 1e6  # squared slip that no ABS aims at
DAMPING = 0.010  # s: stretch rate that counts as stretch at rest, so that a stopped car comes to rest (carcass damping)
PER_DAMPED_SPEED = 1.0 / 8.0  # s/m: from 8 m/s on rolling itself damps enough
PER_HOLD_SPEED = 1.0 / 0.3  # s/m: below it a sliding tyre's stretch is taken back to the peak's, static friction


@inline
def _held(wish: float, least: float) -> float:
    """Return a control within its range; NaN counts as 0."""
    return clamp(wish if wish == wish else 0.0, least, 1.0)


@inline
def pedals(block: Array, j: int) -> None:
    """Write the controls as applied, the air's areas by the flap, ABS's target and the car's mass with its fuel."""
    put(block, State.APPLIED, j, _held(get(block, Control.STEER, j), -1.0))
    put(block, State.THROTTLE, j, _held(get(block, Control.THROTTLE, j), 0.0))
    put(block, State.BRAKE, j, _held(get(block, Control.BRAKE, j), 0.0))
    put(block, State.CLUTCH, j, _held(get(block, Control.CLUTCH, j), 0.0))
    put(block, State.HANDBRAKE, j, _held(get(block, Control.HANDBRAKE, j), 0.0))
    drs = _held(get(block, Control.DRS, j), 0.0)
    put(block, Work.DRAG, j, get(block, Param.DRAG, j) * (1.0 - drs * get(block, Param.DRS_DRAG, j)))
    put(block, Work.LIFT_REAR, j, get(block, Axle.LIFT + 1, j) * (1.0 - drs * get(block, Param.DRS_LIFT, j)))
    speed = abs(get(block, State.VX, j))
    target, per_target = get(block, Param.ABS_SLIP2, j), get(block, Param.PER_ABS_SLIP2, j)
    acts = speed > ABS_FROM
    put(block, Work.ABS_SLIP2, j, target if acts else NEVER)
    put(block, Work.PER_ABS_SLIP2, j, per_target if acts else 1.0)
    put(block, Work.DAMPING, j, DAMPING * max(0.0, 1.0 - speed * PER_DAMPED_SPEED))
    burnt = (get(block, Param.FUEL_START, j) - get(block, State.FUEL, j)) * get(block, Param.FUEL_DENSITY, j)
    mass = get(block, Param.MASS, j) - burnt
    sprung = mass - get(block, Param.UNSPRUNG, j)
    put(block, State.INVERSE_MASS, j, 1.0 / mass)
    put(block, Work.INVERSE_SPRUNG, j, 1.0 / sprung)
    put(block, Work.LEAN_GAIN, j, get(block, State.PRESS, j) * get(block, Param.ROLL_ARM, j) * sprung)


@inline
def wheel(block: Array, a: int, i: int, side: float, j: int) -> None:
    """Write wheel `i`'s brake and drive torques, its toe, camber and grip; hold its tyre's stretch at walking pace.

    The inner wheel of a bend turns further, by Ackermann's share of what parallel wheels would lack. Camber acts as
    an additional slip angle (Pacejka, Tire and Vehicle Dynamics, 3rd ed. 2012, section 4.3.6) and takes grip across
    away with its square. A sliding contact patch does not hold more stretch than its friction.
    """
    pedal = get(block, State.BRAKE, j) * get(block, Axle.BRAKE + a, j)
    lever = get(block, State.HANDBRAKE, j) * get(block, Axle.HANDBRAKE + a, j)
    asked = get(block, Control.BRAKE_TORQUE + i, j)
    own = asked != asked
    put(block, Work.PEDAL + i, j, pedal if own else 0.0)
    put(block, Work.FIXED + i, j, lever if own else abs(asked))
    asked = get(block, Control.DRIVE_TORQUE + i, j)
    own = asked != asked
    put(block, Work.OWN + i, j, 1.0 if own else 0.0)
    put(block, Work.ASKED + i, j, 0.0 if own else asked)

    steer = get(block, State.STEER, j) if a == 0 else 0.0
    inward = get(block, Param.ACKERMANN, j) * (steer * steer) - get(block, Axle.TOE + a, j)
    put(block, Work.TURNED + i, j, side * inward)
    roll = get(block, State.ROLL, j)
    above = get(block, State.HEAVE, j) - get(block, Axle.X + a, j) * get(block, State.PITCH, j)
    above += side * get(block, Axle.HALF_TRACK + a, j) * roll
    bump = get(block, State.HOP + i, j) - above
    camber = get(block, Axle.CAMBER + a, j) + get(block, Axle.CAMBER_GAIN + a, j) * bump
    lean = roll - side * camber  # of the wheel's top to the right, against the road
    put(block, Work.CAMBER_SLIP + i, j, get(block, Axle.CAMBER_SLIP + a, j) * lean)
    upright = max(1.0 - get(block, Axle.CAMBER_LOSS + a, j) * (lean * lean), 0.0)
    put(block, Work.GRIP_Y + i, j, get(block, State.GRIP + i, j) * upright)

    rolling = abs(get(block, State.SPIN + i, j)) * get(block, Axle.RADIUS + a, j)
    fastest = max(max(abs(get(block, State.VX, j)), abs(get(block, State.VY, j))), rolling)
    most = 1.0 + fastest * PER_HOLD_SPEED
    put(block, State.SLIP_X + i, j, clamp(get(block, State.SLIP_X + i, j), -most, most))
    put(block, State.SLIP_Y + i, j, clamp(get(block, State.SLIP_Y + i, j), -most, most))
