import numpy as np
import pytest
from helpers.environments import made

from trailbrake.env.domain_randomisation import Start
from trailbrake.env.road_worlds import MAX_SPEED
from trailbrake.observe.features import Feature
from trailbrake.world.row_layout import StateRow


@pytest.mark.parametrize("track", ["pinegrove", "kartwerk"])
def test_rivals_stay_on_the_road_and_get_on(track):
    worlds, cars, seconds = 6, 2, 25
    # The learner starts behind all others only in order of the grid: the first car; it brakes and is left standing.
    start = Start(speed=(5.0, 10.0), heading=0.05, gap=40.0)
    batch, _ = made(worlds, track=track, cars=cars, rivals=True, ends=(), limit=1e9, start=start)
    features = batch._road_worlds[0][0].features
    away, off, driven = np.tile([0.0, 0.4], (worlds, 1)), 0.0, 0.0
    for k in range(100 * seconds):
        batch.step(away)
        if k == 100 * seconds // 2:
            driven = features[Feature.DISTANCE, 1 : worlds * cars : cars].copy()
        off += features[Feature.OFF_TRACK, 1 : worlds * cars : cars]
    assert (off == 0.0).mean() >= 0.8, off
    assert features[Feature.DISTANCE, 1 : worlds * cars : cars].max() <= MAX_SPEED * seconds + 10.0
    assert np.median(features[Feature.DISTANCE, 1 : worlds * cars : cars] - driven) > 100.0


@pytest.mark.parametrize("slipstream", [False, True])
def test_slipstream_is_an_option_of_the_worlds(slipstream):
    """Cars 20 m behind each other at 50 m/s."""
    start = Start(speed=(50.0, 50.0), heading=0.0, offset=0.0, gap=20.0)
    batch, _ = made(3, track="hartmoor", cars=3, rivals=True, slipstream=slipstream, start=start)
    batch.step(np.zeros((3, 2)))
    lost = batch._road_worlds[0][0].batch.get_row(StateRow.WAKE_LIFT)
    assert np.count_nonzero(lost > 0.1) == (6 if slipstream else 0)
