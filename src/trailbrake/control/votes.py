"""A steer as votes for places between full right and full left: a network may be of two minds, and must not average.

Before a fork the left branch is right and the right branch is right; their mean is the wall between them. So the votes
are counted, and the steer is their mean near the place that has most of them.
"""

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]
SPREAD = 0.06  # of a label's votes, share of the lock
NEAR = 0.2  # share of the lock: votes that far from the place with most votes count


def places(count: int) -> Floats:
    """Return the steers that are voted for, `count` of them from -1 (right) to 1 (left)."""
    return np.linspace(-1.0, 1.0, count, dtype=np.float32)


def votes_for(steers: Floats, count: int) -> Floats:
    """Return the votes (n, count) that `steers` (n,) should get, each row's sum 1: a normal curve round it."""
    apart = (places(count)[None, :] - steers[:, None]) / SPREAD
    votes = np.exp(-0.5 * apart * apart)
    total: Floats = votes / votes.sum(axis=1, keepdims=True)
    return total.astype(np.float32)


def elected(logits: Floats) -> Floats:
    """Return the steers (n,) behind logits (n, count)."""
    at = places(logits.shape[1])
    votes = np.exp(logits - logits.max(axis=1, keepdims=True))
    # Smoothed first: one place with a lucky vote more must not win over a whole neighbourhood.
    apart = (at[None, :] - at[:, None]) / SPREAD
    best = at[(votes @ np.exp(-0.5 * apart * apart).astype(np.float32)).argmax(axis=1)]
    votes = np.where(np.abs(at[None, :] - best[:, None]) <= NEAR, votes, 0.0)
    steers: Floats = ((votes @ at) / votes.sum(axis=1)).astype(np.float32)
    return steers
