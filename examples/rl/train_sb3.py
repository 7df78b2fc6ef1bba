"""Stable-Baselines3: PPO with its default settings learns to drive laps.

`pip install "trailbrake[rl]"`, then `python examples/rl/train_sb3.py`.
"""

import gymnasium
import torch
from stable_baselines3 import PPO

import trailbrake  # noqa: F401 - gymnasium knows the names of its environments then

NAME = "trailbrake/Race-v1"
torch.set_num_threads(1)  # several wait for each other longer than they compute, with networks so small


def train(steps, seed=0):
    """Return a policy that was trained for a number of steps, 0.1 s each."""
    policy = PPO("MlpPolicy", gymnasium.make(NAME), seed=seed, device="cpu", verbose=1)
    return policy.learn(steps, log_interval=10)  # a table of figures every 20 480 steps


def drive(policy, episodes=10, seed=1):
    """Drive episodes from random places, and return the info of each: its end, lap time, progress."""
    env = gymnasium.make(NAME)
    ends, (seen, _) = [], env.reset(seed=seed)
    while len(ends) < episodes:
        seen, _, terminated, truncated, info = env.step(policy.predict(seen, deterministic=True)[0])
        if terminated or truncated:
            ends.append(info)
            seen, _ = env.reset()
    return ends


if __name__ == "__main__":
    policy = train(300_000)
    policy.save("trailbrake_ppo")
    for end in drive(policy):
        print(f"{end['why']:10} {100.0 * end['progress']:5.0f} % of a lap, lap time {end['lap_time']:.2f} s")
