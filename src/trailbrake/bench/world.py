"""`bench world`: how fast the embedded world runs, alone and inside the environments."""

import os
import statistics
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from trailbrake.bench import env_rows
from trailbrake.bench.rows import Row, median_of
from trailbrake.cars.load import load
from trailbrake.kernels.lanes import LANES
from trailbrake.kernels.team import Team
from trailbrake.run import rate
from trailbrake.tracks.load import load as load_track
from trailbrake.tracks.track import Track
from trailbrake.world.batch import Batch
from trailbrake.world.layout import Axle, Control, State

CARS = 4096
GROUP = 4  # cars that race each other, and touch
CAR, TRACK = "gt3", "hartmoor"
DT, SUBSTEPS = 0.001, 10  # s; a look every 10 ms, the longest that the world allows
RUNS, SECONDS, WARMING = 3, 4.0, 0.05  # of an environment's row
WARM_UP, STEPS = 200, 60  # calls: two simulated seconds of random driving spread the cars out


def rows() -> list[Row]:
    """Measure all rows of this bench."""
    threads = min(2, os.cpu_count() or 1)
    double, double_note = physics(single=False, threads=threads)
    single, single_note = physics(single=True, threads=threads)
    batch = Batch(load_track(TRACK), [load(CAR)], LANES)
    inside = []
    for name in ("vector_env", "vector_env_scan64", "env_single", "env_scan1080_1", "env_scan1080_2"):
        measure = getattr(env_rows, name)
        measure(WARMING)  # compiles
        value, note = median_of(RUNS, partial(measure, SECONDS))
        what = (measure.__doc__ or "").removeprefix("Return steps/s: ").rstrip(".")
        inside.append(Row(name, value, "steps/s", "higher", f"{what}; 10 substeps of 1 ms a step, float64; {note}"))
    per_car = batch.cars.nbytes // LANES
    own = batch.params.nbytes // LANES
    return [
        Row("physics_f64", double, "substeps/s", "higher", double_note),
        Row("physics_f32", single, "substeps/s", "higher", single_note),
        *inside,
        Row(
            "car_bytes", per_car + own, "B", "lower",
            f"state and controls {per_car}, parameters {own} where a car has its own (like cars share them); "
            f"a thread's work block, {Axle.COUNT * LANES * 8} B, comes on top",
        ),
    ]  # fmt: skip


def physics(*, single: bool, threads: int) -> tuple[float, str]:
    """Return vehicle substeps per second of wall time under random controls, and a note on how.

    Gears, ground, walls and car contact included; drawing and writing the controls is not.
    """
    track = load_track(TRACK)
    batch = Batch(track, [load(CAR)], CARS, group=GROUP, team=Team(threads), single=single)
    times = race(batch, track, lambda: batch.step(DT, SUBSTEPS))
    assert np.isfinite(batch.get(State.X)).all()
    value = CARS * SUBSTEPS / statistics.median(times)
    note = (
        f"{CARS} x {CAR} in races of {GROUP} on {TRACK}, random controls, {'float32' if single else 'float64'}, "
        f"{threads} threads, {SUBSTEPS} substeps of {DT * 1e3:g} ms a look; {value / threads:.3g} a thread; "
        f"median of {STEPS}, {CARS * SUBSTEPS / max(times):.3g} to {CARS * SUBSTEPS / min(times):.3g}; "
        f"{batch.get(State.CONTACTS).sum():.0f} contacts"
    )
    return value, note


def race(batch: Any, track: Track, step: Callable[[], object]) -> list[float]:
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
    batch.place(np.arange(cars), places[:, 0], places[:, 1], places[:, 3], random.uniform(0.0, 50.0, cars))
    times = []
    for count in range(WARM_UP + STEPS):
        batch.set(Control.STEER, random.uniform(-1.0, 1.0, cars))
        batch.set(Control.THROTTLE, random.uniform(0.0, 1.0, cars))
        batch.set(Control.BRAKE, np.maximum(random.uniform(-1.0, 1.0, cars), 0.0))
        began = rate.now()
        step()
        if count >= WARM_UP:
            times.append(rate.now() - began)
    return times
