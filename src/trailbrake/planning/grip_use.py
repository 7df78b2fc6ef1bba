"""How much of the believed envelope a car uses at this moment, and how far its tyres slip for it.

How much of the grip that is planned with the speeds of a line need, place by place.

The model of `trailbrake line` knows the loads of four wheels and the slip of their tyres. The envelope that speeds are
planned with while driving is simpler: it allows too little in some bends and too much in others. The factor on the grip
with which the envelope just contains the motion of the line makes up for that.
"""

import math
from typing import NamedTuple

import numpy as np

from trailbrake.arrays import Array
from trailbrake.cars.axle_forces import PlanningCar, wheel_loads
from trailbrake.cars.ggv_envelope import Envelope
from trailbrake.cars.tyre import combined_slip_force, value_at_load
from trailbrake.cars.tyre_params import TyreLaw
from trailbrake.kernels import internal_jit, jit
from trailbrake.planning.speed_profile import (
    PathShape,
    interpolate_speed,
    interpolate_speed_share,
    lateral_demand,
    row_shape,
)
from trailbrake.tracks.road import Road
from trailbrake.units import G

LEAST_NEED = 0.85  # of the envelope, below which a place does not say how much grip there is
CORNERING_SHARE = 0.5  # of the slip across both axles, up to which slip along the wheels leaves a measure of friction
LEAST_CORNERING = 0.2  # slip over that of the peak, of the axle that slips more, from which it is one
TRACTION_SLIPS = (0.06, 0.5)  # of driven wheels, over that of the peak, between which they measure the grip
MEAN_LENGTH = 10.0  # m, over which the need is averaged: a plan follows no single row


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
    motion: tuple[float, float, float], slips: AxleSlips, shape: PathShape, limits: Envelope, car: PlanningCar
) -> tuple[float, float, float, float, float]:
    """Return the use of the envelope, the slips that it takes, and what they show of the grip.

    Args:
        motion: speed (m/s), acceleration along the path and that which air and rolling resistance take (m/s^2).
        slips: of the axles.
        shape: of the path that the car drives, its curvature from the measured lateral acceleration; and of the road
            below it, with the grip that is believed.
        limits: envelope of the car that is believed.
        car: the same car.

    Returns:
        The factor on the tyres' grip with which the envelope just contains the acceleration (1: at the limit; NaN where
        the acceleration is); the larger slip of the axles, over that of the tyres' peak; the same by their slip angles
        alone; the side force over the one that the slips give with the friction that is believed, NaN where the car
        does not corner steadily; and the drive force over the one that the slips give, NaN where the wheels drive too
        little or too much.
    """
    speed, forward, resistance = motion
    need, _ = lateral_demand(speed, shape, limits)
    pull = forward + G * shape.climb
    use = scale_envelope(speed, forward, shape, limits)
    fl, fr, rl, rr = wheel_loads(pull, need, speed, car.body)
    front, front_angle = _axle_slip(slips.front_angle, slips.front_ratio, 0.5 * (fl + fr), car.front)
    rear, rear_angle = _axle_slip(slips.rear_angle, slips.rear_ratio, 0.5 * (rl + rr), car.rear)
    most = max(front_angle, rear_angle)
    along = max(abs(slips.front_ratio) / car.front.peak_slip_ratio, abs(slips.rear_ratio) / car.rear.peak_slip_ratio)
    side = math.copysign(1.0, need)
    corners = min(side * slips.front_angle, side * slips.rear_angle) > 0.0
    fx_front, fy_front = _axle_force(slips.front_angle, slips.front_ratio, fl, fr, car.front)
    fx_rear, fy_rear = _axle_force(slips.rear_angle, slips.rear_ratio, rl, rr, car.rear)
    friction = traction = math.nan
    if corners and most > LEAST_CORNERING and along < CORNERING_SHARE * min(front_angle, rear_angle):
        friction = car.body.mass * need / (shape.grip * (fy_front + fy_rear))
    # In a bend a part of the force makes up for the cornering tyres: what is left says nothing.
    drives = along > max(most, TRACTION_SLIPS[0]) and max(front, rear) < TRACTION_SLIPS[1]
    if drives and pull + resistance > 0.0 and fx_front + fx_rear > 0.0:
        traction = car.body.mass * (pull + resistance) / (shape.grip * (fx_front + fx_rear))
    return use, max(front, rear), most, friction, traction


@internal_jit
def _axle_force(angle: float, ratio: float, left: float, right: float, law: TyreLaw) -> tuple[float, float]:
    """Return the forces (N, forward and left) of an axle whose wheels have the loads `left` and `right` (N)."""
    across = -math.tan(angle)
    fx_left, fy_left, _ = combined_slip_force(ratio, across, left, law)
    fx_right, fy_right, _ = combined_slip_force(ratio, across, right, law)
    return fx_left + fx_right, fy_left + fy_right


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


def find_needed_grip(line: Road, speeds: Array, shapes: Array, limits: Envelope) -> Array:
    """Return the factors (n,) on the grip of a line with which a car's envelope just contains its speeds.

    Where they need less than LEAST_NEED, the factors are those of the places before and after.

    Args:
        line: the line.
        speeds: (n,) m/s, at its rows.
        shapes: (n, 6) `PathShape` of the rows.
        limits: the car's envelope.
    """
    need = np.empty(len(speeds))
    _fill_needs(np.ascontiguousarray(shapes), np.ascontiguousarray(speeds), _differentiate(line, speeds), limits, need)
    width = max(round(0.5 * MEAN_LENGTH / line.spacing), 1)
    padded = np.pad(need, width, mode="wrap" if line.closed else "edge")
    mean = np.convolve(padded, np.ones(2 * width + 1) / (2 * width + 1), "valid")
    known = np.flatnonzero(mean >= LEAST_NEED)
    if not known.size:
        return np.ones(len(speeds))
    factors: Array = np.interp(np.arange(len(need)), known, mean[known], period=len(need) if line.closed else None)
    return factors


def _differentiate(line: Road, speeds: Array) -> Array:
    """Return the accelerations (n,) m/s^2 along the path."""
    squares = 0.5 * speeds * speeds
    if line.closed:
        central: Array = (np.roll(squares, -1) - np.roll(squares, 1)) / (2.0 * line.spacing)
        return central
    slope: Array = np.gradient(squares, line.spacing)
    return slope


@jit
def _fill_needs(shapes: Array, speeds: Array, accelerations: Array, limits: Envelope, out: Array) -> None:
    for i in range(len(speeds)):
        out[i] = scale_envelope(speeds[i], accelerations[i], row_shape(shapes, i), limits)
