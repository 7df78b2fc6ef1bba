"""Trains a driver with PPO in a few minutes: `pip install "trailbrake[rl]"`, then `python examples/train_ppo.py`."""

import numpy as np
import torch
from stable_baselines3 import PPO

from trailbrake.env.batch import RaceBatch
from trailbrake.env.options import RaceOptions, Start
from trailbrake.env.sb3 import RaceVecEnv
from trailbrake.observe.features import Feature
from trailbrake.observe.rewards import Reward

OPTIONS = RaceOptions(
    track="pinegrove",
    period=0.05,  # a slower hand learns sooner
    substeps=50,
    observe=("motion", "lane", "asked", "bends"),
    rewards=(
        "progress",
        "off_track",
        Reward("calm", "price of the squared change of steer", Feature.STEER_CHANGE, -0.1),
    ),
    ends=("off_road", "backward", "slow"),
    start=Start(speed=(5.0, 20.0)),
    limit=20.0,
)


def distance(policy, cars=64):
    """Return how far a policy gets on average in its first 20 s, or until it leaves the road, m. None: at random."""
    batch = RaceBatch(OPTIONS, cars)
    seen, gone, going = batch.reset(1), np.zeros(cars), np.ones(cars, bool)
    rng = np.random.default_rng(1)
    while going.any():
        action = rng.uniform(-1.0, 1.0, (cars, 2)) if policy is None else policy.predict(seen, deterministic=True)[0]
        seen, _, ended = batch.step(action)
        gone = np.where(going, batch.feature_values(Feature.DISTANCE), gone)
        going &= ended == 0
    return float(gone.mean())


def train(steps=1_000_000, cars=128):
    """Return a trained policy."""
    torch.set_num_threads(1)  # networks this small only wait for each other
    env = RaceVecEnv(cars, OPTIONS, threads=2)
    env.seed(0)
    policy = PPO(
        "MlpPolicy", env, n_steps=64, batch_size=1024, n_epochs=5, gamma=0.98, learning_rate=1e-3, seed=0, device="cpu",
        policy_kwargs={"net_arch": [64, 64], "log_std_init": -0.7},
    )  # fmt: skip
    return policy.learn(steps)


if __name__ == "__main__":
    print(f"at random {distance(None):.0f} m")
    policy = train()
    print(f"after training {distance(policy):.0f} m")
    policy.save("trailbrake_ppo")
