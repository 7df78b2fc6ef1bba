import math

import numpy as np
import pytest

from trailbrake.dashboard.frame_history import HISTORY_S, FrameHistory


def rows(history):
    return np.frombuffer(history.encode_rows(), "<f8").reshape(-1, 2)


def test_half_a_minute_is_kept_at_thirty_hertz():
    history = FrameHistory()
    for k in range(40_000):
        history.add_row((k * 0.003, float(k)))
    kept = rows(history)
    assert kept[-1, 0] - kept[0, 0] == pytest.approx(HISTORY_S, abs=0.05)
    assert 800 <= len(kept) <= 901  # ticks of 3 ms: every twelfth
    assert np.diff(kept[:, 0]).min() > 0.033


def test_a_clock_that_runs_back_begins_anew():
    history = FrameHistory()
    for time in (10.0, 11.0, 12.0, 3.0, 3.5):
        history.add_row((time, 0.0))
    assert rows(history)[:, 0].tolist() == [3.0, 3.5]


def test_a_time_that_is_not_known_is_not_kept():
    history = FrameHistory()
    history.add_row((math.nan, 0.0))
    assert history.encode_rows() == b""
