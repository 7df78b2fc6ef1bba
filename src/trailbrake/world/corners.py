"""The four corners: steering, springs, dampers, bars, stops, tyre loads, and the wheels' way up and down.

A corner is described by how far it is from its place at rest on level ground (`pack` gives the forces there), so that
a car at rest has all of it at 0. Linear rates at the wheel, after Milliken and Milliken, Race Car Vehicle Dynamics,
1995, chapters 16 to 18. Loops as in `tyres.py`.
"""

from trailbrake.kernels import inline
from trailbrake.kernels.lanes import get, put
from trailbrake.kernels.maths import clamp, sincos_small
from trailbrake.world.layout import Array, Axle, Param, State, Work


@inline
def axles(block: Array, j: int, dt: float) -> None:
    """Turn the rack towards the wish at its rate; write what both wheels of an axle have in common."""
    steer = get(block, State.STEER, j)
    most = get(block, Param.STEER_RATE, j) * dt
    wish = get(block, State.APPLIED, j) * get(block, Param.STEER_MAX, j)
    steer += clamp(wish - steer, -most, most)
    put(block, State.STEER, j, steer)
    sin, cos = sincos_small(steer)
    put(block, Work.SIN, j, sin)
    put(block, Work.COS, j, cos)
    heave, pitch, roll = get(block, State.HEAVE, j), get(block, State.PITCH, j), get(block, State.ROLL, j)
    heave_rate, pitch_rate = get(block, State.HEAVE_RATE, j), get(block, State.PITCH_RATE, j)
    roll_rate, yaw_rate, vy = get(block, State.ROLL_RATE, j), get(block, State.YAW_RATE, j), get(block, State.VY, j)
    x, y = get(block, Axle.X, j), get(block, Axle.HALF_TRACK, j)
    put(block, Work.ABOVE, j, heave - x * pitch)
    put(block, Work.ABOVE_RATE, j, heave_rate - x * pitch_rate)
    put(block, Work.LEANED, j, y * roll)
    put(block, Work.LEANED_RATE, j, y * roll_rate)
    put(block, Work.ASIDE, j, vy + x * yaw_rate)
    # How much more the left wheel is in bump than the right one: both sides' heave and pitch are alike.
    more = get(block, State.HOP, j) - get(block, State.HOP + 1, j) - 2.0 * y * roll
    put(block, Work.ANTI_ROLL, j, get(block, Axle.ANTI_ROLL, j) * more)
    x, y = get(block, Axle.X + 1, j), get(block, Axle.HALF_TRACK + 1, j)
    put(block, Work.ABOVE + 1, j, heave - x * pitch)
    put(block, Work.ABOVE_RATE + 1, j, heave_rate - x * pitch_rate)
    put(block, Work.LEANED + 1, j, y * roll)
    put(block, Work.LEANED_RATE + 1, j, y * roll_rate)
    put(block, Work.ASIDE + 1, j, vy + x * yaw_rate)
    more = get(block, State.HOP + 2, j) - get(block, State.HOP + 3, j) - 2.0 * y * roll
    put(block, Work.ANTI_ROLL + 1, j, get(block, Axle.ANTI_ROLL + 1, j) * more)


@inline
def press(block: Array, a: int, i: int, side: float, j: int) -> None:
    """Write what the spring gives to the body, RISE (N, up), and the tyre's LOAD (N)."""
    hop, hop_rate = get(block, State.HOP + i, j), get(block, State.HOP_RATE + i, j)
    bump = hop - get(block, Work.ABOVE + a, j) - side * get(block, Work.LEANED + a, j)
    speed = hop_rate - get(block, Work.ABOVE_RATE + a, j) - side * get(block, Work.LEANED_RATE + a, j)
    into, out = get(block, Axle.BUMP_DAMPING + a, j), get(block, Axle.REBOUND_DAMPING + a, j)
    stop = bump - clamp(bump, get(block, Axle.DROOP_TRAVEL + a, j), get(block, Axle.BUMP_TRAVEL + a, j))
    rise = get(block, Axle.SPRING_AT_REST + a, j) + get(block, Axle.SPRING + a, j) * bump
    rise += (into if speed > 0.0 else out) * speed + get(block, Axle.BUMP_STOP + a, j) * stop
    put(block, Work.RISE + i, j, rise + side * get(block, Work.ANTI_ROLL + a, j))

    squash = get(block, State.BUMP + i, j) - hop
    load = get(block, Axle.LOAD_AT_REST + a, j) + get(block, Axle.STIFFNESS + a, j) * squash
    load += get(block, Axle.TYRE_DAMPING + a, j) * (get(block, State.BUMP_RATE + i, j) - hop_rate)
    put(block, State.LOAD + i, j, max(load, 0.0))


@inline
def pass_on(block: Array, a: int, left: int, right: int, j: int, dt: float) -> None:
    """Pass an axle's tyre forces on: to its wheels' spins, to the body (PUSH, SHOVE, RISE), and up and down the wheels.

    The suspension's links carry a part of the load transfer past the springs; a force to the left presses the right
    wheel down and lifts the body over it.
    """
    per_fx = dt * get(block, Axle.RADIUS + a, j) * get(block, Axle.INVERSE_INERTIA + a, j)
    fx_left, fx_right = get(block, State.FX + left, j), get(block, State.FX + right, j)
    put(block, State.SPIN + left, j, get(block, State.SPIN + left, j) - per_fx * fx_left)
    put(block, State.SPIN + right, j, get(block, State.SPIN + right, j) - per_fx * fx_right)
    fy_left, fy_right = get(block, State.FY + left, j), get(block, State.FY + right, j)
    if a == 0:  # the steered axle; a constant where this is compiled into
        sin, cos = get(block, Work.SIN, j), get(block, Work.COS, j)
        push_left, push_right = fx_left * cos - fy_left * sin, fx_right * cos - fy_right * sin
        shove_left, shove_right = fy_left * cos + fx_left * sin, fy_right * cos + fx_right * sin
    else:
        push_left, push_right, shove_left, shove_right = fx_left, fx_right, fy_left, fy_right
    driving, braking = get(block, Axle.LINK_DRIVE + a, j), get(block, Axle.LINK_BRAKE + a, j)
    slope = driving if push_left + push_right > 0.0 else braking
    link = (shove_left + shove_right) * get(block, Axle.LINK_SIDE + a, j)
    rise_left = get(block, Work.RISE + left, j) + push_left * slope - link
    rise_right = get(block, Work.RISE + right, j) + push_right * slope + link
    put(block, Work.PUSH + left, j, push_left)
    put(block, Work.PUSH + right, j, push_right)
    put(block, Work.SHOVE + left, j, shove_left)
    put(block, Work.SHOVE + right, j, shove_right)
    put(block, Work.RISE + left, j, rise_left)
    put(block, Work.RISE + right, j, rise_right)
    down, agility = dt * get(block, State.PRESS, j), dt * get(block, Axle.INVERSE_UNSPRUNG + a, j)
    rate_left, rate_right = get(block, State.HOP_RATE + left, j), get(block, State.HOP_RATE + right, j)
    rate_left += (get(block, State.LOAD + left, j) - rise_left) * agility - down
    rate_right += (get(block, State.LOAD + right, j) - rise_right) * agility - down
    put(block, State.HOP_RATE + left, j, rate_left)
    put(block, State.HOP_RATE + right, j, rate_right)
    put(block, State.HOP + left, j, get(block, State.HOP + left, j) + dt * rate_left)
    put(block, State.HOP + right, j, get(block, State.HOP + right, j) + dt * rate_right)
    bump_left, bump_right = get(block, State.BUMP + left, j), get(block, State.BUMP + right, j)
    put(block, State.BUMP + left, j, bump_left + dt * get(block, State.BUMP_RATE + left, j))
    put(block, State.BUMP + right, j, bump_right + dt * get(block, State.BUMP_RATE + right, j))
