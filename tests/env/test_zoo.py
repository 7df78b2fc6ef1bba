import numpy as np
import pytest
from pettingzoo.test import parallel_api_test

from trailbrake.env.domain_randomisation import Start
from trailbrake.env.zoo import RaceParallel
from trailbrake.errors import UsageError


def test_pettingzoo_finds_nothing_wrong():
    parallel_api_test(RaceParallel(cars=3, limit=0.5), num_cycles=120)


def test_agents_leave_when_their_episodes_end():
    env = RaceParallel(cars=3, limit=4.0, ends=("off_road",), start=Start(speed=(20.0, 20.0)))
    seen, _ = env.reset(seed=1)
    assert set(seen) == set(env.agents) == {"car_0", "car_1", "car_2"}
    why = {}
    while env.agents:
        actions = {agent: np.array([0.0 if agent == "car_0" else 1.0, 0.0], np.float32) for agent in env.agents}
        before = list(env.agents)
        seen, rewards, terminated, truncated, infos = env.step(actions)
        assert set(seen) == set(rewards) == set(terminated) == set(truncated) == set(infos) == set(before)
        why |= {agent: infos[agent]["why"] for agent in before if agent not in env.agents}
    assert set(why) == {"car_0", "car_1", "car_2"}
    assert "off_road" in why.values()


def test_bad_input_is_named():
    with pytest.raises(UsageError, match=r"^rivals"):
        RaceParallel(cars=2, rivals=True)
    env = RaceParallel()
    env.reset(seed=0)
    with pytest.raises(UsageError, match=r"^car_1: no action"):
        env.step({"car_0": np.zeros(2)})
