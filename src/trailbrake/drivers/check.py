"""`check_driver`: says what is wrong with a driver before it drives."""

import math
from numbers import Integral, Real

from trailbrake.cars.load import load as load_car
from trailbrake.drivers.load import load, needs_of
from trailbrake.drivers.sample import weaving
from trailbrake.errors import TrailbrakeError, raised_at
from trailbrake.planning.course import Course
from trailbrake.roles import Driver, RehearsedDriver
from trailbrake.state import CarState, Controls
from trailbrake.state.fields import of
from trailbrake.state.tables import STATE_FIELDS
from trailbrake.tracks.load import load as load_track

TRACK, CAR = "pinegrove", "gt3"
TICKS = 400
DT = 1.0 / 333.0
_NO_REHEARSAL = "rehearse() must answer what act() would and leave the driver as it is"


def check_driver(driver: Driver | str) -> list[str]:
    """Return what is wrong with a driver, in plain sentences; an empty list means that it may drive.

    It is reset on a real course and shown `TICKS` states along it, in which only the fields that it declares in
    NEEDS are filled, as a simulator that supplies no more would show them; then the same again, because a driver
    must answer the same after reset(). Where it has a rehearse() that is asked then before every act().

    Args:
        driver: a driver, or what `--driver` takes: a name, FILE.py or FILE.py:Class.
    """
    try:
        subject = load(driver) if isinstance(driver, str) else driver
        needs = needs_of(subject, type(subject).__name__)
        course = Course(load_track(TRACK), load_car(CAR))
    except TrailbrakeError as error:
        return [str(error)]
    first, problems = _rollout(subject, course, needs)
    if problems:
        return problems
    again, problems = _rollout(subject, course, needs)
    if not problems and first != again:
        problems.append("the same states give other controls after reset(): reset() must forget everything")
    if not problems and isinstance(subject, RehearsedDriver):
        rehearsed, problems = _rollout(subject, course, needs, subject)
        if not problems and first != rehearsed:
            problems.append(_NO_REHEARSAL)
    return problems


def _rollout(
    driver: Driver, course: Course, needs: frozenset[str], rehearser: RehearsedDriver | None = None
) -> tuple[list[Controls], list[str]]:
    try:
        driver.reset(course)
    except (Exception, SystemExit) as error:
        return [], [_raised("reset(course)", error)]
    answers: list[Controls] = []
    for tick in range(TICKS):
        state = _shown(weaving(course, tick, DT), needs)
        before = repr(state)
        dt = DT if tick else 0.0
        doing = "rehearse(state, dt)"
        try:
            dry = None if rehearser is None else rehearser.rehearse(state, dt)
            doing = "act(state, dt)"
            answer = driver.act(state, dt)
        except (Exception, SystemExit) as error:
            return answers, [f"{_raised(doing, error)} at tick {tick}"]
        if rehearser is not None and dry != answer:
            return answers, [f"{_NO_REHEARSAL} at tick {tick}"]
        if repr(state) != before:
            return answers, [f"act() changed the state at tick {tick}: it is recorded and scored as it came"]
        problem = _problem(answer)
        if problem:
            return answers, [f"{problem} at tick {tick}"]
        answers.append(answer)
    return answers, []


def _raised(what: str, error: BaseException) -> str:
    place = raised_at(error)
    return " ".join(f"{place + ': ' if place else ''}{what} raised {type(error).__name__}: {error}".split())


def _problem(answer: object) -> str:
    if not isinstance(answer, Controls):
        return f"act() answered {type(answer).__name__}, expected trailbrake.Controls"
    silent = Controls()
    for name, quantity in of(Controls).items():
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


def _shown(full: CarState, needs: frozenset[str]) -> CarState:
    """Return what a driver sees of a state through a wire that supplies no more than he needs."""
    shown = CarState(time=full.time, sequence=full.sequence)
    for name in needs & STATE_FIELDS:
        if name.startswith("wheels."):
            for wheel in shown.wheels:
                setattr(wheel, name[7:], 0.0)
        elif name not in ("others", "image"):
            setattr(shown, name, getattr(full, name))
    return shown
