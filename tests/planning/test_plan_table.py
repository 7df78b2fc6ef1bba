import numpy as np

from trailbrake.cars.car_library import load_car
from trailbrake.planning.course import Course
from trailbrake.planning.plan_table import tabulate_plan
from trailbrake.tracks.road_columns import RoadColumn
from trailbrake.tracks.track_library import load_track

COURSE = Course(load_track("pinegrove"), load_car("gt3"))


def test_the_rows_of_the_road_lie_on_the_line_and_take_as_long_as_the_plan():
    road, line = COURSE.track.road, COURSE.line
    plan = tabulate_plan(COURSE)
    points = road.points(road.stations(), plan.offset)
    s_offset = line.locate_many(points[:, :2])
    assert np.abs(s_offset[:, 1]).max() < 0.05  # m beside the line
    along = line.column_at(s_offset[:, 0], RoadColumn.YAW) - road.column(RoadColumn.YAW)
    wrapped = np.arctan2(np.sin(along - plan.heading), np.cos(along - plan.heading))
    assert np.abs(wrapped).max() < 0.03
    # A row of the road is longer or shorter on the line, by its offset in the bend.
    stretch = (1.0 - plan.offset * road.column(RoadColumn.CURVATURE)) / np.cos(plan.heading)
    assert abs((road.spacing * stretch / plan.speed).sum() / COURSE.profile.lap_time - 1.0) < 0.003
