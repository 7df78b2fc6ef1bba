import math

import numpy as np
import pytest

from trailbrake.analysis.corner_figures import find_slowing, measure_corner
from trailbrake.analysis.corners import Corner
from trailbrake.analysis.lap_location import LocatedLap

CORNER = Corner(1, 1.0, entry=200.0, apex=250.0, exit=300.0, start=50.0, end=400.0)


def make_lap(spacing=0.2, **changes):
    """A lap at 20 m/s that brakes from 150 to 210 m, steers from 190 m on, and opens the throttle at 260 m."""
    s = np.arange(0.0, 450.0, spacing)
    channels = {
        "speed": 20.0 + 0.0 * s - 5.0 * np.exp(-(((s - 240.0) / 30.0) ** 2)),
        "brake": np.interp(s, [150.0, 152.0, 208.0, 210.0], [0.0, 0.8, 0.8, 0.0]),
        "throttle": np.interp(s, [140.0, 145.0, 260.0, 290.0], [1.0, 0.0, 0.0, 1.0]),
        "steer": np.interp(s, [190.0, 230.0, 270.0, 310.0], [0.0, 0.4, 0.4, 0.0]),
        "gear": np.where((s > 180.0) & (s < 290.0), 2.0, 4.0),
        "offset": np.full(len(s), 1.5),
        "acceleration_x": np.where((s > 150.0) & (s < 210.0), -8.0, 0.0),
    } | {name: change(s) for name, change in changes.items()}
    return LocatedLap(0, 1, 30.0, True, True, False, 0.0, s, s / 20.0, channels)


@pytest.mark.parametrize("spacing", [0.2, 1.1])
def test_the_places_of_a_corner(spacing):
    found = measure_corner(make_lap(spacing), CORNER)
    assert found.brake_point == pytest.approx(150.0 + 2.0 * 0.05 / 0.8, abs=0.5)
    assert found.brake_end == pytest.approx(210.0, abs=0.5)
    assert found.brake_peak == pytest.approx(0.8)
    assert found.turn_in == pytest.approx(202.0, abs=0.1)
    assert found.throttle_point == pytest.approx(266.0, abs=0.1)
    assert found.full_throttle == pytest.approx(288.5, abs=0.1)
    assert (found.min_speed, found.min_speed_at) == (pytest.approx(15.0, abs=0.01), pytest.approx(240.0, abs=0.6))
    assert (found.gear, found.apex_offset) == (2.0, 1.5)
    assert found.time_s == pytest.approx(17.5)


def test_touches_of_the_brake_are_not_the_brake_point():
    def touch(s):
        return np.where((s > 90.0) & (s < 90.5), 0.3, 0.0) + np.where((s > 150.0) & (s < 210.0), 0.8, 0.0)

    assert measure_corner(make_lap(brake=touch), CORNER).brake_point == pytest.approx(150.0, abs=0.2)


def test_a_brake_that_is_released_for_a_moment_is_one_braking():
    def pulse(s):
        return np.where((s > 150.0) & (s < 210.0) & ~((s > 170.0) & (s < 172.0)), 0.8, 0.0)

    found = measure_corner(make_lap(brake=pulse), CORNER)
    assert found.brake_point == pytest.approx(150.0, abs=0.2)
    assert found.brake_end == pytest.approx(210.0, abs=0.2)


def test_without_pedals_the_deceleration_shows_the_brake_point():
    found = measure_corner(make_lap(brake=lambda s: s * math.nan, throttle=lambda s: s * math.nan), CORNER)
    assert found.brake_point == pytest.approx(150.0, abs=0.5)
    assert math.isnan(found.brake_peak)
    assert math.isnan(found.throttle_point)


def test_a_corner_that_is_driven_flat_has_no_places():
    found = measure_corner(make_lap(brake=lambda s: 0.0 * s, throttle=lambda s: 0.0 * s + 1.0), CORNER)
    assert math.isnan(found.brake_point)
    assert found.brake_peak == 0.0
    assert math.isnan(found.throttle_point)


def test_a_bend_to_the_right_turns_in_with_a_negative_steer():
    right = Corner(1, -1.0, entry=200.0, apex=250.0, exit=300.0, start=50.0, end=400.0)
    lap = make_lap(steer=lambda s: -np.interp(s, [190.0, 230.0, 270.0, 310.0], [0.0, 0.4, 0.4, 0.0]))
    assert measure_corner(lap, right).turn_in == pytest.approx(202.0, abs=0.1)
    assert math.isnan(measure_corner(lap, CORNER).turn_in)


def test_where_a_lap_slows_down():
    lap = make_lap(speed=lambda s: np.interp(s, [0.0, 120.0, 140.0, 240.0], [20.0, 30.0, 30.0, 12.0]))
    assert find_slowing(lap, 0.0, 200.0) == pytest.approx(140.0, abs=0.5)


@pytest.mark.parametrize(
    ("gears", "at", "drop"),
    [((3.0, 2.0), 250.0, 1.0), ((2.0, 3.0), 250.0, 0.0), ((3.0, 2.0), 350.0, 0.0), ((np.nan, np.nan), 250.0, 0.0)],
)
def test_what_changing_down_in_the_bend_takes_off_is_that_beyond_the_braking(gears, at, drop):
    """At 20 m/s with 2 m/s^2 of braking throughout; the change takes 1 m/s off within 0.3 s."""
    lap = make_lap(
        speed=lambda s: 40.0 - 0.1 * s - np.clip((s - at) / 6.0, 0.0, 1.0), gear=lambda s: np.where(s < at, *gears)
    )
    assert measure_corner(lap, CORNER).shift_drop == pytest.approx(drop, abs=0.02)
