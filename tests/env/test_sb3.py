import importlib.util
import warnings
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("stable_baselines3")

from trailbrake.env.options import RaceOptions, Start
from trailbrake.env.sb3 import RaceVecEnv
from trailbrake.errors import UsageError

pytestmark = pytest.mark.rl
EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "train_ppo.py"


def test_steps_are_those_that_the_library_expects():
    env = RaceVecEnv(6, limit=0.05, ends=(), start=Start(speed=(5.0, 10.0)))
    env.seed(3)
    first = env.reset()
    total = np.zeros(6)
    for k in range(1, 11):
        out, reward, ended, infos = env.step(np.zeros((6, 2), np.float32))
        total += reward
        assert out.shape == (6, env.observation_space.shape[0])
        assert ended.tolist() == [k % 5 == 0] * 6
        if k == 5:
            for i, info in enumerate(infos):
                assert info["TimeLimit.truncated"]
                assert info["why"] == "limit"
                assert info["episode"]["r"] == pytest.approx(total[i])
                assert info["episode"]["l"] == 5
                assert env.observation_space.contains(info["terminal_observation"])
                assert not np.array_equal(info["terminal_observation"], out[i])
    env.seed(3)
    assert np.array_equal(env.reset(), first)
    assert env.get_attr("num_envs", [0, 1]) == [6, 6]
    with pytest.raises(UsageError, match=r"^seed: "):
        env.env_method("seed")


def test_training_beats_driving_at_random():
    spec = importlib.util.spec_from_file_location("train_ppo", EXAMPLE)
    example = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(example)
    assert isinstance(example.OPTIONS, RaceOptions)
    at_random = example.distance(None)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the library
        policy = example.train(steps=200_000)
    # 64 drives at random go 10 to 30 m; a policy that stays on the road goes some hundred in 20 s.
    assert example.distance(policy) > at_random + 100.0


def test_the_first_line_of_habit():
    from stable_baselines3 import PPO
    from stable_baselines3.common.env_util import make_vec_env
    from stable_baselines3.common.vec_env import SubprocVecEnv, VecNormalize

    made = make_vec_env("trailbrake/Race-v0", n_envs=2, seed=1)
    PPO("MlpPolicy", VecNormalize(made), n_steps=32, batch_size=32).learn(64)
    assert made.render().shape[2] == 3
    made.close()
    apart = make_vec_env("trailbrake:trailbrake/Race-v0", n_envs=2, seed=1, vec_env_cls=SubprocVecEnv,
                         vec_env_kwargs={"start_method": "spawn"})  # fmt: skip
    assert apart.reset().shape == (2, 21)
    apart.close()
