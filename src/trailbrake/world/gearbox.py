"""What is decided and looked up for the drivetrain once per look: gears, ratios, the engine's map, clutch, motor.

`shift` alone is no vector code: it is for the few cars that `clockwork` finds at a change of gear.
"""

import numpy as np

from trailbrake.kernels import inline
from trailbrake.kernels.lanes import get, put
from trailbrake.kernels.maths import clamp
from trailbrake.world.layout import TORQUES, Array, Axle, Control, Param, State, Work

LAUNCH = 0.45  # of the way from idle to limiter: engine speed at which full throttle closes the clutch in first
BACKWARDS_FROM = 2.0  # m/s: above it reverse is refused
MATCH_TIME = 0.3  # of the shift's time: how fast the engine follows the next gear's speed
LEAST_SPIN = 100.0  # rad/s, of the crankshaft, for the motor's torque by its power


@inline
def ratio_of(block: Array, gear: float, j: int) -> float:
    """Return the overall ratio of a gear."""
    return get(block, Param.RATIOS + 1 + int(gear), j)


@inline
def axle_speed(block: Array, j: int) -> float:
    """Return the mean speed (rad/s) of the driven wheels, by their shares of the torque."""
    front = get(block, State.SPIN, j) + get(block, State.SPIN + 1, j)
    rear = get(block, State.SPIN + 2, j) + get(block, State.SPIN + 3, j)
    return 0.5 * (get(block, Param.DRIVE_FRONT, j) * front + get(block, Param.DRIVE_REAR, j) * rear)


@inline
def clockwork(block: Array, j: int, period: float) -> None:
    """Go on with shifts under way and end them; CALLED is 1 where `shift` may have one to begin.

    A shift takes the looks that make up its time; none is shorter than one look.
    """
    gear, to = get(block, State.GEAR, j), get(block, State.NEXT_GEAR, j)
    shifting = to != gear
    left = get(block, State.SHIFT_LEFT, j) - period
    put(block, State.SHIFT_LEFT, j, max(left, 0.0) if shifting else get(block, State.SHIFT_LEFT, j))
    put(block, State.GEAR, j, to if shifting and left <= 0.0 else gear)
    axle, wish = axle_speed(block, j), get(block, Control.GEAR, j)
    # RATIO is still that of this gear, unless a shift has just ended: then none is begun before the next look.
    faster = axle * get(block, State.RATIO, j) > get(block, Param.UPSHIFT, j)
    slower = axle * ratio_of(block, max(gear, 1.0) - 1.0, j) < get(block, Param.DOWNSHIFT, j)
    due = gear < 1.0 or (gear < get(block, Param.TOP_GEAR, j) and faster) or (gear > 1.0 and slower)
    called = wish != gear if wish == wish else due
    put(block, Work.CALLED, j, 1.0 if called and not shifting else 0.0)


@inline
def shift(block: Array, j: int) -> None:
    """Begin a shift: to the gear asked for, or by the automatic's rule (GEAR is NaN).

    A gear is refused that would push the engine past its limiter, or reverse while rolling forward.
    """
    gear, axle = get(block, State.GEAR, j), axle_speed(block, j)
    top = get(block, Param.TOP_GEAR, j)
    wish = get(block, Control.GEAR, j)
    if wish == wish:
        to = float(int(clamp(wish, -1.0, top)))
    else:
        to = max(gear, 1.0)
        if to < top and axle * ratio_of(block, to, j) > get(block, Param.UPSHIFT, j):
            to += 1.0
        else:
            while to > 1.0 and axle * ratio_of(block, to - 1.0, j) < get(block, Param.DOWNSHIFT, j):
                to -= 1.0
    if to == gear or abs(axle * ratio_of(block, to, j)) > get(block, Param.LIMITER, j):
        return
    if to < 0.0 and get(block, State.VX, j) > BACKWARDS_FROM:
        return
    put(block, State.NEXT_GEAR, j, to)
    put(block, State.SHIFT_LEFT, j, get(block, Param.SHIFT_TIME, j))


@inline
def couple(block: Array, j: int) -> None:
    """Write ratios, match and clutch as gear and pedal stand.

    The automatic clutch never lets the engine die: it opens towards idle, and in first and reverse it slips up to a
    speed that grows with throttle, for the launch. In a shift it is open, and the box matches the engine to the next
    gear, by a cut upwards, by a blip downwards where the car has one.
    """
    gear, to = get(block, State.GEAR, j), get(block, State.NEXT_GEAR, j)
    ratio, next_ratio = ratio_of(block, gear, j), ratio_of(block, to, j)
    put(block, State.RATIO, j, ratio)
    put(block, Work.NEXT_RATIO, j, next_ratio)
    shifting = to != gear
    matched = abs(next_ratio) < abs(ratio) or get(block, Param.BLIP, j) > 0.0
    rate = 1.0 / (MATCH_TIME * get(block, Param.SHIFT_TIME, j))
    put(block, Work.MATCH, j, rate if shifting and matched and to != 0.0 else 0.0)
    open_clutch = shifting or gear == 0.0
    put(block, Work.CLUTCH_MOST, j, 0.0 if open_clutch else 1.0 - get(block, State.CLUTCH, j))
    idle, limiter = get(block, Param.IDLE, j), get(block, Param.LIMITER, j)
    closed_at = 1.2 * idle
    launch = idle + get(block, State.THROTTLE, j) * LAUNCH * (limiter - idle)
    closed_at = max(closed_at, launch) if gear <= 1.0 else closed_at
    open_at = 0.5 * (idle + closed_at)
    put(block, Work.CLUTCH_AT, j, open_at)
    put(block, Work.CLUTCH_GAIN, j, 1.0 / (closed_at - open_at))
    front, rear = get(block, Param.DRIVE_FRONT, j), get(block, Param.DRIVE_REAR, j)
    wheels = front * front * get(block, Axle.INVERSE_INERTIA, j) + rear * rear * get(block, Axle.INVERSE_INERTIA + 1, j)
    put(block, Work.PER_CLUTCH, j, 1.0 / (get(block, Param.INVERSE_ENGINE, j) + 0.5 * ratio * ratio * wheels))


@inline
def energise(block: Array, maps: Array, j: int, period: float) -> None:
    """Write the engine map's tangent at the present speed, and the motor's torque; count fuel and charge.

    Boost pressure follows the throttle with the turbocharger's lag.
    """
    engine, throttle = get(block, State.ENGINE, j), get(block, State.THROTTLE, j)
    model, per_step = int(get(block, Param.MODEL, j)), get(block, Param.TORQUE_PER, j)
    at = engine * per_step
    i = np.floor(min(at if at > 0.0 else 0.0, TORQUES - 1.001))  # 0 where the engine's speed is NaN
    low, high = maps[model, int(i)], maps[model, int(i) + 1]
    lag = period * get(block, Param.TURBO_RATE, j)
    turbo = get(block, State.TURBO, j)
    turbo += (throttle - turbo) * (lag / (1.0 + lag))
    put(block, State.TURBO, j, turbo)
    share = get(block, Param.TURBO_SHARE, j)
    factor = 1.0 - share + share * turbo
    fuel = get(block, State.FUEL, j)
    full = (low + (at - i) * (high - low)) * factor
    torque = throttle * full * get(block, State.TC, j)
    fuel = max(fuel - get(block, Param.FUEL_PER_JOULE, j) * max(torque, 0.0) * engine * period, 0.0)
    put(block, State.FUEL, j, fuel)
    factor = factor if fuel > 0.0 else 0.0
    slope = (high - low) * per_step * factor
    put(block, Work.TORQUE, j, (low - i * (high - low)) * factor)
    put(block, Work.TORQUE_SLOPE, j, slope)
    drag = get(block, Param.ENGINE_DRAG, j) + get(block, Param.ENGINE_DRAG_SLOPE, j) * get(block, Param.IDLE, j)
    put(block, Work.LEAST_THROTTLE, j, drag / max(full + drag, 1.0))

    charge, boost = get(block, State.CHARGE, j), get(block, Control.BOOST, j)
    boost = clamp(boost, 0.0, 1.0) if boost == boost and charge > 0.0 else 0.0
    motor = boost * min(get(block, Param.BOOST_TORQUE, j), get(block, Param.BOOST_POWER, j) / max(engine, LEAST_SPIN))
    put(block, Work.MOTOR, j, motor)
    brake = get(block, State.BRAKE, j)
    gained = get(block, Param.RECHARGE, j) * brake * period
    charge -= motor * engine * period
    charge += gained if brake > 0.0 and get(block, State.VX, j) > BACKWARDS_FROM else 0.0
    put(block, State.CHARGE, j, clamp(charge, 0.0, get(block, Param.CHARGE_MOST, j)))
