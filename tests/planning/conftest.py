from functools import cache

import pytest

from trailbrake.cars.car_library import load_car
from trailbrake.planning.course import Course
from trailbrake.tracks.track_library import load_track


@cache
def _course(track, car):
    return Course(load_track(track), load_car(car))


@pytest.fixture(scope="session")
def course():
    """Return course(track, car), planned once per test run."""
    return _course
