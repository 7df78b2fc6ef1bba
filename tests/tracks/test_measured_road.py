"""Open roads and circuits, and what lies along them."""

import numpy as np
import pytest

from trailbrake.tracks.centreline_smoothing import MeasuredLine
from trailbrake.tracks.measured_road import MeasuredPoints, build_measured_track, is_circuit
from trailbrake.tracks.road_columns import RoadColumn

ANGLE = np.linspace(0.0, 2.0 * np.pi, 120, endpoint=False)
HALF = np.full(120, 4.0)


def test_two_ends_side_by_side_are_no_circuit_unless_one_leads_on_into_the_other():
    assert is_circuit(100.0 * np.cos(ANGLE), 100.0 * np.sin(ANGLE))
    assert not is_circuit(np.arange(50.0) * 10.0, np.zeros(50))
    there_and_back = np.concatenate([np.arange(0.0, 500.0, 10.0), np.arange(500.0, 0.0, -10.0)])
    assert not is_circuit(there_and_back, np.where(np.arange(100) < 50, 0.0, 20.0))


@pytest.mark.parametrize("way", [1, -1])
@pytest.mark.parametrize("begin", range(8))
def test_a_line_drawn_shut_is_a_circuit_whatever_its_bend_there(begin, way):
    oval = np.roll([(0, 0), (150, 0), (300, 0), (340, 30), (300, 60), (150, 60), (0, 60), (-40, 30)], begin, axis=0)
    x, y = np.concatenate([oval, oval[:1]])[::way].T
    assert is_circuit(x, y)


def test_a_line_that_returns_by_its_own_way_is_no_circuit():
    there = np.arange(0.0, 500.0, 10.0)
    assert not is_circuit(np.concatenate([there, there[::-1]]), np.zeros(100))


@pytest.mark.parametrize("closed", [True, False])
def test_a_hill_has_its_height_and_grade(closed):
    x, y = (200.0 * np.cos(ANGLE), 200.0 * np.sin(ANGLE)) if closed else (10.0 * np.arange(120), np.zeros(120))
    length = 2.0 * np.pi * 200.0 if closed else 1190.0
    height = 5.0 * np.sin(ANGLE)
    points = MeasuredPoints(MeasuredLine(x, y, HALF, HALF), height, closed, ("made up",))
    track = build_measured_track(points, "hill", 5.0, "hill.csv")
    road = track.road
    assert road.closed == closed
    assert track.source == "points from hill.csv; made up"
    s = road.stations() * 2.0 * np.pi / length
    inner = slice(60, -60)
    assert road.column(RoadColumn.Z)[inner] == pytest.approx(5.0 * np.sin(s)[inner], abs=0.3)
    grade = 5.0 * 2.0 * np.pi / length * np.cos(s)
    assert road.column(RoadColumn.GRADE)[inner] == pytest.approx(grade[inner], abs=4e-3)
