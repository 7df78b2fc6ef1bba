"""The strings of protocol page formula-trend, sections 2 and 3, by hand."""

import base64
import json

import pytest

from trailbrake.errors import WireError
from trailbrake.sims.trend import codec
from trailbrake.sims.trend.codec import TrendSteer, TrendTelemetry
from trailbrake.transport import socketio

PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAACklEQVQIHWMAAgAABAABDTukuQAAAABJRU5ErkJggg=="
FRAME = (
    '42["telemetry",{"steering_angle":"0.0000","throttle":"0.0000","brakes":"0.0000","speed":"0.0000",'
    '"time":"1.000","lap":"1","status":"0","image":"' + PNG + '"}]'
)
AT_START = TrendTelemetry(0.0, 0.0, 0.0, 0.0, 1.0, 1, 0, base64.b64decode(PNG))


def test_the_golden_telemetry_both_ways():
    assert socketio.encode_event(codec.TELEMETRY, codec.encode_telemetry(AT_START)) == FRAME
    assert codec.decode_telemetry(socketio.decode_event(FRAME).data) == AT_START


def test_the_golden_answer_both_ways():
    frame = '42["steer",{"steering_angle":"-2.532195685835447","throttle":"0.052730842092947317"}]'
    message = codec.decode_steer(socketio.decode_event(frame).data)
    assert message == TrendSteer(-2.532195685835447, 0.052730842092947317)
    again = json.loads(socketio.encode_event(codec.STEER, codec.encode_steer(message))[2:])
    assert {key: float(value) for key, value in again[1].items()} == message._asdict()
    assert all(isinstance(value, str) for value in again[1].values())


@pytest.mark.parametrize(
    ("text", "value"), [("33.041", 33.041), ("1:02.5", 62.5), ("1:00:01", 3601.0), (7, 7.0), ("0:33,041", 33.041)]
)
def test_clocks(text, value):
    assert codec.parse_clock(text, "time") == pytest.approx(value)


@pytest.mark.parametrize("text", ["1:2:3:4", ":", "a:b"])
def test_what_is_no_clock(text):
    with pytest.raises(WireError, match="time: not a"):
        codec.parse_clock(text, "time")
    with pytest.raises(WireError, match=rf"^time: not a time, expected h:mm:ss, got {'1:' * 20}$"):
        codec.parse_clock("1:" * 30, "time")


def test_early_versions_send_no_lap_and_others_send_more():
    data = {"speed": "1,5", "time": "0:10", "image": PNG, "weather": "fine"}
    message = codec.decode_telemetry(data)
    assert (message.speed, message.time, message.lap, message.status) == (1.5, 10.0, 1, 0)


@pytest.mark.parametrize(
    ("angle", "throttle", "message"),
    [("60", "2.5", TrendSteer(40.0, 1.0)), ("-60", "-7", TrendSteer(-40.0, -1.0)), (12, 0.5, TrendSteer(12.0, 0.5)),
     ("-12,5", "0", TrendSteer(-12.5, 0.0))],
)  # fmt: skip
def test_commands_are_held_within_what_the_simulator_takes(angle, throttle, message):
    assert codec.decode_steer({"steering_angle": angle, "throttle": throttle}) == message


FULL = TrendTelemetry(-12.34567, 0.25001, 0.5, 3.25, 61.0625, 4, 1, b"jpeg")


def test_each_field_stands_under_its_key_with_the_digits_of_the_simulator():
    assert codec.encode_telemetry(FULL) == {
        "steering_angle": "-12.3457", "throttle": "0.2500", "brakes": "0.5000", "speed": "3.2500", "time": "61.062",
        "lap": "4", "status": "1", "image": base64.b64encode(b"jpeg").decode(),
    }  # fmt: skip
    seen = codec.decode_telemetry(codec.encode_telemetry(FULL))
    assert seen == TrendTelemetry(-12.3457, 0.25, 0.5, 3.25, 61.062, 4, 1, b"jpeg")


def test_a_simulator_that_sends_its_speed_alone():
    assert codec.decode_telemetry({"speed": 2.5}) == TrendTelemetry(0.0, 0.0, 0.0, 2.5, 0.0, 1, 0, b"")


def test_a_picture_that_is_none_is_one_line():
    with pytest.raises(WireError, match=r"^image: not base64, got 5$"):
        codec.decode_telemetry({"speed": 0, "image": 5})
