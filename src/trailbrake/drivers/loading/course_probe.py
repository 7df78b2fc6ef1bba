"""Finds out what drivers need of the course, by resetting them on courses without a road or without a car."""

from trailbrake.cars.car_library import load_car
from trailbrake.drivers.loading.driver_registry import declared_course_needs
from trailbrake.errors import TrailbrakeError
from trailbrake.planning.course import Course, UnmappedCourse
from trailbrake.roles import Driver, PlansOnCourse
from trailbrake.tracks.track_library import load_track

PROBE_TRACK, PROBE_CAR = "proving_ground", "gt3"


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
