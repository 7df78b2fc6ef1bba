import numpy as np
import pytest

from trailbrake.planning.preview import preview
from trailbrake.tracks.load import load
from trailbrake.tracks.road import Column


@pytest.mark.parametrize("name", ["copperbowl", "serpent_pass"])
def test_each_value_is_the_road_s_own(name):
    road = load(name).road
    for s in np.linspace(0.0, 0.999 * road.length, 173):
        yaw, curvature, climb, change, bank = preview(road.table, road.spacing, road.closed, s)
        for value, column in (
            (yaw, Column.YAW), (curvature, Column.CURVATURE), (climb, Column.GRADE), (bank, Column.BANK)
        ):  # fmt: skip
            assert value == pytest.approx(float(road.at(s, column)), abs=1e-12)
        row = int(s / road.spacing)
        grades = road.column(Column.GRADE)
        after = (row + 1) % len(grades)
        assert change == pytest.approx((grades[after] - grades[row]) / road.spacing, abs=1e-12)


def test_a_circuit_goes_on_and_an_open_road_holds_its_end():
    ring = load("pinegrove").road
    here = preview(ring.table, ring.spacing, True, 30.0)
    there = preview(ring.table, ring.spacing, True, 30.0 + ring.length)
    assert there[1:] == pytest.approx(here[1:])
    assert np.cos(there[0] - here[0]) == pytest.approx(1.0)
    strip = load("serpent_pass").road
    end = preview(strip.table, strip.spacing, False, strip.length)
    assert preview(strip.table, strip.spacing, False, strip.length + 500.0)[1] == pytest.approx(end[1])
    assert all(np.isfinite(preview(strip.table, strip.spacing, False, s)).all() for s in (-50.0, 0.0, 1e6))
