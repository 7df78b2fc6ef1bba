import numpy as np
import pytest

pytest.importorskip("stable_baselines3")

from trailbrake.env.domain_randomisation import Start
from trailbrake.env.sb3 import RaceVecEnv
from trailbrake.errors import UsageError

pytestmark = pytest.mark.rl


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
                assert (info["why"], info["is_success"], info["time"]) == ("limit", False, pytest.approx(0.05))
                assert info["episode"]["r"] == pytest.approx(total[i])
                assert info["episode"]["l"] == 5
                assert env.observation_space.contains(info["terminal_observation"])
                assert not np.array_equal(info["terminal_observation"], out[i])
    env.seed(3)
    assert np.array_equal(env.reset(), first)
    assert env.get_attr("num_envs", [0, 1]) == [6, 6]
    with pytest.raises(UsageError, match=r"^seed: "):
        env.env_method("seed")


def test_the_first_line_of_habit():
    from stable_baselines3 import PPO
    from stable_baselines3.common.env_util import make_vec_env
    from stable_baselines3.common.vec_env import SubprocVecEnv, VecNormalize

    made = make_vec_env("trailbrake/Race-v1", n_envs=2, seed=1)
    PPO("MlpPolicy", VecNormalize(made), n_steps=32, batch_size=32).learn(64)
    assert made.render().shape[2] == 3
    made.close()
    apart = make_vec_env("trailbrake:trailbrake/Race-v1", n_envs=2, seed=1, vec_env_cls=SubprocVecEnv,
                         vec_env_kwargs={"start_method": "spawn"})  # fmt: skip
    assert apart.reset().shape == (2, 21)
    apart.close()


def test_the_wrappers_of_habit(tmp_path):
    """Monitor, EvalCallback with its rate of success, and films by Gymnasium and by the library."""
    pytest.importorskip("moviepy")
    import gymnasium
    from stable_baselines3 import PPO
    from stable_baselines3.common.callbacks import EvalCallback
    from stable_baselines3.common.env_util import make_vec_env
    from stable_baselines3.common.vec_env import VecVideoRecorder

    short = {"limit": 1.0, "ends": ()}
    evaluated = EvalCallback(make_vec_env("trailbrake/Race-v1", env_kwargs=short), eval_freq=32, n_eval_episodes=2,
                             log_path=str(tmp_path / "log"), verbose=0)  # fmt: skip
    PPO("MlpPolicy", "trailbrake/Race-v1", n_steps=32, batch_size=32).learn(64, callback=evaluated)
    with np.load(tmp_path / "log" / "evaluations.npz") as kept:
        assert kept["successes"].tolist() == [[False, False]] * 2
    env = gymnasium.make("trailbrake/Race-v1", render_mode="rgb_array", **short)
    env = gymnasium.wrappers.RecordVideo(gymnasium.wrappers.RecordEpisodeStatistics(env), str(tmp_path / "one"))
    env.reset(seed=1)
    while not env.step(np.zeros(2, np.float32))[3]:
        pass
    env.close()
    made = make_vec_env("trailbrake/Race-v1", n_envs=2, env_kwargs=short, seed=1)
    films = VecVideoRecorder(made, str(tmp_path / "two"), lambda step: step == 0, video_length=5)
    films.reset()
    for _ in range(6):
        films.step(np.zeros((2, 2), np.float32))
    films.close()
    assert sorted(path.suffix for path in tmp_path.rglob("*.mp4")) == [".mp4", ".mp4"]
