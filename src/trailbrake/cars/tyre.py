"""The tyre law of the package. The planner uses these functions; the world uses the fit in `tyre_fit`.

Combined slip by normalisation (Pacejka, Tire and Vehicle Dynamics, 3rd ed. 2012, section 4.2, "similarity
method"; the load-dependent peaks as in Perantoni and Limebeer, Vehicle System Dynamics 52:5, 2014, appendix):
slip ratio and tan(slip angle) are divided by the slips of their peaks, the length of that vector goes into one
Magic Formula curve, and the force points along the vector. So the limit of grip is exactly the ellipse
(Fx / mu_x)^2 + (Fy / mu_y)^2 = Fz^2, reached where the combined slip is 1.

Signs: slip ratio > 0 drives; slip angle > 0 means that the contact patch moves to the left, which pushes the car to
the right (Fy < 0). The functions take scalars, are smooth at slip 0 and valid at load <= 0.
"""

import math

from trailbrake.cars.tyre_params import TyreLaw
from trailbrake.kernels import inline_jit, jit
from trailbrake.kernels.maths import clamp

MIN_SQUARED_SLIP = 1e-18  # added to the squared slip, so that its direction exists at 0
MIN_LOAD_FACTOR = 0.3  # linear laws of load hold between this factor and 2 - this factor


@jit
def value_at_load(value: float, slope: float, load: float, nominal_load: float) -> float:
    """Return `value` at `load` (N): it changes by the factor `slope` per nominal load (N) above nominal."""
    return value * clamp(1.0 + slope * (load / nominal_load - 1.0), MIN_LOAD_FACTOR, 2.0 - MIN_LOAD_FACTOR)


@inline_jit
def magic_formula(slip: float, b: float, c: float, e: float) -> float:
    """Return the normalised Magic Formula sin(C atan(B s - E (B s - atan(B s)))) of slip >= 0: 0 at 0, 1 at 1."""
    x = b * slip
    return math.sin(c * math.atan(x - e * (x - math.atan(x))))


@jit
def combined_slip_force(
    slip_ratio: float, tan_slip_angle: float, load: float, law: TyreLaw
) -> tuple[float, float, float]:
    """Return (Fx, Fy, combined slip) of one tyre in its own axes.

    Args:
        slip_ratio: longitudinal slip, positive driving.
        tan_slip_angle: lateral over longitudinal speed of the wheel, positive moving left.
        load: vertical load (N); at or below 0 there is no force.
        law: of the tyre.

    Returns:
        Fx (N, forward), Fy (N, left) and the slip over the slip of peak force (1 = at the peak).
    """
    nominal_load, mu_x, mu_y, mu_x_load, mu_y_load, peak_slip_ratio, tan_peak_slip_angle, slip_load, b, c, e = law
    fz = max(load, 0.0)
    per_peak = value_at_load(1.0, -slip_load, fz, nominal_load)
    sx = slip_ratio / peak_slip_ratio * per_peak
    sy = tan_slip_angle / tan_peak_slip_angle * per_peak
    slip = math.sqrt(sx * sx + sy * sy + MIN_SQUARED_SLIP)
    share = magic_formula(slip, b, c, e) * fz / slip
    fx = value_at_load(mu_x, -mu_x_load, fz, nominal_load) * share * sx
    fy = -value_at_load(mu_y, -mu_y_load, fz, nominal_load) * share * sy
    return fx, fy, slip
