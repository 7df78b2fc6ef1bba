"""The double lane change of ISO 3888-1, along the path of least curvature. The expo demo: `double_lane_change_seed`."""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from trailbrake.drivers import line_follow
from trailbrake.planning.course import Course
from trailbrake.planning.lane_change import iso_3888_1, lane_path
from trailbrake.planning.speed import Profile
from trailbrake.state import CarState, Controls
from trailbrake.tracks.road import Road
from trailbrake.units import KMH

START = 300.0  # m from the start line to the first cones: room for any road car to reach the speed and settle
ROOM = 0.55  # share of the room beside the car that the path keeps: for what the car strays, and its swing


@dataclass(frozen=True)
class _Manoeuvre(Course):
    """A course whose line is the path between the cones, at `speed` (m/s)."""

    speed: float

    @cached_property
    def line(self) -> Road:
        car = self.known_car()
        return lane_path(self.track.road, iso_3888_1(car.body.width, START), car, ROOM)

    @cached_property
    def profile(self) -> Profile:
        quickest = self.plan(self.line, start=0.0)
        holds = quickest.speed >= self.speed
        return replace(
            quickest,
            speed=np.minimum(quickest.speed, self.speed),
            acceleration=np.where(holds, 0.0, quickest.acceleration),
        )


class Driver:
    """Drives through the cones of ISO 3888-1, which begin 300 m after the start line, at 80 km/h. Needs a car model.

    Made for a straight: the proving ground. It drives on to the road's end.

    Args:
        speed: m/s.
    """

    NEEDS = line_follow.Driver.NEEDS

    def __init__(self, speed: float = 80.0 * KMH) -> None:
        self.speed = speed
        self.follower = line_follow.Driver()

    def reset(self, course: Course) -> None:
        """Plan the path for the car's width."""
        self.follower.reset(_Manoeuvre(course.track, course.known_car(), self.speed))

    def act(self, state: CarState, dt: float) -> Controls:
        """Answer one state."""
        return self.follower.act(state, dt)
