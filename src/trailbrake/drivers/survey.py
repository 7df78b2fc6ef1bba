"""The slow drive that maps a road: from side to side, so that the road's width can be estimated."""

import math
from dataclasses import dataclass

from trailbrake.control.vehicle.lane_keeping import LaneGains, LaneKeeper
from trailbrake.control.vehicle.speed_control import SpeedController, SpeedGains
from trailbrake.drivers.road_return import RoadReturn
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
    USES = RoadReturn.USES - NEEDS
    OPTIONAL_COMMANDS = RoadReturn.COMMANDS
    Gains = SurveyGains
    STICK = True

    def __init__(self, gains: SurveyGains | None = None) -> None:
        self.gains = gains or SurveyGains()

    def reset(self, course: Course) -> None:
        """Start again."""
        self.road_return = RoadReturn(course)
        self._reset_controllers()
        self.driven = 0.0

    def _reset_controllers(self) -> None:
        self.lane, self.speed_control = LaneKeeper(self.gains), SpeedController(self.gains)

    def act(self, state: CarState, dt: float) -> Controls:
        """Return the controls for one state."""
        if self.lane.position_filter.known:
            rescue = self.road_return.rescue(state, dt, place=state.driving_line)
            if rescue is not None:
                self._reset_controllers()  # their integrals belong to another place
                return rescue
        self.driven += max(state.speed, 0.0) * dt
        wanted = self.gains.weave * math.sin(2.0 * math.pi * self.driven / self.gains.wave)
        steer = self.lane.compute_steer(state.driving_line, state.speed, state.yaw_rate, dt, wanted)
        throttle, brake = self.speed_control.compute_pedals(self.gains.speed * self.lane.speed_share(), state.speed, dt)
        return Controls(steer=steer, throttle=throttle, brake=brake)
