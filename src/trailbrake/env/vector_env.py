"""`BatchVectorEnv`: a batch of learners as a vector environment of Gymnasium, in any of its autoreset modes."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from trailbrake.arrays import Array
from trailbrake.env.episode_info import describe_ends
from trailbrake.errors import UsageError

try:
    import gymnasium
    from gymnasium.vector import AutoresetMode
except ImportError as error:
    raise UsageError("gymnasium is missing", where="trailbrake.env", hint='pip install "trailbrake[rl]"') from error

Bools = NDArray[np.bool_]
Info: TypeAlias = dict[str, Any]


def refuse_reset_options(options: Mapping[str, object] | None, known: Sequence[str] = ()) -> None:
    """Raise UsageError for options of a `reset` other than those `known`."""
    unknown = [name for name in options or {} if name not in known]
    if unknown:
        raise UsageError("no such option of a reset", where="options", expected=", ".join(known) or "none",
                         got=", ".join(unknown), hint="options of an environment go to `make`")  # fmt: skip


class BatchVectorEnv(gymnasium.vector.VectorEnv[Any, Any, Any]):
    """Many learners on one batch.

    Args:
        core: the learners.
        spaces: of one learner's observation and action.
        measure_episodes: returns figures of all episodes, (n,) each, for the info of a step in which some end.
        autoreset_mode: when an episode that has ended is restarted, as Gymnasium's `AutoresetMode` or its value.
    """

    metadata: dict[str, Any] = {"render_modes": []}  # noqa: RUF012 - Gymnasium's own

    def __init__(
        self,
        core: Any,
        spaces: tuple[gymnasium.spaces.Box, gymnasium.spaces.Box],
        measure_episodes: Callable[[Any], Mapping[str, NDArray[Any]]],
        autoreset_mode: AutoresetMode | str,
    ) -> None:
        modes = {mode.value: mode for mode in AutoresetMode}
        mode = autoreset_mode if isinstance(autoreset_mode, AutoresetMode) else modes.get(autoreset_mode)
        if mode is None:
            raise UsageError(
                "no such mode", where="autoreset_mode", expected=", ".join(modes), got=repr(autoreset_mode)
            )
        self.core, self.num_envs, self._measure_episodes = core, core.n, measure_episodes
        self.metadata = {**self.metadata, "autoreset_mode": mode}
        self.single_observation_space, self.single_action_space = spaces
        self.observation_space = gymnasium.vector.utils.batch_space(self.single_observation_space, self.num_envs)
        self.action_space = gymnasium.vector.utils.batch_space(self.single_action_space, self.num_envs)
        self._mode = mode
        self._is_over: Bools = np.zeros(self.num_envs, bool)
        self._observations: NDArray[Any] | None = None

    def reset(self, *, seed: int | None = None, options: Mapping[str, Any] | None = None) -> tuple[NDArray[Any], Info]:
        """Start all episodes, as `RaceBatch.reset` does.

        Args:
            seed: restarts the random numbers, which all learners share.
            options: "reset_mask" (n,) bool restarts the episodes of these learners alone, without a seed.

        Raises:
            UsageError: a seed for each learner, or an option or a mask that is none.
        """
        if isinstance(seed, Sequence):
            raise UsageError("one seed is of all learners", where="seed", expected="a whole number", got=repr(seed),
                             hint='with vectorization_mode="sync" each has its own')  # fmt: skip
        refuse_reset_options(options, ("reset_mask",))
        mask = (options or {}).get("reset_mask")
        if mask is None:
            super().reset(seed=seed)
            out: NDArray[Any] = self.core.reset(seed)
            self._is_over[:] = False
        else:
            out = self._restart_masked(mask, seed)
        self._observations = out
        return out, {}

    def _restart_masked(self, mask: object, seed: object) -> NDArray[Any]:
        if not (isinstance(mask, np.ndarray) and mask.dtype == bool and mask.shape == (self.num_envs,) and mask.any()):
            raise UsageError("no mask", where="options.reset_mask", got=repr(mask),
                             expected=f"an array of bool ({self.num_envs},), one at least True")  # fmt: skip
        if seed is not None or self._observations is None:
            raise UsageError("a mask restarts learners of episodes that go on", where="options.reset_mask",
                             hint="call reset(seed=...) without it first")  # fmt: skip
        out = self._observations.copy()
        self.core.restart(np.flatnonzero(mask), out)
        self._is_over[mask] = False
        return out

    def step(self, actions: ArrayLike) -> tuple[NDArray[Any], Array, Bools, Bools, Info]:
        """Make one step.

        Returns:
            Observations (n, ...), rewards (n,), terminated (n,), truncated (n,), and the info of episodes that ended,
            as `describe_ends` returns it. In the mode SAME_STEP their observations are the first of the next episodes,
            and the info has "final_obs" (n,), their last ones or None, and "final_info". In the mode NEXT_STEP the next
            step returns the first observations, with rewards of 0, and ignores the actions.

        Raises:
            UsageError: without autoreset, episodes that have ended and were not restarted.
        """
        was_over = self._is_over
        if self._mode is AutoresetMode.DISABLED and was_over.any():
            raise UsageError("episodes have ended", where="step", got=f"learners {np.flatnonzero(was_over).tolist()}",
                             hint='call reset(options={"reset_mask": terminated | truncated})')  # fmt: skip
        out, rewards, ends = self.core.step(actions)
        if self._mode is AutoresetMode.NEXT_STEP and was_over.any():
            rewards[was_over], ends[was_over] = 0.0, 0
            self.core.restart(np.flatnonzero(was_over), out)
        self._observations, self._is_over = out, ends != 0
        info: Info = {}
        if self._is_over.any():
            info = describe_ends(self.core, ends, self._measure_episodes(self.core))
            if self._mode is AutoresetMode.SAME_STEP:
                info = self._restart_ended(out, info)
        return out, rewards, ends > 0, ends < 0, info

    def _restart_ended(self, out: NDArray[Any], info: Info) -> Info:
        mask = self._is_over
        ended, final = np.flatnonzero(mask), np.full(self.num_envs, None, object)
        for i, row in zip(ended.tolist(), out[ended], strict=True):
            final[i] = row
        self.core.restart(ended, out)
        return {"final_obs": final, "_final_obs": mask, "final_info": info, "_final_info": mask}
