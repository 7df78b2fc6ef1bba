import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trailbrake import units


@pytest.mark.parametrize(
    ("value", "unit", "si"),
    [
        (100.0, units.KMH, 27.7778),
        (60.0, units.MPH, 26.8224),
        (6000.0, units.RPM, 628.319),
        (180.0, units.DEG, math.pi),
        (26.0, units.PSI, 179264.0),
    ],
)
def test_multiplying_gives_si(value, unit, si):
    assert value * unit == pytest.approx(si, rel=1e-5)


def test_a_mile_is_the_international_mile():
    assert pytest.approx(1.609344, rel=1e-12) == units.MPH / units.KMH


@given(st.floats(-1e4, 1e4))
def test_wrap_angle_stays_in_one_turn_and_points_the_same_way(angle):
    wrapped = units.wrap_angle(angle)
    assert -math.pi <= wrapped <= math.pi
    assert math.remainder(wrapped - angle, math.tau) == pytest.approx(0.0, abs=1e-9)


@pytest.mark.parametrize("turns", [-3, -1, 0, 1, 5])
def test_wrap_angle_at_the_cut(turns):
    whole = turns * math.tau
    assert abs(units.wrap_angle(whole + math.pi)) == pytest.approx(math.pi)
    assert units.wrap_angle(whole + 0.5) == pytest.approx(0.5)
    assert units.wrap_angle(math.nextafter(-math.pi, -4.0)) == pytest.approx(math.pi)
    assert math.isnan(units.wrap_angle(math.nan))


@pytest.mark.parametrize(("fahrenheit", "celsius"), [(32.0, 0.0), (212.0, 100.0), (-40.0, -40.0)])
def test_fahrenheit(fahrenheit, celsius):
    assert (fahrenheit - units.FREEZING_F) / units.FAHRENHEIT_PER_CELSIUS == pytest.approx(celsius)
    assert units.fahrenheit_from_celsius(celsius) == pytest.approx(fahrenheit)
