"""The four corners: steering, springs, dampers, bars, stops, tyre loads, and the wheels' way up and down.

A corner is described by how far it is from its place at rest on level ground (`pack` gives the forces there), so that
a car at rest has all of it at 0. Linear rates at the wheel, after Milliken and Milliken, Race Car Vehicle Dynamics,
1995, chapters 16 to 18. Loops as in `tyres.py`.
"""

from trailbrake.kernels import inline
from trailbrake.kernels.lanes import get, put
from trailbrake.kernels.maths import clamp, sincos_small
from trailbrake.world.layout import Array, Axle, State, Work


@inline
def steer(block: Array, j: int) -> None:
    """Turn the rack towards the wish at its rate."""
    now, most = get(block, State.STEER, j), get(block, Work.RACK, j)
    now += clamp(get(block, Work.WISH, j) - now, -most, most)
    put(block, State.STEER, j, now)
    sin, cos = sincos_small(now)
    put(block, Work.SIN, j, sin)
    put(block, Work.COS, j, cos)


@inline
def axle(block: Array, a: int, left: int, right: int, j: int) -> None:
    """Write what both wheels of an axle have in common."""
    x, y = get(block, Axle.X + a, j), get(block, Axle.HALF_TRACK + a, j)
    leaned = y * get(block, State.ROLL, j)
    put(block, Work.ABOVE + a, j, get(block, State.HEAVE, j) - x * get(block, State.PITCH, j))
    put(block, Work.ABOVE_RATE + a, j, get(block, State.HEAVE_RATE, j) - x * get(block, State.PITCH_RATE, j))
    put(block, Work.LEANED + a, j, leaned)
    put(block, Work.LEANED_RATE + a, j, y * get(block, State.ROLL_RATE, j))
    put(block, Work.ASIDE + a, j, get(block, State.VY, j) + x * get(block, State.YAW_RATE, j))
    # How much more the left wheel is in bump than the right one: both sides' heave and pitch are alike.
    more = get(block, State.HOP + left, j) - get(block, State.HOP + right, j) - 2.0 * leaned
    put(block, Work.ANTI_ROLL + a, j, get(block, Axle.ANTI_ROLL + a, j) * more)


@inline
def press(block: Array, a: int, i: int, side: float, j: int) -> None:
    """Write what the spring gives to the body, RISE (N, up), and the tyre's LOAD (N); move the ground on by a step."""
    hop, hop_rate = get(block, State.HOP + i, j), get(block, State.HOP_RATE + i, j)
    bump = hop - get(block, Work.ABOVE + a, j) - side * get(block, Work.LEANED + a, j)
    speed = hop_rate - get(block, Work.ABOVE_RATE + a, j) - side * get(block, Work.LEANED_RATE + a, j)
    into, out = get(block, Axle.BUMP_DAMPING + a, j), get(block, Axle.REBOUND_DAMPING + a, j)
    stop = bump - clamp(bump, get(block, Axle.DROOP_TRAVEL + a, j), get(block, Axle.BUMP_TRAVEL + a, j))
    rise = get(block, Axle.SPRING_AT_REST + a, j) + get(block, Axle.SPRING + a, j) * bump
    rise += (into if speed > 0.0 else out) * speed + get(block, Axle.BUMP_STOP + a, j) * stop
    put(block, Work.RISE + i, j, rise + side * get(block, Work.ANTI_ROLL + a, j))

    ground = get(block, Work.GROUND + i, j)
    load = ground - get(block, Axle.STIFFNESS + a, j) * hop - get(block, Axle.TYRE_DAMPING + a, j) * hop_rate
    put(block, State.LOAD + i, j, max(load, 0.0))
    put(block, Work.GROUND + i, j, ground + get(block, Work.GROUND_STEP + i, j))


@inline
def pass_on(block: Array, a: int, left: int, right: int, j: int, dt: float) -> None:
    """Pass an axle's tyre forces on: to its wheels' spins, to the body (PUSH, SHOVE, RISE), and up and down the wheels.

    The suspension's links carry a part of the load transfer past the springs; a force to the left presses the right
    wheel down and lifts the body over it.
    """
    per_fx = get(block, Work.SPIN_STEP + a, j)
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
    push, shove = push_left + push_right, shove_left + shove_right
    slope = get(block, Axle.LINK_DRIVE + a, j) if push > 0.0 else get(block, Axle.LINK_BRAKE + a, j)
    link = shove * get(block, Axle.LINK_SIDE + a, j)
    rise_left = get(block, Work.RISE + left, j) + push_left * slope - link
    rise_right = get(block, Work.RISE + right, j) + push_right * slope + link
    put(block, Work.PUSH + a, j, push)
    put(block, Work.TWIST + a, j, push_right - push_left)
    put(block, Work.SHOVE + a, j, shove)
    put(block, Work.LIFTED + a, j, rise_left + rise_right)
    put(block, Work.TILT + a, j, rise_left - rise_right)
    down, agility = get(block, Work.DOWN, j), get(block, Work.AGILITY + a, j)
    rate_left, rate_right = get(block, State.HOP_RATE + left, j), get(block, State.HOP_RATE + right, j)
    rate_left = (rate_left - down) + (get(block, State.LOAD + left, j) - rise_left) * agility
    rate_right = (rate_right - down) + (get(block, State.LOAD + right, j) - rise_right) * agility
    put(block, State.HOP_RATE + left, j, rate_left)
    put(block, State.HOP_RATE + right, j, rate_right)
    put(block, State.HOP + left, j, get(block, State.HOP + left, j) + dt * rate_left)
    put(block, State.HOP + right, j, get(block, State.HOP + right, j) + dt * rate_right)
