"""Follows points of a line that the simulator tells: no map, no camera."""

import math
from dataclasses import dataclass

from trailbrake.control.pace import Pace, PaceGains
from trailbrake.control.waypoints import Line, curvature_to, speed_for
from trailbrake.planning.course import Course
from trailbrake.state import CarState, Controls
from trailbrake.state.fields import quantity


@dataclass(frozen=True)
class WaypointFollowGains(PaceGains):
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
    Gains = WaypointFollowGains

    def __init__(self, gains: WaypointFollowGains | None = None) -> None:
        self.gains = gains or WaypointFollowGains()

    def reset(self, course: Course) -> None:
        """Begin anew."""
        self.pace = Pace(self.gains)

    def act(self, state: CarState, dt: float) -> Controls:
        """Answer one state; without a line it brakes straight on."""
        gains = self.gains
        if len(state.line_ahead) < 2:
            return Controls(brake=gains.brake)
        line = Line(state.line_ahead)
        here = line.nearest(state.x, state.y)
        aim = line.at(here + max(gains.least, gains.ahead * state.speed))
        steer = gains.turn * curvature_to(state.x, state.y, state.yaw, aim)
        wanted = min(gains.speed, speed_for(line.bends(), here, gains.sideways, gains.braking))
        throttle, brake = self.pace.pedals(wanted, state.speed, dt)
        return Controls(steer=math.copysign(min(abs(steer), 1.0), steer), throttle=throttle, brake=brake)
