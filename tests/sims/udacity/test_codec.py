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


@pytest.mark.parametrize("data", [None, {}])
def test_driven_by_hand(data):
    assert codec.decode_telemetry(data) is None


def test_our_host_adds_a_clock_and_laps():
    message = MESSAGE._replace(time=1.04, lap=2)
    assert codec.decode_telemetry(codec.encode_telemetry(message)) == message


def test_each_field_stands_under_its_key_with_the_digits_of_the_simulator():
    full = UdacityTelemetry(-12.34567, 0.25001, 3.25, b"jpeg", 61.0625, 4)
    assert codec.encode_telemetry(full) == {
        "steering_angle": "-12.3457", "throttle": "0.2500", "speed": "3.2500",
        "image": base64.b64encode(b"jpeg").decode(), "time": "61.062", "lap": "4",
    }  # fmt: skip
    assert full._replace(time=None, lap=None) == UdacityTelemetry(-12.34567, 0.25001, 3.25, b"jpeg")


def test_what_the_simulator_leaves_out_is_0_or_unknown():
    assert codec.decode_telemetry({"speed": "2", "image": PNG}) == UdacityTelemetry(0.0, 0.0, 2.0, MESSAGE.image)


@pytest.mark.parametrize("key", ["steering_angle", "throttle", "speed", "time", "lap"])
def test_an_unreadable_number_is_one_line(key):
    with pytest.raises(WireError) as caught:
        codec.decode_telemetry(codec.encode_telemetry(MESSAGE) | {key: "x" * 60})
    assert str(caught.value) == f"{key}: not a number, got {'x' * 40}"


@pytest.mark.parametrize(
    ("decode", "data", "line"),
    [(codec.decode_telemetry, 5, "telemetry: not an object, got 5"),
     (codec.decode_telemetry, {"speed": 0}, "image: not base64, got None"),
     (codec.decode_telemetry, {"image": PNG}, "speed: not a number, got None"),
     (codec.decode_steer, 5, "steer: not an object, got 5"),
     (codec.decode_steer, {"throttle": 1}, "steering_angle: not a number, got None"),
     (codec.decode_steer, {"steering_angle": 1}, "throttle: not a number, got None")],
)  # fmt: skip
def test_what_cannot_be_read_is_one_line(decode, data, line):
    with pytest.raises(WireError) as caught:
        decode(data)
    assert str(caught.value) == line


def test_commands_are_held_within_what_the_simulator_takes():
    assert codec.decode_steer({"steering_angle": "7", "throttle": "-2.5"}) == UdacitySteer(1.0, -1.0)
