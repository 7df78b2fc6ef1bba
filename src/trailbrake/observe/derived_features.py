"""Kernels that compute the rows of `Feature` which follow from those of a state, for all that observe cars."""

import math

from trailbrake.arrays import Array, Ints
from trailbrake.kernels import exact_inline_jit, jit
from trailbrake.laps import END_MARGIN
from trailbrake.observe.features import Feature
from trailbrake.tracks.frenet import RoadTable, bracket_rows
from trailbrake.tracks.road_columns import RoadColumn

SLOW_SPEED = 1.0  # m/s along the road; SLOW_TIME counts below
START_MARGIN = 5.0  # m before the start of an open road, where an episode ends
WHEELS_OFF = 2.5  # more than two wheels off the track invalidate a lap, as in `laps`


@jit
def record_command(features: Array, car: int, steer: float, throttle: float, brake: float) -> None:
    """Write the commanded controls of a car, and their change since the command before (0 after a reset).

    Args:
        features: (Feature.COUNT, n or more) written.
        car: number of the car.
        steer: -1..1, positive left.
        throttle: 0..1.
        brake: 0..1.
    """
    steer_change = steer - features[Feature.COMMANDED_STEER, car]
    pedal_change = (
        throttle - brake - (features[Feature.COMMANDED_THROTTLE, car] - features[Feature.COMMANDED_BRAKE, car])
    )
    is_first = features[Feature.TIME, car] == 0.0
    features[Feature.STEER_CHANGE, car] = 0.0 if is_first else steer_change * steer_change
    features[Feature.PEDAL_CHANGE, car] = 0.0 if is_first else pedal_change * pedal_change
    features[Feature.COMMANDED_STEER, car] = steer
    features[Feature.COMMANDED_THROTTLE, car] = throttle
    features[Feature.COMMANDED_BRAKE, car] = brake


@exact_inline_jit
def reset_car_features(features: Array, car: int) -> None:
    """Reset the derived rows of a car, as `reset_features` does."""
    for row in range(Feature.SIN_HEADING, Feature.COUNT):
        features[row, car] = 0.0
    features[Feature.IS_NEW, car] = 1.0


@jit
def reset_features(features: Array, cars: Ints) -> None:
    """Reset the derived rows of `cars`: the next call of `derive_features` is the first of their episodes."""
    for car in cars:
        reset_car_features(features, car)


@jit
def derive_features(features: Array, road: RoadTable, dt: float, lo: int, hi: int) -> None:
    """Compute the rows from SIN_HEADING on of the cars `lo`..`hi` - 1 from the rows before them.

    Args:
        features: (Feature.COUNT, n or more).
        road: the road.
        dt: s since the last call; counts as 0 for a car that `reset_features` has reset.
        lo: first car.
        hi: last car + 1.
    """
    table, spacing, closed = road
    n = table.shape[0]
    length = (n if closed else n - 1) * spacing
    for car in range(lo, hi):
        s = features[Feature.S, car]
        sine, cosine = math.sin(features[Feature.HEADING, car]), math.cos(features[Feature.HEADING, car])
        along = features[Feature.VELOCITY_X, car] * cosine - features[Feature.VELOCITY_Y, car] * sine
        if features[Feature.IS_NEW, car] != 0.0:
            features[Feature.LAST_S, car] = s
            features[Feature.LAST_CONTACTS, car] = features[Feature.CONTACTS, car]
            features[Feature.IS_NEW, car] = 0.0
        else:
            features[Feature.TIME, car] += dt
            features[Feature.SLOW_TIME, car] = features[Feature.SLOW_TIME, car] + dt if along < SLOW_SPEED else 0.0
            features[Feature.BACKWARD_TIME, car] = features[Feature.BACKWARD_TIME, car] + dt if cosine < 0.0 else 0.0
            features[Feature.ALIVE, car] = 1.0
        gained = s - features[Feature.LAST_S, car]
        if closed:
            gained -= length * math.floor(gained / length + 0.5)
        features[Feature.LAST_S, car] = s
        features[Feature.NEW_CONTACTS, car] = features[Feature.CONTACTS, car] - features[Feature.LAST_CONTACTS, car]
        features[Feature.LAST_CONTACTS, car] = features[Feature.CONTACTS, car]
        features[Feature.PROGRESS, car] = gained
        features[Feature.DISTANCE, car] += gained
        features[Feature.LAPS, car] = features[Feature.DISTANCE, car] / length
        features[Feature.PAST_END, car] = 0.0 if closed else max(s - (length - END_MARGIN), -START_MARGIN - s)
        features[Feature.SIN_HEADING, car] = sine
        features[Feature.COS_HEADING, car] = cosine
        features[Feature.SPEED_ALONG, car] = along
        i, j, u = bracket_rows(road, s)
        left = (1.0 - u) * table[i, RoadColumn.WIDTH_LEFT] + u * table[j, RoadColumn.WIDTH_LEFT]
        right = (1.0 - u) * table[i, RoadColumn.WIDTH_RIGHT] + u * table[j, RoadColumn.WIDTH_RIGHT]
        features[Feature.LEFT_CLEARANCE, car] = left - features[Feature.OFFSET, car]
        features[Feature.RIGHT_CLEARANCE, car] = right + features[Feature.OFFSET, car]
        off = 4.0
        for wheel in range(4):
            off -= features[Feature.ON_TRACK + wheel, car]
        features[Feature.WHEELS_OFF, car] = off
        features[Feature.OFF_TRACK, car] = 1.0 if off > WHEELS_OFF else 0.0
