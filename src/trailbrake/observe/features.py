"""`Feature`: the quantities that learners observe and are rewarded for, as rows of one array.

The rows up to CURVATURE come from a `CarState` and the position of the car on the road (`StateObserver`), or straight
from the blocks of the world, which hold the same quantities for many cars (`env.step_kernels`). All other rows are
computed from those by `derived_features` and `felt_features`, the same way for both. `FEATURES` has the unit, the
meaning and the scale of each row, and the fields of `CarState` that it needs.
"""

from dataclasses import dataclass
from enum import IntEnum


class Feature(IntEnum):
    """Rows of an array (Feature.COUNT, cars) float64.

    Rows marked "x4" are the first of four: FL, FR, RL, RR. Rows marked "x3" are the first of three, for bands of speed
    or for earlier steps, see `felt_features`.
    """

    X = 0
    Y = 1
    YAW = 2
    VELOCITY_X = 3
    VELOCITY_Y = 4
    YAW_RATE = 5
    ACCELERATION_X = 6
    ACCELERATION_Y = 7
    STEER = 8
    THROTTLE = 9
    BRAKE = 10
    ENGINE = 11
    GEAR = 12
    SLIP = 13  # x4
    LOAD = 17  # x4
    ON_TRACK = 21  # x4
    CONTACTS = 25
    S = 26
    OFFSET = 27
    HEADING = 28
    CURVATURE = 29
    # Derived from the rows above.
    SIN_HEADING = 30
    COS_HEADING = 31
    SPEED_ALONG = 32
    LEFT_CLEARANCE = 33
    RIGHT_CLEARANCE = 34
    WHEELS_OFF = 35
    OFF_TRACK = 36
    PROGRESS = 37
    DISTANCE = 38
    LAPS = 39
    PAST_END = 40
    NEW_CONTACTS = 41
    TIME = 42
    SLOW_TIME = 43
    BACKWARD_TIME = 44
    ALIVE = 45
    # From the action.
    COMMANDED_STEER = 46
    COMMANDED_THROTTLE = 47
    COMMANDED_BRAKE = 48
    STEER_CHANGE = 49
    PEDAL_CHANGE = 50
    # What the car felt so far, where a task observes it.
    FELT_LATERAL = 51  # x3
    FELT_BRAKING = 54  # x3
    FELT_DRIVE = 57  # x3
    FELT_STEER_GAIN = 60
    FELT_YAW_MISS = 61
    RECENT_STEER = 62  # x3
    RECENT_PEDAL = 65  # x3
    RECENT_YAW_RATE = 68  # x3
    RECENT_LATERAL = 71  # x3
    RECENT_LONGITUDINAL = 74  # x3
    # Memory from step to step, not for observations.
    LAST_S = 77
    LAST_CONTACTS = 78
    IS_NEW = 79
    NEWEST = 80  # steer, pedal, yaw rate, lateral and longitudinal acceleration of the last step
    SMOOTH_LATERAL = 85
    SMOOTH_LONGITUDINAL = 86
    STEER_BY_CURVATURE = 87
    STEER_SQUARED = 88
    COUNT = 89


@dataclass(frozen=True, slots=True)
class FeatureInfo:
    """Unit, meaning and scale of a row.

    Attributes:
        unit: SI, "1" for a ratio or a count.
        text: meaning; signs are those of `CarState`.
        scale: size of a typical value; observations are divided by it.
        needs: names of the `state.tables.STATE_FIELDS` that it is computed from.
    """

    unit: str
    text: str
    scale: float
    needs: frozenset[str] = frozenset()


def _feature_info(unit: str, text: str, scale: float, *needs: str) -> FeatureInfo:
    return FeatureInfo(unit, text, scale, frozenset(needs))


_POSITION_NEEDS = ("x", "y")
_POSE_NEEDS = ("x", "y", "yaw")
_MOTION_NEEDS = ("yaw", "velocity_x", "velocity_y", *_POSITION_NEEDS)
_ACCELERATION_NEEDS = ("velocity_x", "acceleration_x", "acceleration_y")

FEATURES: dict[Feature, FeatureInfo] = {
    Feature.X: _feature_info("m", "position, world X", 100.0, "x"),
    Feature.Y: _feature_info("m", "position, world Y", 100.0, "y"),
    Feature.YAW: _feature_info("rad", "heading, counter-clockwise from world X", 3.1416, "yaw"),
    Feature.VELOCITY_X: _feature_info("m/s", "velocity, forward", 40.0, "velocity_x"),
    Feature.VELOCITY_Y: _feature_info("m/s", "velocity, left", 5.0, "velocity_y"),
    Feature.YAW_RATE: _feature_info("rad/s", "yaw rate, positive turning left", 1.0, "yaw_rate"),
    Feature.ACCELERATION_X: _feature_info("m/s^2", "acceleration, forward", 10.0, "acceleration_x"),
    Feature.ACCELERATION_Y: _feature_info("m/s^2", "acceleration, left", 10.0, "acceleration_y"),
    Feature.STEER: _feature_info("1", "steer as applied, share of full lock, left", 1.0, "steering_wheel_angle"),
    Feature.THROTTLE: _feature_info("1", "throttle as applied", 1.0, "throttle"),
    Feature.BRAKE: _feature_info("1", "brake as applied", 1.0, "brake"),
    Feature.ENGINE: _feature_info("1", "engine speed, share of the limiter's", 1.0, "engine_speed"),
    Feature.GEAR: _feature_info("1", "gear: -1 reverse, 0 neutral, 1, 2, ...", 6.0, "gear"),
    Feature.SLIP: _feature_info("1", "combined slip of each wheel, 1 = peak", 1.0, "wheels.combined_slip"),
    Feature.LOAD: _feature_info("1", "load of each wheel, share of a quarter of the car's weight", 1.0, "wheels.load"),
    Feature.ON_TRACK: _feature_info("1", "1 for each wheel on the road, 0 beyond its edge", 1.0, "wheels.on_track"),
    Feature.CONTACTS: _feature_info("1", "count of contacts", 1.0, "contacts"),
    Feature.S: _feature_info("m", "position along the centreline", 1000.0, *_POSITION_NEEDS),
    Feature.OFFSET: _feature_info("m", "distance left of the centreline", 5.0, *_POSITION_NEEDS),
    Feature.HEADING: _feature_info("rad", "yaw minus the yaw of the road, not wrapped", 3.1416, *_POSE_NEEDS),
    Feature.CURVATURE: _feature_info(
        "1/m", "curvature of the centreline, positive turning left", 0.05, *_POSITION_NEEDS
    ),
    Feature.SIN_HEADING: _feature_info("1", "sine of the heading", 1.0, *_POSE_NEEDS),
    Feature.COS_HEADING: _feature_info("1", "cosine of the heading", 1.0, *_POSE_NEEDS),
    Feature.SPEED_ALONG: _feature_info("m/s", "speed along the centreline's direction", 40.0, *_MOTION_NEEDS),
    Feature.LEFT_CLEARANCE: _feature_info(
        "m", "distance from the car to the left edge of the road", 5.0, *_POSITION_NEEDS
    ),
    Feature.RIGHT_CLEARANCE: _feature_info(
        "m", "distance from the car to the right edge of the road", 5.0, *_POSITION_NEEDS
    ),
    Feature.WHEELS_OFF: _feature_info("1", "wheels beyond the road's edge", 4.0, "wheels.on_track"),
    Feature.OFF_TRACK: _feature_info(
        "1", "1 while more than two wheels are off, which invalidates a lap", 1.0, "wheels.on_track"
    ),
    Feature.PROGRESS: _feature_info("m", "distance along the centreline in this step", 0.4, *_POSITION_NEEDS),
    Feature.DISTANCE: _feature_info("m", "distance along the centreline since the start", 1000.0, *_POSITION_NEEDS),
    Feature.LAPS: _feature_info("1", "distance over the length of the road", 1.0, *_POSITION_NEEDS),
    Feature.PAST_END: _feature_info(
        "m", "distance beyond either end of an open road minus a margin; 0 on a circuit", 10.0, *_POSITION_NEEDS
    ),
    Feature.NEW_CONTACTS: _feature_info("1", "contacts begun in this step", 1.0, "contacts"),
    Feature.TIME: _feature_info("s", "time since the start", 60.0, "time"),
    Feature.SLOW_TIME: _feature_info(
        "s", "time since the car was last faster than 1 m/s along the road", 3.0, *_MOTION_NEEDS
    ),
    Feature.BACKWARD_TIME: _feature_info(
        "s", "time since the heading was last within 90 degrees of the road", 2.0, *_POSE_NEEDS
    ),
    Feature.ALIVE: _feature_info("1", "1 in every step", 1.0),
    Feature.COMMANDED_STEER: _feature_info("1", "commanded steer, share of full lock, left", 1.0),
    Feature.COMMANDED_THROTTLE: _feature_info("1", "commanded throttle", 1.0),
    Feature.COMMANDED_BRAKE: _feature_info("1", "commanded brake", 1.0),
    Feature.STEER_CHANGE: _feature_info("1", "squared change of the commanded steer in this step", 1.0),
    Feature.PEDAL_CHANGE: _feature_info("1", "squared change of commanded throttle minus brake in this step", 1.0),
    Feature.FELT_LATERAL: _feature_info(
        "m/s^2", "greatest lateral acceleration so far, slower than 25, 45 m/s, and faster", 10.0, *_ACCELERATION_NEEDS
    ),
    Feature.FELT_BRAKING: _feature_info("m/s^2", "the same of braking", 10.0, *_ACCELERATION_NEEDS),
    Feature.FELT_DRIVE: _feature_info("m/s^2", "the same of forward acceleration", 5.0, *_ACCELERATION_NEEDS),
    Feature.FELT_STEER_GAIN: _feature_info(
        "1/m",
        "curvature of the way per commanded steer, in gentle bends so far",
        0.1,
        "velocity_x",
        "yaw_rate",
        "acceleration_y",
    ),
    Feature.FELT_YAW_MISS: _feature_info(
        "rad/s",
        "yaw rate minus that which the steer should give by this",
        0.3,
        "velocity_x",
        "yaw_rate",
        "acceleration_y",
    ),
    Feature.RECENT_STEER: _feature_info("1", "commanded steer one, two, three steps ago", 1.0),
    Feature.RECENT_PEDAL: _feature_info("1", "commanded throttle minus brake, likewise", 1.0),
    Feature.RECENT_YAW_RATE: _feature_info("rad/s", "yaw rate, likewise", 1.0, "yaw_rate"),
    Feature.RECENT_LATERAL: _feature_info("m/s^2", "lateral acceleration, likewise", 10.0, "acceleration_y"),
    Feature.RECENT_LONGITUDINAL: _feature_info("m/s^2", "forward acceleration, likewise", 10.0, "acceleration_x"),
}
REPEATS = {  # rows of a feature that has more than one
    **dict.fromkeys((Feature.SLIP, Feature.LOAD, Feature.ON_TRACK), 4),
    **dict.fromkeys(
        (Feature.FELT_LATERAL, Feature.FELT_BRAKING, Feature.FELT_DRIVE, Feature.RECENT_STEER, Feature.RECENT_PEDAL,
         Feature.RECENT_YAW_RATE, Feature.RECENT_LATERAL, Feature.RECENT_LONGITUDINAL), 3),
}  # fmt: skip
REMEMBERED = frozenset(feature for feature in FEATURES if feature >= Feature.FELT_LATERAL)  # see `felt_features`
