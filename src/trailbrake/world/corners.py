"""The four corners: steering, springs, dampers, bars, stops, tyre loads, and the wheels' way up and down.

A corner is described by how far it is from its place at rest on level ground (`pack` gives the forces there), so that
a car at rest has all of it at 0. Linear rates at the wheel, after Milliken and Milliken, Race Car Vehicle Dynamics,
1995, chapters 16 to 18. Loops as in `tyres.py`.
"""

from trailbrake.kernels import inline
from trailbrake.kernels.lanes import get, put
from trailbrake.kernels.maths import clamp, sincos_small
from trailbrake.world.layout import Array, Axle, Param, State


@inline
def steer_and_bars(block: Array, first: int, last: int, dt: float) -> None:
    """Turn the rack towards the wish at its rate; write the wheels' angles and the anti-roll bars' forces."""
    for j in range(first, last):
        steer = get(block, State.STEER, j)
        most = get(block, Param.STEER_RATE, j) * dt
        wish = get(block, State.APPLIED, j) * get(block, Param.STEER_MAX, j)
        steer += clamp(wish - steer, -most, most)
        put(block, State.STEER, j, steer)
        sin, cos = sincos_small(steer)
        put(block, State.SIN, j, sin)
        put(block, State.COS, j, cos)
        put(block, State.SIN + 1, j, 0.0 * sin)
        put(block, State.COS + 1, j, 1.0 + 0.0 * sin)
        # The inner wheel of a bend turns further, by Ackermann's share of what parallel wheels would lack.
        inward = get(block, Param.ACKERMANN, j) * (steer * steer)
        put(block, State.INWARD, j, inward - get(block, Axle.TOE, j))
        put(block, State.INWARD + 1, j, -get(block, Axle.TOE + 1, j))
        # How much more the left wheel is in bump than the right one: both sides' heave and pitch are alike.
        roll = get(block, State.ROLL, j)
        front = get(block, State.HOP, j) - get(block, State.HOP + 1, j)
        rear = get(block, State.HOP + 2, j) - get(block, State.HOP + 3, j)
        front -= 2.0 * get(block, Axle.HALF_TRACK, j) * roll
        rear -= 2.0 * get(block, Axle.HALF_TRACK + 1, j) * roll
        put(block, State.ANTI_ROLL, j, get(block, Axle.ANTI_ROLL, j) * front)
        put(block, State.ANTI_ROLL + 1, j, get(block, Axle.ANTI_ROLL + 1, j) * rear)


@inline
def press(block: Array, a: int, i: int, side: float, first: int, last: int) -> None:
    """Write what the spring gives to the body, RISE (N, up), the tyre's LOAD (N) and the wheel's LEAN (rad)."""
    for j in range(first, last):
        x, y = get(block, Axle.X + a, j), side * get(block, Axle.HALF_TRACK + a, j)
        hop, hop_rate = get(block, State.HOP + i, j), get(block, State.HOP_RATE + i, j)
        roll = get(block, State.ROLL, j)
        bump = hop - (get(block, State.HEAVE, j) - x * get(block, State.PITCH, j) + y * roll)
        speed = hop_rate - get(block, State.HEAVE_RATE, j) + x * get(block, State.PITCH_RATE, j)
        speed -= y * get(block, State.ROLL_RATE, j)
        into, out = get(block, Axle.BUMP_DAMPING + a, j), get(block, Axle.REBOUND_DAMPING + a, j)
        stop = bump - clamp(bump, get(block, Axle.DROOP_TRAVEL + a, j), get(block, Axle.BUMP_TRAVEL + a, j))
        rise = get(block, Axle.SPRING_AT_REST + a, j) + get(block, Axle.SPRING + a, j) * bump
        rise += (into if speed > 0.0 else out) * speed + get(block, Axle.BUMP_STOP + a, j) * stop
        put(block, State.RISE + i, j, rise + side * get(block, State.ANTI_ROLL + a, j))

        squash = get(block, State.BUMP + i, j) - hop
        load = get(block, Axle.LOAD_AT_REST + a, j) + get(block, Axle.STIFFNESS + a, j) * squash
        load += get(block, Axle.TYRE_DAMPING + a, j) * (get(block, State.BUMP_RATE + i, j) - hop_rate)
        put(block, State.LOAD + i, j, max(load, 0.0))
        camber = get(block, Axle.CAMBER + a, j) + get(block, Axle.CAMBER_GAIN + a, j) * bump
        put(block, State.LEAN + i, j, roll - side * camber)


@inline
def pass_on(block: Array, a: int, left: int, right: int, first: int, last: int, dt: float) -> None:
    """Pass an axle's tyre forces on: to its wheels' spins, to the body (PUSH, SHOVE, RISE), and up and down the wheels.

    The suspension's links carry a part of the load transfer past the springs; a force to the left presses the right
    wheel down and lifts the body over it.
    """
    for j in range(first, last):
        driving, braking = get(block, Axle.LINK_DRIVE + a, j), get(block, Axle.LINK_BRAKE + a, j)
        per_fx = dt * get(block, Axle.RADIUS + a, j) * get(block, Axle.INVERSE_INERTIA + a, j)
        fx, fy = get(block, State.FX + left, j), get(block, State.FY + left, j)
        sin, cos = get(block, State.PUSH + left, j), get(block, State.SHOVE + left, j)
        push_left, shove_left = fx * cos - fy * sin, fy * cos + fx * sin
        put(block, State.SPIN + left, j, get(block, State.SPIN + left, j) - per_fx * fx)
        fx, fy = get(block, State.FX + right, j), get(block, State.FY + right, j)
        sin, cos = get(block, State.PUSH + right, j), get(block, State.SHOVE + right, j)
        push_right, shove_right = fx * cos - fy * sin, fy * cos + fx * sin
        put(block, State.SPIN + right, j, get(block, State.SPIN + right, j) - per_fx * fx)
        link = (shove_left + shove_right) * get(block, Axle.LINK_SIDE + a, j)
        rise_left = get(block, State.RISE + left, j) + push_left * (driving if push_left > 0.0 else braking) - link
        rise_right = get(block, State.RISE + right, j) + push_right * (driving if push_right > 0.0 else braking) + link
        put(block, State.PUSH + left, j, push_left)
        put(block, State.PUSH + right, j, push_right)
        put(block, State.SHOVE + left, j, shove_left)
        put(block, State.SHOVE + right, j, shove_right)
        put(block, State.RISE + left, j, rise_left)
        put(block, State.RISE + right, j, rise_right)
        down, dead = get(block, State.PRESS, j), get(block, Axle.INVERSE_UNSPRUNG + a, j)
        rate_left, rate_right = get(block, State.HOP_RATE + left, j), get(block, State.HOP_RATE + right, j)
        rate_left += dt * ((get(block, State.LOAD + left, j) - rise_left) * dead - down)
        rate_right += dt * ((get(block, State.LOAD + right, j) - rise_right) * dead - down)
        put(block, State.HOP_RATE + left, j, rate_left)
        put(block, State.HOP_RATE + right, j, rate_right)
        put(block, State.HOP + left, j, get(block, State.HOP + left, j) + dt * rate_left)
        put(block, State.HOP + right, j, get(block, State.HOP + right, j) + dt * rate_right)
        bump_left, bump_right = get(block, State.BUMP + left, j), get(block, State.BUMP + right, j)
        put(block, State.BUMP + left, j, bump_left + dt * get(block, State.BUMP_RATE + left, j))
        put(block, State.BUMP + right, j, bump_right + dt * get(block, State.BUMP_RATE + right, j))
