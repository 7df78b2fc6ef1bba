"""A road with an even plan on it, and what a task observes of it."""

import numpy as np

from trailbrake.observe.features import Feature
from trailbrake.observe.task_spec import PlannedRoad, TaskSpec
from trailbrake.tracks.road import RoadPlan
from trailbrake.tracks.track_library import load_track

ROAD = load_track("pinegrove").road
N = len(ROAD.table)


def even_plan(offset=1.5, heading=0.1, curvature=0.02, speed=30.0):
    """Return a plan (m, rad, 1/m, m/s) that is the same along the road."""
    return RoadPlan(*(np.full(N, value) for value in (offset, heading, curvature, speed)))


def observe_plan(part, plan, **features):
    """Return the numbers of a part of an observation of a car with these features; the others are 0."""
    seen = np.zeros((Feature.COUNT, 1))
    for name, value in features.items():
        seen[Feature[name], 0] = value
    task = TaskSpec([part])
    out = np.zeros((1, task.width), np.float32)
    task.write_observations(seen, PlannedRoad(ROAD, plan), out, 1, 0, 1)
    return out[0]
