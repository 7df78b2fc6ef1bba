"""Gears, ratios, engine map, clutch and electric motor: what the outer step computes for the drivetrain.

`begin_shift` alone is scalar code: it runs for the few cars where `update_shift` finds a shift due.
"""

import numpy as np

from trailbrake.kernels import inline_jit
from trailbrake.kernels.lane_blocks import get, get_indexed, put
from trailbrake.kernels.maths import clamp
from trailbrake.world.row_layout import MAP_POINTS, Array, AxleRow, ControlRow, ParamRow, StateRow, WorkRow

# Engine speed, as a share of the range from idle to limiter, at which full throttle closes the clutch in first gear.
LAUNCH_SPEED_SHARE = 0.45
REVERSE_MAX_SPEED = 2.0  # m/s: above it reverse is refused
RECHARGE_MIN_SPEED = 2.0  # m/s: below it braking does not charge
REV_MATCH_TIME = 0.3  # of the shift's time: how fast the engine follows the next gear's speed
# Wheels that turn faster than the road under them, by more than this share of rolling and this margin, spin: the
# automatic gearbox shifts as if they did not. Peak grip is at a slip of 0.05 to 0.15.
SPIN_SHARE = 0.2
SPIN_MARGIN = 10.0  # rad/s: at walking pace any slip is a large share
# Launch control, of cars whose gearbox blips: in first gear and with the automatic gearbox the clutch opens where the
# driven wheels spin: begin, just above the slip of peak grip, the width within which it opens, and the share of its
# torque that it carries at the begin. The tyre's curve falls behind its peak, so that full throttle would spin the
# wheels of a Formula 1 car for seconds.
LAUNCH_SLIP_SHARE = 0.1  # of rolling
LAUNCH_SLIP_MARGIN = 0.5  # rad/s
LAUNCH_SLIP_WIDTH = 3.0  # rad/s
LAUNCH_CLUTCH_SHARE = 0.25  # a racing clutch carries several times the engine's torque
MIN_MOTOR_SPEED = 100.0  # rad/s, engine speed below which the motor's torque no longer grows with 1 / speed


@inline_jit
def gear_ratio(block: Array, gear: float, lane: int) -> float:
    """Return the overall ratio of a gear."""
    return get_indexed(block, ParamRow.RATIOS + 1, int(gear), lane)


@inline_jit
def driven_wheel_speed(block: Array, lane: int) -> float:
    """Return the mean speed (rad/s) of the driven wheels, by their shares of the torque."""
    front = get(block, StateRow.SPIN, lane) + get(block, StateRow.SPIN + 1, lane)
    rear = get(block, StateRow.SPIN + 2, lane) + get(block, StateRow.SPIN + 3, lane)
    return 0.5 * (get(block, ParamRow.DRIVE_FRONT, lane) * front + get(block, ParamRow.DRIVE_REAR, lane) * rear)


@inline_jit
def rolling_wheel_speed(block: Array, lane: int) -> float:
    """Return the speed (rad/s) that the driven wheels would have if they rolled without slip."""
    front, rear = get(block, ParamRow.DRIVE_FRONT, lane), get(block, ParamRow.DRIVE_REAR, lane)
    radius = front * get(block, AxleRow.RADIUS, lane) + rear * get(block, AxleRow.RADIUS + 1, lane)
    return get(block, StateRow.VX, lane) / radius


@inline_jit
def automatic_shift_speed(block: Array, lane: int) -> float:
    """Return the speed (rad/s) of the driven wheels by which the automatic gearbox shifts: limited to the road's."""
    rolling = rolling_wheel_speed(block, lane)
    return min(driven_wheel_speed(block, lane), rolling + SPIN_SHARE * abs(rolling) + SPIN_MARGIN)


@inline_jit
def update_shift(block: Array, lane: int, period: float) -> None:
    """Advance shifts by `period` (s) and end them; set SHIFT_DUE where a shift is due (`begin_shift` may refuse it).

    A shift takes a whole number of outer steps, at least one.
    """
    gear, to = get(block, StateRow.GEAR, lane), get(block, StateRow.NEXT_GEAR, lane)
    shifting = to != gear
    left = get(block, StateRow.SHIFT_TIME_LEFT, lane) - period
    put(
        block,
        StateRow.SHIFT_TIME_LEFT,
        lane,
        max(left, 0.0) if shifting else get(block, StateRow.SHIFT_TIME_LEFT, lane),
    )
    put(block, StateRow.GEAR, lane, to if shifting and left <= 0.0 else gear)
    axle, wish = automatic_shift_speed(block, lane), get(block, ControlRow.GEAR, lane)
    # RATIO is still that of this gear, unless a shift has just ended: then the next one waits for the next outer step.
    faster = axle * get(block, StateRow.RATIO, lane) > get(block, ParamRow.UPSHIFT, lane)
    slower = axle * gear_ratio(block, max(gear, 1.0) - 1.0, lane) < get(block, ParamRow.DOWNSHIFT, lane)
    due = gear < 1.0 or (gear < get(block, ParamRow.TOP_GEAR, lane) and faster) or (gear > 1.0 and slower)
    called = wish != gear if wish == wish else due
    put(block, WorkRow.SHIFT_DUE, lane, 1.0 if called and not shifting else 0.0)


@inline_jit
def begin_shift(block: Array, lane: int) -> None:
    """Begin a shift to the gear of the control, or by the rule of the automatic gearbox (GEAR is NaN).

    A gear is refused that would push the engine past its limiter, or reverse while rolling forward.
    """
    gear, axle = get(block, StateRow.GEAR, lane), automatic_shift_speed(block, lane)
    top = get(block, ParamRow.TOP_GEAR, lane)
    wish = get(block, ControlRow.GEAR, lane)
    if wish == wish:
        to = float(int(clamp(wish, -1.0, top)))
    else:
        to = max(gear, 1.0)
        if to < top and axle * gear_ratio(block, to, lane) > get(block, ParamRow.UPSHIFT, lane):
            to += 1.0
        else:
            while to > 1.0 and axle * gear_ratio(block, to - 1.0, lane) < get(block, ParamRow.DOWNSHIFT, lane):
                to -= 1.0
    turning = driven_wheel_speed(block, lane)
    if to == gear or abs(turning * gear_ratio(block, to, lane)) > get(block, ParamRow.LIMITER, lane):
        return
    if to < 0.0 and get(block, StateRow.VX, lane) > REVERSE_MAX_SPEED:
        return
    put(block, StateRow.NEXT_GEAR, lane, to)
    put(block, StateRow.SHIFT_TIME_LEFT, lane, get(block, ParamRow.SHIFT_TIME, lane))


@inline_jit
def set_ratios_and_clutch(block: Array, lane: int) -> None:
    """Write ratios, rev matching and clutch limits for the present gear and pedal.

    The automatic clutch never lets the engine stall: it opens towards idle, and in first and reverse it slips up to a
    speed that grows with throttle, for the launch; in a car that blips, the automatic gearbox also opens
    it in first where the driven wheels spin. In a shift it is open, and the gearbox matches the engine to the next
    gear: by an ignition cut on upshifts, and by a throttle blip on downshifts where the car has one.
    """
    gear, to = get(block, StateRow.GEAR, lane), get(block, StateRow.NEXT_GEAR, lane)
    ratio, next_ratio = gear_ratio(block, gear, lane), gear_ratio(block, to, lane)
    put(block, StateRow.RATIO, lane, ratio)
    put(block, WorkRow.NEXT_RATIO, lane, next_ratio)
    shifting = to != gear
    matched = abs(next_ratio) < abs(ratio) or get(block, ParamRow.HAS_BLIP, lane) > 0.0
    rate = 1.0 / (REV_MATCH_TIME * get(block, ParamRow.SHIFT_TIME, lane))
    put(block, WorkRow.REV_MATCH_RATE, lane, rate if shifting and matched and to != 0.0 else 0.0)
    open_clutch = shifting or gear == 0.0
    rolling = rolling_wheel_speed(block, lane)
    spin = driven_wheel_speed(block, lane) - (1.0 + LAUNCH_SLIP_SHARE) * rolling - LAUNCH_SLIP_MARGIN
    wish = get(block, ControlRow.GEAR, lane)
    part = LAUNCH_CLUTCH_SHARE * clamp(1.0 - spin / LAUNCH_SLIP_WIDTH, 0.0, 1.0)
    control = wish != wish and gear == 1.0 and get(block, ParamRow.HAS_BLIP, lane) > 0.0
    hold = part if control and spin > 0.0 else 1.0
    put(block, WorkRow.CLUTCH_LIMIT, lane, 0.0 if open_clutch else hold * (1.0 - get(block, StateRow.CLUTCH, lane)))
    idle, limiter = get(block, ParamRow.IDLE, lane), get(block, ParamRow.LIMITER, lane)
    closed_at = 1.2 * idle
    launch = idle + get(block, StateRow.THROTTLE, lane) * LAUNCH_SPEED_SHARE * (limiter - idle)
    closed_at = max(closed_at, launch) if gear <= 1.0 else closed_at
    open_at = 0.5 * (idle + closed_at)
    put(block, WorkRow.CLUTCH_BITE_SPEED, lane, open_at)
    put(block, WorkRow.CLUTCH_GAIN, lane, 1.0 / (closed_at - open_at))
    front, rear = get(block, ParamRow.DRIVE_FRONT, lane), get(block, ParamRow.DRIVE_REAR, lane)
    wheels = front * front * get(block, AxleRow.INVERSE_INERTIA, lane) + rear * rear * get(
        block, AxleRow.INVERSE_INERTIA + 1, lane
    )
    put(
        block,
        WorkRow.CLUTCH_INERTIA,
        lane,
        1.0 / (get(block, ParamRow.INVERSE_ENGINE, lane) + 0.5 * ratio * ratio * wheels),
    )


@inline_jit
def update_engine_and_motor(block: Array, lane: int, maps: Array, period: float) -> None:
    """Write the tangent of the engine map at the present speed and the motor torque; update fuel and charge.

    Boost pressure follows the throttle with the turbocharger's lag.
    """
    engine, throttle = get(block, StateRow.ENGINE_SPEED, lane), get(block, StateRow.THROTTLE, lane)
    model, per_step = int(get(block, ParamRow.MODEL, lane)), get(block, ParamRow.MAP_POINTS_PER_SPEED, lane)
    at = engine * per_step
    i = np.floor(min(at if at > 0.0 else 0.0, MAP_POINTS - 1.001))  # 0 where the engine's speed is NaN
    low, high = maps[model, int(i)], maps[model, int(i) + 1]
    lag = period * get(block, ParamRow.TURBO_RATE, lane)
    turbo = get(block, StateRow.TURBO, lane)
    turbo += (throttle - turbo) * (lag / (1.0 + lag))
    put(block, StateRow.TURBO, lane, turbo)
    share = get(block, ParamRow.TURBO_SHARE, lane)
    factor = 1.0 - share + share * turbo
    fuel = get(block, StateRow.FUEL, lane)
    full = (low + (at - i) * (high - low)) * factor
    torque = throttle * full * get(block, StateRow.TC_FACTOR, lane)
    fuel = max(fuel - get(block, ParamRow.FUEL_PER_JOULE, lane) * max(torque, 0.0) * engine * period, 0.0)
    put(block, StateRow.FUEL, lane, fuel)
    factor = factor if fuel > 0.0 else 0.0
    slope = (high - low) * per_step * factor
    put(block, WorkRow.ENGINE_TORQUE, lane, (low - i * (high - low)) * factor)
    put(block, WorkRow.ENGINE_TORQUE_SLOPE, lane, slope)
    drag = get(block, ParamRow.ENGINE_DRAG, lane) + get(block, ParamRow.ENGINE_DRAG_SLOPE, lane) * get(
        block, ParamRow.IDLE, lane
    )
    put(block, WorkRow.IDLE_HOLD_THROTTLE, lane, drag / max(full + drag, 1.0))

    charge, boost = get(block, StateRow.CHARGE, lane), get(block, ControlRow.BOOST, lane)
    boost = clamp(boost, 0.0, 1.0) if boost == boost and charge > 0.0 else 0.0
    motor = boost * min(
        get(block, ParamRow.BOOST_TORQUE, lane), get(block, ParamRow.BOOST_POWER, lane) / max(engine, MIN_MOTOR_SPEED)
    )
    put(block, WorkRow.MOTOR_TORQUE, lane, motor)
    brake, speed = get(block, StateRow.BRAKE, lane), get(block, StateRow.VX, lane)
    gained = min(get(block, ParamRow.RECHARGE_FORCE, lane) * brake * speed, get(block, ParamRow.RECHARGE, lane))
    charge -= motor * engine * period
    charge += gained * period if brake > 0.0 and speed > RECHARGE_MIN_SPEED else 0.0
    put(block, StateRow.CHARGE, lane, clamp(charge, 0.0, get(block, ParamRow.CHARGE_MAX, lane)))
