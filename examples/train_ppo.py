"""Trains a driver with PPO on a random road: `python examples/train_ppo.py`, then look at how far it gets."""

import numpy as np
from stable_baselines3 import PPO

from trailbrake.env.options import RaceOptions, Start
from trailbrake.env.sb3 import RaceVecEnv

OPTIONS = RaceOptions(
    track="pinegrove",
    period=0.05,  # a slower hand learns sooner
    substeps=50,
    observe=("motion", "lane", "asked", "bends"),
    rewards=("progress", "off_track", "smooth_steer"),
    ends=("off_road", "backward", "slow"),
    start=Start(speed=(5.0, 20.0)),
    limit=20.0,
)


def mean_return(policy, cars=64, steps=400):
    """Return the mean return of first episodes, a tenth per metre. None drives at random."""
    env = RaceVecEnv(cars, OPTIONS)
    env.seed(1)
    seen, gone, going = env.reset(), np.zeros(cars), np.ones(cars, bool)
    rng = np.random.default_rng(1)
    for _ in range(steps):
        action = rng.uniform(-1.0, 1.0, (cars, 2)) if policy is None else policy.predict(seen, deterministic=True)[0]
        seen, reward, ended, _ = env.step(action)
        gone += going * reward
        going &= ~ended
    return gone.mean()


def train(steps=1_500_000, cars=64):
    """Return a trained policy."""
    env = RaceVecEnv(cars, OPTIONS, threads=2)
    policy = PPO(
        "MlpPolicy", env, n_steps=128, batch_size=2048, n_epochs=5, gamma=0.98, learning_rate=7e-4,
        policy_kwargs={"net_arch": [128, 128], "log_std_init": -0.7}, device="cpu", seed=0,
    )  # fmt: skip
    return policy.learn(steps)


if __name__ == "__main__":
    print(f"return at random {mean_return(None):.1f}")
    policy = train()
    print(f"return after training {mean_return(policy):.1f}")
    policy.save("trailbrake_ppo")
