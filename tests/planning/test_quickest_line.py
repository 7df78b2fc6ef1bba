import numpy as np
import pytest

from trailbrake.cars.car_library import load_car
from trailbrake.planning.course import GRIP_MARGIN, Course
from trailbrake.planning.minimum_curvature import find_stations
from trailbrake.planning.path_margins import KERB_MARGIN
from trailbrake.planning.path_room import PathRoom, make_inside_room
from trailbrake.planning.quickest_line import fill_time_slopes, plan_quickest_line
from trailbrake.tracks.road import RoadColumn
from trailbrake.tracks.track_library import load_track


def find_time(course, shapes, lengths, closed):
    """Return (time, its slopes by curvature, its slopes by length)."""
    speed, slope, pace = np.empty(len(shapes)), np.zeros(len(shapes)), np.zeros(len(shapes))
    out = (speed, slope, pace, np.zeros((9, len(shapes))))
    return fill_time_slopes(shapes, lengths, (closed, GRIP_MARGIN), course.envelope, out), slope, pace


@pytest.mark.parametrize("closed", [True, False])
@pytest.mark.parametrize("car", ["gt3", "f1", "hatchback"])
def test_the_slopes_are_those_of_finite_differences(car, closed):
    course, rng = Course(load_track("pinegrove"), load_car(car)), np.random.default_rng(27)
    s = np.arange(120.0)
    shapes = np.zeros((120, 6))
    shapes[:, 0] = 0.02 * np.sin(s / 120.0 * 2.0 * np.pi) ** 3 + 0.004
    shapes[:, 1], shapes[:, 3], shapes[:, 4] = 0.02, 0.01, 0.95
    lengths = rng.uniform(2.0, 3.0, 120)
    time, slope, _ = find_time(course, shapes, lengths, closed)
    for _ in range(5):
        change = 1e-6 * np.exp(-0.5 * ((s - rng.uniform(10.0, 110.0)) / 6.0) ** 2)
        more, less = (find_time(course, shapes + np.outer(sign * change, np.eye(6)[0]), lengths, closed)[0]
                      for sign in (1.0, -1.0))  # fmt: skip
        assert 0.5 * (more - less) == pytest.approx(slope @ change, rel=0.1, abs=1e-9)
    assert time > 0.0


@pytest.mark.parametrize(
    ("track", "car", "gain"),
    [
        ("pinegrove", "gt3", 0.025),
        ("kartwerk", "hatchback", 0.02),
        ("lakeside", "f1", 0.02),
        ("gen:7305", "gt3", 0.005),
    ],
)
def test_it_is_quicker_than_the_line_of_least_curvature_and_keeps_its_room(track, car, gain):
    course = Course(load_track(track), load_car(car))
    room = make_inside_room(course.car.body.width)
    line = plan_quickest_line(course.track.road, room, course.envelope, GRIP_MARGIN)
    time = course.plan_speeds(line, start=-1.0).lap_time
    assert time < (1.0 - gain) * course.profile.lap_time
    sides = (line.column(side) for side in (RoadColumn.WIDTH_LEFT, RoadColumn.WIDTH_RIGHT))
    assert min(side.min() for side in sides) > room.half_width + room.margin - 0.05  # between stations


def test_on_kerbs_it_uses_them():
    course = Course(load_track("pinegrove"), load_car("gt3"))
    room = PathRoom(0.5 * course.car.body.width, 0.7, KERB_MARGIN, kerbs=True)
    line = plan_quickest_line(course.track.road, room, course.envelope, GRIP_MARGIN)
    sides = (line.column(side) for side in (RoadColumn.WIDTH_LEFT, RoadColumn.WIDTH_RIGHT))
    assert min(side.min() for side in sides) < room.half_width


def test_an_open_road_begins_and_ends_in_its_middle():
    course = Course(load_track("proving_ground"), load_car("gt3"))
    line = plan_quickest_line(course.track.road, make_inside_room(1.9), course.envelope, GRIP_MARGIN)
    assert not line.closed
    _, centre, _ = find_stations(course.track.road, make_inside_room(1.9))
    for row, station in ((0, 0), (-1, -1)):
        away = np.hypot(line.column(RoadColumn.X)[row] - centre.x[station],
                        line.column(RoadColumn.Y)[row] - centre.y[station])  # fmt: skip
        assert away < 0.5
