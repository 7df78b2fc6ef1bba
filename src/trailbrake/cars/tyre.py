"""The one tyre law of the package. The planner uses these functions; the world the fit in `tyre_fit`, tested on them.

Combined slip by normalisation (Pacejka, Tire and Vehicle Dynamics, 3rd ed. 2012, section 4.2, "similarity
method"; the load-dependent peaks as in Perantoni and Limebeer, Vehicle System Dynamics 52:5, 2014, appendix):
slip ratio and tan(slip angle) are divided by the slips of their peaks, the length of that vector goes into one
Magic Formula curve, and the force points along the vector. So the limit of grip is exactly the ellipse
(Fx / mu_x)^2 + (Fy / mu_y)^2 = Fz^2, reached where the combined slip is 1.

Signs: slip ratio > 0 drives; slip angle > 0 means the contact patch moves to the left, which pushes the car to
the right (Fy < 0). Scalars only; all functions are smooth enough at slip 0 and safe at load <= 0.
"""

import math

from trailbrake.kernels import inline, jit
from trailbrake.kernels.maths import clamp

LEAST_SLIP = 1e-18  # added to the squared slip, so that its direction exists at 0
LEAST = 0.3  # mu and peak slip never leave [LEAST, 2 - LEAST] times nominal: linear laws end somewhere


@jit
def at_load(value: float, slope: float, load: float, nominal_load: float) -> float:
    """Return `value` at `load` (N), changing by `slope` per nominal load (N) away from it."""
    return value * clamp(1.0 + slope * (load / nominal_load - 1.0), LEAST, 2.0 - LEAST)


@inline
def curve(slip: float, b: float, c: float, e: float) -> float:
    """Return the Magic Formula sin(C atan(B s - E (B s - atan(B s)))) of slip >= 0: 0 at 0, 1 at 1."""
    x = b * slip
    return math.sin(c * math.atan(x - e * (x - math.atan(x))))


@jit
def combined(
    slip_ratio: float,
    tan_slip_angle: float,
    load: float,
    nominal_load: float,
    mu_x: float,
    mu_y: float,
    mu_x_load: float,
    mu_y_load: float,
    peak_slip_ratio: float,
    tan_peak_slip_angle: float,
    slip_load: float,
    b: float,
    c: float,
    e: float,
) -> tuple[float, float, float]:
    """Return (Fx, Fy, combined slip) of one tyre in its own axes.

    Args:
        slip_ratio: longitudinal slip, positive driving.
        tan_slip_angle: lateral over longitudinal speed of the wheel, positive moving left.
        load: vertical load (N); at or below 0 there is no force.
        nominal_load: N; this and the rest come from `CarParams.tyre_front.law()` or `.tyre_rear.law()`.
        mu_x: peak longitudinal friction at nominal load.
        mu_y: peak lateral friction at nominal load.
        mu_x_load: relative loss of mu_x per nominal load.
        mu_y_load: relative loss of mu_y per nominal load.
        peak_slip_ratio: slip ratio of peak force at nominal load.
        tan_peak_slip_angle: tan of the slip angle of peak force at nominal load.
        slip_load: relative growth of both per nominal load.
        b: Magic Formula stiffness B, `Tyre.stiffness`.
        c: Magic Formula shape C.
        e: Magic Formula curvature E.

    Returns:
        Fx (N, forward), Fy (N, left) and the slip over the slip of peak force (1 = at the peak).
    """
    fz = max(load, 0.0)
    per_peak = at_load(1.0, -slip_load, fz, nominal_load)
    sx = slip_ratio / peak_slip_ratio * per_peak
    sy = tan_slip_angle / tan_peak_slip_angle * per_peak
    slip = math.sqrt(sx * sx + sy * sy + LEAST_SLIP)
    share = curve(slip, b, c, e) * fz / slip
    fx = at_load(mu_x, -mu_x_load, fz, nominal_load) * share * sx
    fy = -at_load(mu_y, -mu_y_load, fz, nominal_load) * share * sy
    return fx, fy, slip
