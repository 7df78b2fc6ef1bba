"""Gymnasium environments in the miniature world, seen through its camera. `trailbrake.env.gym` imports this too."""

from collections.abc import Sequence
from dataclasses import fields
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from trailbrake.env.camera import CameraBatch, CameraOptions
from trailbrake.errors import UsageError, near

try:
    import gymnasium
    from gymnasium.vector import AutoresetMode
except ImportError as error:
    raise UsageError(
        "gymnasium is missing", where="trailbrake.env.camera_gym", hint='pip install "trailbrake[rl]"'
    ) from error

NAME = "trailbrake/Trend96-v0"
Info: TypeAlias = dict[str, Any]


def _options(changes: Info) -> CameraOptions:
    known = [field.name for field in fields(CameraOptions)]
    for name in changes:
        if name not in known:
            raise UsageError("no such option", where=name, hint=near(name, known))
    return CameraOptions(**changes)


def _spaces(core: CameraBatch) -> tuple[gymnasium.spaces.Box, gymnasium.spaces.Box]:
    return (
        gymnasium.spaces.Box(0, 255, core.shape, np.uint8),
        gymnasium.spaces.Box(-1.0, 1.0, (2,), np.float32),
    )


class CameraEnv(gymnasium.Env[Any, Any]):
    """One learner of a `CameraBatch`. `changes`: options of `CameraOptions` by name."""

    metadata: dict[str, Any] = {"render_modes": ["rgb_array"]}  # noqa: RUF012 - Gymnasium's own declaration

    def __init__(self, *, render_mode: str | None = None, **changes: Any) -> None:
        if render_mode not in (None, "rgb_array"):
            raise UsageError("no such pictures", where="render_mode", expected="None or rgb_array",
                             got=repr(render_mode))  # fmt: skip
        self.render_mode = render_mode
        self.core = CameraBatch(_options(changes), 1)
        self.observation_space, self.action_space = _spaces(self.core)

    def reset(self, *, seed: int | None = None, options: Info | None = None) -> tuple[NDArray[np.uint8], Info]:
        """Begin an episode. There are no `options`."""
        super().reset(seed=seed)
        return self.core.reset(seed)[0], {}

    def step(self, action: ArrayLike) -> tuple[NDArray[np.uint8], float, bool, bool, Info]:
        """Make one step; where the episode ends, the info says `why`."""
        out, reward, ended = self.core.step(np.asarray(action, np.float64)[None])
        code = int(ended[0])
        return out[0], float(reward[0]), code > 0, code < 0, {"why": self.core.why(code)} if code else {}

    def render(self) -> NDArray[np.uint8] | None:
        """Return what the learner sees (height, width, 3)."""
        return self.core.look()[0] if self.render_mode else None


class CameraVectorEnv(gymnasium.vector.VectorEnv[Any, Any, Any]):
    """Many learners; an episode that ends is followed by the next in the same step, its last picture in `final_obs`."""

    metadata: dict[str, Any] = {"render_modes": [], "autoreset_mode": AutoresetMode.SAME_STEP}  # noqa: RUF012

    def __init__(self, num_envs: int = 1, **changes: Any) -> None:
        self.core = CameraBatch(_options(changes), num_envs)
        self.num_envs = num_envs
        self.single_observation_space, self.single_action_space = _spaces(self.core)
        self.observation_space = gymnasium.vector.utils.batch_space(self.single_observation_space, num_envs)
        self.action_space = gymnasium.vector.utils.batch_space(self.single_action_space, num_envs)

    def reset(
        self, *, seed: int | Sequence[int] | None = None, options: Info | None = None
    ) -> tuple[NDArray[np.uint8], Info]:
        """Begin all episodes anew. There are no `options`."""
        super().reset(seed=seed if isinstance(seed, int) else None)
        return self.core.reset(seed), {}

    def step(self, actions: ArrayLike) -> tuple[NDArray[np.uint8], Any, Any, Any, Info]:
        """Make one step; see `trailbrake.env.gym.RaceVectorEnv.step` for what the info holds."""
        out, reward, ended = self.core.step(actions)
        over = np.flatnonzero(ended)
        if not len(over):
            return out, reward, ended > 0, ended < 0, {}
        mask = ended != 0
        final = np.full(self.num_envs, None, object)
        why = np.full(self.num_envs, "", object)
        for i in over.tolist():
            final[i] = out[i].copy()
            why[i] = self.core.why(int(ended[i]))
        self.core.restart(over, out)
        info = {
            "final_obs": final, "_final_obs": mask, "final_info": {"why": why, "_why": mask}, "_final_info": mask,
        }  # fmt: skip
        return out, reward, ended > 0, ended < 0, info


if NAME not in gymnasium.registry:
    gymnasium.register(
        NAME,
        entry_point="trailbrake.env.camera_gym:CameraEnv",
        vector_entry_point="trailbrake.env.camera_gym:CameraVectorEnv",
    )
