"""The body: six degrees of freedom, three in the road's plane and heave, roll and pitch against it.

In body axes, with gravity's components and the load by the road's curvature found at the looks:

    m (dvx/dt - r vy) = sum Fx - drag + m gx,   m (dvy/dt + r vx) = sum Fy - drag + m gy,   Iz dr/dt = sum Mz,
    ms d2z/dt2 = sum (spring + link) - downforce - ms g,   Ix d2roll/dt2 = ...,   Iy d2pitch/dt2 = ...

(Milliken and Milliken, Race Car Vehicle Dynamics, 1995; Schramm, Hiller and Bardini, Vehicle Dynamics, 2nd ed. 2018,
chapter 11: spatial twin-track model; small angles of the body against the road.)
"""

from trailbrake.kernels import inline
from trailbrake.kernels.lanes import get, put
from trailbrake.kernels.maths import sincos_tiny
from trailbrake.world.layout import Array, Axle, Param, State, Work


@inline
def downforce(block: Array, a: int, j: int, area: float, v2: float) -> float:
    """Return the downforce (N) on axle `a` at `v2` (m^2/s^2), for how high the body stands there."""
    above = get(block, Work.ABOVE + a, j)
    ride = 1.0 - above * (get(block, Axle.RIDE_GAIN + a, j) - above * get(block, Axle.RIDE_CURVE + a, j))
    return area * v2 * max(ride, 0.0)


@inline
def body(block: Array, j: int, dt: float) -> None:
    """Advance lanes `first`..`last` - 1 by `dt` (s) under the corners' forces, the air and gravity.

    Semi-implicit: places move with the new velocities.
    """
    x_front, x_rear = get(block, Axle.X, j), get(block, Axle.X + 1, j)
    y_front, y_rear = get(block, Axle.HALF_TRACK, j), get(block, Axle.HALF_TRACK + 1, j)
    rise_front, rise_rear = get(block, Work.LIFTED, j), get(block, Work.LIFTED + 1, j)
    shove_front, shove_rear = get(block, Work.SHOVE, j), get(block, Work.SHOVE + 1, j)
    push, shove = get(block, Work.PUSH, j) + get(block, Work.PUSH + 1, j), shove_front + shove_rear
    lift = y_front * get(block, Work.TILT, j) + y_rear * get(block, Work.TILT + 1, j)
    turn = y_front * get(block, Work.TWIST, j) + y_rear * get(block, Work.TWIST + 1, j)
    turn += x_front * shove_front + x_rear * shove_rear
    vx, vy = get(block, State.VX, j), get(block, State.VY, j)
    rate = get(block, State.YAW_RATE, j)
    v2 = vx * vx + vy * vy
    drag = get(block, Work.DRAG, j) + get(block, Work.DRAG_SLOPE, j) * v2
    air_front = downforce(block, 0, j, get(block, Axle.LIFT, j), v2)
    air_rear = downforce(block, 1, j, get(block, Work.LIFT_REAR, j), v2)
    per_mass, per_sprung = get(block, State.INVERSE_MASS, j), get(block, Work.INVERSE_SPRUNG, j)
    height = get(block, Param.HEIGHT, j)
    roll = get(block, State.ROLL, j)
    along = push - drag * vx
    ax = along * per_mass + get(block, State.PULL_X, j)
    ay = (shove - drag * vy) * per_mass + get(block, State.PULL_Y, j)
    az = (rise_front + rise_rear - air_front - air_rear) * per_sprung - get(block, State.PRESS, j)
    lean = get(block, Work.LEAN_GAIN, j) * roll  # a rolled body's weight hangs beside the roll axis
    # The wheels take their own weight to the road: what hangs on the springs has its centre elsewhere than the car.
    ahead = get(block, Param.SPRUNG_AHEAD, j) * get(block, State.PRESS, j)
    dive = x_front * (air_front - rise_front) + x_rear * (air_rear - rise_rear) + ahead
    dive -= height * along  # the axles' lift has the moment of the drag in it
    vx += dt * (ax + rate * vy)
    vy += dt * (ay - rate * vx)
    rate += dt * turn * get(block, Param.INVERSE_YAW, j)
    heave_rate = get(block, State.HEAVE_RATE, j) + dt * az
    tilt = (lift + height * shove + lean) * get(block, Param.INVERSE_ROLL, j)
    roll_rate = get(block, State.ROLL_RATE, j) + dt * tilt
    pitch_rate = get(block, State.PITCH_RATE, j) + dt * dive * get(block, Param.INVERSE_PITCH, j)
    put(block, State.AX, j, ax)
    put(block, State.AY, j, ay)
    put(block, State.AZ, j, az)
    put(block, State.VX, j, vx)
    put(block, State.VY, j, vy)
    put(block, State.YAW_RATE, j, rate)
    put(block, State.HEAVE_RATE, j, heave_rate)
    put(block, State.ROLL_RATE, j, roll_rate)
    put(block, State.PITCH_RATE, j, pitch_rate)
    put(block, State.HEAVE, j, get(block, State.HEAVE, j) + dt * heave_rate)
    put(block, State.ROLL, j, roll + dt * roll_rate)
    put(block, State.PITCH, j, get(block, State.PITCH, j) + dt * pitch_rate)

    # Seen from above. Euler angles from body rates: dyaw/dt = (r cos(roll) + q sin(roll)) / cos(pitch), ISO 8855.
    turned = get(block, Work.DYAW, j)
    turned += dt * (rate * get(block, State.TURN, j) + get(block, State.TURN_ROAD, j))
    sin, cos = sincos_tiny(turned)
    forward = vx * get(block, State.FORWARD_X, j) + vy * get(block, State.FORWARD_Y, j)
    left = vy * get(block, State.LEFT_Y, j)
    put(block, Work.DYAW, j, turned)
    put(block, Work.DX, j, get(block, Work.DX, j) + dt * (forward * cos - left * sin))
    put(block, Work.DY, j, get(block, Work.DY, j) + dt * (forward * sin + left * cos))
