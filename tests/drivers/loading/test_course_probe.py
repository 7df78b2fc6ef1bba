"""What drivers need of the course: declared by the built-in ones, found out for those of users."""

import math

import numpy as np
import pytest

from trailbrake import Controls, check_driver
from trailbrake.cars.car_library import load_car
from trailbrake.drivers.loading.check import find_course_needs, make_partial_courses, weaving_state
from trailbrake.drivers.loading.driver_registry import declared_course_needs, driver_names, load_driver
from trailbrake.errors import DriverError, TrailbrakeError
from trailbrake.planning.course import Course
from trailbrake.tracks.track_library import load_track

DT = 0.003


class Own:
    NEEDS = frozenset({"speed"})

    def reset(self, course):
        self.read(course)

    def read(self, course):
        pass

    def act(self, state, dt):
        return Controls()


@pytest.mark.parametrize("name", driver_names())
def test_a_built_in_driver_declares_what_it_needs_of_the_course(name):
    driver, refused = load_driver(name), set()
    for part, course in make_partial_courses().items():
        try:
            driver.reset(course)
        except TrailbrakeError:
            refused.add(part)
    assert declared_course_needs(driver, name) == refused


def test_what_users_drivers_need_is_found_out():
    class Maps(Own):
        def read(self, course):
            self.road = course.track.road

    class Plans(Own):
        def read(self, course):
            self.line = course.line

    assert find_course_needs(Own(), "own") == frozenset()
    assert find_course_needs(Maps(), "own") == {"track"}
    assert find_course_needs(Plans(), "own") == {"track", "car"}


def test_a_declaration_counts_and_is_checked():
    class Declares(Own):
        COURSE_NEEDS = frozenset({"car"})

        def read(self, course):
            self.width = course.car.body.width

    class Wrong(Own):
        COURSE_NEEDS = frozenset({"road"})

    class Lacks(Own):
        COURSE_NEEDS = frozenset({"car"})

        def read(self, course):
            self.road = course.track.road

    class Crashes(Own):
        def read(self, course):
            self.width = course.car.body.width

    assert find_course_needs(Declares(), "own") == {"car"}
    assert check_driver(Declares()) == []
    with pytest.raises(DriverError, match="COURSE_NEEDS cannot be"):
        find_course_needs(Wrong(), "own")
    assert "COURSE_NEEDS cannot be" in check_driver(Wrong())[0]
    assert "on a course without a track, which COURSE_NEEDS does not name" in check_driver(Lacks())[0]
    assert 'add it, as in COURSE_NEEDS = {"car"}' in check_driver(Crashes())[0]


@pytest.mark.parametrize("track", ["pinegrove", "serpent_pass"])
def test_the_car_speeds_up_from_rest_along_the_road_and_stays_on_it(track):
    course = Course(load_track(track), load_car("gt3"))
    states = [weaving_state(course, tick, DT) for tick in range(0, 400, 7)]
    places = [course.track.road.locate(state.x, state.y) for state in states]
    assert all(np.diff([s for s, *_ in places]) > 0.0)
    assert max(abs(offset) for _, offset, *_ in places) < 1.0
    assert [states[0].time, states[0].speed] == [0.0, 0.0]
    assert states[-1].speed > 25.0
    assert states[-1].time == pytest.approx(DT * states[-1].sequence)


def test_what_drivers_read_is_there():
    state = weaving_state(Course(load_track("pinegrove"), load_car("gt3")), 100, DT)
    read = (state.velocity_x, state.velocity_y, state.acceleration_y, state.yaw_rate, state.driving_line, state.yaw)
    assert all(map(math.isfinite, read))
    assert len(state.line_ahead) > 5
