"""Engine, clutch, differentials, brakes and the two assistants: everything that turns wheels.

Couplings between spinning parts are impulses: the torque that would make both sides equal within the step, cut
to what the coupling can carry. That is stable at any stiffness and lets clutch, differential and brakes stick
and slip without events (Cellier and Kofman, Continuous System Simulation, 2006, chapter 9, on why events are dear).
Choosing gears is done at the looks, in `gearbox.py`.
"""

from trailbrake.kernels import inline
from trailbrake.kernels.lanes import get, put
from trailbrake.kernels.maths import clamp
from trailbrake.world.layout import Array, Axle, Control, Param, State

ASSIST_FROM = 2.0  # m/s: below it ABS leaves the brakes alone, so that the car can stop and stand
LIMITER_BAND = 100.0  # one over the share of the limiter's speed over which it takes the throttle away


@inline
def engine_torque(block: Array, j: int, speed: float, throttle: float) -> float:
    """Return the crankshaft torque (N m) at `speed` (rad/s): throttle share of the map, drag, idle, limiter."""
    idle = get(block, State.LEAST_THROTTLE, j) + 10.0 * (1.0 - speed * get(block, Param.PER_IDLE, j))
    throttle = max(throttle, clamp(idle, 0.0, 1.0))
    throttle *= clamp(LIMITER_BAND * (1.01 - speed * get(block, Param.PER_LIMITER, j)), 0.0, 1.0)
    full = max(get(block, State.TORQUE, j) + get(block, State.TORQUE_SLOPE, j) * speed, 0.0)
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
def _asked(block: Array, i: int, j: int, dt: float) -> tuple[float, float]:
    """Return the impulse (N m s) asked for at wheel `i` from outside, and 1 where none is, the car's own."""
    torque = get(block, Control.DRIVE_TORQUE + i, j)
    given = torque == torque
    return (torque * dt if given else 0.0), (0.0 if given else 1.0)


@inline
def drive(block: Array, first: int, last: int, dt: float) -> None:
    """Advance engine and wheel spins by `dt` (s): shift, engine, clutch, differentials; no brakes yet."""
    for j in range(first, last):
        s0, s1 = get(block, State.SPIN, j), get(block, State.SPIN + 1, j)
        s2, s3 = get(block, State.SPIN + 2, j), get(block, State.SPIN + 3, j)
        per_front, per_rear = get(block, Axle.INVERSE_INERTIA, j), get(block, Axle.INVERSE_INERTIA + 1, j)
        to_front, to_rear = get(block, Param.DRIVE_FRONT, j), get(block, Param.DRIVE_REAR, j)

        # Shift.
        left = get(block, State.SHIFT_LEFT, j)
        old_ratio, next_ratio = get(block, State.RATIO, j), get(block, State.NEXT_RATIO, j)
        gear, next_gear = get(block, State.GEAR, j), get(block, State.NEXT_GEAR, j)
        began = left > 0.0
        left = max(left - dt, 0.0)
        shifting = left > 0.0
        done = began and left <= 0.0
        ratio = next_ratio if done else old_ratio
        put(block, State.SHIFT_LEFT, j, left)
        put(block, State.RATIO, j, ratio)
        put(block, State.GEAR, j, next_gear if done else gear)

        # Traction control: the driven wheel with the most slip decides.
        hold_front = min(get(block, State.HOLD_DRIVE, j), get(block, State.HOLD_DRIVE + 1, j))
        hold_rear = min(get(block, State.HOLD_DRIVE + 2, j), get(block, State.HOLD_DRIVE + 3, j))
        hold = min(hold_front if to_front > 0.0 else 1.0, hold_rear if to_rear > 0.0 else 1.0)
        throttle = get(block, State.THROTTLE, j)
        put(block, State.TC, j, 1.0 if hold < 1.0 and throttle > 0.0 else 0.0)

        # Engine: by its torque, or matched to the next gear by cut or blip, done when the shift is.
        engine = get(block, State.ENGINE, j)
        per_engine = get(block, Param.INVERSE_ENGINE, j)
        axle = 0.5 * (to_front * (s0 + s1) + to_rear * (s2 + s3))
        goal = clamp(axle * next_ratio, get(block, Param.IDLE, j), get(block, Param.LIMITER, j))
        matched = engine + (goal - engine) * (dt / max(left, dt))
        up = abs(next_ratio) < abs(old_ratio) or get(block, Param.BLIP, j) > 0.0
        torque = engine_torque(block, j, engine, throttle * hold) + get(block, State.BOOST, j) * hold
        engine = matched if shifting and next_ratio != 0.0 and up else engine + dt * torque * per_engine

        # Clutch.
        closed = clamp((engine - get(block, State.CLUTCH_AT, j)) * get(block, State.CLUTCH_GAIN, j), 0.0, 1.0)
        closed = min(closed, 1.0 - get(block, State.CLUTCH, j))
        closed = 0.0 if shifting or ratio == 0.0 else closed
        put(block, State.ENGAGED, j, closed)
        mobility = 0.5 * ratio * ratio * (to_front * to_front * per_front + to_rear * to_rear * per_rear)
        most = get(block, Param.CLUTCH_TORQUE, j) * closed * dt
        impulse = clamp((engine - ratio * axle) / (per_engine + mobility), -most, most)
        put(block, State.ENGINE, j, max(engine - impulse * per_engine, 0.0))
        out = impulse * ratio
        loss, gain = get(block, Param.EFFICIENCY, j), get(block, Param.INVERSE_EFFICIENCY, j)
        out *= loss if out * axle >= 0.0 else gain

        # Wheels: the clutch's torque by open differentials, or torques given from outside; then the locks.
        a0, own0 = _asked(block, 0, j, dt)
        a1, own1 = _asked(block, 1, j, dt)
        a2, own2 = _asked(block, 2, j, dt)
        a3, own3 = _asked(block, 3, j, dt)
        half_front, half_rear = 0.5 * to_front * out, 0.5 * to_rear * out
        s0 += (half_front * own0 + a0) * per_front
        s1 += (half_front * own1 + a1) * per_front
        s2 += (half_rear * own2 + a2) * per_rear
        s3 += (half_rear * own3 + a3) * per_rear
        own_front, own_rear = own0 * own1, own2 * own3
        most = get(block, Param.CENTRE_PRELOAD, j) * dt + get(block, Param.CENTRE_LOCK, j) * abs(out)
        most *= own_front * own_rear
        moved = 0.5 * clamp((s0 + s1 - s2 - s3) / (per_front + per_rear), -most, most)
        s0 -= moved * per_front
        s1 -= moved * per_front
        s2 += moved * per_rear
        s3 += moved * per_rear
        driving = out * ratio > 0.0
        moved = lock(block, 0, j, s0, s1, to_front * out, driving, own_front, dt)
        put(block, State.SPIN, j, s0 - moved)
        put(block, State.SPIN + 1, j, s1 + moved)
        moved = lock(block, 1, j, s2, s3, to_rear * out, driving, own_rear, dt)
        put(block, State.SPIN + 2, j, s2 - moved)
        put(block, State.SPIN + 3, j, s3 + moved)


@inline
def brake(block: Array, a: int, i: int, first: int, last: int, dt: float) -> None:
    """Slow a wheel for `dt` (s) by its brake and rolling resistance; friction never turns a wheel round."""
    for j in range(first, last):
        pedal = get(block, State.BRAKE, j) * get(block, Axle.BRAKE + a, j)
        lever = get(block, State.HANDBRAKE, j) * get(block, Axle.HANDBRAKE + a, j)
        asked = get(block, Control.BRAKE_TORQUE + i, j)
        hold = get(block, State.HOLD_BRAKE + i, j)
        hold = hold if abs(get(block, State.VX, j)) > ASSIST_FROM else 1.0
        own = asked != asked
        put(block, State.ABS + i, j, 1.0 if own and hold < 1.0 and pedal > 0.0 else 0.0)
        given, torque = abs(asked), pedal * hold + lever
        torque = torque if own else given
        rolling = get(block, Axle.ROLLING + a, j) + get(block, State.SOFT + i, j)
        torque += rolling * get(block, State.LOAD + i, j) * get(block, Axle.RADIUS + a, j)
        step = torque * dt * get(block, Axle.INVERSE_INERTIA + a, j)
        spin = get(block, State.SPIN + i, j)
        put(block, State.SPIN + i, j, spin - clamp(spin, -step, step))
