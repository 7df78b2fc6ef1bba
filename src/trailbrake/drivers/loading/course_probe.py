"""Finds out what drivers need of the course, by resetting them on courses without a road or without a car.

Synthetic states for drivers that are checked without a simulator.
"""

import math

import numpy as np

from trailbrake.cars.car_library import load_car
from trailbrake.drivers.loading.driver_registry import declared_course_needs
from trailbrake.errors import TrailbrakeError
from trailbrake.planning.course import Course, UnmappedCourse
from trailbrake.roles import Driver, PlansOnCourse
from trailbrake.state import CarState
from trailbrake.tracks.road_columns import RoadColumn
from trailbrake.tracks.track_library import load_track

PROBE_TRACK, PROBE_CAR = "proving_ground", "gt3"
_POINTS_AHEAD = np.arange(-3.0, 70.0, 12.0)  # m


def make_partial_courses() -> dict[str, Course]:
    """Return {"track": a course without a track, "car": one without a car}."""
    return {
        "track": UnmappedCourse(load_car(PROBE_CAR), cause="the road is not known"),
        "car": Course(load_track(PROBE_TRACK), None),
    }


def find_course_needs(driver: Driver, where: str) -> frozenset[str]:
    """Return what a driver needs of the course: its COURSE_NEEDS, or without those what its reset() refuses to lack.

    Args:
        driver: a driver; afterwards it needs another reset().
        where: its name, for the error.

    Raises:
        DriverError: its COURSE_NEEDS cannot be used.
    """
    if isinstance(driver, PlansOnCourse):
        return declared_course_needs(driver, where)
    return frozenset(part for part, course in make_partial_courses().items() if _refuses_course(driver, course))


def _refuses_course(driver: Driver, course: Course) -> bool:
    try:
        driver.reset(course)
    except TrailbrakeError:
        return True
    return False


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
