"""Synthetic states for drivers that are checked without a simulator."""

import math

import numpy as np

from trailbrake.planning.course import Course
from trailbrake.state import CarState
from trailbrake.tracks.road_columns import RoadColumn

_POINTS_AHEAD = np.arange(-3.0, 70.0, 12.0)  # m


def weaving_state(course: Course, tick: int, dt: float) -> CarState:
    """Return the state at tick `tick` of `dt` s: a car that speeds up from rest and weaves along the centreline."""
    road = course.track.road
    speed = min(0.1 * tick, 30.0)
    s = 0.05 * dt * tick * tick + 0.5
    offset, heading = 0.8 * math.sin(0.05 * tick), 0.03 * math.cos(0.05 * tick)
    x, y, z = road.point(s, offset)
    yaw = float(road.column_at(s, RoadColumn.YAW)) + heading
    ahead = road.points(_POINTS_AHEAD + s)
    return CarState(
        time=tick * dt, sequence=tick, x=x, y=y, z=z, yaw=(yaw + math.pi) % (2 * math.pi) - math.pi, pitch=0.0,
        roll=0.0, speed=speed, velocity_x=speed, velocity_y=0.02 * speed, velocity_z=0.0, acceleration_x=1.0,
        acceleration_y=0.0, acceleration_z=0.0, roll_rate=0.0, pitch_rate=0.0,
        yaw_rate=speed * float(road.column_at(s, RoadColumn.CURVATURE)), steer=0.0, steering_wheel_angle=0.0,
        throttle=0.5, brake=0.0, clutch=0.0, handbrake=0.0, gear=min(1 + tick // 80, 5), engine_speed=500.0,
        fuel_litres=30.0, abs_active=0.0, tc_active=0.0, lap_time=tick * dt, best_lap_time=60.0,
        lap_progress=s / road.length, driving_line=offset / float(road.column_at(s, RoadColumn.WIDTH_LEFT)),
        contacts=0.0, contact_depth=0.0, line_ahead=tuple((px, py) for px, py, _, _ in ahead.tolist()),
    )  # fmt: skip
