"""Units of the numbers of a car file."""

import pytest

from trailbrake.cars.number_units import find_unit


@pytest.mark.parametrize(
    ("key", "unit"),
    [
        ("body.mass", "kg"), ("engine.torque.4785", "N m"), ("aero.drag_area", "m^2"), ("actuation.delay", "s"),
        ("tyre_front.peak_slip_angle", "rad"), ("brakes.force_over_mass", "m/s^2"),
        ("tyre_front.mu_y", ""), ("gearbox.overall_ratio.2", ""), ("brakes.front_share", ""),
        ("no.such", ""), ("name", ""), ("", ""),
    ],
)  # fmt: skip
def test_a_number_has_the_unit_of_its_declaration(key, unit):
    assert find_unit(key) == unit
