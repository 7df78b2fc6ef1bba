"""Rollouts whose observations are noise and whose rewards depend on one step alone, for learners without a world."""

import numpy as np

from trailbrake.train.rl.rollout import Rollout


def drive_bandit(learner, rng, reward, steps=20, n=32):
    """Return a rollout of n cars that the learner's actor drives; `reward` is a function of observation and outputs."""
    weights = learner.export_weights()
    learner.actor.load_weights(weights)
    seen = rng.normal(size=(steps + 1, n, 3)).astype(np.float32)
    pairs = [
        learner.actor.sample_outputs(
            (row - weights["mean"]) / weights["scale"], rng.standard_normal((n, 2), np.float32)
        )
        for row in seen[:-1]
    ]
    outputs, log_probs = (np.array(part) for part in zip(*pairs, strict=True))
    rewards = np.array([reward(a, b) for a, b in zip(seen[:-1], outputs, strict=True)], np.float32)
    return Rollout(seen, outputs, log_probs, rewards, np.ones((steps, n), bool), np.zeros((steps, n), np.float32))
