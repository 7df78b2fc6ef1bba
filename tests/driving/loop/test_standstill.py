"""The car stands before it is given back."""

import math

import pytest

from trailbrake.driving.loop.drive_loop import STOPPING_SILENCE_S, CarLoop
from trailbrake.driving.loop.standstill import brake_to_standstill
from trailbrake.driving.loop.supervisor import Supervisor
from trailbrake.state import CarState, Controls, Phase

PERIOD = 0.01


class Car:
    """A link to a car that goes straight on and brakes as it is told; it is its own pace."""

    SUPPLIES = frozenset({"speed"})
    period = PERIOD

    def __init__(self, speed, brakes=15.0, silent_from=math.inf):
        self.speed, self.brakes, self.silent_from = speed, brakes, silent_from
        self.ticks, self.written = 0, [Controls()]

    def wait_for_sample(self, link):
        assert link is self
        assert self.ticks < 5000, "it does not end"
        self.ticks += 1
        if self.ticks < self.silent_from:
            self.speed = max(0.0, self.speed - self.period * self.brakes * self.written[-1].brake)
        return self.ticks * self.period

    def read(self, now):
        assert now == self.ticks * self.period
        seen = min(self.ticks, self.silent_from)
        age = (self.ticks - seen) * self.period
        return CarState(time=seen * self.period, sequence=int(seen), speed=self.speed, age=age, phase=Phase.DRIVING)

    def write(self, controls):
        self.written.append(controls)


class Steady:
    def act(self, state, dt):
        assert 0.0 <= dt < 0.1
        return Controls(steer=0.1, throttle=1.0, gear=3)


def seat(car, driver=None):
    return CarLoop(car, driver or Steady(), Supervisor(), (), lambda: None)


def test_the_driver_steers_and_the_brake_is_on():
    car = Car(30.0)
    assert brake_to_standstill([seat(car)], car)
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
    assert brake_to_standstill([seat(car, Failing())], car)
    assert car.speed < 0.5


class CoarseCar(Car):
    """Its times are exact in binary, and 12 s are few ticks."""

    period = 0.0625


@pytest.mark.parametrize(("speed", "stands"), [(30.0, False), (0.5, False), (0.499, True)])
def test_a_car_that_does_not_brake_is_given_up(speed, stands):
    """After 12 s; slower than 0.5 m/s it counts as standing all the same."""
    car = CoarseCar(speed, brakes=0.0)
    assert brake_to_standstill([seat(car)], car) is stands
    assert car.ticks * car.period == 20.0 + car.period


def test_a_car_whose_clock_jumps_all_the_time_is_given_up_by_the_number_of_its_samples():
    class Jumping(CoarseCar):
        def read(self, now):
            state = super().read(now)
            state.time *= 100.0
            return state

    car = Jumping(30.0, brakes=0.0)
    assert brake_to_standstill([seat(car)], car) is False
    assert car.ticks * car.period == 20.0 + car.period


def test_a_game_that_is_gone_is_given_up():
    car = CoarseCar(30.0, silent_from=16)
    assert brake_to_standstill([seat(car)], car) is False
    noticed = 1.0 + 0.25 + car.period  # the samples are too old
    assert car.ticks * car.period == noticed + STOPPING_SILENCE_S + car.period
    assert car.written[-1].brake >= 0.6


def test_a_game_that_was_gone_before_is_given_up():
    car = CoarseCar(30.0, silent_from=0)
    driven = seat(car)
    driven.read_state(0.0)
    assert brake_to_standstill([driven], car) is False
    assert car.ticks * car.period == 0.25 + car.period + STOPPING_SILENCE_S + car.period
    assert len(car.written) - 1 == (STOPPING_SILENCE_S + car.period) / car.period + 1


def test_a_game_that_is_paused_is_not_waited_for():
    class Paused(CoarseCar):
        def read(self, now):
            state = super().read(now)
            if self.ticks > 16:
                state.phase = Phase.PAUSED
            return state

    car = Paused(30.0, silent_from=16)
    assert brake_to_standstill([seat(car)], car) is False
    assert car.ticks * car.period == 1.0 + 0.25 + car.period


def test_between_two_samples_nothing_is_sent():
    class Slow(Car):
        def read(self, now):
            state = super().read(now)
            state.sequence = self.ticks // 5
            state.time = state.sequence * 5 * self.period
            return state

    car = Slow(10.0)
    assert brake_to_standstill([seat(car)], car) is True
    assert len(car.written) - 1 == car.ticks // 5 + 1


def test_the_first_car_s_silence_ends_it_for_all():
    first, last = CoarseCar(30.0, silent_from=16), CoarseCar(30.0, brakes=0.0)

    class Both:
        def wait_for_sample(self, link):
            last.wait_for_sample(last)
            return first.wait_for_sample(link)

    assert brake_to_standstill([seat(first), seat(last)], Both()) is False
    assert first.ticks * first.period < 5.0


def test_several_cars_wait_for_the_last():
    first, last = Car(10.0), Car(10.0, brakes=3.0)

    class Both:
        def wait_for_sample(self, link):
            last.wait_for_sample(last)
            return first.wait_for_sample(link)

    assert brake_to_standstill([seat(car) for car in (first, last)], Both()) is True
    assert first.speed < 0.5
    assert last.speed < 0.5
    assert first.written[-1] == last.written[-1] == Controls(brake=1.0)


def test_a_car_that_rocks_on_its_springs_is_waited_for():
    class Rocking(Car):
        def wait_for_sample(self, link):
            now = super().wait_for_sample(link)
            if 60 < self.ticks < 200 and self.ticks % 20 == 0:
                self.speed = 0.3
            return now

    car = Rocking(5.0)
    assert brake_to_standstill([seat(car)], car)
    assert 230 <= car.ticks <= 260


def test_a_short_silence_and_a_bad_sample_do_not_give_a_moving_car_back():
    class Faulty(Car):
        def read(self, now):
            state = super().read(now)
            if 20 <= self.ticks < 60:  # silent for 0.4 s
                state.sequence, state.age = 20, (self.ticks - 20) * PERIOD
            if self.ticks in (80, 81, 100):
                state.speed = 0.0 if self.ticks < 100 else math.nan
            return state

    car = Faulty(30.0)
    assert brake_to_standstill([seat(car)], car)
    assert car.speed < 0.02
