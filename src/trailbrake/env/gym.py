"""Gymnasium environments: one car, many cars, one car through a wire. Importing this registers `ENVIRONMENTS`."""

from collections.abc import Sequence
from dataclasses import fields, replace
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

import trailbrake.env.camera_gym  # noqa: F401 - registers its own
from trailbrake.env.batch import RaceBatch
from trailbrake.env.catalogue import ENVIRONMENTS
from trailbrake.env.link import LinkRace
from trailbrake.env.options import RaceOptions
from trailbrake.errors import UsageError, near
from trailbrake.observe.columns import Seen
from trailbrake.observe.program import Program

try:
    import gymnasium
    from gymnasium.vector import AutoresetMode
except ImportError as error:
    raise UsageError("gymnasium is missing", where="trailbrake.env.gym", hint='pip install "trailbrake[rl]"') from error

Array = NDArray[np.float64]
Rows = NDArray[np.float32]
Bools = NDArray[np.bool_]
Info: TypeAlias = dict[str, Any]


def spaces_of(program: Program) -> tuple[gymnasium.spaces.Box, gymnasium.spaces.Box]:
    """Return the spaces of one learner's observation and action."""
    action = program.action
    return (
        gymnasium.spaces.Box(program.low, program.high, dtype=np.float32),
        gymnasium.spaces.Box(np.array(action.low, np.float32), np.array(action.high, np.float32), dtype=np.float32),
    )


def changed(options: RaceOptions, changes: dict[str, Any]) -> RaceOptions:
    """Return `options` with some of them changed; UsageError where there is no such option."""
    known = [field.name for field in fields(RaceOptions)]
    for name in changes:
        if name not in known:
            raise UsageError("no such option", where=name, hint=near(name, known))
    return replace(options, **changes)


class RaceEnv(gymnasium.Env[Any, Any]):
    """One learner.

    Args:
        options: the environment; None for the defaults.
        render_mode: None; there are no pictures.
        core: what to drive instead of a world of one's own: a `LinkRace`.
        changes: options by name, changed.
    """

    metadata: dict[str, Any] = {"render_modes": []}  # noqa: RUF012 - Gymnasium's own declaration

    def __init__(
        self,
        options: RaceOptions | None = None,
        *,
        render_mode: None = None,
        core: LinkRace | None = None,
        **changes: Any,
    ) -> None:
        if render_mode is not None:
            raise UsageError("no pictures", where="render_mode", expected="None", got=repr(render_mode))
        self.render_mode = None
        self.core: RaceBatch | LinkRace = core or RaceBatch(changed(options or RaceOptions(), changes), 1)
        program = self.core.program
        self.observation_space, self.action_space = spaces_of(program)
        # A step allocates nothing but the observation that it returns.
        self._shape, self._size = (program.action.width,), (1, program.width)
        self._values: Array = np.zeros((1, program.action.width))
        self._reward, self._ended = np.zeros(1), np.zeros(1, np.int64)

    def reset(self, *, seed: int | None = None, options: Info | None = None) -> tuple[Rows, Info]:
        """Begin an episode: see `RaceBatch.reset`. There are no `options`."""
        super().reset(seed=seed)
        return self.core.reset(seed)[0], {}

    def step(self, action: ArrayLike) -> tuple[Rows, float, bool, bool, Info]:
        """Make one step; where the episode ends, the info says `why`."""
        values = np.asarray(action)
        if values.shape != self._shape:
            raise UsageError(
                "an action of the wrong shape", where="action", expected=f"{self._shape}", got=f"{values.shape}"
            )
        self._values[0] = values
        out: Rows = np.empty(self._size, np.float32)
        self.core.step_into(self._values, out, self._reward, self._ended)
        code = self._ended.item()
        info = {"why": self.core.why(code)} if code else {}
        return out[0], self._reward.item(), code > 0, code < 0, info

    def close(self) -> None:
        """Close what is open."""
        self.core.close()


class RaceVectorEnv(gymnasium.vector.VectorEnv[Any, Any, Any]):
    """Many learners on one batch; an episode that ends is followed by the next in the same step.

    Args:
        num_envs: learners: `RaceBatch`'s n.
        options: the environment; None for the defaults.
        threads: that share the work.
        changes: options by name, changed.
    """

    metadata: dict[str, Any] = {"render_modes": [], "autoreset_mode": AutoresetMode.SAME_STEP}  # noqa: RUF012

    def __init__(
        self, num_envs: int = 1, options: RaceOptions | None = None, *, threads: int = 1, **changes: Any
    ) -> None:
        self.core = RaceBatch(changed(options or RaceOptions(), changes), num_envs, threads=threads)
        self.num_envs = num_envs
        self.single_observation_space, self.single_action_space = spaces_of(self.core.program)
        self.observation_space = gymnasium.vector.utils.batch_space(self.single_observation_space, num_envs)
        self.action_space = gymnasium.vector.utils.batch_space(self.single_action_space, num_envs)

    def reset(self, *, seed: int | Sequence[int] | None = None, options: Info | None = None) -> tuple[Rows, Info]:
        """Begin all episodes anew: see `RaceBatch.reset`. There are no `options`."""
        super().reset(seed=seed if isinstance(seed, int) else None)
        return self.core.reset(seed), {}

    def step(self, actions: ArrayLike) -> tuple[Rows, Array, Bools, Bools, Info]:
        """Make one step.

        Returns:
            Observations (n, width), where an episode has ended the first of the next; rewards (n,); terminated (n,);
            truncated (n,); and, if an episode has ended, in the info `final_obs` (n,) of arrays or None, and
            `final_info` with `why` (names), `time` (s) and `distance` (m), each with its mask `_final_obs` and so on.
        """
        out, reward, ended = self.core.step(actions)
        terminated, truncated = ended > 0, ended < 0
        over = np.flatnonzero(ended)
        if not len(over):
            return out, reward, terminated, truncated, {}
        mask = ended != 0
        final = np.full(self.num_envs, None, object)
        last = out[over]
        for i, row in zip(over.tolist(), last, strict=True):
            final[i] = row
        why = np.full(self.num_envs, "", object)
        for i, code in zip(over.tolist(), ended[over].tolist(), strict=True):
            why[i] = self.core.why(code)
        time, distance = self.core.seen(Seen.TIME) * mask, self.core.seen(Seen.DISTANCE) * mask
        self.core.restart(over, out)
        about = {"why": why, "_why": mask, "time": time, "_time": mask, "distance": distance, "_distance": mask}
        info = {"final_obs": final, "_final_obs": mask, "final_info": about, "_final_info": mask}
        return out, reward, terminated, truncated, info

    def close_extras(self, **kwargs: Any) -> None:
        """End the threads."""
        self.core.close()


def named(name: str, **changes: Any) -> RaceEnv:
    """Return the environment of that name out of `ENVIRONMENTS`, with options changed."""
    entry = _entry(name)
    if not entry.link:
        return RaceEnv(changed(entry.options, changes))
    link = {key: changes.pop(key) for key in ("sim", "live") if key in changes}
    return RaceEnv(core=LinkRace(changed(entry.options, changes), **link))


def named_vector(num_envs: int = 1, *, name: str, threads: int = 1, **changes: Any) -> RaceVectorEnv:
    """Return the vector environment of that name out of `ENVIRONMENTS`, with options changed."""
    return RaceVectorEnv(num_envs, changed(_entry(name).options, changes), threads=threads)


def _entry(name: str) -> Any:
    if name not in ENVIRONMENTS:
        raise UsageError("no such environment", where=name, hint=near(name, list(ENVIRONMENTS)))
    return ENVIRONMENTS[name]


for _name, _one in ENVIRONMENTS.items():
    if _name not in gymnasium.registry:
        gymnasium.register(
            _name,
            entry_point="trailbrake.env.gym:named",
            vector_entry_point=None if _one.link else "trailbrake.env.gym:named_vector",
            kwargs={"name": _name},
        )
