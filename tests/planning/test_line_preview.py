import numpy as np
import pytest

from trailbrake.planning.line_preview import preview_line
from trailbrake.tracks.road import RoadColumn
from trailbrake.tracks.track_library import load_track


@pytest.mark.parametrize("name", ["copperbowl", "serpent_pass"])
def test_each_value_is_the_road_s_own(name):
    road = load_track(name).road
    for s in np.linspace(0.0, 0.999 * road.length, 173):
        yaw, curvature, climb, change, bank = preview_line(road.kernel_table, s)
        for value, column in (
            (yaw, RoadColumn.YAW), (curvature, RoadColumn.CURVATURE), (climb, RoadColumn.GRADE), (bank, RoadColumn.BANK)
        ):  # fmt: skip
            assert value == pytest.approx(float(road.column_at(s, column)), abs=1e-12)
        row = int(s / road.spacing)
        grades = road.column(RoadColumn.GRADE)
        after = (row + 1) % len(grades)
        assert change == pytest.approx((grades[after] - grades[row]) / road.spacing, abs=1e-12)


def test_a_circuit_goes_on_and_an_open_road_holds_its_end():
    ring = load_track("pinegrove").road
    here = preview_line(ring.kernel_table, 30.0)
    there = preview_line(ring.kernel_table, 30.0 + ring.length)
    assert there[1:] == pytest.approx(here[1:])
    assert np.cos(there[0] - here[0]) == pytest.approx(1.0)
    strip = load_track("serpent_pass").road
    end = preview_line(strip.kernel_table, strip.length)
    assert preview_line(strip.kernel_table, strip.length + 500.0)[1] == pytest.approx(end[1])
    assert all(np.isfinite(preview_line(strip.kernel_table, s)).all() for s in (-50.0, 0.0, 1e6))
