"""The slow drive that maps a road: from side to side, so that the road's width can be estimated."""

import math
from dataclasses import dataclass

from trailbrake.control.vehicle.lane_keeping import LaneGains, LaneKeeper
from trailbrake.control.vehicle.speed_control import SpeedController, SpeedGains
from trailbrake.planning.course import Course
from trailbrake.state import CarState, Controls
from trailbrake.state.fields import quantity


@dataclass(frozen=True)
class SurveyGains(LaneGains, SpeedGains):
    """Gains of `survey`."""

    speed: float = quantity("m/s", "speed to hold", lo=1.0, hi=20.0, default=8.0)
    weave: float = quantity("1", "half roads to either side", lo=0.0, hi=0.6, default=0.25)
    wave: float = quantity("m", "length of one weave", lo=15.0, hi=200.0, default=32.0)


class Driver:
    """Drives slowly and weaves, for `trailbrake learn`, which estimates the road's width from the weave."""

    NEEDS = frozenset({"driving_line", "speed", "yaw_rate"})
    Gains = SurveyGains
    STICK = True

    def __init__(self, gains: SurveyGains | None = None) -> None:
        self.gains = gains or SurveyGains()

    def reset(self, course: Course) -> None:
        """Start again."""
        self.lane, self.speed_control = LaneKeeper(self.gains), SpeedController(self.gains)
        self.driven = 0.0

    def act(self, state: CarState, dt: float) -> Controls:
        """Return the controls for one state."""
        self.driven += max(state.speed, 0.0) * dt
        wanted = self.gains.weave * math.sin(2.0 * math.pi * self.driven / self.gains.wave)
        steer = self.lane.compute_steer(state.driving_line, state.speed, state.yaw_rate, dt, wanted)
        throttle, brake = self.speed_control.compute_pedals(self.gains.speed * self.lane.speed_share(), state.speed, dt)
        return Controls(steer=steer, throttle=throttle, brake=brake)
