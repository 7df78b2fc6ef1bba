"""Gymnasium environments in the miniature world that observe its camera. `trailbrake.env.gym` imports this too."""

from collections.abc import Sequence
from dataclasses import fields
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from trailbrake.env.batch import refuse_reset_options, restart_ended
from trailbrake.env.camera import CameraBatch, CameraOptions
from trailbrake.errors import UsageError, suggest_names

try:
    import gymnasium
    from gymnasium.vector import AutoresetMode
except ImportError as error:
    raise UsageError(
        "gymnasium is missing", where="trailbrake.env.camera_gym", hint='pip install "trailbrake[rl]"'
    ) from error

Info: TypeAlias = dict[str, Any]


def _apply_changes(changes: Info) -> CameraOptions:
    known = [field.name for field in fields(CameraOptions)]
    for name in changes:
        if name not in known:
            raise UsageError("no such option", where=name, hint=suggest_names(name, known))
    return CameraOptions(**changes)


def _camera_spaces(core: CameraBatch) -> tuple[gymnasium.spaces.Box, gymnasium.spaces.Box]:
    return (
        gymnasium.spaces.Box(0, 255, core.frame_shape, np.uint8),
        gymnasium.spaces.Box(-1.0, 1.0, (2,), np.float32),
    )


class CameraEnv(gymnasium.Env[Any, Any]):
    """One learner of a `CameraBatch`; `changes` are options of `CameraOptions` by name."""

    metadata: dict[str, Any] = {"render_modes": ["rgb_array"], "render_fps": 10}  # noqa: RUF012 - Gymnasium's own declaration

    def __init__(self, *, render_mode: str | None = None, **changes: Any) -> None:
        if render_mode not in (None, "rgb_array"):
            raise UsageError("no such pictures", where="render_mode", expected="None or rgb_array",
                             got=repr(render_mode))  # fmt: skip
        self.render_mode = render_mode
        self.core = CameraBatch(_apply_changes(changes), 1)
        self.observation_space, self.action_space = _camera_spaces(self.core)

    def reset(self, *, seed: int | None = None, options: Info | None = None) -> tuple[NDArray[np.uint8], Info]:
        """Start an episode. No `options` exist."""
        refuse_reset_options(options)
        super().reset(seed=seed)
        return self.core.reset(seed)[0], {}

    def step(self, action: ArrayLike) -> tuple[NDArray[np.uint8], float, bool, bool, Info]:
        """Make one step; where the episode ends, `why` in the info names the end."""
        out, reward, ended = self.core.step(np.asarray(action, np.float64)[None])
        code = int(ended[0])
        return out[0], float(reward[0]), code > 0, code < 0, {"why": self.core.end_name(code)} if code else {}

    def render(self) -> NDArray[np.uint8] | None:
        """Return the camera's picture (height, width, 3) uint8."""
        return self.core.render_frames()[0] if self.render_mode else None


class CameraVectorEnv(gymnasium.vector.VectorEnv[Any, Any, Any]):
    """Many learners; an episode that ends restarts in the same step, its last picture is in `final_obs`."""

    metadata: dict[str, Any] = {"render_modes": [], "autoreset_mode": AutoresetMode.SAME_STEP}  # noqa: RUF012

    def __init__(self, num_envs: int = 1, **changes: Any) -> None:
        self.core = CameraBatch(_apply_changes(changes), num_envs)
        self.num_envs = num_envs
        self.single_observation_space, self.single_action_space = _camera_spaces(self.core)
        self.observation_space = gymnasium.vector.utils.batch_space(self.single_observation_space, num_envs)
        self.action_space = gymnasium.vector.utils.batch_space(self.single_action_space, num_envs)

    def reset(
        self, *, seed: int | Sequence[int] | None = None, options: Info | None = None
    ) -> tuple[NDArray[np.uint8], Info]:
        """Start all episodes. No `options` exist."""
        refuse_reset_options(options)
        super().reset(seed=seed if isinstance(seed, int) else None)
        return self.core.reset(seed), {}

    def step(self, actions: ArrayLike) -> tuple[NDArray[np.uint8], Any, Any, Any, Info]:
        """Make one step; `learner_batch.restart_ended` describes the info."""
        out, rewards, ends = self.core.step(actions)
        return out, rewards, ends > 0, ends < 0, restart_ended(self.core, out, ends, {}) if ends.any() else {}
