"""Helpers of the tests of environments."""

from trailbrake.env.batch import RaceBatch
from trailbrake.env.domain_randomisation import Start
from trailbrake.env.options import RaceOptions

ROLLING = Start(speed=(5.0, 20.0))


def made(n=1, *, seed=0, threads=1, **options):
    """A batch that has begun, and its first observations."""
    batch = RaceBatch(RaceOptions(**({"start": ROLLING} | options)), n, threads=threads)
    return batch, batch.reset(seed)


def gentle(rng, batch):
    """Random actions that keep a car on the road for a while."""
    action = batch.task.action
    return rng.uniform(-1.0, 1.0, (batch.n, action.width)) * (0.1, *([0.5] * (action.width - 1)))
