import numpy as np
import pytest
from helpers.environments import made

from trailbrake.env.options import Start
from trailbrake.env.road_worlds import MAX_SPEED
from trailbrake.observe.features import Feature


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
