"""`bench cuda`: how fast the embedded world and its environments run on a graphics card."""

import statistics
from dataclasses import replace

import numba.cuda
import numpy as np

from trailbrake.bench.rows import BenchRow, measure_median
from trailbrake.bench.world import CAR, DT, GROUP, ROLLING_START, SUBSTEPS, TRACK, time_race_steps
from trailbrake.cars.car_library import load_car
from trailbrake.env.catalogue import ENVIRONMENTS
from trailbrake.env.cuda import CudaRaceBatch
from trailbrake.env.options import RaceOptions
from trailbrake.kernels.cuda_compiler import require_cuda
from trailbrake.system import steady_clock
from trailbrake.tracks.track_library import load_track
from trailbrake.world.cuda import CudaBatch
from trailbrake.world.row_layout import StateRow

CARS = 262144  # what fills a large card; a small one is as fast with fewer
ENV_STEPS, WARM_STEPS, RUNS = 200, 300, 3  # steps of an environment: measured at once, before, how often
SCAN_OPTIONS = ENVIRONMENTS["trailbrake/Scan-v0"].options
_ACTIONS = 16  # different actions, on the card before the clock starts


def measure_rows() -> list[BenchRow]:
    """Measure all rows of this bench; compiling takes most of two minutes."""
    card = getattr(require_cuda().gpus[0], "name", "a card that numba simulates")
    card = card.decode() if isinstance(card, bytes) else card
    environments = [
        measure_environment("cuda_env", RaceOptions(start=ROLLING_START), card),
        measure_environment("cuda_env_scan64", replace(SCAN_OPTIONS, start=ROLLING_START), card),
    ]
    return [measure_physics("cuda_f32", card, single=True), measure_physics("cuda_f64", card, single=False),
            *environments]  # fmt: skip


def measure_physics(name: str, card: str, *, single: bool) -> BenchRow:
    """Return a row with vehicle substeps per second under random controls, contacts included."""
    track = load_track(TRACK)
    cars = np.zeros(CARS, int)
    batch = CudaBatch([track], [load_car(CAR)], cars, cars, group_size=GROUP, single_precision=single)

    def step() -> None:
        batch.step(DT, SUBSTEPS)
        batch.synchronize()

    times = time_race_steps(batch, track, step)
    assert np.isfinite(batch.get_row(StateRow.X)).all()
    note = (
        f"{CARS} x {CAR} in races of {GROUP} on {TRACK}, random controls, {SUBSTEPS} substeps of {DT * 1e3:g} ms "
        f"a look, on {card}; median of {len(times)}; {batch.get_row(StateRow.CONTACTS).sum():.0f} contacts"
    )
    return BenchRow(name, CARS * SUBSTEPS / statistics.median(times), "substeps/s", "higher", note)


def measure_environment(name: str, options: RaceOptions, card: str) -> BenchRow:
    """Return a row with environment steps per second under random actions, restarts included, float32."""
    batch = CudaRaceBatch(options, CARS, seed=0)
    rng = np.random.default_rng(0)
    low, high = batch.task.action.low, batch.task.action.high
    actions = [
        numba.cuda.to_device(rng.uniform(low, high, (CARS, len(low))).astype(np.float32)) for _ in range(_ACTIONS)
    ]
    batch.reset()

    def run(steps: int) -> float:
        began = steady_clock.now()
        for k in range(steps):
            batch.step(actions[k % _ACTIONS])
        batch.synchronize()
        return CARS * steps / (steady_clock.now() - began)

    run(WARM_STEPS)
    value, note = measure_median(RUNS, lambda: run(ENV_STEPS))
    batch.check_actions()
    step = batch.step(actions[0])
    restarts = int((step.ends.copy_to_host() != 0).sum())
    assert np.isfinite(step.observations.copy_to_host()).all()
    text = (
        f"{CARS} learners, {batch.task.width} numbers each, with rewards and restarts, {options.substeps} substeps, on "
        f"{card}; {note}; {restarts} restarts in the last step; {batch.count_car_bytes()} B a car"
    )
    return BenchRow(name, value, "steps/s", "higher", text)
