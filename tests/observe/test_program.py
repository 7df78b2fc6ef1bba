import math

import numpy as np
import pytest

from trailbrake.errors import UsageError
from trailbrake.observe.actions import ACTIONS, Action
from trailbrake.observe.columns import Seen
from trailbrake.observe.fill import judge
from trailbrake.observe.judge import End, Reward
from trailbrake.observe.parts import MOST, PARTS, Bends, Columns, Others
from trailbrake.observe.program import Program
from trailbrake.state.tables import STATE_FIELDS
from trailbrake.tracks.load import load
from trailbrake.tracks.road import Column

ROAD = load("pinegrove").road


def some(n, seed=0):
    seen = np.random.default_rng(seed).normal(size=(Seen.COUNT, n))
    seen[Seen.S] *= 300.0
    return seen


def written(program, seen, group=1):
    out = np.full((seen.shape[1], program.width), np.nan, np.float32)
    program.write(seen, ROAD, out, group, 0, len(out))
    return out


@pytest.mark.parametrize("name", [n for n, part in PARTS.items() if not n.startswith("scan")])
def test_every_part_fills_its_place_alone_and_among_others(name):
    seen = some(6)
    alone = written(Program([name]), seen, group=3)
    assert alone.shape == (6, PARTS[name].width)
    assert np.isfinite(alone).all()
    assert np.abs(alone).max() <= MOST
    program = Program(["lane", name, "motion"])
    among = written(program, seen, group=3)
    assert np.array_equal(among[:, program.slices[1]], alone)
    assert len(program.rows) == program.width
    assert PARTS[name].needs <= STATE_FIELDS


def test_numbers_are_rows_over_their_usual_size_and_held_in_bounds():
    seen = some(3)
    seen[Seen.VELOCITY_X] = (20.0, -40.0, 1e9)
    mine = Columns("mine", "", (Seen.SIN_HEADING, Seen.VELOCITY_X))
    out = written(Program([mine]), seen)
    assert out[:, 1] == pytest.approx([0.5, -1.0, MOST])
    assert out[:, 0] == pytest.approx(seen[Seen.SIN_HEADING])


def test_bends_are_the_curvature_of_the_road_ahead():
    seen = some(5)
    ahead = (0.0, 12.5, 300.0)
    out = written(Program([Bends("mine", "", ahead, usual=0.1)]), seen)
    for k, distance in enumerate(ahead):
        assert out[:, k] == pytest.approx(ROAD.at(seen[Seen.S] + distance, Column.CURVATURE) / 0.1, abs=1e-6)


def test_edges_lie_where_the_road_s_own_points_are():
    seen = some(1)
    seen[Seen.S], seen[Seen.OFFSET], seen[Seen.HEADING] = 123.0, 1.5, 0.2
    x, y, _, road_yaw = ROAD.points(123.0, 1.5)[0]
    out = written(Program(["edges"]), seen)[0] * PARTS["edges"].usual
    ahead = PARTS["edges"].ahead
    for k, distance in enumerate(ahead):
        left = ROAD.at(123.0 + distance, Column.WIDTH_LEFT)
        px, py, _, _ = ROAD.points(123.0 + distance, left)[0]
        c, s = math.cos(road_yaw + 0.2), math.sin(road_yaw + 0.2)
        forward, aside = c * (px - x) + s * (py - y), c * (py - y) - s * (px - x)
        assert (out[k], out[len(ahead) + k]) == pytest.approx((forward, aside), abs=0.02)


def test_the_nearest_others_of_the_same_world_come_first():
    rng = np.random.default_rng(3)
    group, count, reach = 5, 3, 60.0
    seen = some(2 * group)
    seen[Seen.X], seen[Seen.Y] = rng.uniform(-40.0, 40.0, (2, 2 * group))
    seen[Seen.YAW] = rng.uniform(-3.0, 3.0, 2 * group)
    out = written(Program([Others("mine", "", count, reach)]), seen, group)
    for car in range(2 * group):
        x, y, yaw = seen[[Seen.X, Seen.Y, Seen.YAW], car]
        world = range(car // group * group, car // group * group + group)
        near = sorted(
            (math.hypot(seen[Seen.X, o] - x, seen[Seen.Y, o] - y), o) for o in world if o != car
        )  # fmt: skip
        near = [o for far, o in near if far < reach][:count]
        rows = out[car].reshape(count, 7)
        assert rows[:, 0].tolist() == [1.0] * len(near) + [0.0] * (count - len(near))
        turn = np.exp(-1j * yaw)
        for row, other in zip(rows, near, strict=False):
            place = (seen[Seen.X, other] - x + 1j * (seen[Seen.Y, other] - y)) * turn / reach
            theirs = (seen[Seen.VELOCITY_X, other] + 1j * seen[Seen.VELOCITY_Y, other]) * np.exp(
                1j * seen[Seen.YAW, other]
            )
            speed = (theirs * turn - seen[Seen.VELOCITY_X, car] - 1j * seen[Seen.VELOCITY_Y, car]) / 20.0
            assert row[1] + 1j * row[2] == pytest.approx(place, abs=1e-5)
            assert row[3] + 1j * row[4] == pytest.approx(speed, abs=1e-5)
            assert row[6] + 1j * row[5] == pytest.approx(np.exp(1j * (seen[Seen.YAW, other] - yaw)), abs=1e-5)


def judged(program, seen, limit=math.inf):
    n = seen.shape[1]
    reward, ended = np.zeros(n), np.zeros(n, np.int64)
    judge(seen, program.codes, program.values, program.terms, len(program.rewards), limit, reward, ended, 0, n)
    return reward, ended


def test_rewards_are_weighed_rows_and_the_first_end_that_is_met_counts():
    seen = np.zeros((Seen.COUNT, 4))
    seen[Seen.PROGRESS] = (1.0, 2.0, 3.0, 4.0)
    seen[Seen.WHEELS_OFF] = (0.0, 4.0, 4.0, 0.0)
    seen[Seen.TOUCHED] = (0.0, 0.0, 2.0, 0.0)
    seen[Seen.TIME] = (0.0, 0.0, 9.0, 9.0)
    contact = End("mine", "", Seen.TOUCHED, 0.5, -10.0)
    program = Program(["lane"], ["progress", Reward("r", "", Seen.TOUCHED, -3.0)], [contact, "off_road"])
    reward, ended = judged(program, seen, limit=9.0)
    assert reward == pytest.approx([0.1, 0.2 - 1.0, 0.3 - 6.0 - 10.0, 0.4])
    assert ended.tolist() == [0, 2, 1, -1]
    seen[Seen.PAST_END, 0] = 0.1
    assert judged(program, seen)[1][0] == 3, "the end of an open road is always one"


def test_needs_are_those_of_the_parts():
    program = Program(["motion", "lane"], ["contact"], ["slow"])
    assert {"velocity_x", "x", "y", "yaw"} <= program.needs
    assert "contacts" not in program.needs
    assert "contacts" in program.judging_needs


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: Program(["lanes"]), "did you mean lane"),
        (lambda: Program([]), "nothing to observe"),
        (lambda: Program("lane"), "one name instead of several"),
        (lambda: Program(["lane"], ["progres"]), "did you mean progress"),
        (lambda: Program(["lane"], [], ["laps"]), "did you mean lap"),
        (lambda: Program(["lane"], [3.0]), "a name or a Reward"),
        (lambda: Program(["lane"], [Reward("r", "", Seen.PROGRESS, math.nan)]), "a finite number"),
        (lambda: Program(["lane"], how="steer"), "did you mean steer_pedal"),
    ],
)
def test_bad_names_are_named(make, said):
    with pytest.raises(UsageError, match=said):
        make()


def test_kinds_of_action_index_their_own_numbers():
    for action in ACTIONS.values():
        assert isinstance(action, Action)
        assert len(action.low) == len(action.high) == action.width
        assert {action.steer, action.throttle[0], action.brake[0]} == set(range(action.width))
