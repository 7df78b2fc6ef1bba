from types import MappingProxyType

import numpy as np
import pytest
from helpers.environments import made

from trailbrake.env.domain_randomisation import Start
from trailbrake.env.episode_info import describe_end, describe_ends, measure_episodes
from trailbrake.env.options import RaceOptions
from trailbrake.observe.features import Feature


class Batch:
    """Four learners on a road of 100 m: one before the end of its lap, one beyond, one that has just passed it, one
    that stands."""

    n, options = 4, RaceOptions(period=0.1, substeps=100)
    rows = MappingProxyType({
        Feature.TIME: [9.0, 12.0, 10.0, 5.0], Feature.DISTANCE: [99.0, 130.0, 101.0, 0.0],
        Feature.LAPS: [0.99, 1.3, 1.01, 0.0], Feature.PROGRESS: [2.0, 2.0, 4.0, 0.0],
    })  # fmt: skip

    def feature_values(self, feature):
        return np.array(self.rows[feature])

    def end_name(self, code):
        return {0: "", -1: "limit", 1: "lap"}[code]


def test_the_time_of_a_lap_is_that_of_its_end_within_the_step():
    figures = measure_episodes(Batch())
    assert figures["is_success"].tolist() == [False, True, True, False]
    # The lap ended 1 m of the step's 4 m before its end: a quarter of 0.1 s.
    assert figures["lap_time"].tolist() == pytest.approx([np.nan, np.nan, 9.975, np.nan], nan_ok=True)
    about = describe_end(Batch(), 1, figures, 2)
    assert about == {
        "why": "lap", "time": 10.0, "distance": 101.0, "progress": 1.01, "is_success": True,
        "lap_time": pytest.approx(9.975),
    }  # fmt: skip
    assert type(about["is_success"]) is bool


def test_the_info_of_many_masks_those_that_go_on():
    info = describe_ends(Batch(), np.array([0, -1, 1, 0]), measure_episodes(Batch()))
    assert info["why"].tolist() == ["", "limit", "lap", ""]
    assert info["time"].tolist() == [0.0, 12.0, 10.0, 0.0]
    assert info["is_success"].tolist() == [False, True, True, False]
    masks = [values.tolist() for name, values in info.items() if name.startswith("_")]
    assert masks == [[False, True, True, False]] * 6
    assert describe_ends(Batch(), np.zeros(4, int), {}) == {}


def test_a_real_step_is_measured():
    batch, _ = made(1, ends=("lap",), start=Start(offset=0.0, heading=0.0, speed=(20.0, 20.0)))
    batch.step([[0.0, 0.5]])
    figures = measure_episodes(batch)
    assert figures["time"][0] == pytest.approx(0.01)
    assert figures["distance"][0] == pytest.approx(0.2, rel=0.1)
    assert figures["progress"][0] == pytest.approx(figures["distance"][0] / batch.tracks[0].road.length)
