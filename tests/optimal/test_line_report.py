"""The report of a line: two lines as laps on one grid around the road; forces and slips of the solved one alone."""

import json

import numpy as np
import pytest
from helpers.html_page import Page
from helpers.line_columns import documented_columns

from trailbrake.cars.car_library import load_car
from trailbrake.optimal.line_report import write_line_report
from trailbrake.planning.course import Course
from trailbrake.planning.line_file import LineFile
from trailbrake.tracks.track_library import load_track

LEFT = 2.0  # m that the line is left of the centre


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    course = Course(load_track("pinegrove"), load_car("gt3"))
    road = course.track.road
    s = np.arange(0.0, road.length - 1.0, 8.0)  # the last stage is before the line
    points = road.points(s, np.full(len(s), LEFT))
    names = [name.replace("_fl", wheel) for name in documented_columns() for wheel in ("_fl", "_fr", "_rl", "_rr")]
    columns = {name: np.full(len(s), 0.1) for name in names}
    columns |= {"worth_left_spm2": s * 0.0, "worth_right_spm2": s * 0.0, "worth_grip_spm": s * 0.0}
    columns |= {"s_m": s, "offset_m": np.full(len(s), LEFT), "x_m": points[:, 0], "y_m": points[:, 1]}
    columns["speed_mps"] = 30.0 + 10.0 * np.sin(2.0 * np.pi * s / road.length)
    result = {"track": "<b>", "car": "gt3", "time_s": 60.0, "step_m": 8.0, "iterations": [3],
              "worth_most": [{"what": "<i>", "start_m": 0.0, "end_m": 50.0, "saved_s": 0.01}]}  # fmt: skip
    path = write_line_report(tmp_path_factory.mktemp("page") / "line.html", LineFile({}, columns), course, result)
    text = path.read_text("utf-8")
    assert "<b>" not in text.replace("<b>T", "")
    assert "<i>" not in text
    return json.loads(Page(text).data), course


def test_both_lines_lie_on_the_grid_all_around_the_road(data):
    values, course = data
    fast, usual = values["laps"]
    assert (values["step"], values["count"]) == (1.0, int(np.ceil(course.track.road.length)))
    assert np.ptp(fast["error"]) == 0.0
    assert fast["error"][0] == LEFT
    # Behind the last stage the line goes on to the first one: it does not stand still.
    steps = np.hypot(np.diff(fast["x"]), np.diff(fast["y"]))
    assert steps.min() > 0.5
    assert np.hypot(fast["x"][-1] - fast["x"][0], fast["y"][-1] - fast["y"][0]) < 2.0
    assert np.abs(usual["error"]).max() < 8.0


def test_times_add_up_to_those_of_the_lines(data):
    values, course = data
    for lap, time in zip(values["laps"], (60.0, course.profile.lap_time), strict=True):
        assert lap["time"][0] == 0.0
        assert 0.0 < time - lap["time"][-1] < 0.1
        assert (np.diff(lap["time"]) > 0.0).all()


def test_only_the_solved_line_has_forces_and_slips(data):
    values, _ = data
    fast, usual = values["laps"]
    assert {signal["name"] for signal in values["signals"]} == fast["signals"].keys()
    assert fast["signals"]["front steer"] == pytest.approx([np.degrees(0.1)] * values["count"], abs=1e-4)
    assert usual["signals"] == {}


def test_corners_are_those_that_the_track_names(data):
    values, course = data
    assert (
        [corner["title"] for corner in values["corners"]]
        == [f"T{number} {bend.name}" for number, bend in enumerate(course.track.bends, 1)]
        != []
    )
