"""A loop in the shape of Sample Factory: processes that drive, and a learner that never waits for all.

`pip install "trailbrake[rl]"`, then `python examples/rl/train_async.py`.
"""

import multiprocessing
from dataclasses import replace

import torch
from torch import nn

from trailbrake.env.batch import RaceBatch
from trailbrake.env.catalogue import ENVIRONMENTS

OPTIONS = replace(ENVIRONMENTS["trailbrake/Race-v1"].options, clip_actions=True)
CARS, STEPS, GAMMA, CLIP = 32, 64, 0.99, 0.2


def make_policy(inputs=21):
    """Return a network of mean, spread (its last two numbers) and value."""
    return nn.Sequential(nn.Linear(inputs, 64), nn.Tanh(), nn.Linear(64, 64), nn.Tanh(), nn.Linear(64, 5))


def spread_and_value(policy, seen):
    out = policy(seen)
    return torch.distributions.Normal(out[..., :2], (out[..., 2:4] - 0.5).exp()), out[..., 4]


def roll_out(policy, seed, rollouts):
    """Drive with the newest shared weights, and put rollouts into a queue, for ever."""
    torch.set_num_threads(1)
    torch.manual_seed(seed)
    batch = RaceBatch(OPTIONS, CARS)
    seen = batch.reset(seed)
    while True:
        rows = []
        for _ in range(STEPS):
            now = torch.tensor(seen)
            with torch.no_grad():
                spread, _ = spread_and_value(policy, now)
                action = spread.sample()
            seen, reward, ends = batch.step(action.numpy())
            batch.restart(ends.nonzero()[0], seen)
            rows.append((now, action, spread.log_prob(action).sum(1), torch.tensor(reward, dtype=torch.float32),
                         torch.tensor(ends != 0).float()))  # fmt: skip
        rollouts.put([*(part.numpy() for part in map(torch.stack, zip(*rows, strict=True))), seen])


def learn(policy, optimizer, rollout):
    """Make a step of PPO on a rollout of weights that may be a little old; return its mean reward."""
    seen, action, old, reward, ended, last = map(torch.tensor, rollout)
    with torch.no_grad():
        value = spread_and_value(policy, last)[1]
        targets = torch.empty_like(reward)
        for k in reversed(range(STEPS)):
            targets[k] = value = reward[k] + GAMMA * value * (1.0 - ended[k])
    for _ in range(4):
        spread, value = spread_and_value(policy, seen)
        gain = targets - value.detach()
        gain = (gain - gain.mean()) / (gain.std() + 1e-8)
        ratio = (spread.log_prob(action).sum(2) - old).exp()
        loss = -torch.min(gain * ratio, gain * ratio.clamp(1.0 - CLIP, 1.0 + CLIP)).mean()
        loss = loss + 0.5 * (value - targets).square().mean()
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(policy.parameters(), 0.5)
        optimizer.step()
    return reward.mean().item()


def train(updates, workers=2):
    """Return the policy and the mean reward of each rollout."""
    context = multiprocessing.get_context("spawn")
    policy, rollouts = make_policy().share_memory(), context.Queue(2 * workers)
    drivers = [context.Process(target=roll_out, args=(policy, k, rollouts), daemon=True) for k in range(workers)]
    for driver in drivers:
        driver.start()
    optimizer = torch.optim.Adam(policy.parameters(), lr=1e-3)
    rewards = [learn(policy, optimizer, rollouts.get()) for _ in range(updates)]
    for driver in drivers:
        driver.terminate()
        driver.join()
    return policy, rewards


if __name__ == "__main__":
    _, rewards = train(500)
    for k in range(0, len(rewards), 25):
        mean = sum(rewards[k : k + 25]) / 25.0
        print(
            f"{k * STEPS * CARS:8} steps: {mean / OPTIONS.period / OPTIONS.rewards[0].weight:6.1f} m/s along the road"
        )
