"""Tabulates the line and the speeds of a course at the rows of its road, for whoever looks them up by the road's s."""

import numpy as np
from numpy.typing import NDArray

from trailbrake.planning.course import Course
from trailbrake.tracks.road import RoadPlan
from trailbrake.tracks.road_columns import RoadColumn

Array = NDArray[np.float64]


def tabulate_plan(course: Course) -> RoadPlan:
    """Return the planned line and speeds of a course at the rows of its road.

    Args:
        course: with a known car; its `line` and `profile` are computed if they are not yet.

    Raises:
        UsageError: the car is not known.
    """
    road, line = course.track.road, course.line
    points = np.column_stack([line.column(RoadColumn.X), line.column(RoadColumn.Y)])
    place = road.locate_many(points)
    s, offset = place[:, 0], place[:, 1]
    turned = line.column(RoadColumn.YAW) - road.column_at(s, RoadColumn.YAW)
    heading = np.arctan2(np.sin(turned), np.cos(turned))
    # Inside a tight bend the feet of neighbouring points may change their order by a little.
    order = np.argsort(s, kind="stable")
    period = road.length if road.closed else None

    def at_rows(values: Array) -> Array:
        found: Array = np.interp(road.stations(), s[order], values[order], period=period)
        return found

    return RoadPlan(
        at_rows(offset), at_rows(heading), at_rows(line.column(RoadColumn.CURVATURE)), at_rows(course.profile.speed)
    )
