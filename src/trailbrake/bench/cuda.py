"""`bench cuda`: how fast the embedded world runs on a graphics card."""

import statistics

import numpy as np

from trailbrake.bench.rows import Row
from trailbrake.bench.world import CAR, DT, GROUP, SUBSTEPS, TRACK, race
from trailbrake.cars.load import load
from trailbrake.kernels.device import cuda
from trailbrake.tracks.load import load as load_track
from trailbrake.world.cuda import CudaBatch
from trailbrake.world.layout import State

CARS = 65536  # what fills a large card; a small one is as fast with fewer


def rows() -> list[Row]:
    """Measure all rows of this bench; compiling takes most of two minutes."""
    card = getattr(cuda().gpus[0], "name", "a card that numba simulates")
    track = load_track(TRACK)
    found = []
    for name, single in (("cuda_f32", True), ("cuda_f64", False)):
        batch = CudaBatch(track, [load(CAR)], CARS, group=GROUP, single=single)

        def step(batch: CudaBatch = batch) -> None:
            batch.step(DT, SUBSTEPS)
            batch.synchronize()

        times = race(batch, track, step)
        assert np.isfinite(batch.get(State.X)).all()
        note = (
            f"{CARS} x {CAR} in races of {GROUP} on {TRACK}, random controls, {SUBSTEPS} substeps of {DT * 1e3:g} ms "
            f"a look, on {card}; median of {len(times)}; {batch.get(State.CONTACTS).sum():.0f} contacts"
        )
        found.append(Row(name, CARS * SUBSTEPS / statistics.median(times), "substeps/s", "higher", note))
    return found
