"""Wheel loads, and the tyres' forces through relaxation in deflection form.

The tyre between rim and contact patch is a spring that stretches with the slip speed and lets go by rolling
(Pacejka, Tire and Vehicle Dynamics, 3rd ed. 2012, section 7.2.1, equations 7.7-7.9):

    d(stretch_x)/dt = (omega * r - Vx) - |Vx| * stretch_x / sigma_x,   slip ratio = stretch_x / sigma_x
    d(stretch_y)/dt = Vy               - |Vx| * stretch_y / sigma_y,   tan(slip angle) = stretch_y / sigma_y

At speed this is the usual first-order lag; at rest it is a spring, so a braked car stands still on a slope.
"""

import math

from trailbrake.cars.tyre import combined
from trailbrake.kernels import jit
from trailbrake.units import G
from trailbrake.world.layout import Array, Param, State, Wheel

DAMPING = 0.010  # s: stretch rate that counts as stretch at rest, so that a stopped car comes to rest (carcass damping)
DAMPED_BELOW = 8.0  # m/s: from there on rolling itself damps enough
HOLD_SPEED = 0.3  # m/s: below it a sliding tyre's stretch is taken back to the peak's, static friction


@jit
def loads(state: Array, params: Array) -> None:
    """Write LOAD of the four wheels: weight on the road, downforce, load transfer.

    Transfer is worked out from the lagged tyre forces: longitudinal by sum Fx * h / wheelbase; lateral per axle as
    elastic part (share of roll stiffness, arm from the roll axis) plus geometric part (axle force at its roll
    centre), Milliken and Milliken, Race Car Vehicle Dynamics, 1995, section 18.4. The wheels' sum is always the
    car's: a lifted wheel gives its load to the other one.
    """
    front = params[Param.CG_TO_FRONT]
    rear = params[Param.CG_TO_REAR]
    wheelbase = front + rear
    height = params[Param.CG_HEIGHT]
    v2 = state[State.VX] * state[State.VX] + state[State.VY] * state[State.VY]
    down = G * math.cos(state[State.PITCH]) * math.cos(state[State.ROLL]) + state[State.AZ]
    weight = params[Param.MASS] * max(down, 0.0)
    air_front = params[Param.LIFT_FRONT] * v2
    air_rear = params[Param.LIFT_REAR] * v2
    total = max(weight + air_front + air_rear, 0.0)
    axle = (weight * rear - state[State.TRANSFER_X] * height) / wheelbase + air_front
    axle_front = min(max(axle, 0.0), total)
    axle_rear = total - axle_front
    fy_front = state[State.TRANSFER_FRONT]
    fy_rear = state[State.TRANSFER_REAR]
    centre_front = params[Param.ROLL_CENTRE_FRONT]
    centre_rear = params[Param.ROLL_CENTRE_REAR]
    roll_axis = (centre_front * rear + centre_rear * front) / wheelbase
    moment = (fy_front + fy_rear) * (height - roll_axis)
    share = params[Param.ROLL_SHARE]
    # A force to the left rolls the body to the right and loads the right wheels.
    shift = 0.5 * (moment * share + fy_front * centre_front) / params[Param.HALF_TRACK_FRONT]
    shift = min(max(shift, -0.5 * axle_front), 0.5 * axle_front)
    state[State.LOAD] = 0.5 * axle_front - shift
    state[State.LOAD + 1] = 0.5 * axle_front + shift
    shift = 0.5 * (moment * (1.0 - share) + fy_rear * centre_rear) / params[Param.HALF_TRACK_REAR]
    shift = min(max(shift, -0.5 * axle_rear), 0.5 * axle_rear)
    state[State.LOAD + 2] = 0.5 * axle_rear - shift
    state[State.LOAD + 3] = 0.5 * axle_rear + shift


@jit
def wheel_place(params: Array, wheel: int) -> tuple[float, float]:
    """Return where wheel `wheel` touches the road: x (m, forward) and y (m, left) of the centre of mass."""
    if wheel < 2:
        x = params[Param.CG_TO_FRONT]
        y = params[Param.HALF_TRACK_FRONT]
    else:
        x = -params[Param.CG_TO_REAR]
        y = params[Param.HALF_TRACK_REAR]
    return x, (y if wheel % 2 == 0 else -y)


@jit
def forces(state: Array, params: Array, dt: float, sin_steer: float, cos_steer: float) -> None:
    """Advance the stretch of the four tyres by `dt` (s); write FX, FY (N, wheel axes) and SLIP.

    The rolling term is taken implicitly, so any speed is stable. A stretch beyond the peak is cut back at
    walking pace, since a sliding contact patch does not hold more stretch than its friction.
    """
    for wheel in range(4):
        p = Param.FRONT if wheel < 2 else Param.REAR
        x, y = wheel_place(params, wheel)
        vx = state[State.VX] - state[State.YAW_RATE] * y
        vy = state[State.VY] + state[State.YAW_RATE] * x
        if wheel < 2:
            vx, vy = vx * cos_steer + vy * sin_steer, vy * cos_steer - vx * sin_steer
        rolling = state[State.SPIN + wheel] * params[p + Wheel.RADIUS]
        sigma_x = params[p + Wheel.RELAXATION_X]
        sigma_y = params[p + Wheel.RELAXATION_Y]
        speed = abs(vx)
        old_x = state[State.STRETCH_X + wheel]
        old_y = state[State.STRETCH_Y + wheel]
        new_x = (old_x + dt * (rolling - vx)) / (1.0 + dt * speed / sigma_x)
        new_y = (old_y + dt * vy) / (1.0 + dt * speed / sigma_y)
        most = 1.0 + max(speed, abs(vy), abs(rolling)) / HOLD_SPEED
        slip = math.hypot(new_x / (sigma_x * params[p + Wheel.PEAK_X]), new_y / (sigma_y * params[p + Wheel.PEAK_Y]))
        if slip > most:
            new_x *= most / slip
            new_y *= most / slip
        state[State.STRETCH_X + wheel] = new_x
        state[State.STRETCH_Y + wheel] = new_y
        damping = DAMPING * max(0.0, 1.0 - speed / DAMPED_BELOW) / dt
        fx, fy, slip = combined(
            (new_x + damping * (new_x - old_x)) / sigma_x,
            (new_y + damping * (new_y - old_y)) / sigma_y,
            state[State.LOAD + wheel],
            params[p + Wheel.NOMINAL_LOAD],
            params[p + Wheel.MU_X],
            params[p + Wheel.MU_Y],
            params[p + Wheel.MU_X_LOAD],
            params[p + Wheel.MU_Y_LOAD],
            params[p + Wheel.PEAK_X],
            params[p + Wheel.PEAK_Y],
            params[p + Wheel.SLIP_LOAD],
            params[p + Wheel.B],
            params[p + Wheel.C],
            params[p + Wheel.E],
        )
        grip = state[State.GRIP + wheel]
        state[State.FX + wheel] = fx * grip
        state[State.FY + wheel] = fy * grip
        state[State.SLIP + wheel] = slip


@jit
def use_of_slip(state: Array, params: Array, wheel: int, target: float) -> float:
    """Return the longitudinal stretch over what `target` combined slip leaves room for; positive when driving.

    1 = at the target. What the lateral slip takes is not to be had, but a third always is, or a sliding car could
    not be slowed.
    """
    p = Param.FRONT if wheel < 2 else Param.REAR
    slip_x = state[State.STRETCH_X + wheel] / (params[p + Wheel.RELAXATION_X] * params[p + Wheel.PEAK_X])
    slip_y = state[State.STRETCH_Y + wheel] / (params[p + Wheel.RELAXATION_Y] * params[p + Wheel.PEAK_Y])
    room = max(target * target - slip_y * slip_y, 0.111 * target * target)
    use: float = slip_x / math.sqrt(room)
    return use
