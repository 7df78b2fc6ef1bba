import math

import pytest

from trailbrake.control.pedal import split
from trailbrake.control.roam import LOCK, Command


@pytest.mark.parametrize(
    ("command", "expected"),
    [(Command(LOCK / 2, 0.7, False), (0.5, 0.7, 0.0, 1)), (Command(-LOCK, -0.4, False), (-1.0, 0.0, 0.4, 1)),
     (Command(0.0, -1.0, True), (0.0, 1.0, 0.0, -1))],
)  # fmt: skip
def test_one_pedal_is_two_and_a_gear(command, expected):
    assert split(command) == pytest.approx(expected)


def test_the_lock_is_the_page_s():
    assert math.degrees(LOCK) == pytest.approx(40.0)
