import pytest

from trailbrake.event_sims.one_pedal import combine_pedals, split_pedal
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
     (-0.5, 1.0, (0.5, 0.0, True)), (-0.5, -3.0, (0.5, 0.0, True))],
)  # fmt: skip
def test_parted(pedal, forward, parts):
    assert split_pedal(pedal, forward, 1.0) == parts


def test_neutral_is_no_reverse_and_both_pedals_count_above_standstill_alone():
    assert combine_pedals(Controls(throttle=0.5, brake=0.25, gear=0), 2.0, 1.0) == 0.25
    assert combine_pedals(Controls(throttle=0.5, brake=0.25, gear=-1), 2.0, 1.0) == -0.5
    assert combine_pedals(Controls(throttle=0.5, brake=0.25), 1.0, 1.0) == 0.5
