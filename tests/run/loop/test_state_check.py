"""Which states a driver may receive. The wires' own samples are covered by every drive: none may be rejected."""

import math

import pytest
from helpers.fakes import PERIOD

from trailbrake.run.loop.state_check import (
    DISCOVERY_SAMPLES,
    NARROW_FIELDS,
    NARROW_LIMIT,
    WIDE_FIELDS,
    WIDE_LIMIT,
    StateCheck,
)
from trailbrake.state import CarState

FIELDS = (*WIDE_FIELDS, *NARROW_FIELDS)
ALL = frozenset({*FIELDS, "wheels.angular_velocity"})


def state(number=1, **values):
    made = CarState(**dict.fromkeys(FIELDS, 1.0) | {"time": number * PERIOD} | values)
    for wheel in made.wheels:
        wheel.angular_velocity = 50.0
    return made


def make_check(supplied=ALL):
    rejected = []
    return StateCheck(supplied, rejected.append), rejected


@pytest.mark.parametrize("name", FIELDS)
@pytest.mark.parametrize("share", [math.nan, math.inf, -math.inf, 1.0, -1.0])
def test_each_field_must_be_a_number_that_is_possible(name, share):
    check, rejected = make_check()
    assert check.accept_state(state())
    value = share * (WIDE_LIMIT if name in WIDE_FIELDS else NARROW_LIMIT)
    assert not check.accept_state(state(2, **{name: value}))
    assert rejected == [f"{name} is {value:.4g}"]
    assert check.accept_state(state(3))


@pytest.mark.parametrize("wheel", range(4))
@pytest.mark.parametrize("value", [math.nan, math.inf, -1e6])
def test_wheels_too(wheel, value):
    check, rejected = make_check()
    check.accept_state(state())
    bad = state(2)
    bad.wheels[wheel].angular_velocity = value
    assert not check.accept_state(bad)
    assert rejected[0].startswith("wheels.angular_velocity is 50, ") or wheel == 0


def test_several_large_values_are_possible_where_each_is():
    check, rejected = make_check()
    assert check.accept_state(state(x=0.8 * WIDE_LIMIT, y=0.8 * WIDE_LIMIT))
    assert not rejected


def test_a_field_that_is_not_supplied_is_not_judged():
    check, _ = make_check(frozenset({"time", "speed"}))
    assert check.accept_state(state(yaw=math.nan, x=math.nan))
    assert check.accept_state(state(2, yaw=1e9, y=math.inf))


def test_a_field_that_is_declared_and_never_filled_is_not_judged():
    check, rejected = make_check()
    for number in range(2 * DISCOVERY_SAMPLES):
        assert check.accept_state(state(number, yaw_rate=math.nan))
    assert check.accept_state(state(2 * DISCOVERY_SAMPLES))
    assert check.accept_state(state(2 * DISCOVERY_SAMPLES + 1, yaw_rate=math.nan))
    assert not rejected


def test_a_field_that_is_filled_after_some_samples_is_judged_from_then_on():
    check, _ = make_check()
    assert check.accept_state(state(1, yaw=math.nan))
    assert check.accept_state(state(2))
    assert not check.accept_state(state(3, yaw=math.nan))


@pytest.mark.parametrize(
    ("step", "speed", "accepted"),
    [
        (0.0, 0.0, True),
        (4.9, 0.0, True),  # the margin
        (5.1, 0.0, False),
        (14.0, 50.0, True),  # and 0.1 s at twice the speed
        (16.0, 50.0, False),
    ],
)
def test_how_far_a_car_may_move_between_two_samples(step, speed, accepted):
    check, _ = make_check()
    check.accept_state(state(1, speed=speed))
    assert check.accept_state(state(2, x=1.0 + step, speed=speed)) is accepted


def test_over_a_gap_it_may_move_as_far_as_it_goes():
    check, _ = make_check()
    check.accept_state(state(1, speed=30.0))
    assert check.accept_state(state(1 + 5.0 / PERIOD, x=300.0, speed=60.0))


def test_a_collision_is_one_sample_late_at_most():
    check, rejected = make_check()
    check.accept_state(state(1, speed=30.0))
    assert not check.accept_state(state(2, speed=0.0))
    assert check.accept_state(state(3, speed=0.0))
    assert not rejected


def test_held_samples_that_nothing_confirms_are_rejected():
    check, rejected = make_check()
    check.accept_state(state(1))
    for number, place in enumerate((1e3, -7e4, 3e6, 8e2)):
        assert not check.accept_state(state(2 + number, x=place))
    assert len(rejected) == 3  # and the newest is held
    assert check.accept_state(state(6))
    assert len(rejected) == 4


def test_garbage_after_a_held_sample_is_no_confirmation():
    check, rejected = make_check()
    check.accept_state(state(1))
    assert not check.accept_state(state(2, x=1e3))
    assert not check.accept_state(state(3, x=math.nan))
    assert check.accept_state(state(4, x=1e3))
    assert rejected == ["x is nan"]
