"""Gymnasium environments: one car, many cars, one car through a wire. The import registers `ENVIRONMENTS`."""

from dataclasses import fields, replace
from functools import partial
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from trailbrake.arrays import Array, Rows
from trailbrake.env.batch import RaceBatch
from trailbrake.env.catalogue import ENVIRONMENTS
from trailbrake.env.episode_info import describe_end, measure_episodes
from trailbrake.env.link import LinkRace
from trailbrake.env.options import RANDOM, RaceOptions
from trailbrake.env.race_pictures import MODES, RacePictures, check_render_mode
from trailbrake.env.registration import register_names
from trailbrake.env.vector_env import BatchVectorEnv, refuse_reset_options
from trailbrake.errors import UsageError, suggest_names
from trailbrake.observe.task_spec import TaskSpec

# isort: split
# Behind `vector_env`, which says where Gymnasium is missing.
import gymnasium
from gymnasium.vector import AutoresetMode

Info: TypeAlias = dict[str, Any]
_LINK_OPTIONS = ("sim", "live", "signals", "pace", "camera", "live_options", "brakes_at_end")  # of LinkRace


def spaces_of(program: TaskSpec) -> tuple[gymnasium.spaces.Box, gymnasium.spaces.Box]:
    """Return the spaces of one learner's observation and action."""
    action = program.action
    return (
        gymnasium.spaces.Box(program.low, program.high, dtype=np.float32),
        gymnasium.spaces.Box(np.array(action.low, np.float32), np.array(action.high, np.float32), dtype=np.float32),
    )


def change_options(options: RaceOptions, changes: dict[str, Any]) -> RaceOptions:
    """Return `options` with `changes` applied; UsageError where there is no such option."""
    known = [field.name for field in fields(RaceOptions)]
    for name in changes:
        if name not in known:
            raise UsageError("no such option", where=name, hint=suggest_names(name, known))
    return replace(options, **changes)


class RaceEnv(gymnasium.Env[Any, Any]):
    """One learner.

    Args:
        options: the environment; None for the defaults.
        render_mode: "rgb_array": `render` returns a picture of the road; "human": each step is shown in a window.
        core: a `LinkRace` to drive instead of an own world.
        changes: options to change, by name.
    """

    metadata: dict[str, Any] = {"render_modes": list(MODES), "render_fps": 100}  # noqa: RUF012 - Gymnasium's own

    def __init__(
        self,
        options: RaceOptions | None = None,
        *,
        render_mode: str | None = None,
        core: LinkRace | None = None,
        **changes: Any,
    ) -> None:
        self.render_mode = check_render_mode(render_mode)
        self.core: RaceBatch | LinkRace = core or RaceBatch(change_options(options or RaceOptions(), changes), 1)
        program = self.core.task
        self.metadata = {**self.metadata, "render_fps": round(1.0 / self.core.options.period)}
        self._pictures = None if render_mode is None else RacePictures(self.core.view_race)
        self.observation_space, self.action_space = spaces_of(program)
        # A step allocates nothing but the observation that it returns.
        self._action_shape, self._size = (program.action.width,), (1, program.width)
        self._values: Array = np.zeros((1, program.action.width))
        self._reward, self._ended = np.zeros(1), np.zeros(1, np.int64)
        self._has_signals = isinstance(self.core, LinkRace) and self.core.has_signals

    def reset(self, *, seed: int | None = None, options: Info | None = None) -> tuple[Rows, Info]:
        """Start an episode, as `RaceBatch.reset` does. No `options` exist."""
        refuse_reset_options(options)
        super().reset(seed=seed)
        out = self.core.reset(seed)[0]
        if self.render_mode == "human":
            self.render()
        return out, self._signal_info()

    def render(self) -> NDArray[np.uint8] | None:
        """Return the road around the car and the whole road (480, 720, 3) uint8; "human": show it, and return None."""
        if self._pictures is None:
            return None
        if self.render_mode == "human":
            self._pictures.show_picture()
            return None
        return self._pictures.draw_picture()

    def _signal_info(self) -> Info:
        """Return the selected signals of a wire as `signals` of an info; nothing where none are selected."""
        values = self.core.signal_values if isinstance(self.core, LinkRace) else {}
        return {"signals": values} if values else {}

    def step(self, action: ArrayLike) -> tuple[Rows, float, bool, bool, Info]:
        """Make one step; where the episode ends, the info is what `describe_end` returns of it."""
        values = np.asarray(action)
        if values.shape != self._action_shape:
            raise UsageError(
                "an action of the wrong shape", where="action", expected=f"{self._action_shape}", got=f"{values.shape}"
            )
        self._values[0] = values
        out: Rows = np.empty(self._size, np.float32)
        self.core.write_step(self._values, out, self._reward, self._ended)
        code = self._ended.item()
        info = self._signal_info() if self._has_signals else {}
        if code:
            info |= describe_end(self.core, code, measure_episodes(self.core))
        if self.render_mode == "human":
            self.render()
        return out[0], self._reward.item(), code > 0, code < 0, info

    def close(self) -> None:
        """End the threads, or close the link and the window."""
        if self._pictures is not None:
            self._pictures.close()
        self.core.close()


class RaceVectorEnv(BatchVectorEnv):
    """Many learners on one batch.

    Args:
        num_envs: number of learners, `n` of `RaceBatch`.
        options: the environment; None for the defaults.
        threads: number of threads that share the work.
        render_mode: "rgb_array": `render` returns a picture of each learner.
        autoreset_mode: when an episode that has ended is restarted, as Gymnasium's `AutoresetMode` or its value.
        changes: options to change, by name.
    """

    metadata: dict[str, Any] = {"render_modes": ["rgb_array"]}  # noqa: RUF012

    def __init__(
        self,
        num_envs: int = 1,
        options: RaceOptions | None = None,
        *,
        threads: int = 1,
        render_mode: str | None = None,
        autoreset_mode: AutoresetMode | str = AutoresetMode.SAME_STEP,
        **changes: Any,
    ) -> None:
        self.render_mode = check_render_mode(render_mode, ("rgb_array",))
        core = RaceBatch(change_options(options or RaceOptions(), changes), num_envs, threads=threads)
        super().__init__(core, spaces_of(core.task), measure_episodes, autoreset_mode)
        self.metadata["render_fps"] = round(1.0 / core.options.period)
        self._pictures = [RacePictures(partial(core.view_race, i)) for i in range(num_envs if render_mode else 0)]

    def render(self) -> tuple[NDArray[np.uint8], ...] | None:
        """Return a picture (480, 720, 3) uint8 of each learner, as `RaceEnv.render` does."""
        return tuple(pictures.draw_picture() for pictures in self._pictures) or None

    def close_extras(self, **kwargs: Any) -> None:
        """End the threads."""
        self.core.close()


def make_named(name: str, *, render_mode: str | None = None, **changes: Any) -> RaceEnv:
    """Return the environment called `name` in `ENVIRONMENTS`, with options changed."""
    entry = _find_environment(name)
    if not entry.link:
        return RaceEnv(change_options(entry.options, changes), render_mode=render_mode)
    if changes.get("live") and changes.get("track", RANDOM) == RANDOM:
        raise UsageError("a live environment needs the road that the game has loaded", where=f"{name}, track",
                         expected='its name or file, as track="road.csv"',
                         hint="`trailbrake learn --live` maps it")  # fmt: skip
    link = {key: changes.pop(key) for key in _LINK_OPTIONS if key in changes}
    return RaceEnv(core=LinkRace(change_options(entry.options, changes), **link), render_mode=render_mode)


def make_named_vector(num_envs: int = 1, *, name: str, **changes: Any) -> RaceVectorEnv:
    """Return the vector environment called `name` in `ENVIRONMENTS`, with arguments and options changed."""
    return RaceVectorEnv(num_envs, _find_environment(name).options, **changes)


def _find_environment(name: str) -> Any:
    if name not in ENVIRONMENTS:
        raise UsageError("no such environment", where=name, hint=suggest_names(name, list(ENVIRONMENTS)))
    return ENVIRONMENTS[name]


register_names(gymnasium)
