"""Lane keeping by the place across the road and the speed, for wires that supply little else."""

from dataclasses import dataclass

from trailbrake.drivers import lane_keep
from trailbrake.drivers.lane_keep import LaneKeepGains
from trailbrake.drivers.parts.road_return import RoadReturn
from trailbrake.state import CarState, Controls
from trailbrake.state.fields import quantity


@dataclass(frozen=True)
class LanePidGains(LaneKeepGains):
    """Gains of `lane_pid`: for wheels without a speed-dependent lock, and 25 samples per second."""

    speed: float = quantity("m/s", "speed to hold", lo=1.0, hi=100.0, default=12.0)
    steer_p: float = quantity("1", "steer per half road off the line", lo=0.05, hi=4.0, default=0.6)
    steer_i: float = quantity("1/s", "the same, per s that it lasts", lo=0.0, hi=2.0, default=0.25)
    steer_d: float = quantity("s", "steer per half road per s", lo=0.05, hi=6.0, default=0.7)


class Driver(lane_keep.Driver):
    """Holds 12 m/s and the simulator's line by a PID on the distance to it; slows where it drifts to an edge."""

    NEEDS = frozenset({"driving_line", "speed"})
    USES = RoadReturn.USES - NEEDS
    Gains = LanePidGains
    STICK = False

    def keep_lane(self, state: CarState, dt: float) -> Controls:
        """Return the controls for a state of a car on the road."""
        steer = self.lane.compute_steer(state.driving_line, state.speed, 0.0, dt)  # no yaw rate: a line is assumed
        throttle, brake = self.speed_control.compute_pedals(self.gains.speed * self.lane.speed_share(), state.speed, dt)
        return Controls(steer=steer, throttle=throttle, brake=brake)
