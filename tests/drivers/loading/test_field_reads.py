"""Which fields drivers read, found by a probe and compared with what they declare."""

import pytest

from trailbrake.cars.car_library import load_car
from trailbrake.drivers.loading.driver_registry import (
    declared_needs,
    declared_uses,
    driver_names,
    load_driver,
    original_names,
)
from trailbrake.drivers.loading.fmu_export import find_read_fields
from trailbrake.planning.course import Course
from trailbrake.state import Controls
from trailbrake.tracks.track_library import load_track


@pytest.fixture(scope="module")
def course():
    return Course(load_track("pinegrove"), load_car("gt3"))


@pytest.mark.parametrize("name", sorted(set(driver_names()) - set(original_names())))
def test_a_built_in_driver_declares_every_field_that_it_reads(name, course):
    driver = load_driver(name)
    beyond = find_read_fields(driver, course) - declared_needs(driver, name)
    assert beyond <= declared_uses(driver, name)


def test_fields_of_the_car_and_of_its_wheels_are_found(course):
    class Curious:
        NEEDS = frozenset({"speed"})

        def reset(self, course):
            pass

        def act(self, state, dt):
            assert state.wheels[0].load > 0.0
            return Controls(steer=0.0 * state.yaw_rate + 0.0 * state.time, gear=state.gear)

    assert find_read_fields(Curious(), course) == {"yaw_rate", "gear", "wheels.load"}
