import warnings

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

import trailbrake.env.gym  # noqa: F401 - registers
from trailbrake.env.camera_gym import CameraEnv, CameraVectorEnv
from trailbrake.env.registration import CAMERA as NAME
from trailbrake.errors import UsageError


def test_gymnasium_s_own_checker_is_content():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", message=".*render.*")  # pictures need no window
        check_env(gymnasium.make(NAME, size=(32, 32)).unwrapped, skip_render_check=True)


def test_it_is_made_by_name_alone_and_as_a_vector():
    env = gymnasium.make(NAME)
    assert env.observation_space.shape == (96, 96, 3)
    envs = gymnasium.make_vec(NAME, num_envs=3, vectorization_mode="vector_entry_point", look="A", size=(24, 24))
    out, _ = envs.reset(seed=1)
    assert envs.observation_space.contains(out)


def test_what_is_rendered_is_what_is_seen():
    env = CameraEnv(render_mode="rgb_array", size=(40, 30))
    out, _ = env.reset(seed=2)
    assert np.array_equal(env.render(), out)


def test_an_episode_that_ends_is_followed_by_the_next_in_the_same_step():
    envs = CameraVectorEnv(16, size=(16, 16))
    envs.reset(seed=0)
    for _ in range(200):
        out, _, terminated, truncated, info = envs.step(np.tile([1.0, 1.0], (16, 1)))
        if terminated.any():
            break
    k = int(np.flatnonzero(terminated)[0])
    assert not truncated.any()
    assert info["_final_obs"][k]
    assert info["final_obs"][k].shape == (16, 16, 3)
    assert not np.array_equal(info["final_obs"][k], out[k])
    assert info["final_info"]["why"][k] == "contact"


def test_an_unknown_option_is_one_line():
    with pytest.raises(UsageError, match="did you mean obstacles"):
        CameraEnv(obstacle=3)
    with pytest.raises(UsageError, match="render_mode"):
        CameraEnv(render_mode="human")
