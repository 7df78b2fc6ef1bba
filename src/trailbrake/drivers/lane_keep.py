"""Lane keeping by the place across the road alone: no map, no camera."""

from dataclasses import dataclass

from trailbrake.control.vehicle.lane_keeping import LaneGains, LaneKeeper
from trailbrake.control.vehicle.speed_control import SpeedController, SpeedGains
from trailbrake.drivers.parts.road_return import RoadReturn
from trailbrake.planning.course import Course
from trailbrake.state import CarState, Controls
from trailbrake.state.fields import quantity
from trailbrake.units import MPH


@dataclass(frozen=True)
class LaneKeepGains(LaneGains, SpeedGains):
    """Gains of `lane_keep`."""

    speed: float = quantity("m/s", "speed to hold", lo=1.0, hi=100.0, default=40.0 * MPH)


class Driver:
    """Holds 40 mph and the middle of the road; slows where it drifts to an edge. Its original is `lane_keep_seed`."""

    NEEDS = frozenset({"driving_line", "speed", "yaw_rate"})
    USES = RoadReturn.USES - NEEDS
    OPTIONAL_COMMANDS = RoadReturn.COMMANDS
    Gains: type[LaneKeepGains] = LaneKeepGains
    STICK = True

    def __init__(self, gains: LaneKeepGains | None = None) -> None:
        self.gains = gains or self.Gains()

    def reset(self, course: Course) -> None:
        """Start again."""
        self.road_return = RoadReturn(course)
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
        return self.keep_lane(state, dt)

    def keep_lane(self, state: CarState, dt: float) -> Controls:
        """Return the controls for a state of a car on the road."""
        steer = self.lane.compute_steer(state.driving_line, state.speed, state.yaw_rate, dt)
        throttle, brake = self.speed_control.compute_pedals(self.gains.speed * self.lane.speed_share(), state.speed, dt)
        return Controls(steer=steer, throttle=throttle, brake=brake)
