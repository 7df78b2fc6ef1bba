"""The body: six degrees of freedom, three in the road's plane and heave, roll and pitch against it.

In body axes, with gravity's components and the load by the road's curvature from the outer step:

    m (dvx/dt - r vy) = sum Fx - drag + m gx,   m (dvy/dt + r vx) = sum Fy - drag + m gy,   Iz dr/dt = sum Mz,
    ms d2z/dt2 = sum (spring + link) - downforce - ms g,   Ix d2roll/dt2 = ...,   Iy d2pitch/dt2 = ...

(Milliken and Milliken, Race Car Vehicle Dynamics, 1995; Schramm, Hiller and Bardini, Vehicle Dynamics, 2nd ed. 2018,
chapter 11: spatial twin-track model; small angles of the body against the road.)
"""

from trailbrake.kernels import inline_jit
from trailbrake.kernels.lane_blocks import get, put
from trailbrake.kernels.maths import sincos_tiny
from trailbrake.world.row_layout import Array, AxleRow, ParamRow, StateRow, WorkRow


@inline_jit
def axle_downforce(block: Array, axle: int, lane: int, area: float, v2: float) -> float:
    """Return the downforce (N) on an axle at the squared speed `v2` (m^2/s^2), with the body's height over the axle."""
    above = get(block, WorkRow.AXLE_HEAVE + axle, lane)
    ride = 1.0 - above * (
        get(block, AxleRow.RIDE_GAIN + axle, lane) - above * get(block, AxleRow.RIDE_CURVE + axle, lane)
    )
    return area * v2 * max(ride, 0.0)


@inline_jit
def integrate_body(block: Array, lane: int, dt: float) -> None:
    """Advance the body by one substep of `dt` (s) under the forces of the corners, the air and gravity.

    Semi-implicit Euler: positions move with the new velocities.
    """
    x_front, x_rear = get(block, AxleRow.X, lane), get(block, AxleRow.X + 1, lane)
    y_front, y_rear = get(block, AxleRow.HALF_TRACK, lane), get(block, AxleRow.HALF_TRACK + 1, lane)
    rise_front, rise_rear = get(block, WorkRow.AXLE_LIFT, lane), get(block, WorkRow.AXLE_LIFT + 1, lane)
    shove_front, shove_rear = get(block, WorkRow.AXLE_FY, lane), get(block, WorkRow.AXLE_FY + 1, lane)
    push, shove = get(block, WorkRow.AXLE_FX, lane) + get(block, WorkRow.AXLE_FX + 1, lane), shove_front + shove_rear
    lift = y_front * get(block, WorkRow.AXLE_LIFT_DIFFERENCE, lane) + y_rear * get(
        block, WorkRow.AXLE_LIFT_DIFFERENCE + 1, lane
    )
    turn = y_front * get(block, WorkRow.AXLE_FX_DIFFERENCE, lane) + y_rear * get(
        block, WorkRow.AXLE_FX_DIFFERENCE + 1, lane
    )
    turn += x_front * shove_front + x_rear * shove_rear
    vx, vy = get(block, StateRow.VX, lane), get(block, StateRow.VY, lane)
    rate = get(block, StateRow.YAW_RATE, lane)
    v2 = vx * vx + vy * vy
    drag = get(block, WorkRow.DRAG, lane) + get(block, WorkRow.DRAG_SLOPE, lane) * v2
    air_front = axle_downforce(block, 0, lane, get(block, WorkRow.LIFT, lane), v2)
    air_rear = axle_downforce(block, 1, lane, get(block, WorkRow.LIFT + 1, lane), v2)
    per_mass, per_sprung = get(block, StateRow.INVERSE_MASS, lane), get(block, WorkRow.INVERSE_SPRUNG, lane)
    height = get(block, ParamRow.HEIGHT, lane)
    roll = get(block, StateRow.ROLL, lane)
    along = push - drag * vx
    ax = along * per_mass + get(block, StateRow.GRAVITY_X, lane)
    ay = (shove - drag * vy) * per_mass + get(block, StateRow.GRAVITY_Y, lane)
    az = (rise_front + rise_rear - air_front - air_rear) * per_sprung - get(block, StateRow.NORMAL_GRAVITY, lane)
    lean = get(block, WorkRow.ROLL_GRAVITY_STIFFNESS, lane) * roll  # a rolled body's weight hangs beside the roll axis
    # The wheels take their own weight to the road: what hangs on the springs has its centre elsewhere than the car.
    ahead = get(block, ParamRow.SPRUNG_AHEAD, lane) * get(block, StateRow.NORMAL_GRAVITY, lane)
    dive = x_front * (air_front - rise_front) + x_rear * (air_rear - rise_rear) + ahead
    dive -= height * along  # the axles' lift has the moment of the drag in it
    vx += dt * (ax + rate * vy)
    vy += dt * (ay - rate * vx)
    rate += dt * turn * get(block, ParamRow.INVERSE_YAW, lane)
    heave_rate = get(block, StateRow.HEAVE_RATE, lane) + dt * az
    tilt = (lift + height * shove + lean) * get(block, ParamRow.INVERSE_ROLL, lane)
    roll_rate = get(block, StateRow.ROLL_RATE, lane) + dt * tilt
    pitch_rate = get(block, StateRow.PITCH_RATE, lane) + dt * dive * get(block, ParamRow.INVERSE_PITCH, lane)
    put(block, StateRow.AX, lane, ax)
    put(block, StateRow.AY, lane, ay)
    put(block, StateRow.AZ, lane, az)
    put(block, StateRow.VX, lane, vx)
    put(block, StateRow.VY, lane, vy)
    put(block, StateRow.YAW_RATE, lane, rate)
    put(block, StateRow.HEAVE_RATE, lane, heave_rate)
    put(block, StateRow.ROLL_RATE, lane, roll_rate)
    put(block, StateRow.PITCH_RATE, lane, pitch_rate)
    put(block, StateRow.HEAVE, lane, get(block, StateRow.HEAVE, lane) + dt * heave_rate)
    put(block, StateRow.ROLL, lane, roll + dt * roll_rate)
    put(block, StateRow.PITCH, lane, get(block, StateRow.PITCH, lane) + dt * pitch_rate)

    # Seen from above. Euler angles from body rates: dyaw/dt = (r cos(roll) + q sin(roll)) / cos(pitch), ISO 8855.
    turned = get(block, WorkRow.DYAW, lane)
    turned += dt * (rate * get(block, StateRow.YAW_RATE_FACTOR, lane) + get(block, StateRow.ROAD_YAW_RATE, lane))
    sin, cos = sincos_tiny(turned)
    forward = vx * get(block, StateRow.FORWARD_PER_VX, lane) + vy * get(block, StateRow.FORWARD_PER_VY, lane)
    left = vy * get(block, StateRow.LEFT_PER_VY, lane)
    put(block, WorkRow.DYAW, lane, turned)
    put(block, WorkRow.DX, lane, get(block, WorkRow.DX, lane) + dt * (forward * cos - left * sin))
    put(block, WorkRow.DY, lane, get(block, WorkRow.DY, lane) + dt * (forward * sin + left * cos))
