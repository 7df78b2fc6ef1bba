"""Who drives: drivers by name or file, objects of the user's own, or the one that suits simulator and road."""

from pathlib import Path

from trailbrake.drivers.loading.driver_registry import declared_needs, load_driver
from trailbrake.driving.spec import DriveSpec
from trailbrake.errors import UsageError
from trailbrake.planning.course import Course, UnmappedCourse
from trailbrake.roles import Driver
from trailbrake.simulator import BEST_DRIVER, ESTIMATE_DRIVER, AnySimulator


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
        config = Path(first.config) if first.config else None
        return [load_driver(first.driver, config, first.gain) for _ in spec.cars]
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
    doubt = None if course.car is None else course.car.uncertainty
    if doubt is not None and not doubt.is_verified and simulator.default_driver == BEST_DRIVER:
        return ESTIMATE_DRIVER
    return simulator.default_driver
