from dataclasses import replace

import numpy as np
import pytest
from helpers.compared_drives import record_laps
from helpers.stadiums import build_stadium
from helpers.synthetic_drives import LENGTH, edges

from trailbrake.analysis.lap_location import CommonLine, choose_line, locate_laps
from trailbrake.analysis.reference_line import make_line, project_points
from trailbrake.record import Recording


@pytest.fixture(scope="module")
def drive(tmp_path_factory):
    path, counted = record_laps(tmp_path_factory.mktemp("drive") / "a.mcap", rate=60.0)
    recording = Recording.open(path)
    return recording, counted


def test_the_times_at_both_ends_of_a_lap_are_those_of_the_clock(drive):
    recording, counted = drive
    common = choose_line([recording])
    laps = locate_laps(recording, 0, common, 9)
    finished = [lap for lap in laps if lap.finished]
    assert [lap.number for lap in finished] == [lap.number for lap in counted]
    assert [lap.from_rest for lap in finished] == [True, False, False]
    for lap, clock in zip(finished, counted, strict=True):
        assert lap.find_time(common.length) == pytest.approx(clock.time_s, abs=1e-3)
    for lap in finished[1:]:
        assert lap.find_time(0.0) == pytest.approx(0.0, abs=1e-9)
        assert abs(lap.clock_error_s) < 1e-3


def test_a_lap_without_positions_is_as_long_as_the_line_from_its_start_to_its_end(drive):
    recording, _ = drive
    laps = locate_laps(recording, 0, CommonLine(None, 1000.0, "distance driven", False), 10)
    flying = [lap for lap in laps if lap.finished and not lap.from_rest]
    assert flying
    for lap in flying:
        assert lap.interpolate("time", np.array([0.0, 1000.0])) == pytest.approx([0.0, lap.time_s], abs=1e-6)


def test_a_named_road_counts_where_none_is_recorded_from_where_laps_are_counted(tmp_path):
    recording = Recording.open(record_laps(tmp_path / "a.mcap", rate=30.0, with_map=False)[0])
    road = build_stadium(600.0, 120.0)
    common = choose_line([recording], road)
    assert (common.basis, common.is_timed) == ("centre line", True)
    assert common.length == pytest.approx(LENGTH, abs=0.5)
    elsewhere = replace(road, table=np.roll(road.table, 200, axis=0))  # the road's start line is not that of the laps
    rolled = choose_line([recording], elsewhere)
    assert (rolled.basis, rolled.is_timed) == ("centre line", False)
    for line in (common, rolled):
        laps = [lap for lap in locate_laps(recording, 0, line, 9) if lap.finished and not lap.from_rest]
        for lap in laps:
            assert lap.channels["offset"] == pytest.approx(np.full(len(lap.s), 1.5), abs=0.1)
            assert lap.interpolate("time", np.array([0.0, line.length])) == pytest.approx([0.0, lap.time_s], abs=0.05)
    beside = build_stadium(600.0, 140.0)
    assert choose_line([recording], beside).basis == choose_line([recording]).basis == "path of the best lap"
    nowhere = Recording.open(record_laps(tmp_path / "b.mcap", rate=30.0, with_map=False, positions=False)[0])
    assert choose_line([nowhere], road).basis == "distance driven"


def test_distances_never_fall_and_the_offset_is_the_car_s(drive):
    recording, _ = drive
    lap = locate_laps(recording, 0, choose_line([recording]), 9)[1]
    assert (np.diff(lap.s) >= 0.0).all()
    assert lap.channels["offset"] == pytest.approx(np.full(len(lap.s), 1.5), abs=0.06)  # the map's points are 5 m apart
    assert np.isnan(lap.find_time(LENGTH + 50.0))


def test_at_most_so_many_laps_are_read(drive):
    recording, _ = drive
    assert len(locate_laps(recording, 0, choose_line([recording]), 2)) == 2


def test_beside_a_bend_distances_grow_evenly():
    """On a polyline's perpendiculars a car outside of a bend would stand still at each point, and inside jump."""
    points = edges(0.0)
    line = make_line(points[:, 0], points[:, 1], True)
    for side in (-8.0, 8.0):
        path = edges(side, step=0.5)
        s, offset = project_points(line, path[:, 0], path[:, 1])
        steps = np.diff(s)
        assert steps.min() > 0.35
        assert steps.max() < 0.65
        assert offset == pytest.approx(np.full(len(path), side), abs=0.1)


def test_an_open_line_is_not_left_at_its_ends():
    line = make_line(np.arange(0.0, 50.0, 5.0), np.zeros(10), False)
    s, offset = project_points(line, np.array([-3.0, 12.0, 47.0]), np.array([1.0, -2.0, 0.0]))
    assert s == pytest.approx([-3.0, 12.0, 47.0])
    assert offset == pytest.approx([1.0, -2.0, 0.0])
