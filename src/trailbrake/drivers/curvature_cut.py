"""Fast lane keeping on an unknown road: as fast as the recent bends allow."""

from dataclasses import dataclass

from trailbrake.control.vehicle.lane_keeping import LaneGains, LaneKeeper
from trailbrake.control.vehicle.speed_control import BendGains, BendSpeedLimiter, SpeedController, SpeedGains
from trailbrake.drivers.parts.road_return import RoadReturn
from trailbrake.planning.course import Course
from trailbrake.state import CarState, Controls
from trailbrake.state.fields import quantity
from trailbrake.units import MPH


@dataclass(frozen=True)
class CurvatureCutGains(BendGains, LaneGains, SpeedGains):
    """Gains of `curvature_cut`."""

    speed: float = quantity("m/s", "the most speed to go", lo=1.0, hi=100.0, default=75.0 * MPH)


class Driver:
    """Drives up to 75 mph in the middle of the road, slower after bends. Its original is `curvature_cut_seed`."""

    NEEDS = frozenset({"driving_line", "speed", "yaw_rate"})
    USES = RoadReturn.USES - NEEDS
    OPTIONAL_COMMANDS = RoadReturn.COMMANDS
    Gains = CurvatureCutGains
    STICK = True

    def __init__(self, gains: CurvatureCutGains | None = None) -> None:
        self.gains = gains or CurvatureCutGains()

    def reset(self, course: Course) -> None:
        """Start again."""
        self.road_return = RoadReturn(course)
        self.bends = BendSpeedLimiter(self.gains)
        self._reset_controllers()

    def _reset_controllers(self) -> None:
        self.lane, self.speed_control = LaneKeeper(self.gains), SpeedController(self.gains)

    def act(self, state: CarState, dt: float) -> Controls:
        """Return the controls for one state."""
        if self.lane.position_filter.known:
            rescue = self.road_return.rescue(state, dt, place=state.driving_line)
            if rescue is not None:
                self._reset_controllers()  # their integrals belong to another place
                return rescue
        steer = self.lane.compute_steer(state.driving_line, state.speed, state.yaw_rate, dt)
        wanted = self.bends.limit_speed(self.gains.speed, state.speed, state.yaw_rate, dt) * self.lane.speed_share()
        throttle, brake = self.speed_control.compute_pedals(wanted, state.speed, dt)
        return Controls(steer=steer, throttle=throttle, brake=brake)
