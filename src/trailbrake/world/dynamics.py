"""The body: a planar two-track car whose plane follows the road's surface.

Equations of motion in body axes (Milliken and Milliken, Race Car Vehicle Dynamics, 1995, chapter 5; Pacejka 2012,
section 1.3), with the gravity components of the surface and the load that its curvature makes:

    m (dvx/dt - r vy) = sum Fx + m gx,   m (dvy/dt + r vx) = sum Fy + m gy,   Iz dr/dt = sum Mz,
    az = p vy - q vx,

where p, q are the roll and pitch rates of the surface as the car moves over it.
"""

import math

from trailbrake.kernels import jit
from trailbrake.tracks.columns import Column
from trailbrake.tracks.frenet import locate, span
from trailbrake.units import G
from trailbrake.world.layout import Array, Param, State, Wheel
from trailbrake.world.tyres import wheel_place

MIN_SHRINK = 0.2  # of 1 - curvature * offset: nearer to the centre of a bend the road's frame has no meaning


@jit
def beside(state: Array, x: float, y: float) -> tuple[float, float]:
    """Return how far along the road (m of centreline) and how far left of it a point of the car is.

    The road is taken as the circle that it follows at the car: good to a centimetre within a car's length.

    Args:
        state: the car's column, HEADING, CURVATURE and OFFSET known.
        x: m ahead of the centre of mass.
        y: m left of it.
    """
    ct = math.cos(state[State.HEADING])
    st = math.sin(state[State.HEADING])
    curvature = state[State.CURVATURE]
    shrink = max(1.0 - curvature * state[State.OFFSET], MIN_SHRINK)
    along = x * ct - y * st
    aside = x * st + y * ct
    return along / shrink, state[State.OFFSET] + aside - 0.5 * curvature * along * along / shrink


@jit
def ground(
    state: Array, params: Array, table: Array, spacing: float, closed: bool, off_grip: float, off_soft: float
) -> None:
    """Find the car on the road; write where it is, how the surface lies and turns there, and what its wheels meet.

    The surface at s, o is z(s) + o * tan(bank(s)). With t along the road and n to its left, the surface's normal is
    along (-climb, -tan(bank), 1) in (t, n, up); its rate of turn, from the road's own grade, bank and curvature,
    is the body's roll and pitch rate (ISO 8855 signs).
    """
    s, offset, row = locate(table, spacing, closed, state[State.X], state[State.Y], int(state[State.ROW]))
    i, j, u = span(table, spacing, closed, s)
    curvature = table[i, Column.CURVATURE] + u * (table[j, Column.CURVATURE] - table[i, Column.CURVATURE])
    d_grade = (table[j, Column.GRADE] - table[i, Column.GRADE]) / spacing
    d_bank = (table[j, Column.BANK] - table[i, Column.BANK]) / spacing
    grade = table[i, Column.GRADE] + u * spacing * d_grade
    tan_bank = math.tan(table[i, Column.BANK] + u * spacing * d_bank)
    z = table[i, Column.Z] + u * (table[j, Column.Z] - table[i, Column.Z])
    if not closed:
        beyond = min(s, 0.0) + max(s - (table.shape[0] - 1) * spacing, 0.0)
        if beyond != 0.0:  # the road goes on straight
            curvature = d_grade = d_bank = 0.0
            z += beyond * grade
    shrink = max(1.0 - curvature * offset, MIN_SHRINK)
    d_tan_bank = d_bank * (1.0 + tan_bank * tan_bank)
    climb = (grade + offset * d_tan_bank) / shrink
    turn = table[j, Column.YAW] - table[i, Column.YAW]
    turn -= 2.0 * math.pi * math.floor(turn / (2.0 * math.pi) + 0.5)
    heading = state[State.YAW] - table[i, Column.YAW] - u * turn
    ct = math.cos(heading)
    st = math.sin(heading)
    slope_x = climb * ct + tan_bank * st
    slope_y = tan_bank * ct - climb * st
    norm = math.sqrt(1.0 + slope_x * slope_x + slope_y * slope_y)
    pitch = -math.atan(slope_x)
    sr = slope_y / norm
    cr = math.sqrt(1.0 - sr * sr)
    cp = math.cos(pitch)
    sp = math.sin(pitch)
    vx = state[State.VX]
    vy = state[State.VY]
    forward = vx * cp + vy * sp * sr
    left = vy * cr
    s_rate = (forward * ct - left * st) / shrink
    offset_rate = forward * st + left * ct
    normal_t = -(d_grade * s_rate / shrink + d_tan_bank * offset_rate) + tan_bank * curvature * s_rate
    normal_n = -d_tan_bank * s_rate - climb * curvature * s_rate
    normal_x = (normal_t * ct + normal_n * st) / norm
    normal_y = (normal_n * ct - normal_t * st) / norm
    pitch_rate = normal_x * cp
    roll_rate = -(normal_x * sp * sr + normal_y * cr)
    state[State.HEADING] = heading
    state[State.CURVATURE] = curvature
    state[State.S] = s
    state[State.OFFSET] = offset
    state[State.ROW] = row
    state[State.Z] = z + offset * tan_bank
    state[State.PITCH] = pitch
    state[State.ROLL] = math.asin(sr)
    state[State.ROLL_RATE] = roll_rate
    state[State.PITCH_RATE] = pitch_rate
    state[State.AZ] = roll_rate * vy - pitch_rate * vx
    grip = table[i, Column.GRIP] + u * (table[j, Column.GRIP] - table[i, Column.GRIP])
    for wheel in range(4):
        x, y = wheel_place(params, wheel)
        along, aside = beside(state, x, y)
        side = Column.WIDTH_LEFT if aside > 0.0 else Column.WIDTH_RIGHT
        edge = table[i, side] + (u + along / spacing) * (table[j, side] - table[i, side])
        on_track = abs(aside) <= edge
        state[State.ON_TRACK + wheel] = 1.0 if on_track else 0.0
        state[State.GRIP + wheel] = grip if on_track else off_grip
        state[State.SOFT + wheel] = 0.0 if on_track else off_soft


@jit
def body(state: Array, params: Array, dt: float, sin_steer: float, cos_steer: float) -> None:
    """Advance velocity and pose by `dt` (s) under the tyres' forces, air drag and gravity.

    Semi-implicit: the pose moves with the new velocity. Also turns back the wheels' spins by the tyres' forces,
    and lets the load transfer follow the tyre forces with its lag.
    """
    fx = 0.0
    fy_front = 0.0
    fy_rear = 0.0
    moment = 0.0
    for wheel in range(4):
        p = Param.FRONT if wheel < 2 else Param.REAR
        wx = state[State.FX + wheel]
        wy = state[State.FY + wheel]
        state[State.SPIN + wheel] -= dt * wx * params[p + Wheel.RADIUS] / params[p + Wheel.INERTIA]
        if wheel < 2:
            wx, wy = wx * cos_steer - wy * sin_steer, wy * cos_steer + wx * sin_steer
            fy_front += wy
        else:
            fy_rear += wy
        fx += wx
        x, y = wheel_place(params, wheel)
        moment += x * wy - y * wx
    mass = params[Param.MASS]
    vx = state[State.VX]
    vy = state[State.VY]
    rate = state[State.YAW_RATE]
    sp = math.sin(state[State.PITCH])
    cp = math.cos(state[State.PITCH])
    sr = math.sin(state[State.ROLL])
    cr = math.cos(state[State.ROLL])
    drag = params[Param.DRAG] * math.sqrt(vx * vx + vy * vy)
    ax = (fx - drag * vx) / mass + G * sp
    ay = (fy_front + fy_rear - drag * vy) / mass - G * cp * sr
    vx += dt * (ax + rate * vy)
    vy += dt * (ay - rate * vx)
    rate += dt * moment / params[Param.YAW_INERTIA]
    lag = dt / (params[Param.TRANSFER_LAG] + dt)
    state[State.TRANSFER_X] += lag * (fx - state[State.TRANSFER_X])
    state[State.TRANSFER_FRONT] += lag * (fy_front - state[State.TRANSFER_FRONT])
    state[State.TRANSFER_REAR] += lag * (fy_rear - state[State.TRANSFER_REAR])
    state[State.AX] = ax
    state[State.AY] = ay
    state[State.VX] = vx
    state[State.VY] = vy
    state[State.YAW_RATE] = rate
    # Euler angles from body rates: dyaw/dt = (r cos(roll) + q sin(roll)) / cos(pitch), ISO 8855.
    yaw = state[State.YAW] + dt * (rate * cr + state[State.PITCH_RATE] * sr) / cp
    cy = math.cos(yaw)
    sy = math.sin(yaw)
    forward = vx * cp + vy * sp * sr
    left = vy * cr
    state[State.X] += dt * (forward * cy - left * sy)
    state[State.Y] += dt * (forward * sy + left * cy)
    state[State.YAW] = yaw - 2.0 * math.pi * math.floor(yaw / (2.0 * math.pi) + 0.5)
