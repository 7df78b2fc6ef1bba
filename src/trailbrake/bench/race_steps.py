"""Races under random controls, for benches of the world on processors and on graphics cards."""

from collections.abc import Callable
from typing import Any

import numpy as np

from trailbrake.env.options import Start
from trailbrake.system import steady_clock
from trailbrake.tracks.track import Track
from trailbrake.world.row_layout import ControlRow

GROUP = 4  # cars that race each other, and touch
CAR, TRACK = "gt3", "hartmoor"
DT, SUBSTEPS = 0.001, 10  # s; an outer step every 10 ms, the longest that the world allows
WARM_UP, STEPS = 200, 60  # calls: two simulated seconds of random driving spread the cars out
ROLLING_START = Start(speed=(5.0, 20.0))  # of environments


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
