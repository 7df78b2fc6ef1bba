"""A road from its two edges, against roads whose middle, width and bank are known."""

import math

import numpy as np
import pytest

from trailbrake.errors import DataError
from trailbrake.learning.edge_survey import HALF_CAR, survey_edges
from trailbrake.tracks.road import RoadColumn
from trailbrake.tracks.track_library import load_track


def drive_edges(road, bank=0.0, noise=0.0, first=0.0, beyond=8.0):
    """Return places along both edges of a road, the wheels on the lines; circuits are driven `beyond` m too far."""
    rng = np.random.default_rng(3)
    paths = []
    for side, column in ((1.0, RoadColumn.WIDTH_LEFT), (-1.0, RoadColumn.WIDTH_RIGHT)):
        s = np.arange(first, first + road.length + (beyond if road.closed else -2.0), 0.4)
        points = []
        for at in s:
            at = at % road.length if road.closed else at
            offset = side * (road.value_at(at, column) - HALF_CAR)
            x, y, z = road.point(float(at), float(offset))
            points.append((x, y, z + offset * math.sin(bank)))
        paths.append(np.array(points) + noise * rng.standard_normal((len(points), 3)))
    return paths


@pytest.mark.parametrize("name", ["kartwerk", "pinegrove"])
def test_a_circuit_comes_back_with_middle_width_and_bank(name):
    truth = load_track(name).road
    found = survey_edges(*drive_edges(truth, bank=0.03, noise=0.01))
    road = found.road
    assert road.closed
    assert road.length == pytest.approx(truth.length, rel=0.005)
    offset = truth.locate_many(road.table[:, [RoadColumn.X, RoadColumn.Y]], 0)[:, 1]
    assert np.sqrt(np.mean(offset**2)) < 0.15
    width = np.median(truth.column(RoadColumn.WIDTH_LEFT) + truth.column(RoadColumn.WIDTH_RIGHT))
    assert 2.0 * found.half_width == pytest.approx(width, abs=0.15)
    bank = np.median(truth.column(RoadColumn.BANK)) + 0.03
    assert np.median(road.column(RoadColumn.BANK)) == pytest.approx(bank, abs=0.005)


def test_an_open_road_keeps_its_climb():
    truth = load_track("serpent_pass").road
    road = survey_edges(*drive_edges(truth)).road
    assert not road.closed
    ends = road.column(RoadColumn.Z)[[0, -1]]
    assert ends[1] - ends[0] == pytest.approx(truth.column(RoadColumn.Z)[-1] - truth.column(RoadColumn.Z)[0], abs=1.0)
    offset = truth.locate_many(road.table[5:-5, [RoadColumn.X, RoadColumn.Y]], 0)[:, 1]
    assert np.abs(offset).max() < 0.8


def test_what_are_no_edges_is_said():
    truth = load_track("kartwerk").road
    left, right = drive_edges(truth)
    with pytest.raises(DataError, match="the left edge is on the right"):
        survey_edges(right, left)
    with pytest.raises(DataError, match="left edge: too short a drive for a map"):
        survey_edges(left[:50], right)
    with pytest.raises(DataError, match="right edge: the drive jumps"):
        survey_edges(left, np.delete(right, slice(100, 200), axis=0))
    with pytest.raises(DataError, match="one drive goes round a circuit and the other does not"):
        survey_edges(left, right[: len(right) // 2])
    with pytest.raises(DataError, match="no edges of one road"):
        survey_edges(left, left)
