"""Where a rival is passed from, and the gap that is held until there."""

import numpy as np
import pytest

from trailbrake.cars.car_library import load_car
from trailbrake.planning.attack_planning import LONG_STEPS, RUN_TIMES, AttackPlanner, fill_hold, find_run
from trailbrake.planning.course import GRIP_MARGIN, Course, path_shapes
from trailbrake.planning.passing_paths import build_paths, find_arrival
from trailbrake.planning.path_room import make_inside_room
from trailbrake.planning.race_lattice import PASS, POINTS, STRIDE, RaceRoad
from trailbrake.planning.rival_prediction import STEP, RivalColumn, find_follow_gap
from trailbrake.tracks.track_library import load_track

LENGTH = 4.6


def drive_steadily(ahead, speed):
    rows = np.zeros((LONG_STEPS, len(RivalColumn)))
    rows[:, RivalColumn.AHEAD] = ahead + speed * STEP * np.arange(LONG_STEPS)
    rows[:, RivalColumn.SPEED] = speed
    rows[:, RivalColumn.RIGHTMOST], rows[:, RivalColumn.LEFTMOST] = -0.4, 0.4
    return rows


def test_a_run_begins_where_the_car_is_slowest_before_the_place():
    speeds = np.full(2000, 40.0)
    speeds[300:320] = 20.0
    assert find_run(speeds, 100, 100, STRIDE) == pytest.approx((310 - 100) / STRIDE, abs=4)
    assert find_run(speeds, 350, 40, STRIDE) == pytest.approx((310 - 350) / STRIDE, abs=4)  # behind the car
    late = find_run(np.full(2000, 40.0), 100, 100, STRIDE)
    assert (100 - late) * STRIDE / 40.0 == pytest.approx(RUN_TIMES[0], abs=0.2)


def test_the_gap_is_what_the_run_at_own_speed_closes():
    own, its, place, reach = 25.0, 20.0, 50, LENGTH + 1.0
    rows, hold = drive_steadily(10.0, its), np.zeros(POINTS)
    speeds = np.full(2000, own)
    speeds[100:102] = own - 1e-6
    begins = fill_hold(speeds, (0, 1.0, LENGTH), rows, (place, reach), hold)
    close = LENGTH + find_follow_gap(rows, own)
    later = find_arrival(rows, place * STRIDE + reach) - find_arrival(rows, place * STRIDE + close)
    run = (place - begins) * STRIDE
    assert begins == 25
    assert hold[begins] == pytest.approx(later + run / its - run / own, abs=0.01)
    assert (np.diff(hold[begins:place]) <= 0.0).all()
    assert (np.diff(hold[:begins]) >= 0.0).all()  # up to there it opens
    assert not hold[place:].any()


@pytest.mark.parametrize(("share", "can_pass"), [(0.8, True), (1.0, False)])
def test_a_rival_slower_by_grip_is_passed_in_the_bend_and_an_equal_one_is_not(share, can_pass):
    course = Course(load_track("pinegrove"), load_car("gt3")).with_kerbs()
    line, body = course.line, course.known_car().body
    own = course.profile.speed
    road = RaceRoad(line.kernel_table, path_shapes(line), build_paths(line, make_inside_room(body.width)),
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
