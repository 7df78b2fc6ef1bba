"""`bench world`: how fast the embedded world runs, alone and inside the environments."""

import os
import statistics
from functools import partial

import numpy as np

from trailbrake.bench import env_rows, peer_rows
from trailbrake.bench.race_steps import CAR, DT, GROUP, SUBSTEPS, TRACK, time_race_steps
from trailbrake.bench.rows import BenchRow, measure_median
from trailbrake.cars.car_library import load_car
from trailbrake.kernels.lane_blocks import LANES
from trailbrake.kernels.thread_team import Team
from trailbrake.tracks.track_library import load_track
from trailbrake.world.batch import Batch
from trailbrake.world.row_layout import AxleRow, StateRow

CARS = 4096
RUNS, SECONDS, WARMING = 3, 4.0, 0.05  # of an environment's row


def measure_rows() -> list[BenchRow]:
    """Measure all rows of this bench."""
    threads = min(2, os.cpu_count() or 1)
    double, double_note = measure_physics(single=False, threads=threads)
    single, single_note = measure_physics(single=True, threads=threads)
    batch = Batch(load_track(TRACK), [load_car(CAR)], LANES)
    inside = []
    for name in ("vector_env", "vector_env_scan64", "env_single", "env_scan1080_1", "env_scan1080_2"):
        measure = getattr(env_rows, name)
        measure(WARMING)  # compiles
        value, note = measure_median(RUNS, partial(measure, SECONDS))
        what = (measure.__doc__ or "").removeprefix("Return steps/s: ").rstrip(".")
        inside.append(
            BenchRow(name, value, "steps/s", "higher", f"{what}; 10 substeps of 1 ms a step, float64; {note}")
        )
    per_car = batch.cars.nbytes // LANES
    own = batch.params.nbytes // LANES
    return [
        BenchRow("physics_f64", double, "substeps/s", "higher", double_note),
        BenchRow("physics_f32", single, "substeps/s", "higher", single_note),
        *inside,
        *peer_rows.measure_peers(RUNS, SECONDS),
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
