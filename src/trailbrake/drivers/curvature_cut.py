"""Fast lane keeping on an unknown road: as fast as the bends of late allow."""

from dataclasses import dataclass

from trailbrake.control.bends import BendGains, BendSense
from trailbrake.control.lane import LaneGains, LaneKeeper
from trailbrake.control.pace import Pace, PaceGains
from trailbrake.planning.course import Course
from trailbrake.state import CarState, Controls
from trailbrake.state.fields import quantity
from trailbrake.units import MPH


@dataclass(frozen=True)
class CurvatureCutGains(BendGains, LaneGains, PaceGains):
    """Gains of `curvature_cut`."""

    speed: float = quantity("m/s", "the most speed to go", lo=1.0, hi=100.0, default=75.0 * MPH)


class Driver:
    """Up to 75 mph in the middle of the road, slower by the bends it has felt. `curvature_cut_seed`, mended."""

    NEEDS = frozenset({"driving_line", "speed", "yaw_rate"})
    Gains = CurvatureCutGains
    STICK = True

    def __init__(self, gains: CurvatureCutGains | None = None) -> None:
        self.gains = gains or CurvatureCutGains()

    def reset(self, course: Course) -> None:
        """Begin anew."""
        self.lane, self.bends, self.pace = LaneKeeper(self.gains), BendSense(self.gains), Pace(self.gains)

    def act(self, state: CarState, dt: float) -> Controls:
        """Answer one state."""
        steer = self.lane.steer(state.driving_line, state.speed, state.yaw_rate, dt)
        wanted = self.bends.speed(self.gains.speed, state.speed, state.yaw_rate, dt) * self.lane.ease()
        throttle, brake = self.pace.pedals(wanted, state.speed, dt)
        return Controls(steer=steer, throttle=throttle, brake=brake)
