"""The car stands before it is given back."""

import math

import pytest

from trailbrake.run.rest import come_to_rest
from trailbrake.run.supervisor import Supervisor
from trailbrake.state import CarState, Controls, Phase

PERIOD = 0.01


class Car:
    """A link to a car that goes straight on and brakes as it is told; it is its own pace."""

    period = PERIOD

    def __init__(self, speed, brakes=15.0, silent_from=math.inf):
        self.speed, self.brakes, self.silent_from = speed, brakes, silent_from
        self.ticks, self.written = 0, [Controls()]

    def wait(self, link):
        self.ticks += 1
        if self.ticks < self.silent_from:
            self.speed = max(0.0, self.speed - PERIOD * self.brakes * self.written[-1].brake)
        return self.ticks * PERIOD

    def read(self, now):
        seen = min(self.ticks, self.silent_from)
        age = (self.ticks - seen) * PERIOD
        return CarState(time=seen * PERIOD, sequence=int(seen), speed=self.speed, age=age, phase=Phase.DRIVING)

    def write(self, controls):
        self.written.append(controls)


class Steady:
    def act(self, state, dt):
        assert 0.0 <= dt < 0.1
        return Controls(steer=0.1, throttle=1.0, gear=3)


def test_the_driver_steers_and_the_brake_is_on():
    car = Car(30.0)
    assert come_to_rest([(car, Steady(), Supervisor())], car)
    assert car.speed < 0.02
    assert car.ticks * PERIOD == pytest.approx(30.0 / (15.0 * 0.6) + 0.5, rel=0.05)
    assert {(c.steer, c.throttle, c.brake) for c in car.written[3:]} == {(0.1, 0.0, 0.6), (0.0, 0.0, 1.0)}
    assert car.written[-1] == Controls(brake=1.0)


@pytest.mark.parametrize("answer", [None, "left", Controls(steer=math.nan)])
def test_a_driver_that_fails_now_does_no_harm(answer):
    class Failing(Steady):
        def act(self, state, dt):
            if answer is None:
                raise ZeroDivisionError
            return answer

    car = Car(10.0)
    assert come_to_rest([(car, Failing(), Supervisor())], car)
    assert car.speed < 0.5


def test_a_car_that_does_not_brake_is_given_up():
    car = Car(30.0, brakes=0.0)
    assert not come_to_rest([(car, Steady(), Supervisor())], car)
    assert car.ticks * PERIOD == pytest.approx(12.0, rel=0.05)


def test_a_game_that_is_gone_is_given_up():
    car = Car(30.0, silent_from=20)
    assert not come_to_rest([(car, Steady(), Supervisor())], car)
    assert car.ticks * PERIOD < 1.0
    assert car.written[-1].brake >= 0.6


def test_several_cars_wait_for_the_last():
    first, last = Car(10.0), Car(10.0, brakes=3.0)

    class Both:
        def wait(self, link):
            last.wait(link)
            return first.wait(link)

    assert come_to_rest([(car, Steady(), Supervisor()) for car in (first, last)], Both())
    assert first.speed < 0.5
    assert last.speed < 0.5
    assert first.written[-1] == last.written[-1] == Controls(brake=1.0)


def test_a_car_that_rocks_on_its_springs_is_waited_for():
    class Rocking(Car):
        def wait(self, link):
            now = super().wait(link)
            if 60 < self.ticks < 200 and self.ticks % 20 == 0:
                self.speed = 0.3
            return now

    car = Rocking(5.0)
    assert come_to_rest([(car, Steady(), Supervisor())], car)
    assert 230 <= car.ticks <= 260
