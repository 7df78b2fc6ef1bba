import pytest

from trailbrake.event_sims.one_pedal import (
    CRAWL_SPEED,
    REVERSE_BRAKE,
    REVERSE_FORCE,
    RollDirection,
    combine_pedals,
    split_pedal,
)
from trailbrake.state import Controls


@pytest.mark.parametrize(
    ("controls", "speed", "pedal"),
    [(Controls(throttle=0.5), 0.0, 0.5), (Controls(brake=0.5), 2.0, -0.5), (Controls(brake=0.5), 1.0, 0.0),
     (Controls(throttle=0.75, brake=0.5), 2.0, 0.25), (Controls(throttle=0.5, gear=-1), 2.0, -0.5),
     (Controls(throttle=0.5, gear=3), 2.0, 0.5)],
)  # fmt: skip
def test_joined(controls, speed, pedal):
    assert combine_pedals(controls, speed, 1.0) == pedal


@pytest.mark.parametrize(
    ("pedal", "forward", "parts"),
    [(0.5, 0.0, (0.5, 0.0, False)), (0.0, -3.0, (0.0, 0.0, False)), (-0.5, 2.0, (0.0, 0.5, False)),
     (-0.5, 1.0, (0.0, 0.5 * REVERSE_FORCE, False)), (-0.5, 0.1, (0.5, 0.0, True)), (-0.5, -3.0, (0.5, 0.0, True))],
)  # fmt: skip
def test_parted(pedal, forward, parts):
    assert split_pedal(pedal, forward, 1.0) == parts


def test_neutral_is_no_reverse_and_both_pedals_count_above_standstill_alone():
    assert combine_pedals(Controls(throttle=0.5, brake=0.25, gear=0), 2.0, 1.0) == 0.25
    assert combine_pedals(Controls(throttle=0.5, brake=0.25, gear=-1), 2.0, 1.0) == -0.5
    assert combine_pedals(Controls(throttle=0.5, brake=0.25), 1.0, 1.0) == 0.5


@pytest.mark.parametrize(
    ("controls", "speed", "pedal"),
    [(Controls(brake=1.0), 2.0, -1.0), (Controls(brake=1.0), 0.9, -REVERSE_BRAKE),
     (Controls(brake=0.5), 0.5, -0.5 * REVERSE_BRAKE), (Controls(brake=1.0), CRAWL_SPEED, 0.0),
     (Controls(throttle=0.2, brake=1.0), 0.9, 0.2), (Controls(throttle=0.5, gear=-1), 0.9, -0.5)],
)  # fmt: skip
def test_reverse_brakes_what_rolls_forward_too_slowly_for_the_brake(controls, speed, pedal):
    assert combine_pedals(controls, speed, 1.0, rolls_forward=True) == pytest.approx(pedal)


def test_a_car_is_known_to_roll_forward_from_rest_until_it_stands_or_is_reversed():
    roll = RollDirection()
    forward, brake, reverse = Controls(throttle=0.5), Controls(brake=1.0), Controls(throttle=0.5, gear=-1)
    seen = []
    for controls, speed in [(forward, 3.0), (brake, 0.0), (forward, 0.0), (brake, 3.0), (brake, 0.4), (brake, 0.3),
                            (forward, 0.0), (reverse, 1.0), (forward, 1.0), (forward, 0.1)]:  # fmt: skip
        roll.note_controls(controls, speed)
        seen.append(roll.is_forward)
    # A car that was rolling when it was first seen may roll backwards.
    assert seen == [False, False, True, True, True, False, True, False, False, True]
