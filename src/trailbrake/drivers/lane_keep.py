"""Lane keeping by the place across the road alone: no map, no camera."""

from dataclasses import dataclass

from trailbrake.control.lane import LaneGains, LaneKeeper
from trailbrake.control.pace import Pace, PaceGains
from trailbrake.planning.course import Course
from trailbrake.state import CarState, Controls
from trailbrake.state.fields import quantity
from trailbrake.units import MPH


@dataclass(frozen=True)
class LaneKeepGains(LaneGains, PaceGains):
    """Gains of `lane_keep`."""

    speed: float = quantity("m/s", "speed to hold", lo=1.0, hi=100.0, default=40.0 * MPH)


class Driver:
    """Holds 40 mph and the middle of the road; slows where it drifts to an edge. `lane_keep_seed`, mended."""

    NEEDS = frozenset({"driving_line", "speed", "yaw_rate"})
    Gains = LaneKeepGains
    STICK = True

    def __init__(self, gains: LaneKeepGains | None = None) -> None:
        self.gains = gains or LaneKeepGains()

    def reset(self, course: Course) -> None:
        """Begin anew."""
        self.lane, self.pace = LaneKeeper(self.gains), Pace(self.gains)

    def act(self, state: CarState, dt: float) -> Controls:
        """Answer one state."""
        steer = self.lane.steer(state.driving_line, state.speed, state.yaw_rate, dt)
        throttle, brake = self.pace.pedals(self.gains.speed * self.lane.ease(), state.speed, dt)
        return Controls(steer=steer, throttle=throttle, brake=brake)
