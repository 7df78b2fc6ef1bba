import math

import pytest

from trailbrake.control.minicar import free_space
from trailbrake.control.minicar.free_space import pedals_from_command
from trailbrake.control.minicar.wall_avoidance import LOCK, MinicarCommand


def test_the_car_is_the_page_s():
    # Protocol page formula-trend, section 4: 40 degrees of lock, a wheelbase of some 0.2 m, stuck below 0.04 m/s.
    assert math.degrees(free_space.LOCK) == 40.0
    assert (free_space.WHEELBASE, free_space.STUCK_SPEED) == (0.2, 0.04)
    assert free_space.WHEELBASE < free_space.NOSE < 0.25


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
