"""The rules by themselves: what makes a difference, and what does not."""

import numpy as np
import pytest
from helpers.contact_scenes import (
    RATE,
    T,
    brake_test,
    ease,
    make_scenes,
    returns_unsafely,
    turns_in_on_a_car_inside,
    weaves,
)

from trailbrake.analysis.contact_fault import CarTrack, ConductRoad, _find_moves, judge_contact
from trailbrake.tracks.road_columns import RoadColumn


def tracks(scene, tick, s=None):
    """Return both cars of a scene up to a tick."""
    x, y, yaw, speed = scene.poses()
    s, first = scene.s if s is None else s, max(tick - int(6 * RATE), 0)
    return tuple(
        CarTrack(car, scene.length, scene.width, T, s[car], scene.n[car], speed[car], x[car], y[car], yaw[car])
        .cut(first, tick + 1) for car in range(2)
    )  # fmt: skip


def road_of(scene, length=0.0):
    columns = (RoadColumn.CURVATURE, RoadColumn.WIDTH_LEFT, RoadColumn.WIDTH_RIGHT)
    return ConductRoad(scene.road.stations(), *(scene.road.column(column) for column in columns), length)


def touch(scene):
    """Return the tick in which the cars are nearest to where they touch."""
    return int(np.argmax((np.abs(scene.s[0] - scene.s[1]) < scene.length) & (T > 5.0) & (
        np.abs(scene.n[0] - scene.n[1]) < scene.width)))  # fmt: skip


def test_which_of_the_pair_comes_first_makes_no_difference():
    for scene in make_scenes(each=2, first_seed=40):
        a, b = tracks(scene, touch(scene))
        one, other = (judge_contact(road_of(scene), pair) for pair in ((a, b), (b, a)))
        assert (one.fault, one.rule) == (other.fault, other.rule), scene.kind


def test_a_lap_more_makes_no_difference_on_a_circuit():
    scene = turns_in_on_a_car_inside(3)
    length = float(scene.road.length)
    rounds = scene.s + np.array([[3.0 * length], [0.0]])
    assert judge_contact(road_of(scene, length), tracks(scene, touch(scene), rounds)).fault == scene.fault == 0


def test_brakes_have_a_reason_before_a_bend_and_behind_a_slower_car():
    scene = brake_test(5)
    pair = tracks(scene, touch(scene))
    assert judge_contact(road_of(scene), pair).fault == 0
    bent = road_of(scene)
    bent = bent._replace(curvature=np.where(bent.s > scene.s[0, touch(scene)] + 60.0, 1.0 / 30.0, 0.0))
    assert judge_contact(bent, pair).fault == 1
    slow = pair[0]._replace(number=2, s=pair[0].s + 40.0, speed=pair[0].speed - 15.0)
    assert judge_contact(road_of(scene), pair, (slow,)).fault == 1


def test_who_is_pushed_off_beside_another_has_not_returned_unsafely():
    """The car inside runs out to the edge, the one beside it leaves the road, comes back and touches it."""
    scene = returns_unsafely(7)
    assert judge_contact(road_of(scene), tracks(scene, touch(scene))).fault == 0
    s, edge, rows = 40.0 * T, float(scene.road.table[0, RoadColumn.WIDTH_LEFT]), len(T) - int(0.5 * RATE)
    inner = (edge - 4.5) + 3.0 * ease(4.0, 0.6)
    outer = inner + 2.1 + 1.2 * ease(4.3, 0.5) - 1.25 * ease(5.2, 1.0)
    pair = tuple(CarTrack(car, 4.6, 2.0, T, s, n, np.full(len(T), 40.0), s, n, 0.0 * T).cut(60, rows)
                 for car, n in enumerate((outer, inner)))  # fmt: skip
    assert (np.abs(pair[0].offset) - 1.0 > edge).any()
    verdict = judge_contact(road_of(scene), pair)
    assert (verdict.fault, verdict.rule) == (None, "left the road beside the other")


@pytest.mark.parametrize(("path", "moves"), [
    ([0.0, 0.3, 0.6, 0.2, 0.0], 0),
    ([0.0, 0.5, 1.1, 1.4, 1.2], 1),
    ([0.0, 1.2, 2.4, 1.9, 1.1, 0.3], 2),
    ([0.0, 1.5, 0.0, 1.5, 0.2, 1.4], 5),
    ([0.0, 0.6, 1.2, 1.8, 2.4], 1),
])  # fmt: skip
def test_changes_of_direction_are_counted(path, moves):
    assert len(_find_moves(np.array(path))) == moves


def test_two_changes_of_direction_are_unclear_three_are_not():
    scene = weaves(2)
    pair = tracks(scene, touch(scene))
    assert judge_contact(road_of(scene), pair).evidence["changes_of_direction"] >= 3.0
    assert judge_contact(road_of(scene), pair).fault == 0
    later = [track.cut(len(track.time) - int(2.1 * RATE), len(track.time)) for track in pair]
    assert judge_contact(road_of(scene), tuple(later)).fault is None
