"""Follows waypoints that the simulator supplies: no map, no camera."""

import math
from dataclasses import dataclass

from trailbrake.control.vehicle.speed_control import SpeedController, SpeedGains
from trailbrake.control.vehicle.waypoint_curve import WaypointCurve, braking_speed_limit, pursuit_curvature
from trailbrake.drivers.parts.road_return import RoadReturn
from trailbrake.planning.course import Course
from trailbrake.state import CarState, Controls
from trailbrake.state.fields import quantity


@dataclass(frozen=True)
class WaypointFollowGains(SpeedGains):
    """Gains of `waypoint_follow`."""

    speed: float = quantity("m/s", "the most speed to go", lo=1.0, hi=100.0, default=20.0)
    ahead: float = quantity("s", "how far ahead on the line it aims", lo=0.2, hi=2.0, default=0.7)
    least: float = quantity("m", "the same at the least", lo=2.0, hi=20.0, default=6.0)
    turn: float = quantity("m", "steer per curvature: wheelbase over tan(lock)", lo=1.0, hi=30.0, default=6.0)
    sideways: float = quantity("m/s^2", "acceleration that bends may take", lo=0.5, hi=30.0, default=3.5)
    braking: float = quantity("m/s^2", "deceleration before bends", lo=0.5, hi=20.0, default=3.0)


class Driver:
    """Aims at the curve through the simulator's waypoints some way ahead, and slows for how it bends (pure pursuit)."""

    NEEDS = frozenset({"x", "y", "yaw", "speed", "line_ahead"})
    USES = RoadReturn.USES - NEEDS
    OPTIONAL_COMMANDS = RoadReturn.COMMANDS
    Gains = WaypointFollowGains

    def __init__(self, gains: WaypointFollowGains | None = None) -> None:
        self.gains = gains or WaypointFollowGains()

    def reset(self, course: Course) -> None:
        """Start again."""
        self.road_return = RoadReturn(course)
        self.speed_control = SpeedController(self.gains)

    def act(self, state: CarState, dt: float) -> Controls:
        """Return the controls for one state; without a line the driver brakes and steers straight."""
        gains = self.gains
        if len(state.line_ahead) < 2:
            return Controls(brake=gains.brake)
        rescue = self.road_return.rescue(state, dt)
        if rescue is not None:
            return rescue
        line = WaypointCurve(state.line_ahead)
        here = line.nearest_distance(state.x, state.y)
        aim = line.point_at(here + max(gains.least, gains.ahead * state.speed))
        steer = gains.turn * pursuit_curvature(state.x, state.y, state.yaw, aim)
        wanted = min(gains.speed, braking_speed_limit(line.point_curvatures(), here, gains.sideways, gains.braking))
        throttle, brake = self.speed_control.compute_pedals(wanted, state.speed, dt)
        return Controls(steer=math.copysign(min(abs(steer), 1.0), steer), throttle=throttle, brake=brake)
