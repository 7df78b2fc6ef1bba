"""The sections of a learned car file."""

import msgspec
import pytest
from msgspec.structs import replace

from trailbrake.cars.car_library import load_car
from trailbrake.cars.learned import SteerRange, Uncertainty
from trailbrake.cars.params import CarParams


def test_full_steer_turns_the_wheels_less_where_a_game_limits_it():
    car = load_car("hatchback")
    assert car.full_steer_angle(50.0) == car.steering.max_angle
    limited = replace(car, steer_range=SteerRange(speeds=(5.0, 25.0), shares=(1.0, 0.2)))
    assert limited.full_steer_angle(0.0) == car.steering.max_angle
    assert limited.full_steer_angle(15.0) == pytest.approx(0.6 * car.steering.max_angle)
    assert limited.full_steer_angle(80.0) == pytest.approx(0.2 * car.steering.max_angle)


def test_deviations_are_named_by_section_and_key():
    doubt = Uncertainty(lateral_grip=0.02, braking=0.03, drive_force=0.01, downforce=0.02, steer_angle=0.01,
                        delay=0.002, deviation={"body.mass": 4.0})  # fmt: skip
    car = replace(load_car("gt3"), uncertainty=doubt)
    again = msgspec.convert(msgspec.to_builtins(car), CarParams)
    assert again.uncertainty == doubt
    assert again.uncertainty.planned_share == 1.0
