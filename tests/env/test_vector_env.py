import gymnasium
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode
from gymnasium.wrappers.vector import NormalizeObservation, NormalizeReward, RecordEpisodeStatistics

from trailbrake.env.camera_gym import CameraVectorEnv
from trailbrake.env.gym import RaceVectorEnv
from trailbrake.env.vector_env import BatchVectorEnv
from trailbrake.errors import UsageError

SPACES = gymnasium.spaces.Box(-1e3, 1e3, (1,)), gymnasium.spaces.Box(-1.0, 1.0, (1,))
LENGTHS = [2, 3, 10]  # steps of each learner's episodes


class Counters:
    """Learners that observe the number of steps since their start, and are rewarded by 1."""

    n = 3

    def reset(self, seed=None):
        self.steps = np.zeros(3)
        return self.steps[:, None].astype(np.float32)

    def step(self, actions):
        self.steps += 1.0
        ends = np.where(self.steps >= LENGTHS, [1, -1, 1], 0)
        return self.steps[:, None].astype(np.float32), np.ones(3), ends

    def restart(self, learners, out):
        self.steps[learners] = out[learners, 0] = 0.0

    def end_name(self, code):
        return {0: "", -1: "limit", 1: "contact"}[code]


def made(mode):
    envs = BatchVectorEnv(Counters(), SPACES, lambda core: {"time": core.steps.copy()}, mode)
    envs.reset(seed=1)
    return envs


def steps_of(envs, count):
    return [envs.step(np.zeros((3, 1))) for _ in range(count)]


def test_in_the_same_step_the_next_episode_begins_and_the_last_observation_is_kept():
    steps = steps_of(made(AutoresetMode.SAME_STEP), 3)
    assert [out[:, 0].tolist() for out, *_ in steps] == [[1.0, 1.0, 1.0], [0.0, 2.0, 2.0], [1.0, 0.0, 3.0]]
    assert [step[2].tolist() for step in steps] == [[False] * 3, [True, False, False], [False] * 3]
    assert [step[3].tolist() for step in steps] == [[False] * 3, [False] * 3, [False, True, False]]
    assert steps[0][4] == {}
    info = steps[1][4]
    assert [last if last is None else last.tolist() for last in info["final_obs"]] == [[2.0], None, None]
    assert info["final_info"]["why"].tolist() == ["contact", "", ""]
    assert info["final_info"]["time"].tolist() == [2.0, 0.0, 0.0]
    for mask in (info["_final_obs"], info["_final_info"], info["final_info"]["_why"], info["final_info"]["_time"]):
        assert mask.tolist() == [True, False, False]


def test_in_the_next_step_it_begins_without_a_reward():
    steps = steps_of(made("NextStep"), 4)
    assert [out[:, 0].tolist() for out, *_ in steps] == [
        [1.0, 1.0, 1.0], [2.0, 2.0, 2.0], [0.0, 3.0, 3.0], [1.0, 0.0, 4.0],
    ]  # fmt: skip
    assert [step[1].tolist() for step in steps[2:]] == [[0.0, 1.0, 1.0], [1.0, 0.0, 1.0]]
    assert [step[2].tolist() for step in steps[1:3]] == [[True, False, False], [False] * 3]
    assert steps[1][4]["why"].tolist() == ["contact", "", ""]
    assert "final_obs" not in steps[1][4]


def test_disabled_a_mask_restarts_those_that_ended_alone():
    envs = made("Disabled")
    out, _, terminated, truncated, _ = steps_of(envs, 2)[1]
    with pytest.raises(UsageError, match=r"step: episodes have ended, got learners \[0\]"):
        steps_of(envs, 1)
    restarted, info = envs.reset(options={"reset_mask": terminated | truncated})
    assert restarted[:, 0].tolist() == [0.0, 2.0, 2.0]
    assert out[:, 0].tolist() == [2.0, 2.0, 2.0], "what was returned before stays"
    assert info == {}
    assert steps_of(envs, 1)[0][0][:, 0].tolist() == [1.0, 3.0, 3.0]


@pytest.mark.parametrize(
    ("how", "said"),
    [
        ({"options": {"reset_masks": np.ones(3, bool)}}, "no such option of a reset"),
        ({"options": {"reset_mask": np.ones(2, bool)}}, "options.reset_mask: no mask"),
        ({"options": {"reset_mask": np.ones(3)}}, "options.reset_mask: no mask"),
        ({"options": {"reset_mask": np.zeros(3, bool)}}, "options.reset_mask: no mask"),
        ({"options": {"reset_mask": np.ones(3, bool)}, "seed": 1}, "without it first"),
        ({"seed": [1, 2, 3]}, r"^seed: one seed is of all learners, expected a whole number, got \[1, 2, 3\]; .*sync"),
    ],
)
def test_a_wrong_reset_is_one_line(how, said):
    with pytest.raises(UsageError, match=said):
        made("Disabled").reset(**how)


def test_a_wrong_mode_is_one_line():
    with pytest.raises(UsageError, match="autoreset_mode: no such mode, expected NextStep, SameStep, Disabled"):
        RaceVectorEnv(2, autoreset_mode="next_step")
    with pytest.raises(UsageError, match="render_mode: no such pictures, expected None, rgb_array, got 'human'"):
        RaceVectorEnv(2, render_mode="human")
    assert CameraVectorEnv(1, size=(16, 16), autoreset_mode="NextStep").metadata["autoreset_mode"].value == "NextStep"


def test_gymnasium_s_own_wrappers_take_it():
    envs = gymnasium.make_vec("trailbrake/Race-v1", num_envs=4, vectorization_mode="vector_entry_point",
                              autoreset_mode="NextStep", limit=0.5, ends=())  # fmt: skip
    wrapped = NormalizeReward(NormalizeObservation(RecordEpisodeStatistics(envs)))
    wrapped.reset(seed=1)
    seen = [wrapped.step(np.zeros((4, 2), np.float32)) for _ in range(12)]
    ended = [info["episode"]["l"].tolist() for *_, info in seen if "episode" in info]
    assert ended == [[5] * 4, [5] * 4]
    assert all(np.isfinite(out).all() for out, *_ in seen)


def test_statistics_are_restarted_by_a_mask():
    envs = RecordEpisodeStatistics(RaceVectorEnv(2, autoreset_mode="Disabled", limit=0.03, ends=()))
    envs.reset(seed=1)
    lengths = []
    for _ in range(6):
        *_, truncated, info = envs.step(np.zeros((2, 2), np.float32))
        if truncated.any():
            lengths.append(info["episode"]["l"].tolist())
            envs.reset(options={"reset_mask": truncated})
    assert lengths == [[3, 3], [3, 3]]


def test_each_learner_has_a_picture():
    envs = RaceVectorEnv(3, render_mode="rgb_array")
    envs.reset(seed=2)
    pictures = envs.render()
    assert [picture.shape for picture in pictures] == [(480, 720, 3)] * 3
    assert not np.array_equal(pictures[0], pictures[1])
    assert RaceVectorEnv(3).render() is None
