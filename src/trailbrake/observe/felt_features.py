"""Kernels that remember what a car felt: what it may know of itself, and of the road's grip, without a car file.

Greatest accelerations by band of speed (downforce shows in the upper ones), how strongly the steer turns the car, how
far it is from that now (front or rear slide), and the last steps (delays show there). All of it begins with an episode.
"""

import math

from trailbrake.arrays import Array
from trailbrake.kernels import internal_jit, jit
from trailbrake.observe.features import Feature

BANDS = 3  # of speed
MIDDLE_SPEED, HIGH_SPEED = 25.0, 45.0  # m/s, where the second and the third band begin
SMOOTHING = 0.15  # s, time constant of accelerations: a kerb is no grip
FORGETTING = 300.0  # s, time constant of the greatest ones: grip changes with the weather
STEPS = 3  # remembered steps
GENTLE = 4.0  # m/s^2 of lateral acceleration, up to which tyres hardly slip
LEAST_SPEED = 8.0  # m/s, from which a curvature is known
USUAL_GAIN = 0.15  # 1/m, curvature per steer of a usual car: lock over wheelbase
USUAL_WEIGHT = 0.02  # of that: as much as a squared steer of this size, summed over steps
GAIN_MEMORY = 600.0  # steps, time constant of the gain


@internal_jit
def remember_peak(features: Array, first: int, band: int, car: int, value: float) -> None:
    """Raise the peak in row `first + band` of a car to `value` if that is greater."""
    features[first + band, car] = max(features[first + band, car], value)


@internal_jit
def shift_step(features: Array, first: int, kept: int, car: int, value: float) -> None:
    """Move the remembered steps from row `first` on by one, then the newest in row `kept`, which becomes `value`."""
    for k in range(STEPS - 1, 0, -1):
        features[first + k, car] = features[first + k - 1, car]
    features[first, car] = features[kept, car]
    features[kept, car] = value


@jit
def remember_step(features: Array, dt: float, lo: int, hi: int) -> None:
    """Compute the rows from FELT_LATERAL on of the cars `lo`..`hi` - 1, after `derive_features`.

    Args:
        features: (Feature.COUNT, n or more), all rows before those up to date.
        dt: s since the last call; counts as 0 for a car that was reset since.
        lo: first car.
        hi: last car + 1.
    """
    blend = 1.0 - math.exp(-dt / SMOOTHING)
    kept = math.exp(-dt / FORGETTING)
    fade = 1.0 - 1.0 / GAIN_MEMORY
    for car in range(lo, hi):
        speed, yaw_rate = features[Feature.VELOCITY_X, car], features[Feature.YAW_RATE, car]
        ahead, aside = features[Feature.ACCELERATION_X, car], features[Feature.ACCELERATION_Y, car]
        steer = features[Feature.COMMANDED_STEER, car]
        pedal = features[Feature.COMMANDED_THROTTLE, car] - features[Feature.COMMANDED_BRAKE, car]
        before = features[Feature.NEWEST, car]  # the steer of the step before: what the yaw rate now answers to
        shift_step(features, Feature.RECENT_STEER, Feature.NEWEST, car, steer)
        shift_step(features, Feature.RECENT_PEDAL, Feature.NEWEST + 1, car, pedal)
        shift_step(features, Feature.RECENT_YAW_RATE, Feature.NEWEST + 2, car, yaw_rate)
        shift_step(features, Feature.RECENT_LATERAL, Feature.NEWEST + 3, car, aside)
        shift_step(features, Feature.RECENT_LONGITUDINAL, Feature.NEWEST + 4, car, ahead)
        if features[Feature.TIME, car] > 0.0:
            features[Feature.SMOOTH_LATERAL, car] += blend * (aside - features[Feature.SMOOTH_LATERAL, car])
            features[Feature.SMOOTH_LONGITUDINAL, car] += blend * (ahead - features[Feature.SMOOTH_LONGITUDINAL, car])
            for row in range(Feature.FELT_LATERAL, Feature.FELT_STEER_GAIN):
                features[row, car] *= kept
            band = 0 if speed < MIDDLE_SPEED else 1 if speed < HIGH_SPEED else 2
            smooth = features[Feature.SMOOTH_LONGITUDINAL, car]
            remember_peak(features, Feature.FELT_LATERAL, band, car, abs(features[Feature.SMOOTH_LATERAL, car]))
            remember_peak(features, Feature.FELT_BRAKING, band, car, -smooth)
            remember_peak(features, Feature.FELT_DRIVE, band, car, smooth)
            if speed > LEAST_SPEED and abs(aside) < GENTLE:
                features[Feature.STEER_BY_CURVATURE, car] = (
                    fade * features[Feature.STEER_BY_CURVATURE, car] + before * yaw_rate / speed
                )
                features[Feature.STEER_SQUARED, car] = fade * features[Feature.STEER_SQUARED, car] + before * before
        gain = (features[Feature.STEER_BY_CURVATURE, car] + USUAL_WEIGHT * USUAL_GAIN) / (
            features[Feature.STEER_SQUARED, car] + USUAL_WEIGHT
        )
        features[Feature.FELT_STEER_GAIN, car] = gain
        features[Feature.FELT_YAW_MISS, car] = yaw_rate - gain * before * speed
