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


@inline
def engine_torque(block: Array, j: int, speed: float, throttle: float) -> float:
    """Return the crankshaft torque (N m) at `speed` (rad/s): throttle share of the map, drag, idle, limiter."""
    idle = get(block, Work.LEAST_THROTTLE, j) + 10.0 * (1.0 - speed * get(block, Param.PER_IDLE, j))
    throttle = max(throttle, clamp(idle, 0.0, 1.0))
    throttle *= clamp(LIMITER_BAND * (1.01 - speed * get(block, Param.PER_LIMITER, j)), 0.0, 1.0)
    full = max(get(block, Work.TORQUE, j) + get(block, Work.TORQUE_SLOPE, j) * speed, 0.0)
    drag = max(get(block, Param.ENGINE_DRAG, j) + get(block, Param.ENGINE_DRAG_SLOPE, j) * speed, 0.0)
    return throttle * full - (1.0 - throttle) * drag


@inline
def lock(
    block: Array, a: int, j: int, left: float, right: float, out: float, driving: bool, own: float, dt: float
) -> float:
    """Return the spin (rad/s) that the differential of axle `a` takes from the left for the right.

    Within what its lock can carry: preload, and a share of the axle's torque, `out` / `dt`.
    """
    power, coast = get(block, Axle.LOCK_POWER + a, j), get(block, Axle.LOCK_COAST + a, j)
    most = get(block, Axle.LOCK_PRELOAD + a, j) * dt + (power if driving else coast) * abs(out)
    most *= 0.5 * own * get(block, Axle.INVERSE_INERTIA + a, j)
    return clamp(0.5 * (left - right), -most, most)


@inline
def engine(block: Array, j: int, dt: float) -> None:
    """Advance engine and clutch by `dt` (s): torque or match, then coupling.

    Leaves the impulse (N m s) that the gearbox gives to the wheels in OUT.
    """
    # By its torque, or matched to the next gear by cut or blip, done when the shift is.
    hold = min(get(block, Work.HOLD_DRIVE, j), get(block, Work.HOLD_DRIVE + 1, j))
    hold = min(hold, min(get(block, Work.HOLD_DRIVE + 2, j), get(block, Work.HOLD_DRIVE + 3, j)))
    put(block, State.TC, j, hold)
    spin = get(block, State.ENGINE, j)
    per_engine = get(block, Param.INVERSE_ENGINE, j)
    axle = get(block, Param.DRIVE_FRONT, j) * (get(block, State.SPIN, j) + get(block, State.SPIN + 1, j))
    axle += get(block, Param.DRIVE_REAR, j) * (get(block, State.SPIN + 2, j) + get(block, State.SPIN + 3, j))
    axle *= 0.5
    goal = clamp(axle * get(block, Work.NEXT_RATIO, j), get(block, Param.IDLE, j), get(block, Param.LIMITER, j))
    match = get(block, Work.MATCH, j)
    matched = spin + (goal - spin) * min(dt * match, 1.0)
    torque = engine_torque(block, j, spin, get(block, State.THROTTLE, j) * hold)
    torque += get(block, Work.MOTOR, j) * hold
    driven = spin + dt * torque * per_engine
    spin = matched if match > 0.0 else driven

    ratio = get(block, State.RATIO, j)
    closed = clamp((spin - get(block, Work.CLUTCH_AT, j)) * get(block, Work.CLUTCH_GAIN, j), 0.0, 1.0)
    closed = min(closed, get(block, Work.CLUTCH_MOST, j))
    put(block, State.ENGAGED, j, closed)
    most = get(block, Param.CLUTCH_TORQUE, j) * closed * dt
    impulse = clamp((spin - ratio * axle) * get(block, Work.PER_CLUTCH, j), -most, most)
    put(block, State.ENGINE, j, max(spin - impulse * per_engine, 0.0))
    loss, gain = get(block, Param.EFFICIENCY, j), get(block, Param.INVERSE_EFFICIENCY, j)
    out = impulse * ratio
    put(block, Work.OUT, j, out * (loss if out * axle >= 0.0 else gain))


@inline
def wheels(block: Array, j: int, dt: float) -> None:
    """Turn the wheels by the gearbox's impulse through open differentials, or by torques given from outside; lock."""
    out = get(block, Work.OUT, j)
    to_front, to_rear = get(block, Param.DRIVE_FRONT, j), get(block, Param.DRIVE_REAR, j)
    per_front, per_rear = get(block, Axle.INVERSE_INERTIA, j), get(block, Axle.INVERSE_INERTIA + 1, j)
    own0, own1 = get(block, Work.OWN, j), get(block, Work.OWN + 1, j)
    own2, own3 = get(block, Work.OWN + 2, j), get(block, Work.OWN + 3, j)
    half_front, half_rear = 0.5 * to_front * out, 0.5 * to_rear * out
    s0 = get(block, State.SPIN, j) + (half_front * own0 + get(block, Work.ASKED, j) * dt) * per_front
    s1 = get(block, State.SPIN + 1, j) + (half_front * own1 + get(block, Work.ASKED + 1, j) * dt) * per_front
    s2 = get(block, State.SPIN + 2, j) + (half_rear * own2 + get(block, Work.ASKED + 2, j) * dt) * per_rear
    s3 = get(block, State.SPIN + 3, j) + (half_rear * own3 + get(block, Work.ASKED + 3, j) * dt) * per_rear
    own_front, own_rear = own0 * own1, own2 * own3
    most = get(block, Param.CENTRE_PRELOAD, j) * dt + get(block, Param.CENTRE_LOCK, j) * abs(out)
    most *= 0.5 * own_front * own_rear  # the lock is the difference of the outputs: half is taken, half given
    moved = 0.5 * clamp((s0 + s1 - s2 - s3) * get(block, Param.PER_CENTRE, j), -most, most)
    s0 -= moved * per_front
    s1 -= moved * per_front
    s2 += moved * per_rear
    s3 += moved * per_rear
    driving = out * get(block, State.RATIO, j) > 0.0
    moved = lock(block, 0, j, s0, s1, to_front * out, driving, own_front, dt)
    put(block, State.SPIN, j, s0 - moved)
    put(block, State.SPIN + 1, j, s1 + moved)
    moved = lock(block, 1, j, s2, s3, to_rear * out, driving, own_rear, dt)
    put(block, State.SPIN + 2, j, s2 - moved)
    put(block, State.SPIN + 3, j, s3 + moved)


@inline
def brakes(block: Array, a: int, left: int, right: int, j: int, dt: float) -> None:
    """Slow an axle's wheels for `dt` (s) by brakes and rolling resistance; friction never turns a wheel round."""
    per = dt * get(block, Axle.INVERSE_INERTIA + a, j)
    torque = get(block, Work.PEDAL + left, j) * get(block, State.ABS + left, j) + get(block, Work.FIXED + left, j)
    torque += get(block, State.SOFT + left, j) * get(block, State.LOAD + left, j)
    step, spin = torque * per, get(block, State.SPIN + left, j)
    put(block, State.SPIN + left, j, spin - clamp(spin, -step, step))
    torque = get(block, Work.PEDAL + right, j) * get(block, State.ABS + right, j)
    torque += get(block, Work.FIXED + right, j)
    torque += get(block, State.SOFT + right, j) * get(block, State.LOAD + right, j)
    step, spin = torque * per, get(block, State.SPIN + right, j)
    put(block, State.SPIN + right, j, spin - clamp(spin, -step, step))
