"""Which states a driver may receive. The wires' own samples are covered by every drive: none may be rejected."""

import math

import pytest
from helpers.fakes import PERIOD

from trailbrake.driving.loop.state_check import (
    DISCOVERY_SAMPLES,
    JUMP_MARGIN,
    JUMP_SLACK_S,
    NARROW_FIELDS,
    NARROW_LIMIT,
    SPEED_JUMP,
    SPEED_JUMP_RATE,
    WHEEL_LIMIT,
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


def test_garbage_after_a_held_sample_is_no_confirmation():
    check, rejected = make_check()
    check.accept_state(state(1))
    assert not check.accept_state(state(2, x=1e3))
    assert not check.accept_state(state(3, x=math.nan))
    assert check.accept_state(state(4, x=1e3))
    assert rejected == ["x is nan"]


def test_the_limits_are_those_that_were_decided():
    assert (WIDE_LIMIT, NARROW_LIMIT, WHEEL_LIMIT, DISCOVERY_SAMPLES) == (1e9, 500.0, 1e5, 500)
    assert (JUMP_MARGIN, JUMP_SLACK_S, SPEED_JUMP, SPEED_JUMP_RATE) == (5.0, 0.1, 10.0, 200.0)


def test_nothing_is_known_of_a_simulator_that_fills_nothing():
    check, rejected = make_check(frozenset())
    for _ in range(3):
        assert check.accept_state(CarState())
    assert rejected == []


def test_the_time_is_judged_although_every_simulator_has_one():
    check, rejected = make_check(frozenset())
    assert check.accept_state(CarState(time=1.0))
    assert not check.accept_state(CarState(time=math.nan))
    assert rejected == ["time is nan"]


def test_fields_that_are_filled_one_after_another_are_all_judged():
    for name in ("x", "yaw"):
        check, rejected = make_check(frozenset({"x", "yaw"}))
        check.accept_state(state(1, yaw=math.nan))
        check.accept_state(state(2))
        assert not check.accept_state(state(3, **{name: math.inf}))
        assert rejected == [f"{name} is inf"]


@pytest.mark.parametrize(("empty", "judged"), [(499, True), (500, False)])
def test_a_field_has_500_samples_to_be_filled(empty, judged):
    for name in ("yaw", "wheels.angular_velocity"):
        check, _ = make_check(frozenset({name}))

        def filled(number, value, name=name):
            made = state(number, yaw=value)
            for wheel in made.wheels if name != "yaw" else ():
                wheel.angular_velocity = value
            return made

        for number in range(empty):
            check.accept_state(filled(number, math.nan))
        assert check.accept_state(filled(empty, 1.0))
        assert check.accept_state(filled(empty + 1, math.nan)) is not judged, name


@pytest.mark.parametrize(
    ("value", "accepted"), [(24_999.0, True), (25_000.0, False), (-24_999.0, True), (-25_000.0, False)]
)
def test_wheels_may_turn_as_fast_as_the_sum_of_four_allows(value, accepted):
    check, rejected = make_check()
    check.accept_state(state())
    fast = state(2)
    for wheel in fast.wheels:
        wheel.angular_velocity = value
    assert check.accept_state(fast) is accepted
    words = ", ".join([f"{value:.4g}"] * 4)
    assert rejected == ([] if accepted else [f"wheels.angular_velocity is {words}"])


@pytest.mark.parametrize("wheel", range(4))
def test_each_wheel_counts_with_its_sign(wheel):
    check, _ = make_check()
    check.accept_state(state())
    mixed = state(2)
    mixed.wheels[wheel].angular_velocity = 1.5e5
    mixed.wheels[wheel - 1].angular_velocity = -1.4e5
    assert check.accept_state(mixed)


def test_wheels_that_are_not_supplied_are_not_judged():
    check, _ = make_check(frozenset(FIELDS))
    for number, value in enumerate((math.nan, 1.0, math.inf)):
        made = state(number)
        made.wheels[0].angular_velocity = value
        assert check.accept_state(made)


JUMPS = [  # s, m to the side, speed before and after; a car gets 5 m, and 0.1 s longer at twice the larger speed
    (0.5, 17.0, 10.0, 10.0, ""),
    (0.5, 17.5, 10.0, 10.0, "the car jumped by 17.5 m in 0.5 s"),
    (0.5, 29.0, 20.0, 10.0, ""),
    (0.5, 29.0, 10.0, 20.0, ""),
    (0.5, 29.5, 10.0, 20.0, "the car jumped by 29.5 m in 0.5 s"),
    (0.5, 29.5, 20.0, 10.0, "the car jumped by 29.5 m in 0.5 s"),
    (0.0, 7.0, 10.0, 10.0, ""),
    (0.0, 7.5, 10.0, 10.0, "the car jumped by 7.5 m in 0 s"),
    (-2.0, 7.0, 10.0, 10.0, ""),  # a clock that goes back explains nothing
    (-2.0, 7.5, 10.0, 10.0, "the car jumped by 7.5 m in -2 s"),
    (0.5, 0.0, 20.0, 130.0, ""),  # 10 m/s and 200 m/s^2
    (0.5, 0.0, 20.0, 131.0, "speed jumped from 20 to 131 m/s in 0.5 s"),
    (0.5, 0.0, 130.0, 20.0, ""),
    (0.5, 0.0, 131.0, 20.0, "speed jumped from 131 to 20 m/s in 0.5 s"),
    (-2.0, 0.0, 20.0, 30.0, ""),
    (-2.0, 0.0, 30.0, 20.0, ""),
    (-2.0, 0.0, 20.0, 30.5, "speed jumped from 20 to 30.5 m/s in -2 s"),
    (0.0, 0.0, 30.5, 20.0, "speed jumped from 30.5 to 20 m/s in 0 s"),
]


@pytest.mark.parametrize("way", [(1.0, 0.0), (-1.0, 0.0), (0.0, 1.0), (0.0, -1.0)])
@pytest.mark.parametrize(("dt", "far", "before", "after", "problem"), JUMPS)
def test_what_a_car_may_do_between_two_samples_in_each_direction(way, dt, far, before, after, problem):
    check, rejected = make_check()
    here = {"x": 300.0, "y": -200.0}
    there = {"x": 300.0 + far * way[0], "y": -200.0 + far * way[1]}
    for time in (99.75, 100.0):
        assert check.accept_state(state(time=time, speed=before, **here))
    assert check.accept_state(state(time=100.0 + dt, speed=after, **there)) is (not problem)
    if problem:
        assert check.accept_state(state(time=100.0 + max(dt, 0.0), speed=before, **here))
    assert rejected == [problem] * bool(problem)


@pytest.mark.parametrize(("dt", "far", "before", "after", "problem"), JUMPS)
def test_a_teleport_is_confirmed_by_what_a_car_may_do_from_its_new_place(dt, far, before, after, problem):
    check, rejected = make_check()
    assert check.accept_state(state(time=99.75, x=-9000.0, speed=before))
    assert not check.accept_state(state(time=100.0, x=300.0, speed=before))
    assert check.accept_state(state(time=100.0 + dt, x=300.0 + far, speed=after)) is (not problem)
    assert rejected == ["the car jumped by 9.3e+03 m in 0.25 s"] * bool(problem)


def test_what_was_held_and_not_confirmed_is_rejected_in_words():
    check, rejected = make_check()
    check.accept_state(state(time=100.0))
    for time, place in ((100.5, 101.0), (101.0, -99.0)):
        assert not check.accept_state(state(time=time, x=place))
    assert check.accept_state(state(time=101.5))
    assert rejected == ["the car jumped by 100 m in 0.5 s", "the car jumped by 100 m in 1 s"]


def test_a_confirmed_jump_is_the_place_to_go_on_from():
    check, rejected = make_check()
    check.accept_state(state(time=100.0))
    for time, place, accepted in (
        (100.5, 400.0, False),
        (101.0, 400.0, True),
        (101.5, 400.0, True),
        (102.0, 1.0, False),
        (102.5, 400.0, True),
    ):
        assert check.accept_state(state(time=time, x=place)) is accepted
    assert rejected == ["the car jumped by 399 m in 0.5 s"]
