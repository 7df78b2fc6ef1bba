"""The state of a car that nothing has filled yet, and its pictures."""

import math

import pytest

from trailbrake.state import CarState, Image, OtherCar, WheelState
from trailbrake.state.fields import declared_quantities


@pytest.mark.parametrize("cls", [CarState, WheelState, OtherCar])
def test_a_simulator_that_says_nothing_supplies_nothing(cls):
    made_by_the_link = {"age"}
    fresh = cls()
    assert all(math.isnan(getattr(fresh, name)) for name in declared_quantities(cls) if name not in made_by_the_link)


def test_every_state_has_four_wheels_of_its_own():
    one, other = CarState(), CarState()
    one.wheels[0].load = 1.0
    assert len(one.wheels) == 4
    assert math.isnan(other.wheels[0].load)


def test_a_picture_is_decoded_once_and_not_before_its_use():
    calls = []
    image = Image(b"data", lambda data: calls.append(data) or len(data))
    assert calls == []
    assert [image.pixels, image.pixels] == [4, 4]
    assert calls == [b"data"]
