"""An axle of the planner's quasi-steady car: its loads, the most that its tyres give, and the slip angle they need.

Two-track model on a level road: wheel loads from weight, downforce and load transfer; forces by the one tyre law
(`cars/tyre.py`). After Milliken and Milliken, Race Car Vehicle Dynamics (1995), chapters 7 and 18.
"""

import math

from trailbrake.cars.params import CarParams
from trailbrake.cars.tyre import at_load, combined
from trailbrake.kernels import jit
from trailbrake.units import G

Law = tuple[float, ...]  # `Tyre.law()`
Frame = tuple[float, ...]  # `frame()`
Four = tuple[float, float, float, float]

MOST_SLIP = 1.2  # over the slip of the peak at nominal load: beyond it an axle is not asked to go


def frame(car: CarParams) -> Frame:
    """Return what `loads` needs of a car: mass (kg), lengths (m), shares, downforce over speed squared (N s^2/m^2)."""
    body, half = car.body, 0.5 * car.aero.air_density
    return (
        body.mass, body.cg_height, body.wheelbase, body.cg_to_front, body.track_front, body.track_rear,
        car.roll_stiffness_front_share, car.suspension_front.roll_centre, car.suspension_rear.roll_centre,
        half * car.aero.lift_area_front, half * car.aero.lift_area_rear,
    )  # fmt: skip


@jit
def loads(ax: float, ay: float, v: float, car: tuple[float, ...]) -> Four:
    """Return the loads (N) FL, FR, RL, RR at body accelerations ax, ay (m/s^2, ay > 0: left bend) and speed v."""
    mass, height, base, to_front, track_f, track_r, roll_front, centre_f, centre_r, lift_f, lift_r = car[:11]
    to_rear = base - to_front
    pressure = v * v
    pitch = mass * ax * height / base
    front = mass * G * to_rear / base + lift_f * pressure - pitch
    rear = mass * G * to_front / base + lift_r * pressure + pitch
    arm = height - (centre_f * to_rear + centre_r * to_front) / base
    side_f = mass * ay * (to_rear / base * centre_f + roll_front * arm) / track_f
    side_r = mass * ay * (to_front / base * centre_r + (1.0 - roll_front) * arm) / track_r
    return (
        max(0.5 * front - side_f, 0.0),
        max(0.5 * front + side_f, 0.0),
        max(0.5 * rear - side_r, 0.0),
        max(0.5 * rear + side_r, 0.0),
    )


@jit
def friction(load: float, law: Law) -> tuple[float, float]:
    """Return the largest longitudinal and lateral force (N) of a tyre at `load`."""
    return at_load(law[1], -law[3], load, law[0]) * load, at_load(law[2], -law[4], load, law[0]) * load


@jit
def most_lateral(inner: float, outer: float, fx: float, law: Law) -> float:
    """Return the largest lateral force (N) of an axle that also carries the longitudinal force fx (N)."""
    ix, iy = friction(inner, law)
    ox, oy = friction(outer, law)
    used = min(abs(fx) / max(ix + ox, 1.0), 1.0)
    return (iy + oy) * math.sqrt(1.0 - used * used)


@jit
def most_longitudinal(inner: float, outer: float, fy: float, law: Law, open_differential: bool) -> float:
    """Return the largest longitudinal force (N) of an axle that also carries the lateral force fy (N)."""
    ix, iy = friction(inner, law)
    ox, oy = friction(outer, law)
    used = min(abs(fy) / max(iy + oy, 1.0), 1.0)
    total = 2.0 * min(ix, ox) if open_differential else ix + ox
    return total * math.sqrt(1.0 - used * used)


@jit
def slip_angle(inner: float, outer: float, force: float, fx: float, law: Law) -> float:
    """Return the slip angle (rad, size) at which an axle gives the lateral `force` (N) beside the longitudinal fx (N).

    The slip points where the force does, both over their peaks, as the tyre law has it: so what is asked along the
    wheels makes them slide more across, too. The size of the slip is bisected.
    """
    ix, iy = friction(inner, law)
    ox, oy = friction(outer, law)
    along, across = abs(fx) / max(ix + ox, 1.0), force / max(iy + oy, 1.0)
    whole = math.sqrt(along * along + across * across)
    if whole < 1e-9:
        return 0.0
    ratio, tangent = along / whole * law[5], across / whole * law[6]
    lo, hi = 0.0, MOST_SLIP
    for _ in range(30):
        slip = 0.5 * (lo + hi)
        a = combined(slip * ratio, -slip * tangent, inner, *law)
        b = combined(slip * ratio, -slip * tangent, outer, *law)
        if a[1] + b[1] < force:
            lo = slip
        else:
            hi = slip
    return math.atan(0.5 * (lo + hi) * tangent)
