import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trailbrake.control.vehicle.manual_input import (
    MAX_LATERAL_ACCELERATION,
    REVERSE_HOLD_TIME,
    ManualInput,
    ManualInputShaper,
    steer_limit,
)

LOCK, WHEELBASE = 0.5, 2.5
DT = 0.01


def hands():
    return ManualInputShaper(WHEELBASE, LOCK)


def held(subject, wish, speed, seconds):
    answer = None
    for _ in range(round(seconds / DT)):
        answer = subject.shape_input(wish, speed, DT)
    return answer


def test_all_of_the_lock_at_walking_pace_and_less_the_faster():
    assert steer_limit(0.0, WHEELBASE, LOCK) == steer_limit(math.nan, WHEELBASE, LOCK) == 1.0
    shares = [steer_limit(v, WHEELBASE, LOCK) for v in (10.0, 20.0, 40.0, 80.0)]
    assert shares == sorted(shares, reverse=True)


@pytest.mark.parametrize("speed", [20.0, 40.0, 80.0])
def test_the_reach_bends_the_path_by_the_declared_acceleration_and_some_slip(speed):
    angle = steer_limit(speed, WHEELBASE, LOCK) * LOCK
    needed = math.atan(
        WHEELBASE / (speed * speed / MAX_LATERAL_ACCELERATION)
    )  # a bicycle on a circle of radius v^2 / a
    assert needed < angle < needed + 0.06


def test_keys_are_eased_in_and_a_stick_is_not():
    by_key = hands().shape_input(ManualInput(steer=1.0, throttle=1.0), 0.0, DT)
    assert 0.0 < by_key[0] < 0.1
    assert 0.0 < by_key[1] < 0.1
    assert hands().shape_input(ManualInput(steer=1.0, throttle=1.0, keys=False), 0.0, DT) == (1.0, 1.0, 0.0)
    assert held(hands(), ManualInput(steer=-1.0, throttle=1.0), 0.0, 0.5) == (-1.0, 1.0, 0.0)


def test_the_wheel_comes_back_when_the_key_is_let_up():
    subject = hands()
    held(subject, ManualInput(steer=1.0), 0.0, 1.0)
    assert held(subject, ManualInput(), 0.0, 0.3) == (0.0, 0.0, 0.0)


def test_the_brake_held_on_a_standing_car_drives_it_backwards_and_the_throttle_forwards_again():
    subject = hands()
    held(subject, ManualInput(brake=1.0), 5.0, 1.0)
    assert not subject.reversing, "it still rolls forwards"
    held(subject, ManualInput(brake=1.0), 0.1, REVERSE_HOLD_TIME / 2)
    assert not subject.reversing
    _, throttle, brake = held(subject, ManualInput(brake=1.0), 0.1, REVERSE_HOLD_TIME + 0.1)
    assert subject.reversing
    assert (throttle, brake) == (1.0, 0.0)
    _, throttle, brake = held(subject, ManualInput(throttle=1.0), 4.0, 1.0)
    assert (throttle, brake) == (0.0, 1.0), "first it is stopped"
    held(subject, ManualInput(throttle=1.0), 0.1, REVERSE_HOLD_TIME + 0.1)
    assert not subject.reversing


def test_both_pedals_are_no_wish_to_turn_round():
    subject = hands()
    held(subject, ManualInput(throttle=1.0, brake=1.0), 0.0, 2.0)
    assert not subject.reversing


SHARE = st.floats(0, 1)
TICK = st.tuples(st.floats(-1, 1), SHARE, SHARE, st.booleans(), st.floats(0, 100), SHARE)


@given(st.lists(TICK, max_size=30))
def test_the_answer_is_always_one_that_a_car_can_take(ticks):
    subject = hands()
    for steer, throttle, brake, keys, speed, dt in ticks:
        answer = subject.shape_input(ManualInput(steer, throttle, brake, keys=keys), speed, dt)
        assert -1.0 <= answer[0] <= 1.0
        assert all(0.0 <= pedal <= 1.0 for pedal in answer[1:])
