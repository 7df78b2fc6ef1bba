"""The slow drive that maps a road: from side to side, so that the map can tell how wide the road is."""

import math
from dataclasses import dataclass

from trailbrake.control.lane import LaneGains, LaneKeeper
from trailbrake.control.pace import Pace, PaceGains
from trailbrake.planning.course import Course
from trailbrake.state import CarState, Controls
from trailbrake.state.fields import quantity


@dataclass(frozen=True)
class SurveyGains(LaneGains, PaceGains):
    """Gains of `survey`."""

    speed: float = quantity("m/s", "speed to hold", lo=1.0, hi=20.0, default=8.0)
    weave: float = quantity("1", "half roads to either side", lo=0.0, hi=0.6, default=0.25)
    wave: float = quantity("m", "length of one weave", lo=15.0, hi=200.0, default=32.0)


class Driver:
    """Drives slowly and weaves, for `trailbrake learn`: the path's bends against the place across tell the width."""

    NEEDS = frozenset({"driving_line", "speed", "yaw_rate"})
    Gains = SurveyGains
    STICK = True

    def __init__(self, gains: SurveyGains | None = None) -> None:
        self.gains = gains or SurveyGains()

    def reset(self, course: Course) -> None:
        """Begin anew."""
        self.lane, self.pace = LaneKeeper(self.gains), Pace(self.gains)
        self.driven = 0.0

    def act(self, state: CarState, dt: float) -> Controls:
        """Answer one state."""
        self.driven += max(state.speed, 0.0) * dt
        wanted = self.gains.weave * math.sin(2.0 * math.pi * self.driven / self.gains.wave)
        steer = self.lane.steer(state.driving_line, state.speed, state.yaw_rate, dt, wanted)
        throttle, brake = self.pace.pedals(self.gains.speed * self.lane.ease(), state.speed, dt)
        return Controls(steer=steer, throttle=throttle, brake=brake)
