"""`Seen`: what learners may see and be judged by, as rows of one array, each with its unit, meaning and needs.

The rows up to CURVATURE come from a state: from the columns of `CarState` that NEEDS names, and from where its x, y
and yaw are on the road (`Observer`); or straight from the world's arrays, which hold the same quantities for many
cars. All other rows are worked out from those by `follow` and `derive`, the same for both.
"""

from dataclasses import dataclass
from enum import IntEnum


class Seen(IntEnum):
    """Rows of `seen` (Seen.COUNT, cars) float64. Rows marked "x4" are the first of four: FL, FR, RL, RR."""

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
    # From here on worked out.
    SIN_HEADING = 30
    COS_HEADING = 31
    SPEED_ALONG = 32
    ROOM_LEFT = 33
    ROOM_RIGHT = 34
    WHEELS_OFF = 35
    OFF_TRACK = 36
    PROGRESS = 37
    DISTANCE = 38
    LAPS = 39
    PAST_END = 40
    TOUCHED = 41
    TIME = 42
    SLOW_FOR = 43
    BACKWARD_FOR = 44
    ALIVE = 45
    # What was asked for.
    ASKED_STEER = 46
    ASKED_THROTTLE = 47
    ASKED_BRAKE = 48
    STEER_CHANGE = 49
    PEDAL_CHANGE = 50
    # Kept from step to step.
    LAST_S = 51
    LAST_CONTACTS = 52
    NEW = 53
    COUNT = 54


@dataclass(frozen=True, slots=True)
class Meaning:
    """What a row means.

    Attributes:
        unit: SI, "1" for a ratio or a count.
        text: meaning, signs as in `CarState`.
        usual: size of everyday values: observations are divided by it.
        needs: names of `state.tables.STATE_FIELDS` that it is made of.
    """

    unit: str
    text: str
    usual: float
    needs: frozenset[str] = frozenset()


def _m(unit: str, text: str, usual: float, *needs: str) -> Meaning:
    return Meaning(unit, text, usual, frozenset(needs))


_PLACE = ("x", "y")
_POSE = ("x", "y", "yaw")
_MOTION = ("yaw", "velocity_x", "velocity_y", *_PLACE)

MEANINGS: dict[Seen, Meaning] = {
    Seen.X: _m("m", "position, world X", 100.0, "x"),
    Seen.Y: _m("m", "position, world Y", 100.0, "y"),
    Seen.YAW: _m("rad", "heading, counter-clockwise from world X", 3.1416, "yaw"),
    Seen.VELOCITY_X: _m("m/s", "velocity, forward", 40.0, "velocity_x"),
    Seen.VELOCITY_Y: _m("m/s", "velocity, left", 5.0, "velocity_y"),
    Seen.YAW_RATE: _m("rad/s", "yaw rate, positive turning left", 1.0, "yaw_rate"),
    Seen.ACCELERATION_X: _m("m/s^2", "acceleration, forward", 10.0, "acceleration_x"),
    Seen.ACCELERATION_Y: _m("m/s^2", "acceleration, left", 10.0, "acceleration_y"),
    Seen.STEER: _m("1", "steer as applied, share of full lock, left", 1.0, "steering_wheel_angle"),
    Seen.THROTTLE: _m("1", "throttle as applied", 1.0, "throttle"),
    Seen.BRAKE: _m("1", "brake as applied", 1.0, "brake"),
    Seen.ENGINE: _m("1", "engine speed, share of the limiter's", 1.0, "engine_speed"),
    Seen.GEAR: _m("1", "gear: -1 reverse, 0 neutral, 1, 2, ...", 6.0, "gear"),
    Seen.SLIP: _m("1", "combined slip of each wheel, 1 = peak", 1.0, "wheels.combined_slip"),
    Seen.LOAD: _m("1", "load of each wheel, share of a quarter of the car's weight", 1.0, "wheels.load"),
    Seen.ON_TRACK: _m("1", "1 for each wheel on the road, 0 beyond its edge", 1.0, "wheels.on_track"),
    Seen.CONTACTS: _m("1", "count of contacts", 1.0, "contacts"),
    Seen.S: _m("m", "along the road", 1000.0, *_PLACE),
    Seen.OFFSET: _m("m", "left of the centreline", 5.0, *_PLACE),
    Seen.HEADING: _m("rad", "yaw less the road's, any multiple of a turn away", 3.1416, *_POSE),
    Seen.CURVATURE: _m("1/m", "of the centreline, positive turning left", 0.05, *_PLACE),
    Seen.SIN_HEADING: _m("1", "sine of the heading", 1.0, *_POSE),
    Seen.COS_HEADING: _m("1", "cosine of the heading", 1.0, *_POSE),
    Seen.SPEED_ALONG: _m("m/s", "speed along the centreline's direction", 40.0, *_MOTION),
    Seen.ROOM_LEFT: _m("m", "from the car to the road's left edge", 5.0, *_PLACE),
    Seen.ROOM_RIGHT: _m("m", "from the car to the road's right edge", 5.0, *_PLACE),
    Seen.WHEELS_OFF: _m("1", "wheels beyond the road's edge", 4.0, "wheels.on_track"),
    Seen.OFF_TRACK: _m("1", "1 while more than two wheels are off: the lap would not count", 1.0, "wheels.on_track"),
    Seen.PROGRESS: _m("m", "gained along the centreline in this step", 0.4, *_PLACE),
    Seen.DISTANCE: _m("m", "gained since the start", 1000.0, *_PLACE),
    Seen.LAPS: _m("1", "the same in lengths of the road", 1.0, *_PLACE),
    Seen.PAST_END: _m("m", "beyond either end of an open road, less a margin; 0 on a circuit", 10.0, *_PLACE),
    Seen.TOUCHED: _m("1", "contacts begun in this step", 1.0, "contacts"),
    Seen.TIME: _m("s", "since the start", 60.0, "time"),
    Seen.SLOW_FOR: _m("s", "since the car was last faster than 1 m/s along the road", 3.0, *_MOTION),
    Seen.BACKWARD_FOR: _m("s", "since the car last pointed less than 90 degrees off the road", 2.0, *_POSE),
    Seen.ALIVE: _m("1", "1 in every step", 1.0),
    Seen.ASKED_STEER: _m("1", "steer asked for, share of full lock, left", 1.0),
    Seen.ASKED_THROTTLE: _m("1", "throttle asked for", 1.0),
    Seen.ASKED_BRAKE: _m("1", "brake asked for", 1.0),
    Seen.STEER_CHANGE: _m("1", "change of the steer asked for in this step, squared", 1.0),
    Seen.PEDAL_CHANGE: _m("1", "change of throttle less brake asked for in this step, squared", 1.0),
}
FOUR = frozenset({Seen.SLIP, Seen.LOAD, Seen.ON_TRACK})  # rows x4
