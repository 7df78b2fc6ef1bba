"""A loop in the style of CleanRL: all of PPO in one file.

`pip install "trailbrake[rl]"`, then `python examples/rl/train_cleanrl.py`.
"""

import gymnasium
import numpy as np
import torch
from gymnasium.wrappers.vector import RecordEpisodeStatistics
from torch import nn

import trailbrake  # noqa: F401 - gymnasium knows the names of its environments then

STEPS, EPOCHS, BATCH, GAMMA, LAMBDA, CLIP, RATE = 128, 10, 256, 0.99, 0.95, 0.2, 3e-4


class Agent(nn.Module):
    """A mean and a value, each by a network of its own."""

    def __init__(self, inputs, outputs):
        super().__init__()
        self.mean, self.value = (
            nn.Sequential(nn.Linear(inputs, 64), nn.Tanh(), nn.Linear(64, 64), nn.Tanh(), nn.Linear(64, n))
            for n in (outputs, 1)
        )
        self.log_std = nn.Parameter(torch.zeros(outputs))

    def spread(self, seen):
        return torch.distributions.Normal(self.mean(seen), self.log_std.exp())


def train(steps, cars=16, seed=0):
    """Return the agent, and the returns of all episodes in the order in which they ended."""
    torch.manual_seed(seed)
    torch.set_num_threads(1)  # networks this small only wait for each other
    envs = gymnasium.make_vec("trailbrake/Race-v1", num_envs=cars, vectorization_mode="vector_entry_point",
                              autoreset_mode="NextStep", clip_actions=True)  # fmt: skip
    envs = RecordEpisodeStatistics(envs, buffer_length=10**6)
    agent = Agent(envs.single_observation_space.shape[0], envs.single_action_space.shape[0])
    optimizer = torch.optim.Adam(agent.parameters(), lr=RATE, eps=1e-5)
    seen, over = torch.tensor(envs.reset(seed=seed)[0]), torch.zeros(cars)
    for _ in range(steps // (STEPS * cars)):
        rows = []
        for _ in range(STEPS):
            with torch.no_grad():
                spread, value = agent.spread(seen), agent.value(seen)[:, 0]
                action = spread.sample()
            was_over = over  # this step resets these: it is no step of theirs
            after, reward, terminated, truncated, _ = envs.step(action.numpy())
            rows.append((seen, action, spread.log_prob(action).sum(1), value, torch.tensor(reward, dtype=torch.float32),
                         torch.tensor(terminated).float(), was_over))  # fmt: skip
            seen, over = torch.tensor(after), torch.tensor(terminated | truncated).float()
        observations, actions, log_probs, values, rewards, ended, resets = map(torch.stack, zip(*rows, strict=True))
        with torch.no_grad():
            following = torch.cat([values[1:], agent.value(seen)[:, 0][None]])
        advantages, advantage = torch.zeros_like(rewards), torch.zeros(cars)
        for k in reversed(range(STEPS)):
            error = rewards[k] + GAMMA * following[k] * (1.0 - ended[k]) - values[k]
            later_resets = resets[k + 1] if k + 1 < STEPS else over
            advantages[k] = advantage = error + GAMMA * LAMBDA * (1.0 - later_resets) * advantage
        keep = (resets == 0.0).flatten()
        data = [
            part.flatten(0, 1)[keep] for part in (observations, actions, log_probs, advantages, advantages + values)
        ]
        for _ in range(EPOCHS):
            for chosen in torch.randperm(len(data[0])).split(BATCH):
                o, a, old, gain, target = (part[chosen] for part in data)
                ratio = (agent.spread(o).log_prob(a).sum(1) - old).exp()
                gain = (gain - gain.mean()) / (gain.std() + 1e-8)
                loss = -torch.min(gain * ratio, gain * ratio.clamp(1.0 - CLIP, 1.0 + CLIP)).mean()
                loss = loss + 0.5 * (agent.value(o)[:, 0] - target).square().mean()
                optimizer.zero_grad()
                loss.backward()
                nn.utils.clip_grad_norm_(agent.parameters(), 0.5)
                optimizer.step()
    return agent, np.array(envs.return_queue)


if __name__ == "__main__":
    _, returns = train(1_000_000)
    for part in np.array_split(returns, 20):
        print(f"{len(part):5} episodes, mean return {part.mean():.2f}")
