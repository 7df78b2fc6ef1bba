"""Work blocks for tests that call one kernel of the world by itself: every lane is the same car."""

import numpy as np
from places import straight

from trailbrake.kernels.lanes import LANES
from trailbrake.world.batch import Batch
from trailbrake.world.layout import Axle, Control, Work


class Block:
    """A car at rest on a level road; `block[row]` reads the first lane, and writes all of them."""

    def __init__(self, car, heat=False):
        batch = Batch(straight(), [car], LANES, heat=heat)
        batch.place(np.arange(LANES), 100.0, 0.0, 0.0)
        self.array = np.zeros(Axle.COUNT * LANES)
        self.array[: Control.COUNT * LANES] = batch.cars[0]
        self.array[Work.COUNT * LANES :] = batch.params[0]

    def __getitem__(self, row):
        return float(self.array[int(row) * LANES])

    def __setitem__(self, row, value):
        self.array[int(row) * LANES : (int(row) + 1) * LANES] = value

    def four(self, row):
        return np.array([self[row + i] for i in range(4)])
