"""The plan of `line_track`: what its rows are made of."""

from functools import cache

import numpy as np

from trailbrake.cars.car_library import load_car
from trailbrake.control.vehicle.line_tracking import PlanColumn
from trailbrake.drivers.parts.tracking_plan import build_tracking_plan, collect_sources, fill_rows
from trailbrake.planning.course import Course
from trailbrake.planning.handling import car_attitude
from trailbrake.tracks.frenet import RoadTable
from trailbrake.tracks.road_columns import RoadColumn
from trailbrake.tracks.track_library import load_track


@cache
def sources():
    course = Course(load_track("pinegrove"), load_car("gt3"))
    line, profile = course.line, course.profile
    planned = RoadTable(line.table, line.spacing, line.closed)
    return collect_sources(course, line, planned, profile.speed.copy(), profile.acceleration.copy())


def test_a_plan_has_the_speeds_and_the_attitude_of_its_sources():
    given = sources()
    table = build_tracking_plan(given).table
    np.testing.assert_array_equal(table[:, PlanColumn.SPEED], given.speed)
    for row in (0, 200, 700):
        steer, sideslip, _ = car_attitude(
            given.handling, given.line, row * given.line.spacing, given.speed[row], given.acceleration[row]
        )
        assert (table[row, PlanColumn.STEER], table[row, PlanColumn.SIDESLIP]) == (steer, sideslip)
    # The plan is within the limits of the tyres beside its own cornering, but for its reserves.
    assert np.mean(table[:, PlanColumn.ACCELERATION] <= table[:, PlanColumn.DRIVE_LIMIT] + 0.3) > 0.98
    assert np.all(table[:, PlanColumn.BRAKE_LIMIT] > 0.0)


def test_where_the_engine_limits_the_plan_the_throttle_is_open():
    given = sources()
    table = build_tracking_plan(given).table
    opened = table[:, PlanColumn.ENGINE_LIMITED] == 1.0
    # On pinegrove a gt3 is limited by its engine for a third of the road, and there it accelerates or holds its speed.
    assert 0.2 < np.mean(opened) < 0.6
    assert given.acceleration[opened].min() > -0.5
    fastest = int(np.argmax(given.speed)) - 5
    assert opened[fastest]
    assert not opened[given.acceleration < -1.0].any()


def test_a_slower_car_has_more_grip_left_in_a_bend_and_a_standing_one_no_downforce():
    given = sources()
    table = build_tracking_plan(given).table
    bend = int(np.argmax(np.abs(given.line.table[:, RoadColumn.CURVATURE])))
    assert table[bend, PlanColumn.DRIVE_LIMIT_BELOW] > table[bend, PlanColumn.DRIVE_LIMIT] + 1.0
    assert table[bend, PlanColumn.DRIVE_LIMIT_HALF] > table[bend, PlanColumn.DRIVE_LIMIT_BELOW] + 1.0
    fast = int(np.argmax(given.speed))
    assert table[fast, PlanColumn.LAUNCH_LIMIT] < table[fast, PlanColumn.DRIVE_LIMIT]
    assert np.ptp(table[:, PlanColumn.LAUNCH_LIMIT]) < 0.2 * table[fast, PlanColumn.LAUNCH_LIMIT]


def test_rows_are_filled_beyond_the_last_by_the_first():
    given = sources()
    whole = build_tracking_plan(given).table
    part = np.zeros_like(whole)
    count = len(part)
    fill_rows(part, given, count - 2, 5)
    np.testing.assert_array_equal(part[[-2, -1, 0, 1, 2]], whole[[-2, -1, 0, 1, 2]])
    assert not part[3:-2].any()
