import json
import math

import numpy as np
import pytest

from trailbrake.dashboard.frame_source import HISTORY_S, FrameHistory, PageRequest, decode_request
from trailbrake.errors import WireError


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


def test_a_request():
    text = json.dumps({"action": "seek", "values": [12.5]})
    assert decode_request(text) == PageRequest("seek", (12.5,))
    assert decode_request('{"action": "gain", "values": [1], "name": "speed"}') == PageRequest("gain", (1.0,), "speed")


@pytest.mark.parametrize(
    "text",
    [
        "", "seek", "[]", "{}", '{"action": 1}', '{"action": "seek", "values": ["1"]}',
        '{"action": "seek", "values": [true]}', '{"action": "seek", "values": [1e999]}',
        '{"action": "seek", "values": [' + "9" * 400 + "]}", '{"action": "seek", "values": [NaN]}',
        '{"action": "seek", "more": 1}', json.dumps({"action": "x" * 41}),
        json.dumps({"action": "ghosts", "values": list(range(17))}), "[" * 900,
    ],
)  # fmt: skip
def test_what_is_no_request_is_refused(text):
    with pytest.raises(WireError, match="request of a page"):
        decode_request(text)
