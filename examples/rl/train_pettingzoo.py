"""PettingZoo: two cars on one road that share a policy, improved by random search.

`pip install "trailbrake[multi]"`, then `python examples/rl/train_pettingzoo.py`.
"""

from dataclasses import replace

import numpy as np

from trailbrake.env.catalogue import ENVIRONMENTS
from trailbrake.env.zoo import RaceParallel

RACE = ENVIRONMENTS["trailbrake/Race-v1"].options
OPTIONS = replace(RACE, cars=2, observe=(*RACE.observe, "rivals"), limit=20.0)


def score(weights, seed):
    """Return the mean reward of both cars in an episode, with a linear policy."""
    env = RaceParallel(OPTIONS)
    seen, _ = env.reset(seed=seed)
    total = 0.0
    while env.agents:
        actions = {agent: np.tanh(weights @ np.append(seen[agent], 1.0)) for agent in env.agents}
        seen, rewards, _, _, _ = env.step(actions)
        total += sum(rewards.values()) / len(env.possible_agents)
    env.close()
    return total


def train(generations, tries=8, spread=0.3, seed=0):
    """Return the best weights, and the best score of each generation: each tries changes of the best before."""
    rng = np.random.default_rng(seed)
    space = RaceParallel(OPTIONS).observation_space("car_0")
    best = np.zeros((2, space.shape[0] + 1))
    scores = [score(best, seed)]
    for _ in range(generations):
        candidates = best + spread * rng.standard_normal((tries, *best.shape))
        found = [score(weights, seed) for weights in candidates]
        if max(found) > scores[-1]:
            best = candidates[int(np.argmax(found))]
        scores.append(max(*found, scores[-1]))
    return best, scores


if __name__ == "__main__":
    _, scores = train(60)
    for k, value in enumerate(scores[::10]):
        print(f"generation {10 * k:3}: {value:6.2f}")
