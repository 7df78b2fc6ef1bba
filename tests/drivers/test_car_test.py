"""The test drive of a car without a description: its effort, and how it ends."""

from dataclasses import replace

import pytest

from trailbrake.drivers.car_test import MOST_OFFS, STAGES, UNDERSTEER_THROTTLE, Driver
from trailbrake.planning.course import Course
from trailbrake.state import CarState
from trailbrake.tracks.road_columns import RoadColumn
from trailbrake.tracks.track_library import load_track

DT = 0.1


def driver(**options):
    made = Driver(**options)
    made.reset(Course(load_track("kartwerk"), None))
    return made


def state(made, s, offset=0.0, speed=5.0):
    x, y, z = made.line.point(s, offset)
    yaw = made.line.value_at(s, RoadColumn.YAW)
    return CarState(time=1.0, sequence=1, x=x, y=y, z=z, yaw=yaw, speed=speed, velocity_x=speed, velocity_y=0.0,
                    yaw_rate=0.0)  # fmt: skip


def test_less_effort_is_less_of_all_accelerations():
    whole, gentle = driver(), driver(effort=0.5)
    assert gentle.stages == pytest.approx([0.5 * side for side in STAGES])
    assert gentle.limits[0].max() < whole.limits[0].max()
    for made in (whole, gentle):
        made.time = 30.0  # after the weave
        made.act(state(made, 50.0), DT)
    assert gentle.pedals_of.most_acceleration == pytest.approx(0.5 * whole.pedals_of.most_acceleration)


def test_a_car_that_leaves_the_road_too_often_breaks_the_drive_off():
    made = driver()
    for number in range(MOST_OFFS + 1):
        assert not made.finished
        made.act(state(made, 20.0 * number, offset=20.0), DT)
        made.act(state(made, 20.0 * number + 10.0), DT)
    assert (made.finished, made.broke_off) == (True, True)


def test_the_end_of_the_programme_breaks_nothing_off():
    over = driver(seconds=5.0)
    for _ in range(int(5.0 / DT) + 3):
        over.act(state(over, 50.0), DT)
    assert (over.finished, over.broke_off, over.ended) == (True, False, "the programme is over")


def test_running_wide_lowers_the_accelerations_by_one_stage_however_long_it_lasts():
    made = driver()
    made.time, made.stage = 30.0, 3
    for number in range(5):
        made.act(state(made, 50.0 + number, offset=20.0), DT)
    assert (made.stage, made.ceiling) == (2, 2)


def test_a_car_that_turns_no_further_gets_little_throttle():
    turning, free = driver(), driver()
    for made, yaw in ((turning, 1.2), (free, 0.0)):  # the line is far to the left, or ahead
        made.time = 30.0
        for _ in range(20):
            at = state(made, 50.0)
            controls = made.act(replace(at, yaw=at.yaw - yaw), DT)
    assert abs(turning.steer) == 1.0
    assert controls.throttle > UNDERSTEER_THROTTLE
    assert turning.act(replace(at, yaw=at.yaw - 1.2), DT).throttle == pytest.approx(UNDERSTEER_THROTTLE)


def test_an_open_road_is_driven_in_all_stages(tmp_path):
    """Of 1300 m the car saw two stages of seven, and a learned car took its bends with 0.7 of its grip."""
    road = tmp_path / "open.toml"
    road.write_text('title = "open"\nclosed = false\nwidth = 8.0\n\n[[segment]]\nstraight = 1300.0\n')
    made = Driver()
    made.reset(Course(load_track(str(road)), None))
    made.time, speed = 30.0, 10.0  # after the weave
    for step in range(1220):
        made.act(state(made, 10.0 + speed * DT * step, speed=speed), DT)
    assert made.stage == len(STAGES) - 1
