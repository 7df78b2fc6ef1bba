import subprocess
from importlib.util import find_spec

import gymnasium
import numpy as np
import pytest

from trailbrake.bench import peer_rows


class CountedEnv:
    """An environment whose episodes end after ten steps."""

    action_space = gymnasium.spaces.Box(np.float32([-1.0, 0.0]), np.float32([1.0, 0.5]))

    def __init__(self):
        self.steps, self.resets, self.closed = 0, 0, False

    def reset(self, seed=None):
        self.resets += 1

    def step(self, action):
        assert self.action_space.contains(action)
        self.steps += 1
        return None, 0.0, self.steps % 10 == 0, False, {}

    def close(self):
        self.closed = True


def test_steps_are_counted_and_episodes_begin_again():
    env = CountedEnv()
    assert peer_rows.measure_steps(lambda: env, 0.01) > 0.0
    assert env.closed
    assert env.steps > 3
    assert env.resets in (1 + env.steps // 10, 1 + (env.steps - 3) // 10)


def test_peers_that_are_not_installed_or_fail_have_no_row(monkeypatch):
    peers = {
        name: ((module,), CountedEnv, "counts")
        for name, module in (("here", "json"), ("not_here", "no_such_module"), ("broken", "json"))
    }
    monkeypatch.setattr(peer_rows, "PEERS", peers)

    def measure(name, seconds):
        if name == "broken":
            raise subprocess.CalledProcessError(-11, "python")
        return 7.0 * seconds

    monkeypatch.setattr(peer_rows, "measure_in_process", measure)
    (row,) = peer_rows.measure_peers(1, 2.0)
    assert (row.name, row.value, row.unit, row.better) == ("here", 14.0, "steps/s", "higher")
    assert row.note.startswith("counts; median of 1")


def test_a_process_that_fails_is_an_error():
    with pytest.raises(subprocess.SubprocessError):
        peer_rows.measure_in_process("no_such_peer", 0.1)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "module"), [("peer_car_racing", "Box2D"), ("peer_highway_racetrack", "highway_env")])
def test_the_peers_drive(name, module):
    if find_spec(module) is None:  # not imported here: see the module
        pytest.skip(f"{module} is not installed")
    assert peer_rows.measure_in_process(name, 0.05) > 0.0
