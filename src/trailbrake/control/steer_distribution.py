"""A steer as a distribution over bins between full right and full left, because the mean of two steers may be wrong.

Before a fork both branches are correct, and their mean hits the wall between them. So the steer is the mean of the
votes near the bin that has most of them.
"""

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]
VOTE_WIDTH = 0.06  # standard deviation of a label's votes, share of the lock
ELECTION_WIDTH = 0.2  # share of the lock: votes within this distance of the best bin count


def steer_bins(count: int) -> Floats:
    """Return the steers of `count` bins from -1 (right) to 1 (left)."""
    return np.linspace(-1.0, 1.0, count, dtype=np.float32)


def steer_votes(steers: Floats, count: int) -> Floats:
    """Return the votes (n, count) for `steers` (n,): a normal distribution around each, with sum 1."""
    apart = (steer_bins(count)[None, :] - steers[:, None]) / VOTE_WIDTH
    votes = np.exp(-0.5 * apart * apart)
    total: Floats = votes / votes.sum(axis=1, keepdims=True)
    return total.astype(np.float32)


def elect_steer(logits: Floats) -> Floats:
    """Return the steers (n,) that logits (n, count) elect."""
    at = steer_bins(logits.shape[1])
    votes = np.exp(logits - logits.max(axis=1, keepdims=True))
    # Smoothed first: a single bin must not win over a whole neighbourhood.
    apart = (at[None, :] - at[:, None]) / VOTE_WIDTH
    best = at[(votes @ np.exp(-0.5 * apart * apart).astype(np.float32)).argmax(axis=1)]
    votes = np.where(np.abs(at[None, :] - best[:, None]) <= ELECTION_WIDTH, votes, 0.0)
    steers: Floats = ((votes @ at) / votes.sum(axis=1)).astype(np.float32)
    return steers
