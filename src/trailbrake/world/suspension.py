"""The four corners: steering, springs, dampers, bars, stops, tyre loads, and the wheels' way up and down.

A corner is described by how far it is from its place at rest on level ground (`pack` gives the forces there), so that
a car at rest has all of it at 0. Linear rates at the wheel, after Milliken and Milliken, Race Car Vehicle Dynamics,
1995, chapters 16 to 18.
"""

from trailbrake.kernels import inline_jit
from trailbrake.kernels.lane_blocks import get, put
from trailbrake.kernels.maths import clamp, sincos_small
from trailbrake.world.row_layout import Array, AxleRow, StateRow, WorkRow


@inline_jit
def move_rack(block: Array, lane: int) -> None:
    """Move the rack towards STEER_TARGET at its rate."""
    now, most = get(block, StateRow.STEER, lane), get(block, WorkRow.STEER_STEP_MAX, lane)
    now += clamp(get(block, WorkRow.STEER_TARGET, lane) - now, -most, most)
    put(block, StateRow.STEER, lane, now)
    sin, cos = sincos_small(now)
    put(block, WorkRow.SIN_STEER, lane, sin)
    put(block, WorkRow.COS_STEER, lane, cos)


@inline_jit
def update_axle(block: Array, axle: int, left: int, right: int, lane: int) -> None:
    """Write the body's displacement over an axle, and the force of its anti-roll bar."""
    x, y = get(block, AxleRow.X + axle, lane), get(block, AxleRow.HALF_TRACK + axle, lane)
    leaned = y * get(block, StateRow.ROLL, lane)
    put(block, WorkRow.AXLE_HEAVE + axle, lane, get(block, StateRow.HEAVE, lane) - x * get(block, StateRow.PITCH, lane))
    put(
        block,
        WorkRow.AXLE_HEAVE_RATE + axle,
        lane,
        get(block, StateRow.HEAVE_RATE, lane) - x * get(block, StateRow.PITCH_RATE, lane),
    )
    put(block, WorkRow.ROLL_HEAVE + axle, lane, leaned)
    put(block, WorkRow.ROLL_HEAVE_RATE + axle, lane, y * get(block, StateRow.ROLL_RATE, lane))
    put(block, WorkRow.AXLE_VY + axle, lane, get(block, StateRow.VY, lane) + x * get(block, StateRow.YAW_RATE, lane))
    # How much more the left wheel is in bump than the right one: both sides' heave and pitch are alike.
    more = get(block, StateRow.HOP + left, lane) - get(block, StateRow.HOP + right, lane) - 2.0 * leaned
    put(block, WorkRow.ANTI_ROLL_FORCE + axle, lane, get(block, AxleRow.ANTI_ROLL + axle, lane) * more)


@inline_jit
def compute_spring_forces(block: Array, axle: int, wheel: int, side: float, lane: int) -> None:
    """Write the suspension force on the body and the load of the tyre; advance the ground by a step."""
    hop, hop_rate = get(block, StateRow.HOP + wheel, lane), get(block, StateRow.HOP_RATE + wheel, lane)
    bump = hop - get(block, WorkRow.AXLE_HEAVE + axle, lane) - side * get(block, WorkRow.ROLL_HEAVE + axle, lane)
    speed = (
        hop_rate
        - get(block, WorkRow.AXLE_HEAVE_RATE + axle, lane)
        - side * get(block, WorkRow.ROLL_HEAVE_RATE + axle, lane)
    )
    into, out = get(block, AxleRow.BUMP_DAMPING + axle, lane), get(block, AxleRow.REBOUND_DAMPING + axle, lane)
    stop = bump - clamp(
        bump, get(block, AxleRow.DROOP_TRAVEL + axle, lane), get(block, AxleRow.BUMP_TRAVEL + axle, lane)
    )
    rise = get(block, AxleRow.SPRING_AT_REST + axle, lane) + get(block, AxleRow.SPRING + axle, lane) * bump
    rise += (into if speed > 0.0 else out) * speed + get(block, AxleRow.BUMP_STOP + axle, lane) * stop
    put(block, WorkRow.SUSPENSION_FORCE + wheel, lane, rise + side * get(block, WorkRow.ANTI_ROLL_FORCE + axle, lane))

    ground = get(block, WorkRow.GROUND_LOAD + wheel, lane)
    load = (
        ground
        - get(block, AxleRow.STIFFNESS + axle, lane) * hop
        - get(block, AxleRow.TYRE_DAMPING + axle, lane) * hop_rate
    )
    put(block, StateRow.LOAD + wheel, lane, max(load, 0.0))
    put(block, WorkRow.GROUND_LOAD + wheel, lane, ground + get(block, WorkRow.GROUND_LOAD_STEP + wheel, lane))


@inline_jit
def distribute_axle_forces(block: Array, axle: int, left: int, right: int, lane: int, dt: float) -> None:
    """Apply an axle's tyre forces to the spin and hop of its wheels, and sum them for the body.

    The suspension's links carry a part of the load transfer past the springs; a force to the left presses the right
    wheel down and lifts the body over it.
    """
    per_fx = get(block, WorkRow.SPIN_STEP + axle, lane)
    fx_left, fx_right = get(block, StateRow.FX + left, lane), get(block, StateRow.FX + right, lane)
    put(block, StateRow.SPIN + left, lane, get(block, StateRow.SPIN + left, lane) - per_fx * fx_left)
    put(block, StateRow.SPIN + right, lane, get(block, StateRow.SPIN + right, lane) - per_fx * fx_right)
    fy_left, fy_right = get(block, StateRow.FY + left, lane), get(block, StateRow.FY + right, lane)
    if axle == 0:  # the steered axle; a constant where this is compiled into
        sin, cos = get(block, WorkRow.SIN_STEER, lane), get(block, WorkRow.COS_STEER, lane)
        push_left, push_right = fx_left * cos - fy_left * sin, fx_right * cos - fy_right * sin
        shove_left, shove_right = fy_left * cos + fx_left * sin, fy_right * cos + fx_right * sin
    else:
        push_left, push_right, shove_left, shove_right = fx_left, fx_right, fy_left, fy_right
    push, shove = push_left + push_right, shove_left + shove_right
    slope = get(block, AxleRow.LINK_DRIVE + axle, lane) if push > 0.0 else get(block, AxleRow.LINK_BRAKE + axle, lane)
    link = shove * get(block, AxleRow.LINK_SIDE + axle, lane)
    rise_left = get(block, WorkRow.SUSPENSION_FORCE + left, lane) + push_left * slope - link
    rise_right = get(block, WorkRow.SUSPENSION_FORCE + right, lane) + push_right * slope + link
    put(block, WorkRow.AXLE_FX + axle, lane, push)
    put(block, WorkRow.AXLE_FX_DIFFERENCE + axle, lane, push_right - push_left)
    put(block, WorkRow.AXLE_FY + axle, lane, shove)
    put(block, WorkRow.AXLE_LIFT + axle, lane, rise_left + rise_right)
    put(block, WorkRow.AXLE_LIFT_DIFFERENCE + axle, lane, rise_left - rise_right)
    down, agility = get(block, WorkRow.GRAVITY_STEP, lane), get(block, WorkRow.HOP_STEP_PER_FORCE + axle, lane)
    rate_left, rate_right = get(block, StateRow.HOP_RATE + left, lane), get(block, StateRow.HOP_RATE + right, lane)
    rate_left = (rate_left - down) + (get(block, StateRow.LOAD + left, lane) - rise_left) * agility
    rate_right = (rate_right - down) + (get(block, StateRow.LOAD + right, lane) - rise_right) * agility
    put(block, StateRow.HOP_RATE + left, lane, rate_left)
    put(block, StateRow.HOP_RATE + right, lane, rate_right)
    put(block, StateRow.HOP + left, lane, get(block, StateRow.HOP + left, lane) + dt * rate_left)
    put(block, StateRow.HOP + right, lane, get(block, StateRow.HOP + right, lane) + dt * rate_right)
