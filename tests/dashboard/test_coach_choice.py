from types import SimpleNamespace

import numpy as np
import pytest

from trailbrake.coaching.target_laps import TargetLaps
from trailbrake.dashboard.coach_choice import NO_RESULT, OTHER_CAR, OTHER_ROAD, choose_target, widen_road
from trailbrake.state import CarState
from trailbrake.tracks.road import RoadColumn
from trailbrake.tracks.track_library import load_track


def make_session(track, of="", limiter=700.0, name="one"):
    """A session with the road of one track and the name of another."""
    road = load_track(of or track).road
    s = road.stations()[::10]
    x, y, _, _ = road.points(s, 0.0).T
    target = TargetLaps(
        track,
        True,
        s.tolist(),
        x.tolist(),
        y.tolist(),
        dict.fromkeys(("best", "ideal"), (s / 30.0).tolist()),
        [],
        [],
        limiter,
    )
    return SimpleNamespace(id=name, target=target)


def state_on(track, limiter=700.0, at=680.0):
    x, y, _, _ = load_track(track).road.points([at], 0.0)[0]
    return CarState(x=x, y=y, max_engine_speed=limiter)


def choose(sessions, state, road=None, is_named=False):
    choice = choose_target(sessions, state, road, is_named=is_named)
    return choice.name, choice.line, choice.road


def test_the_first_session_of_this_road_and_car_coaches_and_its_road_is_shown():
    sessions = [make_session("hartmoor", name="road"), make_session("kartwerk", limiter=900.0, name="car"),
                make_session("kartwerk", name="right")]  # fmt: skip
    name, line, road = choose(sessions, state_on("kartwerk"))
    assert (name, line) == ("right", "")
    assert road.length == load_track("kartwerk").road.length


@pytest.mark.parametrize("limiter", [None, 700.0])
def test_a_car_whose_limiter_is_not_known_may_be_the_same(limiter):
    state = state_on("kartwerk", limiter=float("nan") if limiter else 900.0)
    assert choose([make_session("kartwerk", limiter=limiter)], state)[0] == "one"


@pytest.mark.parametrize(("session", "line"), [
    (make_session("kartwerk", limiter=900.0), OTHER_CAR),
    (make_session("hartmoor"), OTHER_ROAD),
    (make_session("kartwerk", of="hartmoor"), OTHER_ROAD),
    (make_session("/none/road.csv", of="kartwerk"), "the road of the coach's result is gone"),
])  # fmt: skip
def test_what_is_wrong_with_a_named_session_is_one_line(session, line):
    choice = choose_target([session], state_on("kartwerk"), None, is_named=True)
    assert choice.line.startswith(line)
    assert "\n" not in choice.line
    assert (choice.target, choice.road) == (None, None)
    assert choose([session], state_on("kartwerk"))[1] == NO_RESULT


def test_where_the_first_road_turns_out_to_be_another_the_next_session_is_tried():
    sessions = [make_session("kartwerk", name=name) for name in ("one", "two")]
    first = choose_target(sessions, state_on("kartwerk"), None, is_named=False)
    second = choose_target(first.others, state_on("kartwerk"), None, is_named=False)
    third = choose_target(second.others, state_on("kartwerk"), None, is_named=True)
    assert [(each.name, each.line) for each in (first, second, third)] == [("one", ""), ("two", ""), ("", OTHER_ROAD)]


def test_a_named_track_is_the_road_and_sessions_of_others_are_none():
    road = load_track("kartwerk").road
    assert choose([make_session("kartwerk")], state_on("kartwerk"), road) == ("one", "", road)
    assert choose([make_session("hartmoor")], state_on("kartwerk"), road) == ("", NO_RESULT, road)


def test_a_road_that_nobody_measured_is_left_far_from_its_line_only():
    road = load_track("kartwerk").road
    sides = [RoadColumn.WIDTH_LEFT, RoadColumn.WIDTH_RIGHT]
    assert road.table[:, sides].min() < 8.0
    wide = widen_road(road)
    assert wide.table[:, sides].min() == 8.0
    np.testing.assert_array_equal(wide.column(RoadColumn.X), road.column(RoadColumn.X))
    assert widen_road(None) is None
