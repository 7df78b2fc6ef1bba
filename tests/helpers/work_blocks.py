"""Work blocks for tests that call one kernel of the world by itself: every lane is the same car."""

import numpy as np

from helpers.roads import straight
from trailbrake.kernels.lane_blocks import LANES
from trailbrake.world.batch import Batch
from trailbrake.world.row_layout import AxleRow, ControlRow, WorkRow


class Block:
    """A car at rest on a level road; `block[row]` reads the first lane, and writes all of them."""

    def __init__(self, car, heat=False):
        batch = Batch(straight(), [car], LANES, tyre_heat=heat)
        batch.place_cars(np.arange(LANES), 100.0, 0.0, 0.0)
        self.array = np.zeros(AxleRow.COUNT * LANES)
        self.array[: ControlRow.COUNT * LANES] = batch.cars[0]
        self.array[WorkRow.COUNT * LANES :] = batch.params[0]

    def __getitem__(self, row):
        return float(self.array[int(row) * LANES])

    def __setitem__(self, row, value):
        self.array[int(row) * LANES : (int(row) + 1) * LANES] = value

    def four(self, row):
        return np.array([self[row + i] for i in range(4)])
