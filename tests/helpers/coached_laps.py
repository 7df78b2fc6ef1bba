"""Laps of a person as `coaching` takes them: planned at a share of the grip, with noise, and with a planted fault."""

from dataclasses import replace
from functools import cache

import numpy as np

from helpers.roads import circle
from trailbrake.analysis.comparison import find_zones, measure_zones
from trailbrake.analysis.lap_location import CommonLine
from trailbrake.analysis.reference_line import make_line
from trailbrake.cars.car_library import load_car
from trailbrake.coaching.pace_model import build_pace_model, plan_lap
from trailbrake.coaching.target_laps import TargetCorner, TargetLaps
from trailbrake.planning.course import Course
from trailbrake.tracks.road_columns import RoadColumn
from trailbrake.tracks.track_library import load_track


@cache
def make_place(track="pinegrove", car="gt3"):
    """Return a course, and the line of its road."""
    course = Course(load_track(track), load_car(car))
    road = course.track.road
    line = make_line(road.column(RoadColumn.X), road.column(RoadColumn.Y), road.closed)
    return course, CommonLine(line, line.length, "centre line", True)


@cache
def make_corners():
    """Return the corners of the place, with their zones."""
    course, common = make_place()
    return tuple(find_zones(common, [plan_lap(course, common, 0.9)], 0))


def make_laps(rng, share=0.85, laps=8, spread=0.02, lost=None, uneven=None):
    """Return laps of a person.

    Args:
        rng: of the noise.
        share: of the grip.
        laps: how many.
        spread: s, standard deviation of the time in each zone, from lap to lap and from corner to corner.
        lost: seconds that are lost in a corner, by its number.
        uneven: seconds up to which a corner takes longer, by its number; another share of them in each lap.
    """
    course, common = make_place()
    base, corners = plan_lap(course, common, share), make_corners()
    liking = spread * rng.standard_normal(len(corners))
    made = []
    for number in range(laps):
        gaps = liking + spread * rng.standard_normal(len(corners))
        for k, corner in enumerate(corners):
            gaps[k] += (lost or {}).get(corner.number, 0.0)
            gaps[k] += (uneven or {}).get(corner.number, 0.0) * rng.random()
        marks = np.array([corners[0].start, *(corner.end for corner in corners)])
        late = np.interp(base.s, marks, np.concatenate([[0.0], np.cumsum(gaps)]))
        made.append(replace(base, number=number + 1, time=base.time + late, time_s=base.time_s + float(gaps.sum())))
    return made


def make_model(laps):
    """Return the pace model of laps, and their times in the zones."""
    course, common = make_place()
    times = measure_zones(laps, make_corners())
    return build_pace_model(course, common, make_corners(), np.median(times, axis=0)), times


def make_circle_target():
    """Return a circle of 150 m as a road, and target laps on it at 30, 32 and 40 m/s."""
    road = circle(radius=150.0).road
    s = np.linspace(0.0, road.length, 201)
    x, y, _, _ = road.points(s, 0.0).T
    marks = [share * road.length for share in (0.3, 0.4, 0.45, 0.5, 0.7, 0.8, 1.0)]
    corners = [TargetCorner("T1", marks[0], marks[3], marks[4], "Brake later", {"best": marks[1], "limit": marks[2]}),
               TargetCorner("T2", marks[4], marks[5], marks[6], "", {})]  # fmt: skip
    times = {"best": s / 30.0, "ideal": s / 32.0, "limit": s / 40.0}
    return road, TargetLaps("circle", True, s.tolist(), x.tolist(), y.tolist(),
                            {name: each.tolist() for name, each in times.items()}, np.column_stack([x, y]).tolist(),
                            corners, 700.0)  # fmt: skip
