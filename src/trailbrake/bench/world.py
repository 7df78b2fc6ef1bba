"""`bench world`: how fast the embedded world runs, alone and inside the environments.

Rows of `bench world` about driving environments of others, where they are installed: same run, same machine.

Each is measured in a process of its own: Box2D crashes on import where some other libraries are loaded.
"""

import os
import statistics
import subprocess
import sys
from collections.abc import Callable, Mapping
from functools import partial
from importlib.util import find_spec
from typing import Any

import numpy as np

from trailbrake.bench.rows import BenchRow, measure_median
from trailbrake.cars.car_library import load_car
from trailbrake.env.domain_randomisation import Start
from trailbrake.env.options import RaceOptions
from trailbrake.kernels.lane_blocks import LANES
from trailbrake.kernels.thread_team import Team
from trailbrake.system import steady_clock
from trailbrake.tracks.track import Track
from trailbrake.tracks.track_library import load_track
from trailbrake.world.batch import Batch
from trailbrake.world.row_layout import AxleRow, ControlRow, StateRow

RUNS, SECONDS, WARMING = 3, 4.0, 0.05  # of an environment's row
GROUP = 4  # cars that race each other, and touch
CAR, TRACK = "gt3", "hartmoor"
DT, SUBSTEPS = 0.001, 10  # s; an outer step every 10 ms, the longest that the world allows
WARM_UP, STEPS = 200, 60  # calls: two simulated seconds of random driving spread the cars out
ROLLING_START = Start(speed=(5.0, 20.0))  # of environments
CARS = 4096
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
    command = [sys.executable, "-m", "trailbrake.bench.world", name, str(seconds)]
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


def measure_vector_env(options: RaceOptions, cars: int = 0, threads: int = 2, seconds: float = 3.0) -> float:
    """Return environment steps per second of a Gymnasium vector environment under random actions.

    Args:
        options: the environment.
        cars: learners; 0 for CARS.
        threads: of the batch.
        seconds: of wall time to measure.
    """
    from trailbrake.env.gym import RaceVectorEnv  # the bench of a graphics card needs no Gymnasium

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
    from trailbrake.env.gym import RaceEnv

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


def time_race_steps(batch: Any, track: Track, step: Callable[[], object]) -> list[float]:
    """Return the wall time (s) of each of STEPS steps of races of GROUP cars under random controls.

    Args:
        batch: a `Batch` or `CudaBatch` of such races.
        track: its track.
        step: makes a step, and returns when it is done.
    """
    cars, road = batch.n, track.road
    random = np.random.default_rng(0)
    first = random.uniform(0.0, road.length, cars // GROUP)
    s = (first[:, None] - 8.0 * np.arange(GROUP)).ravel()
    places = road.points(s, random.uniform(-3.0, 3.0, cars))
    batch.place_cars(np.arange(cars), places[:, 0], places[:, 1], places[:, 3], random.uniform(0.0, 50.0, cars))
    times = []
    for count in range(WARM_UP + STEPS):
        batch.set_row(ControlRow.STEER, random.uniform(-1.0, 1.0, cars))
        batch.set_row(ControlRow.THROTTLE, random.uniform(0.0, 1.0, cars))
        batch.set_row(ControlRow.BRAKE, np.maximum(random.uniform(-1.0, 1.0, cars), 0.0))
        began = steady_clock.now()
        step()
        if count >= WARM_UP:
            times.append(steady_clock.now() - began)
    return times


def measure_rows() -> list[BenchRow]:
    """Measure all rows of this bench."""
    threads = min(2, os.cpu_count() or 1)
    double, double_note = measure_physics(single=False, threads=threads)
    single, single_note = measure_physics(single=True, threads=threads)
    batch = Batch(load_track(TRACK), [load_car(CAR)], LANES)
    inside = []
    for measure in (vector_env, vector_env_scan64, env_single, env_scan1080_1, env_scan1080_2):
        measure(WARMING)  # compiles
        value, note = measure_median(RUNS, partial(measure, SECONDS))
        what = (measure.__doc__ or "").removeprefix("Return steps/s: ").rstrip(".")
        inside.append(
            BenchRow(
                measure.__name__, value, "steps/s", "higher", f"{what}; 10 substeps of 1 ms a step, float64; {note}"
            )
        )
    per_car = batch.cars.nbytes // LANES
    own = batch.params.nbytes // LANES
    return [
        BenchRow("physics_f64", double, "substeps/s", "higher", double_note),
        BenchRow("physics_f32", single, "substeps/s", "higher", single_note),
        *inside,
        *measure_peers(RUNS, SECONDS),
        BenchRow(
            "car_bytes", per_car + own, "B", "lower",
            f"state and controls {per_car}, parameters {own} where a car has its own (like cars share them); "
            f"a thread's work block, {AxleRow.COUNT * LANES * 8} B, comes on top",
        ),
    ]  # fmt: skip


def measure_physics(*, single: bool, threads: int) -> tuple[float, str]:
    """Return vehicle substeps per second of wall time under random controls, and a note on how.

    Gears, ground, walls and car contact included; drawing and writing the controls is not.
    """
    track = load_track(TRACK)
    batch = Batch(track, [load_car(CAR)], CARS, group_size=GROUP, team=Team(threads), single_precision=single)
    times = time_race_steps(batch, track, lambda: batch.step(DT, SUBSTEPS))
    assert np.isfinite(batch.get_row(StateRow.X)).all()
    value = CARS * SUBSTEPS / statistics.median(times)
    note = (
        f"{CARS} x {CAR} in races of {GROUP} on {TRACK}, random controls, {'float32' if single else 'float64'}, "
        f"{threads} threads, {SUBSTEPS} substeps of {DT * 1e3:g} ms a look; {value / threads:.3g} a thread; "
        f"median of {len(times)}, {CARS * SUBSTEPS / max(times):.3g} to {CARS * SUBSTEPS / min(times):.3g}; "
        f"{batch.get_row(StateRow.CONTACTS).sum():.0f} contacts"
    )
    return value, note


if __name__ == "__main__":
    print(measure_steps(PEERS[sys.argv[1]][1], float(sys.argv[2])))
