import numpy as np
import pytest

from trailbrake.cars.car_library import load_car
from trailbrake.errors import UsageError
from trailbrake.planning import course as course_module
from trailbrake.planning.course import LENGTH_WEIGHTS, Course, tabulate_plan
from trailbrake.planning.handling import compute_handling
from trailbrake.planning.minimum_curvature import plan_racing_line
from trailbrake.planning.path_room import make_inside_room
from trailbrake.tracks.road import RoadColumn
from trailbrake.tracks.track_library import load_track

CARS = ("gt3", "hatchback")
COURSE = Course(load_track("pinegrove"), load_car("gt3"))


@pytest.mark.parametrize("car", CARS)
@pytest.mark.parametrize("track", ["pinegrove", "kartwerk"])
def test_the_line_is_quicker_than_the_centreline(course, track, car):
    planned = course(track, car)
    centre = planned.plan_speeds(planned.track.road, start=-1.0)
    assert planned.profile.lap_time < 0.96 * centre.lap_time


def test_of_the_candidates_the_quickest_is_driven(course):
    planned = course("kartwerk", "gt3")
    width = planned.car.body.width
    times = [
        planned.plan_speeds(plan_racing_line(planned.track.road, make_inside_room(width), weight), start=-1.0).lap_time
        for weight in LENGTH_WEIGHTS
    ]
    assert planned.profile.lap_time == min(times)


@pytest.mark.parametrize("car", CARS)
def test_the_profile_keeps_to_the_car_s_limits(course, car):
    planned = course("pinegrove", car)
    profile, line = planned.profile, planned.line
    assert profile.speed.shape == (len(line.table),)
    assert profile.speed.min() > 5.0
    # No bend is taken beyond the lateral limit on the flat, but for bank and compression.
    limit = np.interp(profile.speed, planned.envelope.speeds, planned.envelope.lateral)
    use = profile.speed**2 * np.abs(line.column(RoadColumn.CURVATURE)) / limit
    assert 0.9 < use.max() < 1.15
    # Speeds and accelerations tell the same story: dv/dt = v dv/ds, and their sum over a lap is nothing.
    assert abs(np.sum(profile.acceleration) * line.spacing) < 0.02 * profile.speed.max() ** 2


def test_less_margin_is_slower_and_a_start_from_rest_too(course):
    planned = course("pinegrove", "gt3")
    assert planned.plan_speeds(planned.line, start=-1.0, margin=0.8).lap_time > 1.05 * planned.profile.lap_time
    rest = planned.plan_speeds(planned.line, start=0.0)
    assert rest.lap_time > planned.profile.lap_time + 2.0
    assert rest.speed[0] < 3.0


def test_an_open_road_is_planned_from_rest():
    road = Course(load_track("proving_ground"), load_car("hatchback"))
    assert not road.line.closed
    assert road.profile.speed[0] < 3.0
    assert np.all(np.diff(road.profile.speed[:200]) > 0.0)


def test_plans_are_made_once_and_only_when_asked_for(course):
    planned = course("pinegrove", "gt3")
    assert planned.line is planned.line
    fresh = Course(planned.track, planned.car)
    assert "line" not in vars(fresh)


def test_without_a_car_there_is_a_track_and_no_plan():
    bare = Course(load_track("pinegrove"), None)
    assert bare.track.road.closed
    for name in ("line", "envelope", "handling", "profile"):
        with pytest.raises(UsageError, match="the car is not known"):
            getattr(bare, name)


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


def test_a_line_is_planned_once_for_equal_roads_and_cars(monkeypatch):
    planned = []
    plan = course_module.plan_quickest_line
    monkeypatch.setattr(course_module, "plan_quickest_line", lambda *given: planned.append(plan(*given)) or planned[-1])
    monkeypatch.setattr(course_module, "_lines", {})

    def plan_line(track="lakeside", car="kart"):
        return Course(load_track(track), load_car(car)).with_kerbs().line

    line = plan_line()
    line.table[:] = 0.0  # who changes his line changes nobody else's
    assert plan_line().table.tolist() == planned[0].table.tolist()
    assert len(planned) == 1
    for other in ({"track": "lakeside@wet"}, {"car": "gt3"}):
        plan_line(**other)
    assert len(planned) == 3
    assert Course(load_track("lakeside"), load_car("kart")).line.table.tolist() != planned[0].table.tolist()


def test_slip_tables_are_those_of_the_car_though_they_are_kept(monkeypatch):
    monkeypatch.setattr(course_module, "_handlings", {})
    for car in ("kart", "gt3", "kart"):
        course = Course(load_track("lakeside"), load_car(car))
        expected = compute_handling(course.car, course.envelope)
        assert course.handling.slip_front.tolist() == expected.slip_front.tolist()
        assert course.handling.arm_rear == expected.arm_rear
        course.handling.slip_front[:] = 0.0
    assert len(course_module._handlings) == 2
