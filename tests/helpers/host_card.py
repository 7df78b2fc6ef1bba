"""A `RaceBatch` with the interface of `CudaRaceBatch`: a training for a card can be tried on the processor."""

import numpy as np

from trailbrake.env.batch import RaceBatch
from trailbrake.env.cuda import CudaStep


class HostCardBatch:
    """NumPy arrays in place of those of the card; see `CudaRaceBatch`."""

    def __init__(self, options=None, n=1, *, seed=None):
        self._batch = RaceBatch(options, n, seed=seed)
        self.task, self.n = self._batch.task, n
        rows = np.zeros((n, self.task.width), np.float32)
        self._step = CudaStep(rows, np.zeros(n, np.float32), np.zeros(n, np.int64), rows.copy())

    def reset(self, seed=None):
        self._step.observations[:] = self._batch.reset(seed)
        return self._step.observations

    def step(self, actions):
        step = self._step
        step.observations[:], step.rewards[:], step.ends[:] = self._batch.step(np.asarray(actions))
        over = step.ends != 0
        step.final_observations[over] = step.observations[over]
        self.restart_ended()
        return step

    def restart_ended(self):
        over = np.flatnonzero(self._step.ends)
        if len(over):
            self._batch.restart(over, self._step.observations)
        return self._step.observations

    def view_feature(self, feature):
        return self._batch.feature_values(feature)
