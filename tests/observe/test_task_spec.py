import math

import numpy as np
import pytest

from trailbrake.errors import UsageError
from trailbrake.observe.features import Feature
from trailbrake.observe.observation_kernels import compute_rewards
from trailbrake.observe.parts import MAX_SCALED, PARTS, CurvaturePart, FeaturePart, NearestCarsPart
from trailbrake.observe.rewards import End, Reward
from trailbrake.observe.task_spec import PlannedRoad, TaskSpec
from trailbrake.state.tables import STATE_FIELDS
from trailbrake.tracks.road import RoadColumn, RoadPlan
from trailbrake.tracks.track_library import load_track

ROAD = load_track("pinegrove").road
PLAN = RoadPlan(*np.random.default_rng(7).normal(size=(4, len(ROAD.table))))


def some(n, seed=0):
    seen = np.random.default_rng(seed).normal(size=(Feature.COUNT, n))
    seen[Feature.S] *= 300.0
    return seen


def written(task, seen, group=1):
    out = np.full((seen.shape[1], task.width), np.nan, np.float32)
    task.write_observations(seen, PlannedRoad(ROAD, PLAN), out, group, 0, len(out))
    return out


@pytest.mark.parametrize("name", [n for n, part in PARTS.items() if not n.startswith("scan")])
def test_every_part_fills_its_place_alone_and_among_others(name):
    seen = some(6)
    alone = written(TaskSpec([name]), seen, group=3)
    assert alone.shape == (6, PARTS[name].width)
    assert np.isfinite(alone).all()
    assert np.abs(alone).max() <= MAX_SCALED
    task = TaskSpec(["lane", name, "motion"])
    among = written(task, seen, group=3)
    assert np.array_equal(among[:, task.slices[1]], alone)
    assert len(task.number_names) == task.width
    assert PARTS[name].needs <= STATE_FIELDS


def test_numbers_are_rows_over_their_usual_size_and_held_in_bounds():
    seen = some(3)
    seen[Feature.VELOCITY_X] = (20.0, -40.0, 1e9)
    mine = FeaturePart("mine", "", (Feature.SIN_HEADING, Feature.VELOCITY_X))
    out = written(TaskSpec([mine]), seen)
    assert out[:, 1] == pytest.approx([0.5, -1.0, MAX_SCALED])
    assert out[:, 0] == pytest.approx(seen[Feature.SIN_HEADING])


def test_bends_are_the_curvature_of_the_road_ahead():
    seen = some(5)
    ahead = (0.0, 12.5, 300.0)
    out = written(TaskSpec([CurvaturePart("mine", "", ahead, scale=0.1)]), seen)
    for k, distance in enumerate(ahead):
        assert out[:, k] == pytest.approx(
            ROAD.column_at(seen[Feature.S] + distance, RoadColumn.CURVATURE) / 0.1, abs=1e-6
        )


def test_edges_lie_where_the_road_s_own_points_are():
    seen = some(1)
    seen[Feature.S], seen[Feature.OFFSET], seen[Feature.HEADING] = 123.0, 1.5, 0.2
    x, y, _, road_yaw = ROAD.points(123.0, 1.5)[0]
    out = written(TaskSpec(["edges"]), seen)[0] * PARTS["edges"].scale
    ahead = PARTS["edges"].ahead
    for k, distance in enumerate(ahead):
        left = ROAD.column_at(123.0 + distance, RoadColumn.WIDTH_LEFT)
        px, py, _, _ = ROAD.points(123.0 + distance, left)[0]
        c, s = math.cos(road_yaw + 0.2), math.sin(road_yaw + 0.2)
        forward, aside = c * (px - x) + s * (py - y), c * (py - y) - s * (px - x)
        assert (out[k], out[len(ahead) + k]) == pytest.approx((forward, aside), abs=0.02)


def test_the_nearest_others_of_the_same_world_come_first():
    rng = np.random.default_rng(3)
    group, count, reach = 5, 3, 60.0
    seen = some(2 * group)
    seen[Feature.X], seen[Feature.Y] = rng.uniform(-40.0, 40.0, (2, 2 * group))
    seen[Feature.YAW] = rng.uniform(-3.0, 3.0, 2 * group)
    out = written(TaskSpec([NearestCarsPart("mine", "", count, reach)]), seen, group)
    for car in range(2 * group):
        x, y, yaw = seen[[Feature.X, Feature.Y, Feature.YAW], car]
        world = range(car // group * group, car // group * group + group)
        near = sorted(
            (math.hypot(seen[Feature.X, o] - x, seen[Feature.Y, o] - y), o) for o in world if o != car
        )  # fmt: skip
        near = [o for far, o in near if far < reach][:count]
        rows = out[car].reshape(count, 7)
        assert rows[:, 0].tolist() == [1.0] * len(near) + [0.0] * (count - len(near))
        turn = np.exp(-1j * yaw)
        for row, other in zip(rows, near, strict=False):
            place = (seen[Feature.X, other] - x + 1j * (seen[Feature.Y, other] - y)) * turn / reach
            theirs = (seen[Feature.VELOCITY_X, other] + 1j * seen[Feature.VELOCITY_Y, other]) * np.exp(
                1j * seen[Feature.YAW, other]
            )
            speed = (theirs * turn - seen[Feature.VELOCITY_X, car] - 1j * seen[Feature.VELOCITY_Y, car]) / 20.0
            assert row[1] + 1j * row[2] == pytest.approx(place, abs=1e-5)
            assert row[3] + 1j * row[4] == pytest.approx(speed, abs=1e-5)
            assert row[6] + 1j * row[5] == pytest.approx(np.exp(1j * (seen[Feature.YAW, other] - yaw)), abs=1e-5)


def judged(task, seen, limit=math.inf):
    n = seen.shape[1]
    reward, ended = np.zeros(n), np.zeros(n, np.int64)
    compute_rewards(seen, task.tables._replace(time_limit=limit), reward, ended, 0, n)
    return reward, ended


def test_rewards_are_weighed_rows_and_the_first_end_that_is_met_counts():
    seen = np.zeros((Feature.COUNT, 4))
    seen[Feature.PROGRESS] = (1.0, 2.0, 3.0, 4.0)
    seen[Feature.WHEELS_OFF] = (0.0, 4.0, 4.0, 0.0)
    seen[Feature.NEW_CONTACTS] = (0.0, 0.0, 2.0, 0.0)
    seen[Feature.TIME] = (0.0, 0.0, 9.0, 9.0)
    contact = End("mine", "", Feature.NEW_CONTACTS, 0.5, -10.0)
    task = TaskSpec(["lane"], ["progress", Reward("r", "", Feature.NEW_CONTACTS, -3.0)], [contact, "off_road"])
    reward, ended = judged(task, seen, limit=9.0)
    assert reward == pytest.approx([0.1, 0.2 - 1.0, 0.3 - 6.0 - 10.0, 0.4])
    assert ended.tolist() == [0, 2, 1, -1]
    seen[Feature.PAST_END, 0] = 0.1
    assert judged(task, seen)[1][0] == 3, "the end of an open road is always one"


def test_needs_are_those_of_the_parts():
    task = TaskSpec(["motion", "lane"], ["contact"], ["slow"])
    assert {"velocity_x", "x", "y", "yaw"} <= task.observation_needs
    assert "contacts" not in task.observation_needs


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: TaskSpec(["lanes"]), "did you mean lane"),
        (lambda: TaskSpec([]), "nothing to observe"),
        (lambda: TaskSpec("lane"), "one name instead of several"),
        (lambda: TaskSpec(["lane"], ["progres"]), "did you mean progress"),
        (lambda: TaskSpec(["lane"], [], ["laps"]), "did you mean lap"),
        (lambda: TaskSpec(["lane"], [3.0]), "a name or a Reward"),
        (lambda: TaskSpec(["lane"], [Reward("r", "", Feature.PROGRESS, math.nan)]), "a finite number"),
        (lambda: TaskSpec(["lane"], action="steer"), "did you mean steer_pedal"),
    ],
)
def test_bad_names_are_named(make, said):
    with pytest.raises(UsageError, match=said):
        make()
