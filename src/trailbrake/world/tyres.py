"""The tyres: their deflection, and the forces by it.

The tyre between rim and contact patch is a spring that stretches with the slip speed and lets go by rolling
(Pacejka, Tire and Vehicle Dynamics, 3rd ed. 2012, section 7.2.1, equations 7.7-7.9):

    d(stretch_x)/dt = (omega * r - Vx) - |Vx| * stretch_x / sigma_x,   slip ratio = stretch_x / sigma_x
    d(stretch_y)/dt = Vy               - |Vx| * stretch_y / sigma_y,   tan(slip angle) = stretch_y / sigma_y

At speed this is the usual first-order lag; at rest it is a spring, so a braked car stands still on a slope. Stretches
are kept over those of the peaks at nominal load: SLIP_X, SLIP_Y. Camber, toe and Ackermann's geometry act as
additional slip angles, computed in the outer step. The law is that of `trailbrake.cars.tyre`, the Magic Formula's
curve in the form of `trailbrake.cars.tyre_fit`.

Each function computes one wheel. `substep_inputs` writes the rows that contain the length of a substep or the grip of
the ground.
"""

import math

from trailbrake.cars.tyre import MIN_SQUARED_SLIP
from trailbrake.kernels import inline_jit
from trailbrake.kernels.lane_blocks import get, put
from trailbrake.kernels.maths import clamp
from trailbrake.world.row_layout import Array, AxleRow, ParamRow, StateRow, WorkRow

SLIP_BAND = 0.2  # of the target slip: ABS and TC go from full torque to none over target * (1 -+ BAND)
MAX_SLIP_USE = (1.0 + SLIP_BAND) * (1.0 + SLIP_BAND)
MIN_SLIP_ROOM = 0.111  # of the target squared: what ABS and TC leave to longitudinal slip in any slide
MAX_TORQUE_SHARE = MAX_SLIP_USE / (4.0 * SLIP_BAND)  # share of torque left without slip, before it is held within 0..1


@inline_jit
def advance_deflection(block: Array, axle: int, wheel: int, side: float, lane: int) -> None:
    """Advance the stretch of the tyre by a step; leave the slips over those of the peaks in FX and FY.

    Explicit, stable up to dt = 2 sigma / |Vx|.
    """
    ahead = get(block, StateRow.VX, lane) - side * (
        get(block, StateRow.YAW_RATE, lane) * get(block, AxleRow.HALF_TRACK + axle, lane)
    )
    aside = get(block, WorkRow.AXLE_VY + axle, lane)
    if axle == 0:  # the steered axle; a constant where this is compiled into
        sin, cos = get(block, WorkRow.SIN_STEER, lane), get(block, WorkRow.COS_STEER, lane)
        vx, vy = ahead * cos + aside * sin, aside * cos - ahead * sin
    else:
        vx, vy = ahead, aside
    vy -= vx * get(block, WorkRow.STEER_OFFSET + wheel, lane)
    sliding = get(block, StateRow.SPIN + wheel, lane) * get(block, AxleRow.RADIUS + axle, lane) - vx
    speed = abs(vx)
    old_x, old_y = get(block, StateRow.SLIP_X + wheel, lane), get(block, StateRow.SLIP_Y + wheel, lane)
    change_x = sliding * get(block, WorkRow.SLIP_STEP_X + axle, lane) - old_x * (
        speed * get(block, WorkRow.SLIP_DECAY_X + axle, lane)
    )
    change_y = vy * get(block, WorkRow.SLIP_STEP_Y + axle, lane) - old_y * (
        speed * get(block, WorkRow.SLIP_DECAY_Y + axle, lane)
    )
    new_x, new_y = old_x + change_x, old_y + change_y
    put(block, StateRow.SLIP_X + wheel, lane, new_x)
    put(block, StateRow.SLIP_Y + wheel, lane, new_y)
    damping = get(block, WorkRow.DEFLECTION_DAMPING, lane)
    load = min(get(block, StateRow.LOAD + wheel, lane), get(block, AxleRow.LOAD_MAX + axle, lane))
    per_peak = get(block, AxleRow.INVERSE_PEAK + axle, lane) + get(block, AxleRow.INVERSE_PEAK_LOAD + axle, lane) * load
    camber = get(block, WorkRow.CAMBER_SLIP + wheel, lane)
    put(block, StateRow.FX + wheel, lane, (new_x + damping * change_x) * per_peak)
    put(block, StateRow.FY + wheel, lane, ((new_y + camber) + damping * change_y) * per_peak)


@inline_jit
def compute_tyre_forces(block: Array, axle: int, wheel: int, lane: int) -> None:
    """Turn the slips in FX and FY into forces there (N, in the wheel's axes); write SLIP and what ABS and TC leave.

    ABS and TC hold the longitudinal slip where the combined slip is at their target. The lateral slip reduces what is
    left for it, but a third always remains, or a sliding car could not brake. TC acts in the direction of drive, ABS
    against it.
    """
    sx, sy = get(block, StateRow.FX + wheel, lane), get(block, StateRow.FY + wheel, lane)
    x2, y2 = sx * sx, sy * sy
    s2 = x2 + (y2 + MIN_SQUARED_SLIP)
    s = math.sqrt(s2)
    put(block, StateRow.SLIP + wheel, lane, s)
    forward = get(block, StateRow.RATIO, lane) * sx > 0.0
    per_target = get(block, ParamRow.INVERSE_TC_SLIP2, lane) if forward else get(block, WorkRow.INVERSE_ABS_SLIP2, lane)
    room = max(MAX_TORQUE_SHARE - (MAX_SLIP_USE * per_target) * y2, MIN_SLIP_ROOM * MAX_TORQUE_SHARE)
    hold = clamp(room - per_target * x2, 0.0, 1.0)
    put(block, WorkRow.TC_WHEEL_FACTOR + wheel, lane, hold if forward else 1.0)
    put(block, StateRow.ABS_FACTOR + wheel, lane, 1.0 if forward else hold)

    n0 = get(block, AxleRow.CURVE + axle, lane) + get(block, AxleRow.CURVE + 2 + axle, lane) * s
    n2 = get(block, AxleRow.CURVE + 4 + axle, lane) + get(block, AxleRow.CURVE + 6 + axle, lane) * s
    d0 = 1.0 + get(block, AxleRow.CURVE + 8 + axle, lane) * s
    d2 = get(block, AxleRow.CURVE + 10 + axle, lane) + get(block, AxleRow.CURVE + 12 + axle, lane) * s
    d2 = d2 + get(block, AxleRow.CURVE + 14 + axle, lane) * s2
    load = get(block, StateRow.LOAD + wheel, lane)
    share = (load * (n0 + n2 * s2)) / (d0 + d2 * s2)
    held = min(load, get(block, AxleRow.LOAD_MAX + axle, lane))
    mu_x = get(block, WorkRow.MU_X + wheel, lane) + get(block, WorkRow.MU_X_LOAD + wheel, lane) * held
    mu_y = get(block, WorkRow.MU_Y + wheel, lane) + get(block, WorkRow.MU_Y_LOAD + wheel, lane) * held
    put(block, StateRow.FX + wheel, lane, (mu_x * sx) * share)
    put(block, StateRow.FY + wheel, lane, (mu_y * sy) * share)
