import subprocess
import sys
from importlib.util import find_spec

import gymnasium
import numpy as np
import pytest

from trailbrake.bench import world
from trailbrake.env.options import RaceOptions


@pytest.fixture
def small(monkeypatch):
    """A bench of a few cars and steps: what it measures then means nothing, but all of it runs."""
    monkeypatch.setattr(world, "CARS", 16)
    monkeypatch.setattr(world, "WARM_UP", 3)
    monkeypatch.setattr(world, "STEPS", 3)
    monkeypatch.setattr(world, "SECONDS", 0.05)
    monkeypatch.setattr(world, "RUNS", 1)


@pytest.mark.slow
def test_every_row_of_the_plan_is_there(small):
    rows = {row.name: row for row in world.measure_rows()}
    assert {name for name in rows if not name.startswith("peer_")} == {
        "physics_f64", "physics_f32", "vector_env", "vector_env_scan64", "env_single", "env_scan1080_1",
        "env_scan1080_2", "car_bytes",
    }  # fmt: skip
    assert all(row.value > 0.0 for row in rows.values())
    assert "float32" in rows["physics_f32"].note
    assert rows["car_bytes"].value < 4096
    assert rows["car_bytes"].better == "lower"


@pytest.mark.slow
def test_rates_count_every_learner():
    # The same work counted in two ways: 64 learners cannot take 64 times as long as one.
    many = world.measure_vector_env(RaceOptions(), cars=64, threads=1, seconds=0.05)
    one = world.measure_single_env(RaceOptions(), seconds=0.05)
    assert many > one > 100.0


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
    assert world.measure_steps(lambda: env, 0.01) > 0.0
    assert env.closed
    assert env.steps > 3
    assert env.resets in (1 + env.steps // 10, 1 + (env.steps - 3) // 10)


def test_peers_that_are_not_installed_or_fail_have_no_row(monkeypatch):
    peers = {
        name: ((module,), CountedEnv, "counts")
        for name, module in (("here", "json"), ("not_here", "no_such_module"), ("broken", "json"))
    }
    monkeypatch.setattr(world, "PEERS", peers)

    def measure(name, seconds):
        if name == "broken":
            raise subprocess.CalledProcessError(-11, "python")
        return 7.0 * seconds

    monkeypatch.setattr(world, "measure_in_process", measure)
    (row,) = world.measure_peers(1, 2.0)
    assert (row.name, row.value, row.unit, row.better) == ("here", 14.0, "steps/s", "higher")
    assert row.note.startswith("counts; median of 1")


def test_a_process_that_fails_is_an_error():
    with pytest.raises(subprocess.SubprocessError):
        world.measure_in_process("no_such_peer", 0.1)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "module"), [("peer_car_racing", "Box2D"), ("peer_highway_racetrack", "highway_env")])
def test_the_peers_drive(name, module):
    if find_spec(module) is None:  # not imported here: see the module
        pytest.skip(f"{module} is not installed")
    assert world.measure_in_process(name, 0.05) > 0.0


@pytest.mark.slow
def test_what_the_bench_of_a_graphics_card_takes_needs_no_gymnasium():
    code = "import sys; sys.modules['gymnasium'] = None; import trailbrake.bench.world"
    subprocess.run([sys.executable, "-c", code], check=True)
