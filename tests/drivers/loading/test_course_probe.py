"""What drivers need of the course: declared by the built-in ones, found out for those of users."""

import pytest

from trailbrake import Controls, check_driver
from trailbrake.drivers.loading.course_probe import find_course_needs, make_partial_courses
from trailbrake.drivers.loading.driver_registry import declared_course_needs, driver_names, load_driver
from trailbrake.errors import DriverError, TrailbrakeError


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
