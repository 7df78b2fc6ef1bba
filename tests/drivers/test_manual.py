import pytest

from trailbrake.cars.car_library import load_car
from trailbrake.control.vehicle.manual_input import REVERSE_HOLD_TIME, ManualInput
from trailbrake.drivers.manual import Driver
from trailbrake.planning.course import Course
from trailbrake.state import CarState
from trailbrake.tracks.track_library import load_track

DT = 0.01


@pytest.fixture(scope="module")
def course():
    return Course(load_track("pinegrove"), load_car("gt3"))


@pytest.fixture
def driver(course):
    made = Driver()
    made.reset(course)
    return made


def driven(driver, wish, seconds, **state):
    driver.hands = lambda: wish
    answer = None
    for _ in range(round(seconds / DT)):
        answer = driver.act(CarState(**state), DT)
    return answer


def test_keys_become_controls_with_their_signs(driver):
    answer = driven(driver, ManualInput(steer=1.0, throttle=1.0, handbrake=1.0), 1.0, speed=1.0, gear=1)
    assert (answer.throttle, answer.brake, answer.handbrake, answer.gear) == (1.0, 0.0, 1.0, 1)
    assert answer.steer > 0.9, "left is positive"


def test_a_silent_page_is_neutral_at_once(driver):
    driven(driver, ManualInput(steer=1.0, throttle=1.0), 1.0, speed=10.0, gear=2)
    answer = driven(driver, None, DT, speed=10.0, gear=2)
    assert (answer.steer, answer.throttle, answer.brake, answer.handbrake) == (0.0, 0.0, 0.0, 0.0)


def test_without_a_page_it_is_neutral(driver):
    assert driver.act(CarState(speed=0.0, gear=1), 0.0).throttle == 0.0


def test_it_shifts_up_where_the_simulator_tells_the_gear_and_else_leaves_it_alone(driver):
    assert driven(driver, ManualInput(throttle=1.0), DT, speed=60.0, gear=2).gear == 3
    assert driven(driver, ManualInput(throttle=1.0), DT, speed=60.0).gear is None


def test_reverse(driver):
    answer = driven(driver, ManualInput(brake=1.0), REVERSE_HOLD_TIME + 0.5, speed=0.0, gear=1)
    assert (answer.gear, answer.brake) == (-1, 0.0)
    assert answer.throttle > 0.9


def test_a_car_that_is_not_known_is_driven_too_and_shifts_by_itself():
    driver = Driver()
    driver.reset(Course(load_track("pinegrove"), None))
    answer = driven(driver, ManualInput(steer=-1.0, throttle=1.0), 1.0, speed=20.0, gear=2)
    assert (answer.throttle, answer.gear) == (1.0, None)
    assert -0.5 < answer.steer < -0.1
