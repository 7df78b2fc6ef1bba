import itertools

import numpy as np
import pytest

from trailbrake.dashboard.lap_follower import LapPath, compare_corners, find_corner_spans
from trailbrake.tracks.track_library import load_track


@pytest.fixture(scope="module")
def road():
    return load_track("pinegrove").road


def make_lap(road, speed_at, number=1):
    s = np.linspace(0.0, road.length, 4000)
    speed = np.array([speed_at(place) for place in s])
    clock = np.concatenate([[0.0], np.cumsum(np.diff(s) * 2.0 / (speed[1:] + speed[:-1]))])
    unknown = np.zeros((len(s), 4))
    return LapPath.from_samples(number, float(clock[-1]), np.column_stack([clock, s, unknown, speed, 0.0 * s]))


def test_the_stretches_of_the_corners_make_up_the_lap(road):
    spans = find_corner_spans(road)
    assert len(spans) >= 4
    assert spans[0].start == 0.0
    assert spans[-1].end == road.length
    assert all(a.end == b.start for a, b in itertools.pairwise(spans))
    assert all(span.start <= span.apex <= span.end for span in spans)
    assert find_corner_spans(load_track("northway").road) == []


def test_the_corner_that_was_driven_more_slowly_lost_the_time(road):
    spans = find_corner_spans(road)
    slow = spans[2]
    best = make_lap(road, lambda s: 30.0)
    lap = make_lap(road, lambda s: 20.0 if slow.start < s < slow.end else 30.0)
    rows = compare_corners(spans, lap, best)
    assert max(rows, key=lambda row: row["lost_s"])["number"] == slow.number
    assert rows[2]["slowest"] == 20.0
    assert rows[2]["lost_s"] == pytest.approx((slow.end - slow.start) * (1 / 20 - 1 / 30), abs=0.02)
    assert sum(row["time_s"] for row in rows) == pytest.approx(lap.time_s, abs=0.01)
    assert abs(rows[0]["lost_s"]) < 0.01
    assert compare_corners(spans, lap, None)[0]["lost_s"] is None
