import pytest

from trailbrake.exchange.one_pedal import joined, parted
from trailbrake.state import Controls


@pytest.mark.parametrize(
    ("controls", "speed", "pedal"),
    [(Controls(throttle=0.5), 0.0, 0.5), (Controls(brake=0.5), 2.0, -0.5), (Controls(brake=0.5), 1.0, 0.0),
     (Controls(throttle=0.75, brake=0.5), 2.0, 0.25), (Controls(throttle=0.5, gear=-1), 2.0, -0.5),
     (Controls(throttle=0.5, gear=3), 2.0, 0.5)],
)  # fmt: skip
def test_joined(controls, speed, pedal):
    assert joined(controls, speed, 1.0) == pedal


@pytest.mark.parametrize(
    ("pedal", "forward", "parts"),
    [(0.5, 0.0, (0.5, 0.0, False)), (0.0, -3.0, (0.0, 0.0, False)), (-0.5, 2.0, (0.0, 0.5, False)),
     (-0.5, 1.0, (0.5, 0.0, True)), (-0.5, -3.0, (0.5, 0.0, True))],
)  # fmt: skip
def test_parted(pedal, forward, parts):
    assert parted(pedal, forward, 1.0) == parts
