"""How fast environments go: one function per figure, each returning steps per second of wall time."""

import numpy as np

from trailbrake.bench.race_steps import ROLLING_START
from trailbrake.env.gym import RaceEnv, RaceVectorEnv
from trailbrake.env.options import RaceOptions
from trailbrake.system import steady_clock

CARS = 4096
_ACTIONS = 64  # different actions, drawn before the clock starts


def measure_vector_env(options: RaceOptions, cars: int = 0, threads: int = 2, seconds: float = 3.0) -> float:
    """Return environment steps per second of a Gymnasium vector environment under random actions.

    Args:
        options: the environment.
        cars: learners; 0 for CARS.
        threads: of the batch.
        seconds: of wall time to measure.
    """
    cars = cars or CARS
    env = RaceVectorEnv(cars, options, threads=threads)
    rng = np.random.default_rng(0)
    actions = rng.uniform(-1.0, 1.0, (_ACTIONS, cars, env.core.task.action.width)).astype(np.float32)
    env.reset(seed=0)
    for action in actions[:3]:
        env.step(action)
    steps, began = 0, steady_clock.now()
    while (spent := steady_clock.now() - began) < seconds:
        env.step(actions[steps % _ACTIONS])
        steps += 1
    env.close()
    return steps * cars / spent


def measure_single_env(options: RaceOptions, seconds: float = 3.0) -> float:
    """Return steps per second of a single Gymnasium environment under gentle random actions, resets included.

    Args:
        options: the environment.
        seconds: of wall time to measure.
    """
    env = RaceEnv(options)
    rng = np.random.default_rng(0)
    actions = list((rng.uniform(-1.0, 1.0, (_ACTIONS, 2)) * (0.1, 0.5) + (0.0, 0.2)).astype(np.float32))
    env.reset(seed=0)
    for action in actions:
        env.step(action)
    steps, began = 0, steady_clock.now()
    while (spent := steady_clock.now() - began) < seconds:
        for action in actions:
            _, _, terminated, truncated, _ = env.step(action)
            if terminated or truncated:
                env.reset()
        steps += _ACTIONS
    env.close()
    return steps / spent


def vector_env(seconds: float = 3.0) -> float:
    """Return steps/s: 4096 cars, state observation, 2 threads, restarts included."""
    return measure_vector_env(RaceOptions(start=ROLLING_START), seconds=seconds)


def vector_env_scan64(seconds: float = 3.0) -> float:
    """Return steps/s: the same with a scanner of 64 beams."""
    return measure_vector_env(RaceOptions(start=ROLLING_START, observe=("motion", "asked", "scan64")), seconds=seconds)


def env_single(seconds: float = 3.0) -> float:
    """Return steps/s: one car, state observation."""
    return measure_single_env(RaceOptions(start=ROLLING_START), seconds=seconds)


def env_scan1080_1(seconds: float = 3.0) -> float:
    """Return steps/s: one car, a scanner of 1080 beams."""
    return measure_single_env(
        RaceOptions(start=ROLLING_START, observe=("motion", "asked", "scan1080")), seconds=seconds
    )


def env_scan1080_2(seconds: float = 3.0) -> float:
    """Return steps/s: one car with a rival that the beams can hit, a scanner of 1080 beams."""
    options = RaceOptions(start=ROLLING_START, cars=2, rivals=True, observe=("motion", "asked", "scan1080"))
    return measure_single_env(options, seconds=seconds)
