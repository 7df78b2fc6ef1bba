"""Gymnasium environments in the miniature world that observe its camera. `trailbrake.env.gym` imports this too."""

from dataclasses import fields
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from trailbrake.env.camera import CameraBatch, CameraOptions
from trailbrake.env.race_pictures import check_render_mode
from trailbrake.env.vector_env import BatchVectorEnv, refuse_reset_options
from trailbrake.errors import UsageError, suggest_names

# isort: split
# Behind `vector_env`, which says where Gymnasium is missing.
import gymnasium
from gymnasium.vector import AutoresetMode

Info: TypeAlias = dict[str, Any]


def _apply_changes(changes: Info) -> CameraOptions:
    known = [field.name for field in fields(CameraOptions)]
    for name in changes:
        if name not in known:
            raise UsageError("no such option", where=name, hint=suggest_names(name, known))
    return CameraOptions(**changes)


def _camera_spaces(core: CameraBatch) -> tuple[gymnasium.spaces.Box, gymnasium.spaces.Box]:
    return (gymnasium.spaces.Box(0, 255, core.frame_shape, np.uint8), gymnasium.spaces.Box(-1.0, 1.0, (2,), np.float32))


class CameraEnv(gymnasium.Env[Any, Any]):
    """One learner of a `CameraBatch`; `changes` are options of `CameraOptions` by name."""

    metadata: dict[str, Any] = {"render_modes": ["rgb_array"], "render_fps": 10}  # noqa: RUF012 - Gymnasium's own declaration

    def __init__(self, *, render_mode: str | None = None, **changes: Any) -> None:
        self.render_mode = check_render_mode(render_mode, ("rgb_array",))
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


class CameraVectorEnv(BatchVectorEnv):
    """Many learners of a `CameraBatch`; `changes` are options of `CameraOptions` by name."""

    def __init__(
        self, num_envs: int = 1, *, autoreset_mode: AutoresetMode | str = AutoresetMode.SAME_STEP, **changes: Any
    ) -> None:
        core = CameraBatch(_apply_changes(changes), num_envs)
        super().__init__(core, _camera_spaces(core), lambda _: {}, autoreset_mode)
