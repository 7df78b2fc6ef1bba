"""Where a rival is passed from, and the gap that is held until there."""

import numpy as np
import pytest

from trailbrake.cars.car_library import load_car
from trailbrake.cars.ggv_envelope import compute_envelope
from trailbrake.planning.course import GRIP_MARGIN, Course, path_shapes
from trailbrake.planning.pass_planning import HELD_TIME, LONG_STEPS, RUN_TIMES, AttackPlanner, fill_hold, find_run
from trailbrake.planning.passing_paths import build_paths, find_arrival
from trailbrake.planning.path_room import make_inside_room
from trailbrake.planning.race_lattice import PASS, POINTS, STRIDE, RaceRoad
from trailbrake.planning.rival_prediction import STEP, RivalColumn, find_follow_gap
from trailbrake.tracks.frenet import RoadTable
from trailbrake.tracks.road_columns import RoadColumn
from trailbrake.tracks.track_library import load_track

LENGTH = 4.6


def drive_steadily(ahead, speed):
    rows = np.zeros((LONG_STEPS, len(RivalColumn)))
    rows[:, RivalColumn.AHEAD] = ahead + speed * STEP * np.arange(LONG_STEPS)
    rows[:, RivalColumn.SPEED] = speed
    rows[:, RivalColumn.RIGHTMOST], rows[:, RivalColumn.LEFTMOST] = -0.4, 0.4
    return rows


def lay_straight():
    shapes, table = np.zeros((2000, 6)), np.zeros((2000, len(RoadColumn)))
    shapes[:, 4] = table[:, RoadColumn.GRIP] = 1.0
    return RaceRoad(RoadTable(table, 1.0, True), shapes, np.zeros((PASS + 1, 2000)), compute_envelope(load_car("gt3")),
                    GRIP_MARGIN, (LENGTH, 2.0), np.full(2000, 90.0))  # fmt: skip


def time_run(road, start, own, way, step=0.1):
    """Return the time (s) of a way on the straight, at full drive from one speed (m/s) up to another."""
    limits, v, took = road.limits, start, 0.0
    drive = np.minimum(GRIP_MARGIN * limits.traction[:, 0], limits.pull[:, 0])
    for _ in range(round(way / step)):
        took += step / v
        v = min(v + np.interp(v, limits.speeds, drive) * step / v, own)
    return took


def test_a_run_begins_where_the_car_is_slowest_before_the_place():
    speeds = np.full(2000, 40.0)
    speeds[300:320] = 20.0
    assert find_run(speeds, 100, 100, STRIDE) == pytest.approx((310 - 100) / STRIDE, abs=4)
    assert find_run(speeds, 350, 40, STRIDE) == pytest.approx((310 - 350) / STRIDE, abs=4)  # behind the car
    late = find_run(np.full(2000, 40.0), 100, 100, STRIDE)
    assert (100 - late) * STRIDE / 40.0 == pytest.approx(RUN_TIMES[0], abs=0.2)


def test_the_gap_is_what_the_run_at_own_speed_closes():
    own, its, place, reach = 25.0, 20.0, 50, LENGTH + 1.0
    rows, hold, road = drive_steadily(10.0, its), np.zeros(POINTS), lay_straight()
    speeds = np.full(2000, own)
    speeds[100:102] = own - 1e-6
    begins, now = fill_hold(road, (speeds, 0, own), rows, (place, reach), hold)
    close = LENGTH + find_follow_gap(rows, own)
    later = find_arrival(rows, place * STRIDE + reach) - find_arrival(rows, place * STRIDE + close)
    run = (place - begins) * STRIDE
    assert begins == 25
    assert hold[begins] == pytest.approx(later + run / its - time_run(road, its, own, run), abs=0.03)
    assert now == hold[0]
    assert (np.diff(hold[begins:place]) <= 0.0).all()
    assert (np.diff(hold[:begins]) >= 0.0).all()  # up to there it opens, ...
    rest = int(HELD_TIME * own / STRIDE)
    assert hold[begins - rest] == hold[begins] > hold[0]  # ... but for the last seconds
    assert not hold[place:].any()


@pytest.mark.parametrize("speed", [12.0, 25.0])
def test_a_run_that_has_begun_counts_from_the_speed_of_now(speed):
    own, its, place, reach = 25.0, 15.0, 20, LENGTH + 1.0
    rows, hold, road = drive_steadily(20.0, its), np.zeros(POINTS), lay_straight()
    speeds = np.full(2000, own)
    speeds[100:102] = own - 1e-6
    begins, later = fill_hold(road, (speeds, 108, speed), rows, (place, reach), hold)
    way = place * STRIDE
    its_now = find_arrival(rows, LENGTH + find_follow_gap(rows, speed))
    expected = find_arrival(rows, way + reach) - its_now - time_run(road, speed, own, way)
    assert begins <= 0
    assert later == pytest.approx(expected, abs=0.05)
    assert hold[0] == max(later, 0.0)


@pytest.mark.parametrize(("share", "can_pass"), [(0.8, True), (1.0, False)])
def test_a_rival_slower_by_grip_is_passed_in_the_bend_and_an_equal_one_is_not(share, can_pass):
    course = Course(load_track("pinegrove"), load_car("gt3")).with_kerbs()
    line, body = course.line, course.known_car().body
    own = course.profile.speed
    road = RaceRoad(line.kernel_table, path_shapes(line), build_paths(line, own, make_inside_room(body.width)),
                    course.envelope, GRIP_MARGIN, (body.length, body.width), own)  # fmt: skip
    planner = AttackPlanner(road, line, own, make_inside_room(body.width))
    row, s, works, found = 1300, 1300.0 + 60.0, [], []  # far enough behind for a run
    for step in range(LONG_STEPS):
        at = int(s) % len(own)
        planner.prediction[step] = [s - row, share * own[at], -0.2, 0.2, 0.3]
        s += share * own[at] * STEP
    for _ in range(60):
        found.append(planner.plan_gap(1, row, float(own[row])).any())
        works.append(any(attack.surplus > 0.5 for attack in planner._attacks.values()))
    assert works[-1] == can_pass == any(found)
    assert bool(np.abs(road.paths[PASS]).max() > body.width) == can_pass
    assert not planner.release().any()
    assert not planner.has_path
