"""`RaceParallel`: the cars of one world as agents of PettingZoo that act at the same time."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from trailbrake.arrays import Rows
from trailbrake.env.batch import RaceBatch
from trailbrake.env.episode_info import describe_end, measure_episodes
from trailbrake.env.gym import change_options, spaces_of
from trailbrake.env.options import RaceOptions
from trailbrake.env.race_pictures import RacePictures, check_render_mode
from trailbrake.errors import UsageError

try:
    from pettingzoo import ParallelEnv
except ImportError as error:
    raise UsageError(
        "pettingzoo is missing", where="trailbrake.env.zoo", hint='pip install "trailbrake[multi]"'
    ) from error


_DEFAULT_PARTS = ("motion", "lane", "asked", "bends", "rivals")


class RaceParallel(ParallelEnv[str, Rows, NDArray[np.floating]]):
    """The cars of one world. A car whose episode has ended brakes to a standstill and stays there.

    Args:
        options: the environment; None for the defaults. `options.cars` agents named `car_0`, `car_1`, ...
        render_mode: "rgb_array": `render` returns a picture.
        changes: options to change, by name.
    """

    metadata: dict[str, Any] = {"render_modes": ["rgb_array"], "name": "trailbrake_race_v0", "is_parallelizable": True}  # noqa: RUF012

    def __init__(self, options: RaceOptions | None = None, *, render_mode: str | None = None, **changes: Any) -> None:
        options = change_options(options or RaceOptions(cars=2, observe=_DEFAULT_PARTS), changes)
        if options.rivals:
            raise UsageError("all cars are agents", where="rivals", expected="False", got="True")
        self.core = RaceBatch(options, options.cars)
        self.render_mode = check_render_mode(render_mode, ("rgb_array",))
        self.metadata = {**self.metadata, "render_fps": round(1.0 / options.period)}
        self._pictures = RacePictures(self.core.view_race)
        self.possible_agents = [f"car_{i}" for i in range(options.cars)]
        self.agents: list[str] = []
        spaces = {agent: spaces_of(self.core.task) for agent in self.possible_agents}
        self.observation_spaces = {agent: pair[0] for agent, pair in spaces.items()}
        self.action_spaces = {agent: pair[1] for agent, pair in spaces.items()}
        action = self.core.task.action
        stop = np.zeros(action.width)
        stop[action.brake[0]] = action.brake[1]
        self._stop = stop

    def observation_space(self, agent: str) -> Any:
        """Return the space of an agent's observations."""
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> Any:
        """Return the space of an agent's actions."""
        return self.action_spaces[agent]

    def reset(
        self, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, Rows], dict[str, dict[str, Any]]]:
        """Start an episode of all agents. No `options` exist; PettingZoo has unknown ones ignored."""
        out = self.core.reset(seed)
        self.agents = list(self.possible_agents)
        return dict(zip(self.agents, out, strict=True)), {agent: {} for agent in self.agents}

    def step(
        self, actions: dict[str, NDArray[np.floating]]
    ) -> tuple[dict[str, Rows], dict[str, float], dict[str, bool], dict[str, bool], dict[str, dict[str, Any]]]:
        """Make one step; agents whose episodes end leave, with an info as `describe_end` returns it."""
        values = np.tile(self._stop, (len(self.possible_agents), 1))
        places = {agent: self.possible_agents.index(agent) for agent in self.agents}
        for agent, place in places.items():
            if agent not in actions:
                raise UsageError("no action", where=agent, expected="one for each agent", got=", ".join(actions))
            values[place] = actions[agent]
        out, reward, ended = self.core.step(values)
        codes = {agent: int(ended[place]) for agent, place in places.items()}
        seen = {agent: out[place] for agent, place in places.items()}
        rewards = {agent: float(reward[place]) for agent, place in places.items()}
        figures = measure_episodes(self.core)
        infos = {
            agent: describe_end(self.core, code, figures, places[agent]) if code else {}
            for agent, code in codes.items()
        }
        self.agents = [agent for agent, code in codes.items() if code == 0]
        terminated = {agent: code > 0 for agent, code in codes.items()}
        return seen, rewards, terminated, {agent: code < 0 for agent, code in codes.items()}, infos

    def close(self) -> None:
        """End the threads."""
        self.core.close()

    def render(self) -> NDArray[np.uint8] | None:
        """Return a picture (480, 720, 3) uint8 of the road around the first car, with "rgb_array" alone."""
        return self._pictures.draw_picture() if self.render_mode else None
