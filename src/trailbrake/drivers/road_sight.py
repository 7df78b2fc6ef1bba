"""Follows a road by the camera alone."""

import math
from dataclasses import dataclass

from trailbrake.control.vehicle.speed_control import SpeedController, SpeedGains
from trailbrake.planning.course import Course
from trailbrake.state import CarState, Controls
from trailbrake.state.fields import quantity
from trailbrake.vision.lanes import road_middle


@dataclass(frozen=True)
class RoadSightGains(SpeedGains):
    """Gains of `road_sight`."""

    speed: float = quantity("m/s", "the most speed to go", lo=1.0, hi=50.0, default=10.0)
    row: float = quantity("1", "where it looks, as a share of the picture's height", lo=0.4, hi=0.9, default=0.62)
    turn: float = quantity("1", "steer per half picture that the road's middle is off", lo=0.1, hi=4.0, default=0.9)
    slow: float = quantity("1", "share of the speed let go at full lock", lo=0.0, hi=0.9, default=0.7)


class Driver:
    """Steers to where the grey of the road is on the picture, some way ahead, and slows as it steers."""

    NEEDS = frozenset({"image", "speed"})
    Gains = RoadSightGains

    def __init__(self, gains: RoadSightGains | None = None) -> None:
        self.gains = gains or RoadSightGains()

    def reset(self, course: Course) -> None:
        """Start again."""
        self.speed_control, self.steer = SpeedController(self.gains), 0.0

    def act(self, state: CarState, dt: float) -> Controls:
        """Return the controls for one state; where no road is seen the driver brakes with the last steer."""
        gains = self.gains
        seen = road_middle(state.image.pixels, gains.row) if state.image is not None else math.nan
        if math.isnan(seen):
            return Controls(steer=self.steer, brake=gains.brake)
        self.steer = min(max(-gains.turn * seen, -1.0), 1.0)
        wanted = gains.speed * (1.0 - gains.slow * abs(self.steer))
        throttle, brake = self.speed_control.compute_pedals(wanted, state.speed, dt)
        return Controls(steer=self.steer, throttle=throttle, brake=brake)
