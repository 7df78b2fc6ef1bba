"""Wishes as presses, in front of a car whose buttons do what these tests say."""

import itertools
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trailbrake.sims.assetto.wire.acpmf import Physics, Static
from trailbrake.sims.assetto.wire.setting_buttons import ALL_RELEASED, UNKNOWN_LEVELS, ButtonPresser, levels_from_pages
from trailbrake.state.controls import SETTINGS

BIAS, ABS, TC = (SETTINGS.index(name) for name in ("brake_bias", "abs_level", "tc_level"))


class Car:
    """Settings that go by `strides`, each a step per rising edge; what it tells is as old as a page may be."""

    def __init__(self, levels, strides, tells, delay=3):
        self.levels, self.strides, self.tells = list(levels), strides, tells
        self.held, self.edges, self.presser, self.step = ALL_RELEASED, [], ButtonPresser(), 0
        self.past = [tuple(levels)] * delay

    def told(self):
        return tuple(v if tells else math.nan for v, tells in zip(self.past[0], self.tells, strict=True))

    def drive(self, writes, every=1, **wishes):
        """Write so often, a physics step apart or `every` so many."""
        wanted = tuple(wishes.get(name, math.nan) for name in SETTINGS)
        for _ in range(writes):
            held = self.presser.choose_buttons(wanted, self.told(), self.step)
            for k, (was, now) in enumerate(zip(self.held, held, strict=True)):
                if now and not was:
                    i, way = k // 2, 1 if k % 2 == 0 else -1
                    self.edges.append((self.step, i, way))
                    self.levels[i] = min(max(round(self.levels[i] + way * self.strides[i], 9), 0.0), 1.0)
            self.held = held
            self.past = [*self.past[1:], tuple(self.levels)]
            self.step += every
        return dict(zip(SETTINGS, self.levels, strict=True))


def silent(**levels):
    """A car as our host has it that tells nothing."""
    strides = [0.01 if name == "brake_bias" else 0.1 for name in SETTINGS]
    return Car([levels.get(name, 1.0) for name in SETTINGS], strides, [False] * len(SETTINGS))


def telling(level, stride):
    """A car that tells all of its settings."""
    return Car([level] * len(SETTINGS), [stride] * len(SETTINGS), [True] * len(SETTINGS))


def test_nothing_wished_is_nothing_pressed():
    for car in (silent(), telling(0.4, 0.1)):
        before = list(car.levels)
        car.drive(200)
        assert (car.edges, car.levels, car.presser.is_changed) == ([], before, False)


@pytest.mark.parametrize("name", [name for name in SETTINGS if name != "brake_bias"])
def test_a_level_is_counted_where_nobody_tells(name):
    car = silent()
    levels = car.drive(200, **{name: 0.3})
    assert levels.pop(name) == 0.3
    assert set(levels.values()) == {1.0}
    steps = [step for step, _, _ in car.edges]
    assert len(steps) == 7
    assert (
        min(b - a for a, b in itertools.pairwise(steps)) == 8
    )  # held for three, let go for three, each from when it is seen
    assert car.presser.is_changed
    assert car.drive(200)[name] == 1.0  # no wish any more: the car's own
    assert not car.presser.is_changed


def test_levels_between_the_steps_go_to_the_nearest_and_stay_there():
    car = silent()
    assert car.drive(300, abs_level=0.68)["abs_level"] == pytest.approx(0.7)
    count = len(car.edges)
    car.drive(300, abs_level=0.66)
    assert len(car.edges) == count


@pytest.mark.parametrize("gap", [1, 2, 5, 19, 400])
def test_each_press_is_released_however_seldom_the_link_writes(gap):
    car = silent()
    assert car.drive(80, every=gap, abs_level=0.5)["abs_level"] == 0.5
    assert len(car.edges) == 5


def test_settings_are_turned_beside_each_other():
    car = silent()
    levels = car.drive(90, abs_level=0.0, tc_level=0.5)
    assert (levels["abs_level"], levels["tc_level"]) == (0.0, 0.5)
    assert {step for step, i, _ in car.edges if i == TC} <= {step for step, i, _ in car.edges if i == ABS}


def test_a_bias_that_nobody_tells_is_left_alone():
    car = silent(brake_bias=0.6)
    assert car.drive(500, brake_bias=0.5)["brake_bias"] == 0.6
    assert car.edges == []


def test_what_is_told_is_pressed_until_it_is_there():
    car = telling(0.64, 0.01)
    assert car.drive(1000, brake_bias=0.52)["brake_bias"] == pytest.approx(0.52)
    assert len(car.edges) == 12
    assert car.drive(1000)["brake_bias"] == pytest.approx(0.64)


@given(st.floats(0.0, 1.0), st.integers(1, 20), st.data())
def test_told_or_not_a_car_comes_as_near_as_its_steps_allow(wish, steps, data):
    start = data.draw(st.integers(0, steps)) / steps
    car = telling(start, 1.0 / steps)
    level = car.drive(20 * (2 * steps + 3), abs_level=wish)["abs_level"]
    assert abs(level - wish) <= 0.5 / steps + 1e-3
    count = len(car.edges)
    car.drive(500, abs_level=wish)
    assert len(car.edges) == count  # and stays there
    assert car.drive(20 * (2 * steps + 3))["abs_level"] == pytest.approx(start, abs=0.5 / steps + 1e-3)


def test_a_button_that_does_nothing_is_pressed_three_times_a_wish():
    car = telling(0.5, 0.0)
    car.drive(1000, abs_level=0.2)
    assert len(car.edges) == 3
    car.drive(1000, abs_level=0.9)
    assert len(car.edges) == 6


def test_a_press_that_was_missed_is_made_good():
    car = telling(0.5, 0.1)
    car.strides[ABS] = 0.0
    car.drive(30, abs_level=0.2)
    car.strides[ABS] = 0.1
    assert car.drive(500, abs_level=0.2)["abs_level"] == pytest.approx(0.2)


def test_a_press_that_is_written_late_is_held_long_enough_all_the_same():
    presser = ButtonPresser()
    wish = [math.nan] * ABS + [0.9] + [math.nan] * (len(SETTINGS) - ABS - 1)
    # Read in step 100 and written in step 130: it is seen to be there in step 131, and held for three from then on.
    held = [presser.choose_buttons(wish, UNKNOWN_LEVELS, step)[2 * ABS + 1] for step in (100, 131, 132, 133, 134, 135)]
    assert held == [1, 1, 1, 1, 0, 0]


def test_a_button_that_goes_the_other_way_is_pressed_once():
    car = telling(0.5, -0.1)
    car.drive(1000, abs_level=0.2)
    assert len(car.edges) == 1


def test_what_the_player_has_set_is_the_car_s_own():
    car = telling(0.6, 0.1)
    car.drive(100)
    car.levels[ABS] = 0.9  # by his own buttons, before the first wish
    car.drive(100)
    assert car.drive(500, abs_level=0.4)["abs_level"] == pytest.approx(0.4)
    assert car.drive(500)["abs_level"] == pytest.approx(0.9)


def test_a_new_session_begins_with_the_car_s_own():
    car = silent()
    car.drive(200, tc_level=0.5)
    car.levels[TC], car.step = 1.0, 0
    assert car.drive(200, tc_level=0.5)["tc_level"] == 0.5


def test_what_the_page_tells():
    physics = Physics(brake_bias=0.62, engine_brake=3, ers_power_level=2, ers_recovery_level=7)
    static = Static(engine_brake_settings_count=13, ers_power_controller_count=9)
    told = dict(zip(SETTINGS, levels_from_pages(physics, static), strict=True))
    assert (told["brake_bias"], told["engine_brake_level"]) == (0.62, 0.25)
    assert (told["delivery_level"], told["recovery_level"]) == (0.25, 0.7)
    assert all(math.isnan(told[name]) for name in ("abs_level", "tc_level", "turbo_level"))
    assert all(map(math.isnan, levels_from_pages(Physics(), Static())))
    assert len(UNKNOWN_LEVELS) == len(told)


@pytest.mark.parametrize(("steps", "known"), [(0, False), (1, False), (2, True), (3, True)])
def test_a_setting_without_steps_has_no_level(steps, known):
    physics = Physics(brake_bias=0.62, engine_brake=1, ers_power_level=1, ers_recovery_level=5)
    static = Static(engine_brake_settings_count=steps, ers_power_controller_count=steps)
    levels = dict(zip(SETTINGS, levels_from_pages(physics, static), strict=True))
    wanted = {
        "engine_brake_level": 1.0 / max(steps - 1, 1),
        "delivery_level": 1.0 / max(steps - 1, 1),
        "recovery_level": 0.5,
    }
    for name, level in wanted.items():
        assert levels[name] == level if known else math.isnan(levels[name])


def test_a_reported_level_is_waited_for_a_tenth_of_a_second_behind_each_press():
    car = telling(0.9, 0.1)
    car.drive(300, abs_level=0.4)
    steps = [step for step, _, _ in car.edges]
    assert [b - a for a, b in itertools.pairwise(steps)] == [
        38
    ] * 4  # 3 held and 33 released, each from when it is seen
    assert ButtonPresser().is_changed is False
    assert car.presser.is_changed is True
