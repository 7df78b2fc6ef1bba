"""`check_driver`: reports what is wrong with a driver before it drives.

A driver's rehearsal: computing controls without effect while the loop waits for the next sample (decision 18).

Finds out what drivers need of the course, by resetting them on courses without a road or without a car.

Synthetic states for drivers that are checked without a simulator.
"""

import math
from numbers import Integral, Real
from typing import Protocol, runtime_checkable

import numpy as np

from trailbrake.cars.car_library import load_car
from trailbrake.drivers.loading.driver_registry import (
    declared_commands,
    declared_course_needs,
    declared_custom_values,
    declared_needs,
    declared_optional_commands,
    load_driver,
)
from trailbrake.errors import TrailbrakeError, raised_at
from trailbrake.planning.course import Course, UnmappedCourse
from trailbrake.roles import Driver, PlansOnCourse
from trailbrake.state import CarState, Controls
from trailbrake.state.commands import find_command_problem
from trailbrake.state.controls import describe_driver_exception
from trailbrake.state.fields import declared_quantities
from trailbrake.state.signals import SignalValues, is_signal_name
from trailbrake.state.tables import STATE_FIELDS
from trailbrake.tracks.road_columns import RoadColumn
from trailbrake.tracks.track_library import load_track

CHECK_TRACK, CHECK_CAR = "pinegrove", "gt3"
TICKS = 400
DT = 1.0 / 333.0
_NO_REHEARSAL = "rehearse() must answer what act() would and leave the driver as it is"


@runtime_checkable
class RehearsableDriver(Protocol):
    """A driver whose answer can be computed without a change of the driver, to have its code and data in the caches."""

    def rehearse(self, state: CarState, dt: float) -> Controls:
        """Return what `act` would return, and leave the driver as it is."""


def check_driver(driver: Driver | str) -> list[str]:
    """Return what is wrong with a driver, in plain sentences; an empty list means that it may drive.

    The driver is reset on a real course and receives `TICKS` states along it, in which only the fields of its NEEDS are
    filled. Then all is repeated, because a driver must return the same controls after reset(). The third time, a driver
    with rehearse() is rehearsed before every act(). In between it is reset on courses that lack the road or
    the car, where its COURSE_NEEDS do not name them.

    Args:
        driver: a driver, or what `--driver` takes: a name, FILE.py or FILE.py:Class.
    """
    try:
        subject = load_driver(driver) if isinstance(driver, str) else driver
        needs = declared_needs(subject, type(subject).__name__)
        course = Course(load_track(CHECK_TRACK), load_car(CHECK_CAR))
    except TrailbrakeError as error:
        return [str(error)]
    first, problems = _drive_probe_states(subject, course, needs)
    problems = problems or _check_course_needs(subject)
    if problems:
        return problems
    again, problems = _drive_probe_states(subject, course, needs)
    if not problems and first != again:
        problems.append("the same states give other controls after reset(): reset() must forget everything")
    if not problems and isinstance(subject, RehearsableDriver):
        rehearsed, problems = _drive_probe_states(subject, course, needs, subject)
        if not problems and first != rehearsed:
            problems.append(_NO_REHEARSAL)
    return problems


def _drive_probe_states(
    driver: Driver, course: Course, needs: frozenset[str], rehearser: RehearsableDriver | None = None
) -> tuple[list[Controls], list[str]]:
    try:
        driver.reset(course)
    except (Exception, SystemExit) as error:
        return [], [_describe_exception("reset(course)", error)]
    answers: list[Controls] = []
    for tick in range(TICKS):
        state = _mask_state(weaving_state(course, tick, DT), needs)
        before = repr(state)
        dt = DT if tick else 0.0
        doing = "rehearse(state, dt)"
        try:
            dry = None if rehearser is None else rehearser.rehearse(state, dt)
            doing = "act(state, dt)"
            answer = driver.act(state, dt)
        except (Exception, SystemExit) as error:
            return answers, [f"{_describe_exception(doing, error)} at tick {tick}"]
        if rehearser is not None and dry != answer:
            return answers, [f"{_NO_REHEARSAL} at tick {tick}"]
        if repr(state) != before:
            return answers, [f"act() changed the state at tick {tick}: it is recorded and scored as it came"]
        problem = _find_problem(answer, driver)
        if problem:
            return answers, [f"{problem} at tick {tick}"]
        answers.append(answer)
    return answers, []


def _check_course_needs(driver: Driver) -> list[str]:
    """Reset a driver on courses that lack what it does not declare to need: they must do, or raise their own error."""
    try:
        declared = declared_course_needs(driver, type(driver).__name__)
    except TrailbrakeError as error:
        return [str(error)]
    for part, course in make_partial_courses().items():
        if part in declared:
            continue
        try:
            driver.reset(course)
        except (Exception, SystemExit) as error:
            refused = isinstance(error, TrailbrakeError)
            if not refused or isinstance(driver, PlansOnCourse):
                return [f"{_describe_exception('reset(course)', error)} on a course without a {part}, which "
                        f'COURSE_NEEDS does not name: add it, as in COURSE_NEEDS = {{"{part}"}}']  # fmt: skip
    return []


def _describe_exception(what: str, error: BaseException) -> str:
    place = raised_at(error)
    text = describe_driver_exception(error)
    return " ".join(f"{place + ': ' if place else ''}{what} raised {type(error).__name__}: {text}".split())


def _find_problem(answer: object, driver: Driver) -> str:
    if not isinstance(answer, Controls):
        return f"act() answered {type(answer).__name__}, expected trailbrake.Controls"
    if answer.command is not None:
        allowed = declared_commands(driver, "COMMANDS") | declared_optional_commands(driver, "OPTIONAL_COMMANDS")
        problem = find_command_problem(answer.command, allowed)
        if problem:
            return f"{problem}; the driver's COMMANDS declare what it sends"
    custom, declared = answer.custom, declared_custom_values(driver, "CUSTOM")
    if len(custom) > declared or not all(isinstance(value, Real) and math.isfinite(value) for value in custom):
        return f"custom is {custom!r}, expected up to CUSTOM = {declared} finite numbers"
    silent = Controls()
    for name, quantity in declared_quantities(Controls).items():
        value = getattr(answer, name)
        if value is getattr(silent, name) or (value != value and math.isnan(getattr(silent, name))):
            continue  # left alone
        if not isinstance(value, Real) or not math.isfinite(value):
            return f"{name} is {value!r}, expected a finite number"
        if not quantity.lo <= float(value) <= quantity.hi:
            return f"{name} is {value:g}, expected {quantity.lo:g} to {quantity.hi:g}"
    if answer.gear is not None and not isinstance(answer.gear, Integral):
        return f"gear is {answer.gear!r}, expected a whole number or None"
    return ""


def _mask_state(full: CarState, needs: frozenset[str]) -> CarState:
    """Return a copy of a state in which only the driver's NEEDS are filled; signals are 0."""
    shown = CarState(time=full.time, sequence=full.sequence)
    signals = sorted(filter(is_signal_name, needs))
    shown.signals = SignalValues({name: place for place, name in enumerate(signals)}, (0.0,) * len(signals))
    for name in needs & STATE_FIELDS:
        if name.startswith("wheels."):
            for wheel in shown.wheels:
                setattr(wheel, name[7:], 0.0)
        elif name not in ("others", "image"):
            setattr(shown, name, getattr(full, name))
    return shown


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
