import math

import pytest

from trailbrake.control.minicar.single_pedal import pedals_from_command
from trailbrake.control.minicar.wall_avoidance import LOCK, MinicarCommand


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        (MinicarCommand(LOCK / 2, 0.7, False), (0.5, 0.7, 0.0, 1)),
        (MinicarCommand(-LOCK, -0.4, False), (-1.0, 0.0, 0.4, 1)),
        (MinicarCommand(0.0, -1.0, True), (0.0, 1.0, 0.0, -1)),
    ],
)
def test_one_pedal_is_two_and_a_gear(command, expected):
    assert pedals_from_command(command) == pytest.approx(expected)


def test_the_lock_is_the_page_s():
    assert math.degrees(LOCK) == pytest.approx(40.0)
