"""Who drives: drivers by name or file, objects of the user's own, or the default; whether they suit the simulator."""

import os
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

from trailbrake.control.vehicle.stability_control import StabilityControl
from trailbrake.drivers.loading.check import RehearsableDriver, weaving_state
from trailbrake.drivers.loading.driver_registry import (
    declared_commands,
    declared_course_needs,
    declared_custom_values,
    declared_needs,
    load_driver,
)
from trailbrake.driving.spec import DriveSpec
from trailbrake.errors import DriverError, TrailbrakeError, UsageError, describe_value, raised_at
from trailbrake.kernels import CACHE_IS_COLD, COMPILE_NOTICE
from trailbrake.planning.course import Course, UnmappedCourse, has_plan
from trailbrake.roles import Driver
from trailbrake.sims import registry
from trailbrake.simulator import ANY_CAR_DRIVER, BEST_DRIVER, ESTIMATE_DRIVER, AnySimulator
from trailbrake.state.signals import is_signal_name
from trailbrake.system.breakable_call import StopInsisted
from trailbrake.system.processes import end_forked_copy
from trailbrake.system.signals import reclaim_stop_signals


def name_driver(own: Driver | type[Driver] | None) -> str | None:
    """Return the name under which a driver of the user's own is recorded; None for none."""
    if own is None:
        return None
    return own.__name__ if isinstance(own, type) else type(own).__name__


def make_drivers(spec: DriveSpec, own: Driver | type[Driver] | None = None) -> list[Driver]:
    """Return the drivers of a drive, one per car.

    Args:
        spec: the drive.
        own: a driver of the user's own, or its class, in place of those that the spec names.

    Raises:
        UsageError: one object for several cars, or gains for an object.
        DriverError: a driver that cannot be loaded or made.
    """
    first = spec.first
    if own is None:
        return [load_driver(car.driver or first.driver, Path(car.config) if car.config else None, car.gain)
                for car in spec.cars]  # fmt: skip
    if first.gain or first.config:
        raise UsageError("a driver that is given as an object has its gains", where="gain, config",
                         hint="give them to its constructor")  # fmt: skip
    if isinstance(own, type):
        drivers = [own() for _ in spec.cars]
    elif len(spec.cars) == 1:
        drivers = [own]
    else:
        raise UsageError("one object drives one car", where="cars", got=str(len(spec.cars)), hint="give its class")
    declared_needs(drivers[0], type(drivers[0]).__name__)
    return drivers


def choose_default_driver(simulator: AnySimulator, course: Course) -> str:
    """Return the name of the driver that drives where the user names none."""
    if isinstance(course, UnmappedCourse) and simulator.unmapped_driver:
        return simulator.unmapped_driver
    if simulator.default_driver != BEST_DRIVER:
        return simulator.default_driver
    if course.car is None:
        return BEST_DRIVER if isinstance(course, UnmappedCourse) else ANY_CAR_DRIVER
    doubt = course.car.uncertainty
    return ESTIMATE_DRIVER if doubt is not None and not doubt.is_verified else BEST_DRIVER


def check_driver_needs(
    driver: Driver, name: str, simulator: AnySimulator, live: object = None, camera: str = ""
) -> None:
    """Check that a drive supplies every field that a driver needs, and accepts every command that it may send.

    Args:
        driver: the driver.
        name: its name, for the error.
        simulator: whose wire.
        live: the simulator's live options, on which its fields may depend; None for the defaults.
        camera: the drive's `--camera`.

    Raises:
        UsageError: it does not; the error names the fields, and the simulators that supply them.
    """
    needs = {need for need in declared_needs(driver, name) if not is_signal_name(need)}
    fields = {"image"} if camera else set()
    supplied = simulator.supplies if live is None else simulator.list_supplied(live)
    missing = sorted(needs - supplied - fields)
    if missing and needs <= simulator.supplies | fields:
        raise UsageError(
            f"driver {name} needs what {simulator.name} does not supply with these options: {', '.join(missing)}",
            hint="a contract, for example, must list the signals of these fields",
        )
    if missing:
        able = [other.name for other in registry.list_simulators().simulators if needs <= other.supplies]
        raise UsageError(
            f"driver {name} needs what {simulator.name} does not supply: {', '.join(missing)}",
            hint="add --camera window:TITLE, or in the embedded world --camera world" if missing == ["image"]
            else f"these supply it: {', '.join(able)}" if able else "no simulator supplies all of it",
        )  # fmt: skip
    commands = declared_commands(driver, name) | ({"custom"} if declared_custom_values(driver, name) else set())
    refused = sorted(commands - simulator.accepts)
    if refused:
        able = [other.name for other in registry.list_simulators().simulators if commands <= other.accepts]
        raise UsageError(
            f"driver {name} sends what {simulator.name} does not accept: {', '.join(refused)}",
            hint=f"these accept it: {', '.join(able)}" if able else "no simulator accepts all of it",
        )


def check_course_needs(driver: Driver, name: str, simulator: AnySimulator, course: Course) -> None:
    """Check that the road and the car that a driver plans with are known.

    Args:
        driver: the driver.
        name: its name, for the error.
        simulator: whose wire.
        course: of the drive.

    Raises:
        UsageError: they are not; the error says what to do.
    """
    needs = declared_course_needs(driver, name)
    if "track" in needs and isinstance(course, UnmappedCourse):
        raise UsageError(f"{name} plans on a road, and {course.cause}", where="drive", hint=course.hint)
    if "car" in needs and course.car is None:
        raise UsageError(f"{name} plans with a model of the car, and {simulator.name} does not name its car",
                         where="drive", hint="name the nearest one by --car; `trailbrake cars` lists them")  # fmt: skip


def make_stability_control(simulator: AnySimulator, live: object, course: Course) -> StabilityControl:
    """Return a stability control for one car; UsageError where it lacks what it needs."""
    car, missing = course.car, StabilityControl.NEEDS - simulator.list_supplied(live)
    if car is None or missing:
        raise UsageError("no stability control", where="--stability", expected="a known car and its motion",
                         got="no car file" if car is None else f"no {', '.join(sorted(missing))}",
                         hint="name the car by --car" if car is None else "drive without it")  # fmt: skip
    return StabilityControl(car)


def reset_drivers(drivers: Sequence[Driver], name: str, course: Course, say: Callable[[str], None]) -> None:
    """Reset the drivers of a drive, and compute what its score and its report take from the plan.

    Args:
        drivers: one for each car.
        name: of the driver, for errors.
        course: what they get to know.
        say: takes a line where kernels have to be compiled.

    Raises:
        TrailbrakeError: of the driver.
        DriverError: anything else that `reset` raises.
    """
    if CACHE_IS_COLD:
        say(COMPILE_NOTICE)
    try:
        pid = os.getpid()
        for driver in drivers:
            driver.reset(course)
            end_forked_copy(pid, driver)
            reclaim_stop_signals()
        if has_plan(course):
            _ = course.profile  # the score and the report want the plan, whether the driver does or not
            if CACHE_IS_COLD and isinstance(drivers[0], RehearsableDriver):
                # An answer compiles more, best while the world is compiled beside. One that fails does so in a drive.
                with suppress(Exception):
                    drivers[0].rehearse(weaving_state(course, 1, 0.003), 0.003)
                drivers[0].reset(course)  # one that is not left as it was would drive otherwise than with kept kernels
    except (TrailbrakeError, StopInsisted):
        raise
    except BaseException as error:
        where = raised_at(error) or name
        raise DriverError(f"reset() raised {type(error).__name__}: {describe_value(error)}", where=where) from error
