"""How much of the believed envelope a car uses at this moment, and how far its tyres slip for it."""

import math
from typing import NamedTuple

from trailbrake.cars.tyre import value_at_load
from trailbrake.cars.tyre_params import TyreLaw
from trailbrake.kernels import internal_jit, jit
from trailbrake.planning.axle_forces import PlanningCar, wheel_loads
from trailbrake.planning.envelope import Envelope
from trailbrake.planning.speed_profile import (
    PathShape,
    interpolate_speed,
    interpolate_speed_share,
    lateral_demand,
)
from trailbrake.units import G


class AxleSlips(NamedTuple):
    """The slips of a car's axles.

    Attributes:
        front_angle, rear_angle: rad, of the axle, positive where its side force points to the left.
        front_ratio, rear_ratio: 1, mean of the axle's wheels, positive driving; 0 where they are not known.
    """

    front_angle: float
    rear_angle: float
    front_ratio: float
    rear_ratio: float


@jit
def measure_grip_use(
    motion: tuple[float, float], slips: AxleSlips, shape: PathShape, limits: Envelope, car: PlanningCar
) -> tuple[float, float, float]:
    """Return the use of the envelope, and the slips that it takes.

    Args:
        motion: speed (m/s) and acceleration along the path (m/s^2).
        slips: of the axles.
        shape: of the path that the car drives, its curvature from the measured lateral acceleration; and of the road
            below it, with the grip that is believed.
        limits: envelope of the car that is believed.
        car: the same car.

    Returns:
        The factor on the tyres' grip with which the envelope just contains the acceleration (1: at the limit; NaN where
        the acceleration is); the larger slip of the axles, over that of the tyres' peak; and the same by their slip
        angles alone.
    """
    speed, forward = motion
    need, _ = lateral_demand(speed, shape, limits)
    pull = forward + G * shape.climb
    use = scale_envelope(speed, forward, shape, limits)
    fl, fr, rl, rr = wheel_loads(pull, need, speed, car.body)
    front, front_angle = _axle_slip(slips.front_angle, slips.front_ratio, 0.5 * (fl + fr), car.front)
    rear, rear_angle = _axle_slip(slips.rear_angle, slips.rear_ratio, 0.5 * (rl + rr), car.rear)
    return use, max(front, rear), max(front_angle, rear_angle)


@internal_jit
def scale_envelope(speed: float, forward: float, shape: PathShape, limits: Envelope) -> float:
    """Return the factor on the tyres' grip with which the envelope just contains a motion; NaN where that is.

    Args:
        speed: m/s.
        forward: m/s^2, acceleration along the path.
        shape: of the path and the road below it.
        limits: the envelope.
    """
    need, factor = lateral_demand(speed, shape, limits)
    lateral = abs(need) / (factor * interpolate_speed(limits.lateral, limits.speeds, speed))
    pull = forward + G * shape.climb
    if math.isnan(lateral + pull):
        return math.nan
    scale: float = _scale_to_contain(speed, lateral, pull / factor, limits)
    return scale


@internal_jit
def _scale_to_contain(speed: float, lateral: float, pull: float, limits: Envelope) -> float:
    """Return the factor on the envelope at `speed` (m/s) with which its edge is at a point.

    Args:
        speed: m/s.
        lateral: share of the lateral limit, >= 0.
        pull: m/s^2, forward acceleration.
        limits: the envelope.
    """
    table = limits.traction if pull > 0.0 else limits.brake
    most = max(interpolate_speed_share(table, limits.speeds, speed, 0.0), 1.0)
    lo, hi = lateral, lateral + abs(pull) / most + 1e-6
    # At a share of 0 the table is largest and falls with the share: the sum of both shares is always enough.
    for _ in range(12):
        scale = 0.5 * (lo + hi)
        if interpolate_speed_share(table, limits.speeds, speed, lateral / scale) * scale < abs(pull):
            lo = scale
        else:
            hi = scale
    return 0.5 * (lo + hi) + 0.0 * pull


@internal_jit
def _axle_slip(angle: float, ratio: float, load: float, law: TyreLaw) -> tuple[float, float]:
    """Return the combined slip and that by the slip angle alone, both over those of the peak at `load` (N)."""
    per_peak = value_at_load(1.0, -law.slip_load, load, law.nominal_load)
    across = abs(math.tan(angle)) / law.tan_peak_slip_angle * per_peak
    along = ratio / law.peak_slip_ratio * per_peak
    return math.sqrt(along * along + across * across), across
