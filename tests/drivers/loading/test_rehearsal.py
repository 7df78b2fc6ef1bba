"""Rehearsals of the drivers that have them."""

import pytest

from trailbrake.cars.car_library import load_car
from trailbrake.drivers.loading.driver_registry import driver_names, load_driver
from trailbrake.drivers.loading.probe_states import weaving_state
from trailbrake.drivers.loading.rehearsal import RehearsableDriver
from trailbrake.planning.course import Course
from trailbrake.tracks.track_library import load_track

REHEARSABLE = [name for name in driver_names() if isinstance(load_driver(name), RehearsableDriver)]


def test_the_driver_of_the_default_drive_can_be_rehearsed():
    assert "line_follow" in REHEARSABLE


@pytest.mark.parametrize("name", REHEARSABLE)
def test_a_rehearsal_returns_the_controls_and_changes_nothing(name):
    course = Course(load_track("pinegrove"), load_car("gt3"))
    plain, rehearsed = load_driver(name), load_driver(name)
    plain.reset(course)
    rehearsed.reset(course)
    for tick in range(100, 140):
        state, dt = weaving_state(course, tick, 0.003), 0.003
        dry = [rehearsed.rehearse(state, dt) for _ in range(2)]
        assert dry == [plain.act(state, dt)] * 2
        assert rehearsed.act(state, dt) == dry[0]
