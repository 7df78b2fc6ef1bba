"""Rows of `bench world` about driving environments of others, where they are installed: same run, same machine.

Each is measured in a process of its own: Box2D crashes on import where some other libraries are loaded.
"""

import subprocess
import sys
from collections.abc import Callable, Mapping
from functools import partial
from importlib.util import find_spec
from typing import Any

import numpy as np

from trailbrake.bench.rows import BenchRow, measure_median
from trailbrake.system import steady_clock

_ACTIONS = 64  # different actions, drawn before the clock starts
_START_SECONDS = 120.0  # a peer that takes longer to start and to end has no row
_OBSERVED_CARS = 5  # of highway-env, its own car first


def _make_car_racing() -> Any:
    import gymnasium

    return gymnasium.make("CarRacing-v3")


def _make_racetrack() -> Any:
    import gymnasium
    import highway_env  # registers its environments

    gymnasium.register_envs(highway_env)
    config = {
        "observation": {"type": "Kinematics", "vehicles_count": _OBSERVED_CARS},
        "action": {"type": "ContinuousAction", "longitudinal": True, "lateral": True}, "other_vehicles": 0,
    }  # fmt: skip
    return gymnasium.make("racetrack-v1", config=config)


# Row: modules that it needs, its environment, and what it is.
PEERS: Mapping[str, tuple[tuple[str, ...], Callable[[], Any], str]] = {
    "peer_car_racing": (
        ("Box2D", "pygame"), _make_car_racing,
        "Gymnasium's CarRacing-v3: one car, rigid bodies in the plane, a picture of 96 x 96 pixels; 20 ms a step",
    ),
    "peer_highway_racetrack": (
        ("highway_env",), _make_racetrack,
        "highway-env's racetrack-v1: one car, a kinematic bicycle, state observation; 3 substeps of 67 ms a step",
    ),
}  # fmt: skip


def measure_peers(runs: int, seconds: float) -> list[BenchRow]:
    """Measure the peers that are installed; one that does not run has no row.

    Args:
        runs: measurements of each, of which the median is the row.
        seconds: of wall time of each.
    """
    rows = []
    for name, (modules, _, what) in PEERS.items():
        if all(find_spec(module) is not None for module in modules):
            try:
                value, note = measure_median(runs, partial(measure_in_process, name, seconds))
            except (OSError, subprocess.SubprocessError, ValueError):
                continue
            rows.append(BenchRow(name, value, "steps/s", "higher", f"{what}; {note}"))
    return rows


def measure_in_process(name: str, seconds: float) -> float:
    """Return `measure_steps` of a peer, measured in a process of its own.

    Raises:
        SubprocessError: the process failed, or did not end.
        ValueError: it printed no number.
    """
    command = [sys.executable, "-m", "trailbrake.bench.peer_rows", name, str(seconds)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=_START_SECONDS + seconds)
    return float(done.stdout.split()[-1])


def measure_steps(make: Callable[[], Any], seconds: float) -> float:
    """Return steps per second of an environment of Gymnasium under random actions, resets included.

    Args:
        make: returns the environment.
        seconds: of wall time to measure.
    """
    env = make()
    rng = np.random.default_rng(0)
    low, high = env.action_space.low, env.action_space.high
    actions = list(rng.uniform(low, high, (_ACTIONS, len(low))).astype(np.float32))
    env.reset(seed=0)
    for action in actions[:3]:
        env.step(action)
    steps, began = 0, steady_clock.now()
    while (spent := steady_clock.now() - began) < seconds:
        _, _, terminated, truncated, _ = env.step(actions[steps % _ACTIONS])
        steps += 1
        if terminated or truncated:
            env.reset()
    env.close()
    return steps / spent


if __name__ == "__main__":
    print(measure_steps(PEERS[sys.argv[1]][1], float(sys.argv[2])))
