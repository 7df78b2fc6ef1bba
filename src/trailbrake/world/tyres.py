"""The tyres: their deflection, and the forces by it.

The tyre between rim and contact patch is a spring that stretches with the slip speed and lets go by rolling
(Pacejka, Tire and Vehicle Dynamics, 3rd ed. 2012, section 7.2.1, equations 7.7-7.9):

    d(stretch_x)/dt = (omega * r - Vx) - |Vx| * stretch_x / sigma_x,   slip ratio = stretch_x / sigma_x
    d(stretch_y)/dt = Vy               - |Vx| * stretch_y / sigma_y,   tan(slip angle) = stretch_y / sigma_y

At speed this is the usual first-order lag; at rest it is a spring, so a braked car stands still on a slope. Stretches
are kept over those of the peaks at nominal load: SLIP_X, SLIP_Y. Camber, toe and Ackermann's geometry act as
additional slip angles, found at the looks. The law is that of `trailbrake.cars.tyre`, the Magic Formula's
curve in the form of `trailbrake.cars.tyre_fit`.

Each function is for one wheel (`i`, on axle `a`). Rows that hold a substep's length or a look's grip already are made
in `actuate.py`.
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
MOST_HOLD = MOST_USE / (4.0 * BAND)  # share of torque left without slip, before it is held within 0..1


@inline
def stretch(block: Array, a: int, i: int, side: float, j: int) -> None:
    """Advance the stretch of the tyre by a step; leave the slips over those of the peaks in FX and FY.

    Explicit, stable up to dt = 2 sigma / |Vx|.
    """
    ahead = get(block, State.VX, j) - side * (get(block, State.YAW_RATE, j) * get(block, Axle.HALF_TRACK + a, j))
    aside = get(block, Work.ASIDE + a, j)
    if a == 0:  # the steered axle; a constant where this is compiled into
        sin, cos = get(block, Work.SIN, j), get(block, Work.COS, j)
        vx, vy = ahead * cos + aside * sin, aside * cos - ahead * sin
    else:
        vx, vy = ahead, aside
    vy -= vx * get(block, Work.TURNED + i, j)
    sliding = get(block, State.SPIN + i, j) * get(block, Axle.RADIUS + a, j) - vx
    speed = abs(vx)
    old_x, old_y = get(block, State.SLIP_X + i, j), get(block, State.SLIP_Y + i, j)
    change_x = sliding * get(block, Work.SLIP_STEP_X + a, j) - old_x * (speed * get(block, Work.FADE_X + a, j))
    change_y = vy * get(block, Work.SLIP_STEP_Y + a, j) - old_y * (speed * get(block, Work.FADE_Y + a, j))
    new_x, new_y = old_x + change_x, old_y + change_y
    put(block, State.SLIP_X + i, j, new_x)
    put(block, State.SLIP_Y + i, j, new_y)
    damping = get(block, Work.DAMPING, j)
    load = min(get(block, State.LOAD + i, j), get(block, Axle.LOAD_MOST + a, j))
    per_peak = get(block, Axle.PER_PEAK + a, j) + get(block, Axle.PER_PEAK_LOAD + a, j) * load
    camber = get(block, Work.CAMBER_SLIP + i, j)
    put(block, State.FX + i, j, (new_x + damping * change_x) * per_peak)
    put(block, State.FY + i, j, ((new_y + camber) + damping * change_y) * per_peak)


@inline
def friction(block: Array, a: int, i: int, j: int) -> None:
    """Turn the slips in FX and FY into forces there (N, in the wheel's axes); write SLIP and what ABS and TC leave.

    ABS and TC hold the longitudinal slip where the combined slip is at their target: what the lateral slip takes is
    not to be had, but a third always is, or a sliding car could not be slowed. TC acts in the direction of drive,
    ABS against it.
    """
    sx, sy = get(block, State.FX + i, j), get(block, State.FY + i, j)
    x2, y2 = sx * sx, sy * sy
    s2 = x2 + (y2 + LEAST_SLIP)
    s = math.sqrt(s2)
    put(block, State.SLIP + i, j, s)
    forward = get(block, State.RATIO, j) * sx > 0.0
    per_target = get(block, Param.PER_TC_SLIP2, j) if forward else get(block, Work.PER_ABS_SLIP2, j)
    room = max(MOST_HOLD - (MOST_USE * per_target) * y2, LEAST_ROOM * MOST_HOLD)
    hold = clamp(room - per_target * x2, 0.0, 1.0)
    put(block, Work.HOLD_DRIVE + i, j, hold if forward else 1.0)
    put(block, State.ABS + i, j, 1.0 if forward else hold)

    n0 = get(block, Axle.CURVE + a, j) + get(block, Axle.CURVE + 2 + a, j) * s
    n2 = get(block, Axle.CURVE + 4 + a, j) + get(block, Axle.CURVE + 6 + a, j) * s
    d0 = 1.0 + get(block, Axle.CURVE + 8 + a, j) * s
    d2 = get(block, Axle.CURVE + 10 + a, j) + get(block, Axle.CURVE + 12 + a, j) * s
    d2 = d2 + get(block, Axle.CURVE + 14 + a, j) * s2
    load = get(block, State.LOAD + i, j)
    share = (load * (n0 + n2 * s2)) / (d0 + d2 * s2)
    held = min(load, get(block, Axle.LOAD_MOST + a, j))
    mu_x = get(block, Work.MU_X + i, j) + get(block, Work.MU_X_LOAD + i, j) * held
    mu_y = get(block, Work.MU_Y + i, j) + get(block, Work.MU_Y_LOAD + i, j) * held
    put(block, State.FX + i, j, (mu_x * sx) * share)
    put(block, State.FY + i, j, (mu_y * sy) * share)
