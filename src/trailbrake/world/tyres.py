"""The tyres: their deflection, and the forces by it.

The tyre between rim and contact patch is a spring that stretches with the slip speed and lets go by rolling
(Pacejka, Tire and Vehicle Dynamics, 3rd ed. 2012, section 7.2.1, equations 7.7-7.9):

    d(stretch_x)/dt = (omega * r - Vx) - |Vx| * stretch_x / sigma_x,   slip ratio = stretch_x / sigma_x
    d(stretch_y)/dt = Vy               - |Vx| * stretch_y / sigma_y,   tan(slip angle) = stretch_y / sigma_y

At speed this is the usual first-order lag; at rest it is a spring, so a braked car stands still on a slope. Stretches
are kept over those of the peaks at nominal load: SLIP_X, SLIP_Y. Camber, toe and Ackermann's geometry act as
additional slip angles, found at the looks. The law is that of `trailbrake.cars.tyre`, the Magic Formula's
curve in the form of `trailbrake.cars.tyre_fit`.

Each function is a loop over the lanes of one wheel (`i`, on axle `a`) with a large body, or the compiler would unroll
it and find no vectors; there are several, because a processor looks ahead over a few hundred operations only, and a
single loop through all of this would be one long chain of operations that wait for each other.
"""

import math

from trailbrake.cars.tyre import LEAST_SLIP
from trailbrake.kernels import inline
from trailbrake.kernels.lanes import get, put
from trailbrake.kernels.maths import clamp
from trailbrake.world.layout import Array, Axle, Param, State, Work

BAND = 0.2  # of the target slip: ABS and TC go from full torque to none over target * (1 -+ BAND)
MOST_USE = (1.0 + BAND) * (1.0 + BAND)
LEAST_ROOM = 0.111  # of the target squared: what ABS and TC leave to longitudinal slip in any slide


@inline
def stretch(block: Array, a: int, i: int, side: float, j: int, dt: float, per_dt: float) -> None:
    """Advance the stretch of the tyre by `dt` (s); leave the slips over those of the peaks in FX and FY.

    Explicit, stable up to dt = 2 sigma / |Vx|.
    """
    ahead = get(block, State.VX, j) - side * get(block, State.YAW_RATE, j) * get(block, Axle.HALF_TRACK + a, j)
    aside = get(block, Work.ASIDE + a, j)
    if a == 0:  # the steered axle; a constant where this is compiled into
        sin, cos = get(block, Work.SIN, j), get(block, Work.COS, j)
        vx, vy = ahead * cos + aside * sin, aside * cos - ahead * sin
    else:
        vx, vy = ahead, aside
    vy -= vx * get(block, Work.TURNED + i, j)
    rolling = get(block, State.SPIN + i, j) * get(block, Axle.RADIUS + a, j)
    away = dt * abs(vx)
    old_x, old_y = get(block, State.SLIP_X + i, j), get(block, State.SLIP_Y + i, j)
    new_x = (dt * (rolling - vx)) * get(block, Axle.PER_SLIP_X + a, j)
    new_y = (dt * vy) * get(block, Axle.PER_SLIP_Y + a, j)
    new_x += old_x - old_x * (away * get(block, Axle.PER_SIGMA_X + a, j))
    new_y += old_y - old_y * (away * get(block, Axle.PER_SIGMA_Y + a, j))
    put(block, State.SLIP_X + i, j, new_x)
    put(block, State.SLIP_Y + i, j, new_y)
    damping = get(block, Work.DAMPING, j) * per_dt
    load = min(get(block, State.LOAD + i, j), get(block, Axle.LOAD_MOST + a, j))
    per_peak = get(block, Axle.PER_PEAK + a, j) + get(block, Axle.PER_PEAK_LOAD + a, j) * load
    camber = get(block, Work.CAMBER_SLIP + i, j)
    put(block, State.FX + i, j, (new_x + damping * (new_x - old_x)) * per_peak)
    put(block, State.FY + i, j, (new_y + damping * (new_y - old_y) + camber) * per_peak)


@inline
def friction(block: Array, a: int, i: int, j: int) -> None:
    """Turn the slips in FX and FY into forces there (N, in the wheel's axes); write SLIP and what ABS and TC leave.

    ABS and TC hold the longitudinal slip where the combined slip is at their target: what the lateral slip takes is
    not to be had, but a third always is, or a sliding car could not be slowed. TC acts in the direction of drive,
    ABS against it.
    """
    sx, sy = get(block, State.FX + i, j), get(block, State.FY + i, j)
    x2, y2 = sx * sx, sy * sy
    slip = math.sqrt(x2 + y2 + LEAST_SLIP)
    put(block, State.SLIP + i, j, slip)
    driving, braking = get(block, Param.TC_SLIP2, j), get(block, Work.ABS_SLIP2, j)
    per_driving, per_braking = get(block, Param.PER_TC_SLIP2, j), get(block, Work.PER_ABS_SLIP2, j)
    forward = get(block, State.RATIO, j) * sx > 0.0
    target = driving if forward else braking
    per_target = per_driving if forward else per_braking
    room = max(target - y2, LEAST_ROOM * target)
    hold = clamp((MOST_USE * room - x2) * per_target, 0.0, 1.0)
    put(block, Work.HOLD_DRIVE + i, j, hold if forward else 1.0)
    put(block, State.ABS + i, j, 1.0 if forward else hold)

    at = get(block, Axle.CURVE_AT + a, j)
    part = 1.0 / (slip + at)
    w = 1.0 - 2.0 * at * part
    w2 = w * w
    w4 = w2 * w2
    c0 = get(block, Axle.CURVE + a, j) + get(block, Axle.CURVE + 2 + a, j) * w
    c2 = get(block, Axle.CURVE + 4 + a, j) + get(block, Axle.CURVE + 6 + a, j) * w
    c4 = get(block, Axle.CURVE + 8 + a, j) + get(block, Axle.CURVE + 10 + a, j) * w
    c6 = get(block, Axle.CURVE + 12 + a, j) + get(block, Axle.CURVE + 14 + a, j) * w
    c8 = get(block, Axle.CURVE + 16 + a, j) + get(block, Axle.CURVE + 18 + a, j) * w
    c10 = get(block, Axle.CURVE + 20 + a, j) + get(block, Axle.CURVE + 22 + a, j) * w
    curve = (c0 + c2 * w2) + w4 * ((c4 + c6 * w2) + w4 * (c8 + c10 * w2))
    load = get(block, State.LOAD + i, j)
    share = curve * part * load
    held = min(load, get(block, Axle.LOAD_MOST + a, j))
    mu_x = get(block, Axle.MU_X + a, j) + get(block, Axle.MU_X_LOAD + a, j) * held
    mu_y = get(block, Axle.MU_Y + a, j) + get(block, Axle.MU_Y_LOAD + a, j) * held
    put(block, State.FX + i, j, (mu_x * share) * (get(block, State.GRIP + i, j) * sx))
    put(block, State.FY + i, j, (mu_y * share) * (-get(block, Work.GRIP_Y + i, j) * sy))
