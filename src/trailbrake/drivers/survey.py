"""The slow drive that maps a road: from side to side, so that the road's width can be estimated."""

import math
from dataclasses import dataclass

from trailbrake.control.vehicle.speed_control import SpeedController
from trailbrake.drivers import lane_keep
from trailbrake.drivers.lane_keep import LaneKeepGains
from trailbrake.planning.course import Course
from trailbrake.state import CarState, Controls
from trailbrake.state.fields import quantity

MAX_SPEED_ERROR = 0.4  # m/s: more throttle than for that spins the wheels of a strong car in its lowest gear
MOST_SIDE = 3.0  # m/s^2 of lateral acceleration: bends that leave no grip for the throttle are driven more slowly
LEAST_SPEED = 3.0  # m/s


@dataclass(frozen=True)
class SurveyGains(LaneKeepGains):
    """Gains of `survey`."""

    speed: float = quantity("m/s", "speed to hold", lo=1.0, hi=20.0, default=8.0)
    weave: float = quantity("1", "half roads to either side", lo=0.0, hi=0.6, default=0.25)
    wave: float = quantity("m", "length of one weave", lo=15.0, hi=200.0, default=32.0)


class Driver(lane_keep.Driver):
    """Drives slowly and weaves, for `trailbrake learn`, which estimates the road's width from the weave."""

    Gains = SurveyGains
    gains: SurveyGains

    def reset(self, course: Course) -> None:
        """Start again."""
        super().reset(course)
        self.driven = 0.0

    def _reset_controllers(self) -> None:
        super()._reset_controllers()
        self.speed_control = SpeedController(self.gains, max_error=MAX_SPEED_ERROR)

    def keep_lane(self, state: CarState, dt: float) -> Controls:
        """Return the controls for a state of a car on the road."""
        self.driven += max(state.speed, 0.0) * dt
        wanted = self.gains.weave * math.sin(2.0 * math.pi * self.driven / self.gains.wave)
        steer = self.lane.compute_steer(state.driving_line, state.speed, state.yaw_rate, dt, wanted)
        turn = abs(state.yaw_rate) / max(state.speed, LEAST_SPEED)
        target = min(self.gains.speed * self.lane.speed_share(), math.sqrt(MOST_SIDE / max(turn, 1e-3)))
        throttle, brake = self.speed_control.compute_pedals(target, state.speed, dt)
        return Controls(steer=steer, throttle=throttle, brake=brake)
