"""Engine, clutch, gearbox, differential, brakes and the two assistants: everything that turns wheels.

Couplings between spinning parts are impulses: the torque that would make both sides equal within the step, cut
to what the coupling can carry. That is stable at any stiffness and lets clutch, differential and brakes stick
and slip without events (Cellier and Kofman, Continuous System Simulation, 2006, chapter 9, on why events are dear).
"""

import math

from trailbrake.kernels import jit
from trailbrake.world.layout import TORQUES, Array, Control, Param, State, Wheel
from trailbrake.world.tyres import use_of_slip

BAND = 0.2  # of the target slip: ABS and TC go from full torque to none over target * (1 -+ BAND)
ASSIST_FROM = 2.0  # m/s: below it ABS leaves the brakes alone, so that the car can stop and stand
LAUNCH = 0.45  # of the way from idle to limiter: engine speed at which full throttle closes the clutch in first


@jit
def axle_spin(state: Array, front: float) -> float:
    """Return the mean spin (rad/s) of the driven wheels: what the gearbox's output turns with."""
    spin: float = front * (state[State.SPIN] + state[State.SPIN + 1])
    spin += (1.0 - front) * (state[State.SPIN + 2] + state[State.SPIN + 3])
    return 0.5 * spin


@jit
def shift(state: Array, params: Array, controls: Array, dt: float) -> None:
    """Start and finish shifts: to the gear asked for, or by the automatic's rule (GEAR is NaN).

    A gear is refused that would push the engine past its limiter, or reverse while rolling forward.
    """
    gear = int(state[State.GEAR])
    if state[State.NEXT_GEAR] != gear:
        state[State.SHIFT_LEFT] -= dt
        if state[State.SHIFT_LEFT] <= 0.0:
            state[State.GEAR] = state[State.NEXT_GEAR]
        return
    wish = controls[Control.GEAR]
    top = int(params[Param.TOP_GEAR])
    axle = axle_spin(state, params[Param.FRONT_DRIVE])
    if wish == wish:
        to = int(min(max(wish, -1.0), float(top)))
    else:
        to = max(gear, 1)
        if to < top and axle * params[Param.RATIO + 1 + to] > params[Param.UPSHIFT]:
            to += 1
        else:
            while to > 1 and axle * params[Param.RATIO + to] < params[Param.DOWNSHIFT]:
                to -= 1
    if to == gear or abs(axle * params[Param.RATIO + 1 + to]) > params[Param.LIMITER]:
        return
    if to < 0 and state[State.VX] > ASSIST_FROM:
        return
    state[State.NEXT_GEAR] = to
    state[State.SHIFT_LEFT] = params[Param.SHIFT_TIME]


@jit
def engine_torque(params: Array, speed: float, throttle: float) -> float:
    """Return the crankshaft torque (N m) at `speed` (rad/s): throttle share of the curve, drag, idle, limiter."""
    idle = params[Param.IDLE]
    limiter = params[Param.LIMITER]
    place = min(max(speed / params[Param.TORQUE_STEP], 0.0), TORQUES - 1.001)
    i = int(place)
    low = params[Param.TORQUE + i]
    full = low + (place - i) * (params[Param.TORQUE + i + 1] - low)
    share = (speed - idle) / (limiter - idle)
    drag_idle = params[Param.ENGINE_DRAG_IDLE]
    drag = max(drag_idle + share * (params[Param.ENGINE_DRAG_LIMITER] - drag_idle), 0.0)
    keep_alive = min(max((idle - speed) / (0.1 * idle) + drag_idle / max(full + drag_idle, 1.0), 0.0), 1.0)
    throttle = max(throttle, keep_alive)
    throttle *= min(max(100.0 * (1.01 - speed / limiter), 0.0), 1.0)
    torque: float = throttle * full - (1.0 - throttle) * drag
    return torque


@jit
def engagement(state: Array, params: Array, throttle: float) -> float:
    """Return how far the clutch is closed, 0..1: the pedal, and the automatic clutch that never lets the engine die.

    It opens towards idle; in first and reverse it slips up to a speed that grows with throttle, for the launch.
    """
    gear = int(state[State.GEAR])
    if gear == 0 or state[State.NEXT_GEAR] != gear:
        return 0.0
    idle = params[Param.IDLE]
    closed_at = 1.2 * idle
    if gear <= 1:
        closed_at = max(closed_at, idle + throttle * LAUNCH * (params[Param.LIMITER] - idle))
    open_at = 0.5 * (idle + closed_at)
    automatic = min(max((state[State.ENGINE] - open_at) / (closed_at - open_at), 0.0), 1.0)
    closed: float = min(automatic, 1.0 - state[State.CLUTCH])
    return closed


@jit
def traction(state: Array, params: Array) -> float:
    """Return TC's share of the engine's torque, 1 = all: the driven wheel with the most slip decides."""
    target = params[Param.TC_SLIP]
    if target > 1e6:
        return 1.0
    front = params[Param.FRONT_DRIVE]
    sign = -1.0 if state[State.GEAR] < 0.0 else 1.0
    worst = 0.0
    for wheel in range(4):
        if (front > 0.0) if wheel < 2 else (front < 1.0):
            worst = max(worst, sign * use_of_slip(state, params, wheel, target))
    return min(max((1.0 + BAND - worst) / (2.0 * BAND), 0.0), 1.0)


@jit
def drive(state: Array, params: Array, dt: float) -> None:
    """Advance engine and wheel spins by `dt` (s): engine, clutch, differential; no brakes yet."""
    front = params[Param.FRONT_DRIVE]
    inertia_front = params[Param.FRONT + Wheel.INERTIA]
    inertia_rear = params[Param.REAR + Wheel.INERTIA]
    hold = traction(state, params)
    throttle = state[State.THROTTLE]
    state[State.TC] = 1.0 if hold < 1.0 and throttle > 0.0 else 0.0
    gear = int(state[State.GEAR])
    next_gear = int(state[State.NEXT_GEAR])
    ratio = params[Param.RATIO + 1 + gear]
    engine = state[State.ENGINE]
    inertia = params[Param.ENGINE_INERTIA]
    axle = axle_spin(state, front)
    closed = engagement(state, params, throttle)
    state[State.ENGAGED] = closed
    if next_gear != gear and next_gear != 0:
        # The box matches the engine to the new gear by cut or blip and is done when the shift is.
        goal = min(max(axle * params[Param.RATIO + 1 + next_gear], params[Param.IDLE]), params[Param.LIMITER])
        engine += (goal - engine) * min(1.0, dt / max(state[State.SHIFT_LEFT], dt))
    else:
        torque = engine_torque(params, engine, throttle * hold if state[State.FUEL] > 0.0 else 0.0)
        burnt = params[Param.FUEL_PER_JOULE] * max(torque, 0.0) * engine * dt
        state[State.FUEL] = max(state[State.FUEL] - burnt, 0.0)
        engine += dt * torque / inertia
    if closed > 0.0:
        mobility = 0.5 * ratio * ratio * (front * front / inertia_front + (1.0 - front) * (1.0 - front) / inertia_rear)
        most = params[Param.CLUTCH] * closed * dt
        impulse = min(max((engine - ratio * axle) / (1.0 / inertia + mobility), -most), most)
        engine -= impulse / inertia
        losses = params[Param.EFFICIENCY] if impulse * ratio * axle >= 0.0 else 1.0 / params[Param.EFFICIENCY]
        out = impulse * ratio * losses
        state[State.SPIN] += 0.5 * front * out / inertia_front
        state[State.SPIN + 1] += 0.5 * front * out / inertia_front
        state[State.SPIN + 2] += 0.5 * (1.0 - front) * out / inertia_rear
        state[State.SPIN + 3] += 0.5 * (1.0 - front) * out / inertia_rear
    else:
        out = 0.0
    state[State.ENGINE] = max(engine, 0.0)
    for left in range(0, 4, 2):
        # The differential takes speed from the faster wheel of an axle for the slower, within what its lock can carry.
        torque = (front if left == 0 else 1.0 - front) * out / dt
        if front == (0.0 if left == 0 else 1.0):
            continue  # not driven
        lock = params[Param.DIFF_POWER] if torque * ratio > 0.0 else params[Param.DIFF_COAST]
        most = (
            0.5
            * (params[Param.DIFF_PRELOAD] + lock * abs(torque))
            * dt
            / (inertia_front if left == 0 else inertia_rear)
        )
        step = min(max(0.5 * (state[State.SPIN + left] - state[State.SPIN + left + 1]), -most), most)
        state[State.SPIN + left] -= step
        state[State.SPIN + left + 1] += step


@jit
def brake(state: Array, params: Array, dt: float) -> None:
    """Slow the wheels for `dt` (s) by brakes and rolling resistance; friction never turns a wheel round.

    ABS lets go of a wheel over a band of slip round its target, each wheel for itself.
    """
    target = params[Param.ABS_SLIP]
    active = target < 1e6 and abs(state[State.VX]) > ASSIST_FROM
    sign = -1.0 if state[State.VX] < 0.0 else 1.0
    state[State.ABS] = 0.0
    for wheel in range(4):
        p = Param.FRONT if wheel < 2 else Param.REAR
        torque = state[State.BRAKE] * params[Param.BRAKE_FRONT if wheel < 2 else Param.BRAKE_REAR]
        if active and torque > 0.0:
            use = -sign * use_of_slip(state, params, wheel, target)
            keep = min(max((1.0 + BAND - use) / (2.0 * BAND), 0.0), 1.0)
            if keep < 1.0:
                state[State.ABS] = 1.0
                torque *= keep
        if wheel >= 2:
            torque += state[State.HANDBRAKE] * params[Param.HANDBRAKE]
        rolling = params[p + Wheel.ROLLING] + state[State.SOFT + wheel]
        torque += rolling * state[State.LOAD + wheel] * params[p + Wheel.RADIUS]
        spin = state[State.SPIN + wheel]
        slower = abs(spin) - torque * dt / params[p + Wheel.INERTIA]
        state[State.SPIN + wheel] = math.copysign(slower, spin) if slower > 0.0 else 0.0
