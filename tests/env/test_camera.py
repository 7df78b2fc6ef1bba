import numpy as np
import pytest

from trailbrake.env.camera import CONTACT_REWARD, CameraBatch, CameraOptions
from trailbrake.errors import UsageError
from trailbrake.world.miniature.car import MiniatureCarColumn


def test_pictures_rewards_and_ends_have_the_shapes_they_should():
    batch = CameraBatch(CameraOptions(size=(48, 32)), 5)
    assert batch.reset(0).shape == (5, 32, 48, 3)
    out, reward, ended = batch.step(np.zeros((5, 2)))
    assert (out.shape, out.dtype) == ((5, 32, 48, 3), np.uint8)
    assert (reward.shape, ended.shape) == ((5,), (5,))


def test_the_reward_is_the_way_along_the_road():
    batch = CameraBatch(n=8)
    batch.reset(3)
    speed = batch.cars[:, MiniatureCarColumn.SPEED].copy()
    _, reward, ended = batch.step(np.zeros((8, 2)))
    straight = (ended == 0) & (np.abs(batch.cars[:, MiniatureCarColumn.CURVATURE]) < 1e-9)
    assert straight.sum() >= 2
    assert reward[straight] == pytest.approx(speed[straight] * 0.04, abs=0.006)


def test_passing_the_start_line_is_no_jump():
    batch = CameraBatch(n=1)
    batch.reset(0)
    x, y, yaw = batch.track.pose_at(batch.track.length - 0.02, 0.39)
    batch.cars[0, : MiniatureCarColumn.SPEED + 1] = x, y, yaw, 1.0
    batch.cars[0, MiniatureCarColumn.ROAD_S] = batch.track.length - 0.02
    _, reward, _ = batch.step([[0.0, 0.5]])
    assert batch.cars[0, MiniatureCarColumn.ROAD_S] < 1.0
    assert reward[0] == pytest.approx(0.04, abs=0.005)


def test_contacts_and_the_wrong_way_end_an_episode():
    batch = CameraBatch(n=2)
    batch.reset(0)
    x, y, yaw = batch.track.pose_at(3.0, 0.7)
    batch.cars[0, : MiniatureCarColumn.SPEED + 1] = x, y, yaw + 1.2, 1.5
    x, y, yaw = batch.track.pose_at(3.0, -0.3)
    batch.cars[1, : MiniatureCarColumn.SPEED + 1] = x, y, yaw + 3.0, 0.0
    batch.cars[:, MiniatureCarColumn.ROAD_S] = 3.0
    _, reward, ended = batch.step(np.zeros((2, 2)))
    assert [batch.end_name(code) for code in ended.tolist()] == ["contact", "wrong_way"]
    assert reward[0] < CONTACT_REWARD + 0.1


def test_the_limit_cuts_off():
    batch = CameraBatch(CameraOptions(limit=0.12, steps=2, size=(16, 16)), 1)
    batch.reset(1)
    batch.cars[0, MiniatureCarColumn.SPEED] = 0.0
    ends = [int(batch.step([[0.0, 0.0]])[2][0]) for _ in range(3)]
    assert ends == [0, 0, -1]
    assert batch.end_name(-1) == "limit"


def test_a_restart_touches_nobody_else_and_starts_free_of_walls_and_parked_cars():
    batch = CameraBatch(CameraOptions(track="oval", obstacles=3, size=(16, 16)), 64)
    out = batch.reset(5)
    before, pictures = batch.cars.copy(), out.copy()
    batch.restart(np.array([1, 7]), out)
    others = np.setdiff1d(np.arange(64), [1, 7])
    assert np.array_equal(batch.cars[others], before[others])
    assert np.array_equal(out[others], pictures[others])
    assert not np.array_equal(out[[1, 7]], pictures[[1, 7]])
    batch.reset(6)
    batch.cars[:, MiniatureCarColumn.SPEED] = 0.1
    _, _, ended = batch.step(np.zeros((64, 2)))
    assert (ended == 0).all()


def test_a_seed_repeats_everything():
    seen = []
    for _ in range(2):
        batch = CameraBatch(CameraOptions(size=(32, 32)), 4)
        out = [batch.reset(9)]
        rng = np.random.default_rng(0)
        for _ in range(30):
            picture, _, ended = batch.step(rng.uniform(-1.0, 1.0, (4, 2)))
            batch.restart(np.flatnonzero(ended), picture)
            out.append(picture)
        seen.append(np.array(out))
    assert np.array_equal(seen[0], seen[1])


@pytest.mark.parametrize(
    ("action", "words"),
    [([[0.0, 2.0]], "no such action"), ([[np.nan, 0.0]], "no such action"), ([0.0, 0.0], "do not fit")],
)
def test_an_action_that_is_none_is_refused(action, words):
    batch = CameraBatch(CameraOptions(size=(16, 16)), 1)
    batch.reset(0)
    with pytest.raises(UsageError, match=words):
        batch.step(action)


@pytest.mark.parametrize(
    ("options", "words"),
    [({"size": 0}, r"^size: a value of another type, expected tuple\[int, int\], got 0"),
     ({"size": (32,)}, "^size"), ({"obstacles": "1"}, "^obstacles: a value of another type, expected int, got '1'"),
     ({"steps": 0}, "steps out of range"), ({"limit": 0.0}, "the time limit"), ({"track": "x"}, "no such"),
     ({"look": "x"}, "no such"),
     ({"size": (2, 2)}, "no such picture"), ({"obstacles": 99}, "parked")],
)  # fmt: skip
def test_options_that_cannot_be_are_one_line(options, words):
    with pytest.raises(UsageError, match=words):
        CameraBatch(CameraOptions(**options), 1)


def test_a_step_before_a_reset_is_refused():
    with pytest.raises(UsageError, match="call reset"):
        CameraBatch(CameraOptions(size=(16, 16)), 1).step([[0.0, 0.0]])
