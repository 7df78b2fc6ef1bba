"""Engine, clutch, differentials, brakes and the two assistants: everything that turns wheels.

Couplings between spinning parts are impulses: the torque that would make both sides equal within the step, cut
to what the coupling can carry. That is stable at any stiffness and lets clutch, differential and brakes stick
and slip without events (Cellier and Kofman, Continuous System Simulation, 2006, chapter 9, on why events are dear).
Choosing gears is done at the looks, in `gearbox.py`.
"""

from trailbrake.kernels import inline
from trailbrake.kernels.lanes import get, put
from trailbrake.kernels.maths import clamp
from trailbrake.world.layout import Array, Axle, Param, State, Work

LIMITER_BAND = 100.0  # one over the share of the limiter's speed over which it takes the throttle away
LIMITER_END = 1.01 * LIMITER_BAND  # at 1.01 of that speed nothing is left
IDLE_GAIN = 10.0  # throttle that the control of idle gives per missing share of idle speed


@inline
def engine_torque(block: Array, j: int, speed: float, throttle: float) -> float:
    """Return the crankshaft torque (N m) at `speed` (rad/s): throttle share of the map, drag, idle, limiter."""
    idle = get(block, Work.IDLE_THROTTLE, j) - get(block, Param.IDLE_SLOPE, j) * speed
    throttle = max(throttle, min(idle, 1.0))
    throttle *= clamp(LIMITER_END - get(block, Param.CUT_SLOPE, j) * speed, 0.0, 1.0)
    full = max(get(block, Work.TORQUE, j) + get(block, Work.TORQUE_SLOPE, j) * speed, 0.0)
    drag = max(get(block, Param.ENGINE_DRAG, j) + get(block, Param.ENGINE_DRAG_SLOPE, j) * speed, 0.0)
    return throttle * (full + drag) - drag


@inline
def engine(block: Array, j: int) -> None:
    """Advance engine and clutch by a step: torque or match, then coupling.

    Leaves the impulse (N m s) that the gearbox gives to the wheels in OUT.
    """
    # By its torque, or matched to the next gear by cut or blip, done when the shift is.
    hold = min(get(block, Work.HOLD_DRIVE, j), get(block, Work.HOLD_DRIVE + 1, j))
    hold = min(hold, min(get(block, Work.HOLD_DRIVE + 2, j), get(block, Work.HOLD_DRIVE + 3, j)))
    put(block, State.TC, j, hold)
    spin = get(block, State.ENGINE, j)
    axle = get(block, Param.DRIVE_FRONT, j) * (get(block, State.SPIN, j) + get(block, State.SPIN + 1, j))
    axle += get(block, Param.DRIVE_REAR, j) * (get(block, State.SPIN + 2, j) + get(block, State.SPIN + 3, j))
    axle *= 0.5
    goal = clamp(axle * get(block, Work.NEXT_RATIO, j), get(block, Param.IDLE, j), get(block, Param.LIMITER, j))
    follow = get(block, Work.FOLLOW, j)
    torque = engine_torque(block, j, spin, get(block, State.THROTTLE, j) * hold) + get(block, Work.MOTOR, j) * hold
    spin += follow * (goal - spin) if follow > 0.0 else torque * get(block, Work.PER_TORQUE, j)

    ratio = get(block, State.RATIO, j)
    closed = min(
        spin * get(block, Work.CLUTCH_GAIN, j) - get(block, Work.CLUTCH_OPEN, j), get(block, Work.CLUTCH_MOST, j)
    )
    closed = max(closed, 0.0)
    put(block, State.ENGAGED, j, closed)
    most = closed * get(block, Work.CLUTCH_HOLD, j)
    impulse = clamp((spin - ratio * axle) * get(block, Work.PER_CLUTCH, j), -most, most)
    put(block, State.ENGINE, j, max(spin - impulse * get(block, Param.INVERSE_ENGINE, j), 0.0))
    loss, gain = get(block, Param.EFFICIENCY, j), get(block, Param.INVERSE_EFFICIENCY, j)
    out = impulse * ratio
    put(block, Work.OUT, j, out * (loss if out * axle >= 0.0 else gain))


@inline
def lock(block: Array, a: int, j: int, left: float, right: float, size: float, driving: bool) -> float:
    """Return the spin (rad/s) that the differential of axle `a` takes from the left for the right.

    Within what its lock can carry: preload, and a share of the gearbox's impulse `size` (N m s, without sign).
    """
    share = get(block, Work.LOCK_DRIVING + a, j) if driving else get(block, Work.LOCK_COASTING + a, j)
    most = get(block, Work.LOCK_LEAST + a, j) + share * size
    return clamp(0.5 * (left - right), -most, most)


@inline
def wheels(block: Array, j: int) -> None:
    """Turn the wheels by the gearbox's impulse through open differentials, or by torques given from outside; lock."""
    out = get(block, Work.OUT, j)
    s0 = (get(block, State.SPIN, j) + get(block, Work.ASKED, j)) + out * get(block, Work.SHARE, j)
    s1 = (get(block, State.SPIN + 1, j) + get(block, Work.ASKED + 1, j)) + out * get(block, Work.SHARE + 1, j)
    s2 = (get(block, State.SPIN + 2, j) + get(block, Work.ASKED + 2, j)) + out * get(block, Work.SHARE + 2, j)
    s3 = (get(block, State.SPIN + 3, j) + get(block, Work.ASKED + 3, j)) + out * get(block, Work.SHARE + 3, j)
    size = abs(out)
    most = get(block, Work.CENTRE_LEAST, j) + get(block, Work.CENTRE_SHARE, j) * size
    moved = clamp((0.5 * ((s0 + s1) - (s2 + s3))) * get(block, Param.PER_CENTRE, j), -most, most)
    front, rear = moved * get(block, Axle.INVERSE_INERTIA, j), moved * get(block, Axle.INVERSE_INERTIA + 1, j)
    driving = out * get(block, State.RATIO, j) > 0.0
    moved = lock(block, 0, j, s0, s1, size, driving)
    put(block, State.SPIN, j, s0 - front - moved)
    put(block, State.SPIN + 1, j, s1 - front + moved)
    moved = lock(block, 1, j, s2, s3, size, driving)
    put(block, State.SPIN + 2, j, s2 + rear - moved)
    put(block, State.SPIN + 3, j, s3 + rear + moved)


@inline
def brake(block: Array, i: int, j: int) -> None:
    """Slow wheel `i` for a step by brakes and rolling resistance; friction never turns a wheel round."""
    step = get(block, Work.FIXED + i, j) + get(block, Work.ROLL + i, j) * get(block, State.LOAD + i, j)
    step += get(block, Work.PEDAL + i, j) * get(block, State.ABS + i, j)
    spin = get(block, State.SPIN + i, j)
    put(block, State.SPIN + i, j, spin - clamp(spin, -step, step))
