"""`bench cuda`: how fast the embedded world runs on a graphics card."""

import statistics

import numpy as np

from trailbrake.bench.rows import BenchRow
from trailbrake.bench.world import CAR, DT, GROUP, SUBSTEPS, TRACK, time_race_steps
from trailbrake.cars.car_library import load_car
from trailbrake.kernels.cuda_compiler import require_cuda
from trailbrake.tracks.track_library import load_track
from trailbrake.world.cuda import CudaBatch
from trailbrake.world.row_layout import StateRow

CARS = 65536  # what fills a large card; a small one is as fast with fewer


def measure_rows() -> list[BenchRow]:
    """Measure all rows of this bench; compiling takes most of two minutes."""
    card = getattr(require_cuda().gpus[0], "name", "a card that numba simulates")
    track = load_track(TRACK)
    found = []
    for name, single in (("cuda_f32", True), ("cuda_f64", False)):
        batch = CudaBatch(track, [load_car(CAR)], CARS, group_size=GROUP, single_precision=single)

        def step(batch: CudaBatch = batch) -> None:
            batch.step(DT, SUBSTEPS)
            batch.synchronize()

        times = time_race_steps(batch, track, step)
        assert np.isfinite(batch.get_row(StateRow.X)).all()
        note = (
            f"{CARS} x {CAR} in races of {GROUP} on {TRACK}, random controls, {SUBSTEPS} substeps of {DT * 1e3:g} ms "
            f"a look, on {card}; median of {len(times)}; {batch.get_row(StateRow.CONTACTS).sum():.0f} contacts"
        )
        found.append(BenchRow(name, CARS * SUBSTEPS / statistics.median(times), "substeps/s", "higher", note))
    return found
