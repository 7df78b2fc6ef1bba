"""A straight stop from speed, along the middle of the road. The original demo is `brake_test_seed`."""

from dataclasses import dataclass, replace

from trailbrake.control.vehicle.lane_keeping import HeadingController, heading_to_line
from trailbrake.control.vehicle.speed_control import hold_speed_controller
from trailbrake.planning.course import Course
from trailbrake.state import CarState, Controls
from trailbrake.state.fields import quantity
from trailbrake.tracks.road_columns import RoadColumn
from trailbrake.units import KMH

BRAKE_AT = 300.0  # m after the start line
STANDSTILL_SPEED = 0.1  # m/s


@dataclass(frozen=True)
class BrakeTestGains:
    """Gains of `brake_test`."""

    speed: float = quantity("m/s", "speed before the stop", lo=1.0, hi=100.0, default=80.0 * KMH)
    brake_at: float = quantity("m", "where it brakes, after the start line", lo=1.0, hi=5000.0, default=BRAKE_AT)


class Driver:
    """Drives up to 80 km/h, brakes fully 300 m after the start line, and stays at rest.

    Args:
        gains: of the driver.
        **values: gains by name, over those of `gains`.
    """

    NEEDS = frozenset({"x", "y", "yaw", "speed"})
    COURSE_NEEDS = frozenset({"track"})
    Gains = BrakeTestGains

    def __init__(self, gains: BrakeTestGains | None = None, **values: float) -> None:
        self.gains = replace(gains or self.Gains(), **values)

    def reset(self, course: Course) -> None:
        """Start again."""
        self.road, self.row = course.track.road, -1
        self.speed_control, self.heading_control = hold_speed_controller(), HeadingController()
        self.braking = False

    def act(self, state: CarState, dt: float) -> Controls:
        """Return the controls for one state."""
        road = self.road
        s, offset, self.row = road.locate(state.x, state.y, self.row)
        along = float(road.table[self.row, RoadColumn.YAW])
        steer = self.heading_control.compute_steer(
            along + heading_to_line(offset, state.speed), state.yaw, state.speed, dt
        )
        self.braking = self.braking or s >= self.gains.brake_at
        if self.braking:
            # A driver that steers at standstill starts the next drive with a turned wheel.
            return Controls(steer=steer if state.speed > STANDSTILL_SPEED else 0.0, brake=1.0)
        throttle, brake = self.speed_control.compute_pedals(self.gains.speed, state.speed, dt)
        return Controls(steer=steer, throttle=throttle, brake=brake)
