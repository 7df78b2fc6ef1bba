"""The first run's compilation on two cores: the world's kernels in a child process while this one compiles the rest.

Compiling holds the interpreter, so threads do not help; but machine code goes to the cache on disk, where the
other process finds it. The child has as much of the rest as makes both take the same time.
"""

import contextlib
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from trailbrake import kernels
from trailbrake.cars.params import CarParams

CHILD_LIMIT_S = 60.0  # s to wait for a child


@contextmanager
def precompile_in_child() -> Iterator[None]:
    """Compile the world's kernels in a child process while the body runs, as far as a cache on disk lacks them.

    On leaving they are there; after an exception the children are ended instead.
    """
    if not (kernels.CACHE_IS_COLD and kernels.CACHE) or (os.cpu_count() or 1) < 2:
        yield
        return
    child = subprocess.Popen(
        [sys.executable, "-m", "trailbrake.driving.precompile"],
        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    try:
        yield
        with contextlib.suppress(subprocess.TimeoutExpired):  # else it is compiled here after all
            child.wait(CHILD_LIMIT_S)
        kernels.CACHE_IS_COLD = False  # later drives of this process find all of it
    finally:
        child.kill()
        child.wait()


def compile_world() -> None:
    """Compile what a drive's world needs, on a car that stands on a short road, and a part of the driver's.

    What the other process needs soon comes first, and last what it needs first: each finds it on disk then.
    """
    import numpy as np

    from trailbrake.cars.car_library import load_car
    from trailbrake.tracks.road import Road
    from trailbrake.tracks.track import Track
    from trailbrake.world.batch import Batch
    from trailbrake.world.plant import World

    x = np.arange(8.0)
    road = Road.from_columns(1.0, False, x, 0.0 * x, 0.0 * x, 0.0 * x)
    track, cars = Track("road", "road", (road,)), [load_car("gt3")]
    road.locate(0.0, 0.0)
    compile_grip_use(cars[0])
    Batch(track, cars).update_ground()
    World(track, cars).car_state(0)


def compile_grip_use(car: CarParams) -> None:
    """Compile how a driver measures its use of the tyres, for the types that `AdaptivePlan` passes."""
    import numpy as np

    from trailbrake.cars.axle_forces import planning_car
    from trailbrake.cars.ggv_envelope import Envelope
    from trailbrake.planning.grip_use import AxleSlips, measure_grip_use
    from trailbrake.planning.speed_profile import PathShape

    row, table = np.ones(2), np.ones((2, 2))
    limits = Envelope(row, row, table, table, row, table, table)
    rest, shape = AxleSlips(0.0, 0.0, 0.0, 0.0), PathShape(0.0, 0.0, 0.0, 0.0, 0.0)
    kernels.bind_entry(measure_grip_use, (0.0, 0.0, 0.0), rest, shape, limits, planning_car(car))


if __name__ == "__main__":
    compile_world()
