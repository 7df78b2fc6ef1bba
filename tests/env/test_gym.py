import pickle
import subprocess
import sys
import warnings

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from gymnasium.vector import AutoresetMode
from helpers.environments import ROLLING

from trailbrake.env.catalogue import ENVIRONMENTS
from trailbrake.env.domain_randomisation import Start
from trailbrake.env.gym import RaceEnv, RaceVectorEnv, change_options, make_named
from trailbrake.env.options import RaceOptions
from trailbrake.env.registration import LINK
from trailbrake.errors import UsageError
from trailbrake.observe.features import Feature


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:.*out of date")  # Race-v0
@pytest.mark.parametrize("name", [name for name, entry in ENVIRONMENTS.items() if not entry.link])
def test_gymnasium_finds_nothing_wrong(name):
    env = gymnasium.make(name, disable_env_checker=True)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="no window")
        check_env(env.unwrapped)
    env.close()


def test_options_may_be_changed_by_name():
    env = gymnasium.make("trailbrake/Race-v1", track="hartmoor", limit=0.3, ends=())
    env.reset(seed=1)
    assert env.unwrapped.core.tracks[0].name == "hartmoor"
    for k in range(3):
        _, _, terminated, truncated, info = env.step(np.zeros(2, np.float32))
        assert (terminated, truncated) == (False, k == 2)
    assert info["why"] == "limit"
    with pytest.raises(UsageError, match="did you mean track"):
        change_options(RaceOptions(), {"tracks": "hartmoor"})
    with pytest.raises(UsageError, match="no such pictures, expected None, rgb_array, human"):
        RaceEnv(render_mode="ansi")
    with pytest.raises(UsageError, match="no such option of a reset"):
        env.reset(options={"track": "oval"})
    env.reset(options={})


def test_the_single_environment_is_the_batch_of_one():
    env, envs = RaceEnv(start=ROLLING), RaceVectorEnv(1, start=ROLLING)
    a, b = env.reset(seed=5)[0], envs.reset(seed=5)[0]
    rng = np.random.default_rng(0)
    for _ in range(30):
        assert np.array_equal(a, b[0])
        action = rng.uniform(-0.2, 0.2, 2).astype(np.float32)
        a, reward, terminated, truncated, _ = env.step(action)
        b, rewards, terminations, truncations, _ = envs.step(action[None])
        assert (reward, terminated, truncated) == (rewards[0], terminations[0], truncations[0])
        assert type(reward) is float
        assert type(terminated) is bool


def test_a_vector_restarts_in_the_same_step_and_keeps_the_last_observation():
    n = 64
    envs = gymnasium.make_vec(
        "trailbrake/Race-v1",
        num_envs=n,
        vectorization_mode="vector_entry_point",
        ends=("off_track",),
        limit=1.5,
        period=0.01,
        substeps=10,
        action="steer_pedal",
        start=Start(),
    )
    assert envs.metadata["autoreset_mode"] == AutoresetMode.SAME_STEP
    out, _ = envs.reset(seed=2)
    rng = np.random.default_rng(0)
    turned = np.linspace(-1.0, 1.0, n)  # some leave the road, some do not
    why, time = set(), np.zeros(n)
    core = envs.unwrapped.core
    place = core.task.slices[1].start + 2  # room to the left
    for _ in range(400):
        before = out
        action = np.column_stack([turned, rng.uniform(0.0, 1.0, n)]).astype(np.float32)
        out, reward, terminated, truncated, info = envs.step(action)
        assert envs.observation_space.contains(out)
        assert (terminated.dtype, truncated.dtype, reward.shape) == (bool, bool, (n,))
        time += 0.01
        over = terminated | truncated
        if not over.any():
            assert info == {}
            continue
        assert np.array_equal(info["_final_obs"], over)
        for i in np.flatnonzero(over):
            last, about = info["final_obs"][i], info["final_info"]
            assert envs.single_observation_space.contains(last)
            # The last observation goes on from the one before; the one returned is somewhere else.
            assert abs(last[place] - before[i, place]) < 0.1  # half a metre
            assert about["time"][i] == pytest.approx(time[i])
            assert (about["why"][i] == "limit") == bool(truncated[i])
            why.add(about["why"][i])
        assert all(info["final_obs"][i] is None for i in np.flatnonzero(~over))
        assert (core.feature_values(Feature.TIME)[over] == 0.0).all()
        time[over] = 0.0
    assert why == {"limit", "off_track"}


def test_cars_of_a_world_are_consecutive_learners():
    envs = RaceVectorEnv(8, cars=4, observe=("lane", "rivals"), start=ROLLING)
    out, _ = envs.reset(seed=0)
    assert (out[:, 5] == 1.0).all(), "everybody has somebody near"
    with pytest.raises(UsageError, match="a multiple of 4"):
        RaceVectorEnv(6, cars=4)


@pytest.mark.slow
def test_without_the_extra_the_install_command_is_named():
    code = "import sys; sys.modules['gymnasium'] = None; import trailbrake.env.batch; import trailbrake.env.gym"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "trailbrake.errors.UsageError" in done.stderr
    assert 'pip install "trailbrake[rl]"' in done.stderr


@pytest.mark.parametrize(
    ("action", "said"),
    [
        ([0.0, np.nan], "action: an action that is no number"),
        ([0.0, -1.01], "action: an action outside its range"),
        ([0.0], r"action: an action of the wrong shape, expected \(2,\), got \(1,\)"),
        (0.0, "action: an action of the wrong shape"),
    ],
)
def test_bad_actions_are_named(action, said):
    env = RaceEnv()
    env.reset(seed=0)
    with pytest.raises(UsageError, match=said):
        env.step(action)
    with pytest.raises(UsageError, match="call reset"):
        RaceEnv().step([0.0, 0.0])


@pytest.mark.parametrize("track", [{}, {"track": "random"}])
def test_a_live_environment_needs_the_road_of_the_game(track):
    """It once observed and rewarded by its own road, whatever the game had loaded."""
    names = [name for name, entry in ENVIRONMENTS.items() if entry.link]
    for name in names:
        with pytest.raises(UsageError, match="needs the road that the game has loaded"):
            make_named(name, live=True, **track)


HABIT = """
import sys
{imports}
assert "numba" not in sys.modules and "trailbrake.env.gym" not in sys.modules
env = gymnasium.make({name!r}, render_mode="rgb_array", limit=0.5)
env.reset(seed=1)
print(env.render().shape, env.metadata["render_fps"])
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("imports", "name"),
    [
        ("import trailbrake, gymnasium", "trailbrake/Race-v1"),
        ("import gymnasium", "trailbrake:trailbrake/Race-v1"),  # which imports the package after it
    ],
)
def test_the_names_are_known_after_either_import_and_by_the_package(imports, name):
    code = HABIT.format(imports=imports, name=name)
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert ran.stdout.strip() == "(480, 720, 3) 10", ran.stderr


CONTINUED = """
import pickle, sys
import numpy as np
env = pickle.load(sys.stdin.buffer)
steps = [env.step(np.array([0.1, 0.3], np.float32)) for _ in range(20)]
sys.stdout.buffer.write(pickle.dumps([(step[0], step[1]) for step in steps]))
"""


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in ENVIRONMENTS if name not in (LINK, "trailbrake/Scan1080-v0")])
def test_a_pickled_environment_goes_on_from_where_it_was(name):
    """After a reset it once held compiled code, which cannot be pickled."""
    env, action = make_named(name, render_mode="rgb_array"), np.array([0.1, 0.3], np.float32)
    assert np.array_equal(pickle.loads(pickle.dumps(env)).reset(seed=4)[0], env.reset(seed=4)[0])
    env.step(action)
    env.render()
    kept = pickle.dumps(env)
    steps = [env.step(action) for _ in range(20)]
    copy = pickle.loads(kept)
    assert [copy.step(action)[1] for _ in range(20)] == [step[1] for step in steps]
    if name == "trailbrake/Race-v1":  # in a process of its own too
        ran = subprocess.run([sys.executable, "-c", CONTINUED], input=kept, capture_output=True, check=True)
        for (out, reward), step in zip(pickle.loads(ran.stdout), steps, strict=True):
            assert np.array_equal(out, step[0])
            assert reward == step[1]


def test_a_pickled_batch_keeps_its_threads():
    envs = RaceVectorEnv(256, threads=2)
    envs.reset(seed=1)
    action = np.tile(np.array([0.0, 0.5], np.float32), (256, 1))
    copy = pickle.loads(pickle.dumps(envs))
    for _ in range(3):
        assert np.array_equal(envs.step(action)[0], copy.step(action)[0])
    for each in (envs, copy):
        each.close()
