"""Frames of protocol page formula-trend, section 9, by hand: text both ways, and a picture."""

import base64

import pytest

from trailbrake.errors import WireError
from trailbrake.sims.udacity import codec
from trailbrake.sims.udacity.codec import UdacitySteer, UdacityTelemetry
from trailbrake.transport import socketio

PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAACklEQVQIHWMAAgAABAABDTukuQAAAABJRU5ErkJggg=="
FRAME = f'42["telemetry",{{"steering_angle":"-2.5000","throttle":"0.3000","speed":"9.1000","image":"{PNG}"}}]'
MESSAGE = UdacityTelemetry(-2.5, 0.3, 9.1, base64.b64decode(PNG))


def test_the_golden_telemetry_both_ways():
    assert socketio.encode_event("telemetry", codec.encode_telemetry(MESSAGE)) == FRAME
    assert codec.decode_telemetry(socketio.decode_event(FRAME).data) == MESSAGE


def test_the_golden_answer_both_ways_is_text():
    frame = '42["steer",{"steering_angle":"-0.1","throttle":"0.3"}]'
    assert socketio.encode_event("steer", codec.encode_steer(UdacitySteer(-0.1, 0.3))) == frame
    assert codec.decode_steer(socketio.decode_event(frame).data) == UdacitySteer(-0.1, 0.3)
    # Python agents write whatever str() makes of a float.
    assert codec.decode_steer({"steering_angle": "-1.5", "throttle": "1e-05"}) == UdacitySteer(-1.0, 1e-5)


def test_each_field_stands_under_its_key_with_the_digits_of_the_simulator():
    full = UdacityTelemetry(-12.34567, 0.25001, 3.25, b"jpeg", 61.0625, 4)
    assert codec.encode_telemetry(full) == {
        "steering_angle": "-12.3457", "throttle": "0.2500", "speed": "3.2500",
        "image": base64.b64encode(b"jpeg").decode(), "time": "61.062", "lap": "4",
    }  # fmt: skip
    assert full._replace(time=None, lap=None) == UdacityTelemetry(-12.34567, 0.25001, 3.25, b"jpeg")


def test_what_the_simulator_leaves_out_is_0_or_unknown():
    assert codec.decode_telemetry({"speed": "2", "image": PNG}) == UdacityTelemetry(0.0, 0.0, 2.0, MESSAGE.image)


def test_a_telemetry_without_its_picture_is_one_line():
    with pytest.raises(WireError, match=r"^image: not base64, got None$"):
        codec.decode_telemetry({"speed": 0})
