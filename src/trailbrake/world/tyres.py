"""The tyres: their deflection, and the forces by it.

The tyre between rim and contact patch is a spring that stretches with the slip speed and lets go by rolling
(Pacejka, Tire and Vehicle Dynamics, 3rd ed. 2012, section 7.2.1, equations 7.7-7.9):

    d(stretch_x)/dt = (omega * r - Vx) - |Vx| * stretch_x / sigma_x,   slip ratio = stretch_x / sigma_x
    d(stretch_y)/dt = Vy               - |Vx| * stretch_y / sigma_y,   tan(slip angle) = stretch_y / sigma_y

At speed this is the usual first-order lag; at rest it is a spring, so a braked car stands still on a slope. Camber
acts as an additional slip angle (ibid., section 4.3.6) and takes grip away with its square. The law is that of
`trailbrake.cars.tyre`.

Each function is a loop over the lanes of one wheel (`i`, on axle `a`) with a large body, or the compiler would unroll
it and find no vectors; there are several, because a processor looks ahead over a few hundred operations only, and a
single loop through all of this would be one long chain of operations that wait for each other.
"""

import math

from trailbrake.cars.tyre import LEAST_SLIP, bent
from trailbrake.kernels import inline
from trailbrake.kernels.lanes import get, put
from trailbrake.kernels.maths import atan_positive, clamp, sin_to_pi
from trailbrake.world.layout import Array, Axle, Param, State

DAMPING = 0.010  # s: stretch rate that counts as stretch at rest, so that a stopped car comes to rest (carcass damping)
PER_DAMPED_SPEED = 1.0 / 8.0  # s/m: from 8 m/s on rolling itself damps enough
PER_HOLD_SPEED = 1.0 / 0.3  # s/m: below it a sliding tyre's stretch is taken back to the peak's, static friction
BAND = 0.2  # of the target slip: ABS and TC go from full torque to none over target * (1 -+ BAND)
MOST_USE = (1.0 + BAND) * (1.0 + BAND)
PER_BAND = 1.0 / (4.0 * BAND)  # (1 + BAND)^2 - (1 - BAND)^2 = 4 BAND
LEAST_ROOM = 0.111  # of the target squared: what ABS and TC leave to longitudinal slip in any slide


@inline
def stretch(block: Array, a: int, i: int, side: float, first: int, last: int, dt: float, per_dt: float) -> None:
    """Advance the stretch of the tyre by `dt` (s); leave the slips over those of the peaks in FX and FY.

    The rolling term is taken implicitly, so any speed is stable. Stretch beyond the peak is cut back at walking
    pace, since a sliding contact patch does not hold more stretch than its friction.
    """
    for j in range(first, last):
        turned = side * get(block, State.INWARD + a, j)
        sin, cos = get(block, State.SIN + a, j), get(block, State.COS + a, j)
        sin, cos = sin + turned * cos, cos - turned * sin
        put(block, State.PUSH + i, j, sin)
        put(block, State.SHOVE + i, j, cos)
        rate = get(block, State.YAW_RATE, j)
        ahead = get(block, State.VX, j) - side * rate * get(block, Axle.HALF_TRACK + a, j)
        aside = get(block, State.VY, j) + rate * get(block, Axle.X + a, j)
        vx, vy = ahead * cos + aside * sin, aside * cos - ahead * sin

        load = min(get(block, State.LOAD + i, j), get(block, Axle.LOAD_MOST + a, j))
        peak = get(block, Axle.PEAK + a, j) + get(block, Axle.PEAK_LOAD + a, j) * load
        rolling = get(block, State.SPIN + i, j) * get(block, Axle.RADIUS + a, j)
        sigma_x, sigma_y = get(block, Axle.SIGMA_X + a, j), get(block, Axle.SIGMA_Y + a, j)
        old_x, old_y = get(block, State.STRETCH_X + i, j), get(block, State.STRETCH_Y + i, j)
        # (old + dt * speed of slip) / (1 + dt |vx| / sigma) and the slips over the peaks': one division for all.
        speed = abs(vx)
        into_x, into_y = sigma_x + dt * speed, sigma_y + dt * speed
        both = into_x * into_y
        per_all = 1.0 / (both * peak)
        per_peak = both * per_all
        per_both = peak * per_all
        new_x = (old_x + dt * (rolling - vx)) * (sigma_x * into_y) * per_both
        new_y = (old_y + dt * vy) * (sigma_y * into_x) * per_both
        most_x, most_y = get(block, Axle.HOLD_X + a, j), get(block, Axle.HOLD_Y + a, j)
        most = 1.0 + max(max(speed, abs(vy)), abs(rolling)) * PER_HOLD_SPEED
        new_x = clamp(new_x, -most * most_x, most * most_x)
        new_y = clamp(new_y, -most * most_y, most * most_y)
        put(block, State.STRETCH_X + i, j, new_x)
        put(block, State.STRETCH_Y + i, j, new_y)
        damping = DAMPING * per_dt * max(0.0, 1.0 - speed * PER_DAMPED_SPEED)
        camber = get(block, Axle.CAMBER_SLIP + a, j) * get(block, State.LEAN + i, j)
        sx = (new_x + damping * (new_x - old_x)) * get(block, Axle.PER_SLIP_X + a, j)
        sy = (new_y + damping * (new_y - old_y)) * get(block, Axle.PER_SLIP_Y + a, j) + camber
        put(block, State.FX + i, j, sx * per_peak)
        put(block, State.FY + i, j, sy * per_peak)


@inline
def friction(block: Array, a: int, i: int, first: int, last: int) -> None:
    """Turn the slips in FX and FY into forces there (N, in the wheel's axes); write SLIP and what ABS and TC leave.

    ABS and TC hold the longitudinal slip where the combined slip is at their target: what the lateral slip takes is
    not to be had, but a third always is, or a sliding car could not be slowed. TC acts in the direction of drive,
    ABS against it.
    """
    for j in range(first, last):
        sx, sy = get(block, State.FX + i, j), get(block, State.FY + i, j)
        x2, y2 = sx * sx, sy * sy
        slip = math.sqrt(x2 + y2 + LEAST_SLIP)
        driving, braking = get(block, Param.TC_SLIP2, j), get(block, Param.ABS_SLIP2, j)
        per_driving, per_braking = get(block, Param.PER_TC_SLIP2, j), get(block, Param.PER_ABS_SLIP2, j)
        forward = get(block, State.RATIO, j) * sx > 0.0
        target = driving if forward else braking
        per_target = per_driving if forward else per_braking
        room = max(target - y2, LEAST_ROOM * target)
        hold = clamp((MOST_USE * room - x2) * (PER_BAND * per_target), 0.0, 1.0)
        put(block, State.HOLD_DRIVE + i, j, hold if forward else 1.0)
        put(block, State.HOLD_BRAKE + i, j, 1.0 if forward else hold)

        load, lean = get(block, State.LOAD + i, j), get(block, State.LEAN + i, j)
        angle = atan_positive(bent(slip, get(block, Axle.B + a, j), get(block, Axle.E + a, j)))
        share = sin_to_pi(get(block, Axle.C + a, j) * angle) * load * get(block, State.GRIP + i, j) / slip
        held = min(load, get(block, Axle.LOAD_MOST + a, j))
        mu_x = get(block, Axle.MU_X + a, j) + get(block, Axle.MU_X_LOAD + a, j) * held
        mu_y = get(block, Axle.MU_Y + a, j) + get(block, Axle.MU_Y_LOAD + a, j) * held
        upright = get(block, Axle.CAMBER_LOSS + a, j) * (lean * lean) - 1.0
        put(block, State.FX + i, j, mu_x * share * sx)
        put(block, State.FY + i, j, mu_y * share * upright * sy)
        put(block, State.SLIP + i, j, slip)
