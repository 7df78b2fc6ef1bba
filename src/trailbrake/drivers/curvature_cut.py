"""Fast lane keeping on an unknown road: as fast as the recent bends allow."""

from dataclasses import dataclass

from trailbrake.control.vehicle.speed_control import BendGains, BendSpeedLimiter
from trailbrake.drivers import lane_keep
from trailbrake.drivers.lane_keep import LaneKeepGains
from trailbrake.planning.course import Course
from trailbrake.state import CarState, Controls
from trailbrake.state.fields import quantity
from trailbrake.units import MPH


@dataclass(frozen=True)
class CurvatureCutGains(BendGains, LaneKeepGains):
    """Gains of `curvature_cut`."""

    speed: float = quantity("m/s", "the most speed to go", lo=1.0, hi=100.0, default=75.0 * MPH)


class Driver(lane_keep.Driver):
    """Drives up to 75 mph in the middle of the road, slower after bends. Its original is `curvature_cut_seed`."""

    Gains = CurvatureCutGains
    gains: CurvatureCutGains

    def reset(self, course: Course) -> None:
        """Start again."""
        super().reset(course)
        self.bends = BendSpeedLimiter(self.gains)

    def keep_lane(self, state: CarState, dt: float) -> Controls:
        """Return the controls for a state of a car on the road."""
        steer = self.lane.compute_steer(state.driving_line, state.speed, state.yaw_rate, dt)
        wanted = self.bends.limit_speed(self.gains.speed, state.speed, state.yaw_rate, dt) * self.lane.speed_share()
        throttle, brake = self.speed_control.compute_pedals(wanted, state.speed, dt)
        return Controls(steer=steer, throttle=throttle, brake=brake)
