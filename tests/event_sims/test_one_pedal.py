import math
from collections import deque

import pytest

from trailbrake.event_sims.one_pedal import (
    CRAWL_SPEED,
    REVERSE_BRAKE,
    REVERSE_FORCE,
    OnePedal,
    PedalCar,
    Roll,
    RollDirection,
    combine_pedals,
    split_pedal,
)
from trailbrake.state import Controls

CAR = PedalCar(1.0)
TREND = PedalCar(0.03, 2.0)


@pytest.mark.parametrize(
    ("controls", "speed", "pedal"),
    [(Controls(throttle=0.5), 0.0, 0.5), (Controls(brake=0.5), 2.0, -0.5), (Controls(brake=0.5), 1.0, 0.0),
     (Controls(throttle=0.75, brake=0.5), 2.0, 0.25), (Controls(throttle=0.5, gear=-1), 2.0, -0.5),
     (Controls(throttle=0.5, gear=3), 2.0, 0.5)],
)  # fmt: skip
def test_joined(controls, speed, pedal):
    assert combine_pedals(controls, speed, CAR) == pedal


@pytest.mark.parametrize(
    ("pedal", "forward", "parts"),
    [(0.5, 0.0, (0.5, 0.0, False)), (0.0, -3.0, (0.0, 0.0, False)), (-0.5, 2.0, (0.0, 0.5, False)),
     (-0.5, 1.0, (0.0, 0.5 * REVERSE_FORCE, False)), (-0.5, 0.1, (0.5, 0.0, True)), (-0.5, -3.0, (0.5, 0.0, True))],
)  # fmt: skip
def test_parted(pedal, forward, parts):
    assert split_pedal(pedal, forward, 1.0) == parts


def test_neutral_is_no_reverse_and_both_pedals_count_above_standstill_alone():
    assert combine_pedals(Controls(throttle=0.5, brake=0.25, gear=0), 2.0, CAR) == 0.25
    assert combine_pedals(Controls(throttle=0.5, brake=0.25, gear=-1), 2.0, CAR) == -0.5
    assert combine_pedals(Controls(throttle=0.5, brake=0.25), 1.0, CAR) == 0.5


@pytest.mark.parametrize(
    ("controls", "speed", "pedal"),
    [(Controls(brake=1.0), 2.0, -1.0), (Controls(brake=1.0), 0.9, -REVERSE_BRAKE),
     (Controls(brake=0.5), 0.5, -0.5 * REVERSE_BRAKE), (Controls(brake=1.0), CRAWL_SPEED, 0.0),
     (Controls(throttle=0.2, brake=1.0), 0.9, 0.2), (Controls(throttle=0.5, gear=-1), 0.9, -0.5)],
)  # fmt: skip
def test_reverse_brakes_what_rolls_forward_too_slowly_for_the_brake(controls, speed, pedal):
    assert combine_pedals(controls, speed, CAR, roll=Roll.FORWARD) == pytest.approx(pedal)


@pytest.mark.parametrize("speed", [0.1, 0.5, 2.0, 30.0])
def test_a_car_that_rolls_backwards_is_not_braked_by_what_would_drive_it_on(speed):
    assert combine_pedals(Controls(brake=1.0), speed, TREND, roll=Roll.BACKWARD) == 0.0


def test_the_longer_the_dead_time_the_earlier_the_brake_is_taken_back():
    brakes = [-combine_pedals(Controls(brake=0.6), 0.5, TREND, dead_time=t) for t in (0.0, 0.04, 0.12, 0.26, 0.5, 1.0)]
    assert brakes[0] == brakes[1] == 0.6
    assert brakes == sorted(brakes, reverse=True)
    assert brakes[-1] == 0.0


def test_a_car_is_known_to_roll_forward_from_rest_until_it_stands_or_is_reversed():
    direction = RollDirection()
    forward, brake, reverse = Controls(throttle=0.5), Controls(brake=1.0), Controls(throttle=0.5, gear=-1)
    seen = []
    for controls, speed in [(forward, 3.0), (brake, 0.0), (forward, 0.0), (brake, 3.0), (brake, 0.4), (brake, 0.3),
                            (forward, 0.0), (reverse, 1.0), (forward, 1.0), (forward, 0.1)]:  # fmt: skip
        direction.note_controls(controls, speed)
        seen.append(direction.roll is Roll.FORWARD)
    # A car that was rolling when it was first seen may roll backwards.
    assert seen == [False, False, True, True, True, False, True, False, False, True]


def test_a_car_that_was_reversed_from_rest_rolls_backwards_until_it_stands():
    direction = RollDirection()
    seen = []
    for controls, speed in [(Controls(throttle=0.5, gear=-1), 0.0), (Controls(brake=1.0), 0.8),
                            (Controls(brake=1.0), 0.2), (Controls(brake=1.0), 0.05)]:  # fmt: skip
        direction.note_controls(controls, speed)
        seen.append(direction.roll)
    assert seen == [Roll.BACKWARD, Roll.BACKWARD, Roll.BACKWARD, Roll.UNKNOWN]


def test_what_gets_faster_by_its_brake_rolls_backwards():
    direction = RollDirection()
    for speed in (1.0, 0.4, 0.1, 0.2):
        direction.note_controls(Controls(brake=0.6), speed, -0.6)
        assert direction.roll is not Roll.BACKWARD
    direction.note_controls(Controls(brake=0.6), 0.3, -0.6)
    assert direction.roll is Roll.BACKWARD
    direction.note_motion(1.0)
    assert direction.roll is Roll.FORWARD


def simulate_stop(start, delay, in_flight, *, bend=0.0, step=0.002):
    """Return the lowest forward speed (m/s) of a Formula Trend car that brakes from `start`, and s until it rests.

    An independent model: commands act `delay` s after the state that they answer, and the newest one counts until the
    next. Braking, reversing and rolling losses are those of the protocol page's section 4.
    """
    pedal_of, wire, speed, time, pedal, lowest, next_sample = OnePedal(TREND), deque(), start, 0.0, 0.0, start, 0.0
    while time < 10.0:
        if time >= next_sample:
            next_sample += delay / in_flight
            wire.append((time + delay, pedal_of.combine(Controls(brake=0.6), abs(speed), delay)))
        while wire and wire[0][0] <= time:
            pedal = wire.popleft()[1]
        if pedal < 0.0 and speed > 0.03:
            speed += 2.0 * pedal * step
        elif pedal < 0.0:
            speed -= 1.14 * min(-pedal / 0.03, 1.0) * step  # reverse: a few hundredths of the pedal drive fully
        loss = (0.10 + (0.37 + 0.40 * bend) * abs(speed)) * step
        speed = math.copysign(max(abs(speed) - loss, 0.0), speed)
        lowest = min(lowest, speed)
        if speed == 0.0 and pedal == 0.0:
            break
        time += step
    return lowest, time


@pytest.mark.parametrize("delay", [0.04, 0.08, 0.12, 0.2, 0.26, 0.3])
@pytest.mark.parametrize("in_flight", [1, 2, 4])
@pytest.mark.parametrize("bend", [0.0, 1.0])
def test_a_stop_never_drives_a_car_backwards_whatever_the_delay(delay, in_flight, bend):
    for start in (2.0, 1.7, 1.3, 1.0, 0.8, 0.6, 0.5, 0.4, 0.35, 0.3, 0.2, 0.1):
        lowest, rested = simulate_stop(start, delay, in_flight, bend=bend)
        assert lowest >= -0.005, (start, lowest)  # m/s, within one of the page's physics steps
        assert rested < 4.0, (start, rested)
