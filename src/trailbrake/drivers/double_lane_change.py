"""The double lane change of ISO 3888-1, along the path of least curvature. Original: `double_lane_change_seed`."""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from trailbrake.drivers import line_follow
from trailbrake.planning.course import Course
from trailbrake.planning.lane_change import iso_3888_1, plan_lane_path
from trailbrake.planning.speed_profile import SpeedProfile
from trailbrake.state import CarState, Controls
from trailbrake.state.fields import quantity
from trailbrake.tracks.road import Road
from trailbrake.units import KMH

CONES_START = 300.0  # m from the start line to the first cones: enough for any road car to reach the speed
ROOM_SHARE = 0.55  # share of the room beside the car that the path keeps, for errors and for the swing of the car


@dataclass(frozen=True)
class _LaneChangeCourse(Course):
    """A course whose line is the path between the cones, at `speed` (m/s)."""

    speed: float

    @cached_property
    def line(self) -> Road:
        car = self.known_car()
        return plan_lane_path(self.track.road, iso_3888_1(car.body.width, CONES_START), car, ROOM_SHARE)

    @cached_property
    def profile(self) -> SpeedProfile:
        quickest = self.profile_from_rest
        holds = quickest.speed >= self.speed
        return replace(
            quickest,
            speed=np.minimum(quickest.speed, self.speed),
            acceleration=np.where(holds, 0.0, quickest.acceleration),
        )


@dataclass(frozen=True)
class LaneChangeGains:
    """Gains of `double_lane_change`."""

    speed: float = quantity("m/s", "speed through the cones", lo=1.0, hi=100.0, default=80.0 * KMH)


class Driver:
    """Drives through the cones of ISO 3888-1, which begin 300 m after the start line, at 80 km/h. Needs a car model.

    Made for a straight: the proving ground. It drives on to the road's end.

    Args:
        gains: of the driver.
        **values: gains by name, over those of `gains`.
    """

    NEEDS = line_follow.Driver.NEEDS
    COURSE_NEEDS = line_follow.Driver.COURSE_NEEDS
    USES = line_follow.Driver.USES
    Gains = LaneChangeGains

    def __init__(self, gains: LaneChangeGains | None = None, **values: float) -> None:
        self.gains = replace(gains or self.Gains(), **values)
        self.follower = line_follow.Driver()

    def reset(self, course: Course) -> None:
        """Plan the path for the car's width."""
        self.follower.reset(_LaneChangeCourse(course.track, course.known_car(), self.gains.speed))

    def act(self, state: CarState, dt: float) -> Controls:
        """Return the controls for one state."""
        return self.follower.act(state, dt)
