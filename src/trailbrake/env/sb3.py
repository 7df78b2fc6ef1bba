"""`RaceVecEnv`: many learners on one batch for Stable-Baselines3."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trailbrake.arrays import Rows
from trailbrake.env.batch import RaceBatch
from trailbrake.env.episode_info import describe_end, measure_episodes
from trailbrake.env.gym import change_options, spaces_of
from trailbrake.env.options import RaceOptions
from trailbrake.errors import UsageError

try:
    from stable_baselines3.common.vec_env import VecEnv
except ImportError as error:
    raise UsageError(
        "stable-baselines3 is missing", where="trailbrake.env.sb3", hint='pip install "trailbrake[rl]"'
    ) from error


class RaceVecEnv(VecEnv):
    """Many learners; an episode that ends restarts in the same step, as Stable-Baselines3 requires.

    Args:
        num_envs: number of learners, `n` of `RaceBatch`.
        options: the environment; None for the defaults.
        threads: number of threads that share the work.
        changes: options to change, by name.
    """

    def __init__(self, num_envs: int, options: RaceOptions | None = None, *, threads: int = 1, **changes: Any) -> None:
        self.core = RaceBatch(change_options(options or RaceOptions(), changes), num_envs, threads=threads)
        self.render_mode = None
        super().__init__(num_envs, *spaces_of(self.core.task))
        self._actions: NDArray[np.floating] = np.zeros((num_envs, self.core.task.action.width))
        self._seed: int | None = None
        self._returns, self._steps = np.zeros(num_envs), np.zeros(num_envs, np.int64)

    def seed(self, seed: int | None = None) -> Sequence[int | None]:
        """Set the seed of the next `reset`."""
        self._seed = seed
        return [seed] * self.num_envs

    def reset(self) -> Rows:
        """Start all episodes; return the observations (n, width)."""
        seed, self._seed = self._seed, None
        self._returns[:], self._steps[:] = 0.0, 0
        return self.core.reset(seed)

    def step_async(self, actions: NDArray[np.floating]) -> None:
        """Keep the actions (n, width) for `step_wait`."""
        self._actions = actions

    def step_wait(self) -> tuple[Rows, NDArray[np.float64], NDArray[np.bool_], list[dict[str, Any]]]:
        """Make one step; infos of episodes that end hold what the library reads, and what `describe_end` returns."""
        out, reward, ended = self.core.step(self._actions)
        self._returns += reward
        self._steps += 1
        infos: list[dict[str, Any]] = [{} for _ in range(self.num_envs)]
        over = np.flatnonzero(ended)
        if len(over):
            last, figures = out[over], measure_episodes(self.core)
            for i, row in zip(over.tolist(), last, strict=True):
                code = int(ended[i])
                infos[i] = {
                    "terminal_observation": row,
                    "TimeLimit.truncated": code < 0,
                    **describe_end(self.core, code, figures, i),
                    "episode": {"r": float(self._returns[i]), "l": int(self._steps[i]), "t": 0.0},
                }
            self._returns[over], self._steps[over] = 0.0, 0
            self.core.restart(over, out)
        return out, reward, ended != 0, infos

    def close(self) -> None:
        """End the threads."""
        self.core.close()

    def get_attr(self, attr_name: str, indices: Any = None) -> list[Any]:
        """Return an attribute of this environment, the same for each learner."""
        return [getattr(self, attr_name)] * len(list(self._get_indices(indices)))

    def set_attr(self, attr_name: str, value: Any, indices: Any = None) -> None:
        """Refuse: learners have no attributes of their own."""
        raise UsageError("learners have no attributes of their own", where=attr_name)

    def env_method(self, method_name: str, *args: Any, indices: Any = None, **kwargs: Any) -> list[Any]:
        """Refuse: learners have no methods of their own."""
        raise UsageError("learners have no methods of their own", where=method_name)

    def env_is_wrapped(self, wrapper_class: Any, indices: Any = None) -> list[bool]:
        """Return False for each learner."""
        return [False] * len(list(self._get_indices(indices)))
