"""Frames of protocol page formula-trend, section 9, by hand: text both ways, and a picture."""

import base64
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trailbrake.errors import WireError
from trailbrake.sims.udacity import codec
from trailbrake.sims.udacity.codec import Steer, Telemetry
from trailbrake.transport import socketio

PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAACklEQVQIHWMAAgAABAABDTukuQAAAABJRU5ErkJggg=="
FRAME = f'42["telemetry",{{"steering_angle":"-2.5000","throttle":"0.3000","speed":"9.1000","image":"{PNG}"}}]'
MESSAGE = Telemetry(-2.5, 0.3, 9.1, base64.b64decode(PNG))


def test_the_golden_telemetry_both_ways():
    assert socketio.encode_event("telemetry", codec.encode_telemetry(MESSAGE)) == FRAME
    assert codec.decode_telemetry(socketio.decode_event(FRAME).data) == MESSAGE


def test_the_golden_answer_both_ways_is_text():
    frame = '42["steer",{"steering_angle":"-0.1","throttle":"0.3"}]'
    assert socketio.encode_event("steer", codec.encode_steer(Steer(-0.1, 0.3))) == frame
    assert codec.decode_steer(socketio.decode_event(frame).data) == Steer(-0.1, 0.3)
    # Python agents write whatever str() makes of a float.
    assert codec.decode_steer({"steering_angle": "-1.5", "throttle": "1e-05"}) == Steer(-1.0, 1e-5)


@pytest.mark.parametrize("data", [None, {}])
def test_driven_by_hand(data):
    assert codec.decode_telemetry(data) is None


@pytest.mark.parametrize(("key", "value"), [("speed", None), ("image", None), ("image", "%%%"), ("time", [])])
def test_an_unreadable_key_is_named(key, value):
    with pytest.raises(WireError, match=f"^{key}: "):
        codec.decode_telemetry(codec.encode_telemetry(MESSAGE) | {key: value})


def test_our_host_adds_a_clock_and_laps():
    message = MESSAGE._replace(time=1.04, lap=2)
    assert codec.decode_telemetry(codec.encode_telemetry(message)) == message


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=5,
)
KEYS = st.sampled_from([*Telemetry._fields])


@given(json_values | st.dictionaries(KEYS, json_values))
def test_any_data_is_a_message_or_a_wire_error(data):
    for decode in (codec.decode_telemetry, codec.decode_steer):
        try:
            message = decode(data)
        except WireError:
            continue
        if message is not None:
            assert all(v is None or isinstance(v, bytes) or math.isfinite(v) for v in message)
