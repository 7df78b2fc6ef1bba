import json

import pytest

from trailbrake.dashboard.page_requests import PageRequest, decode_request
from trailbrake.errors import WireError


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
