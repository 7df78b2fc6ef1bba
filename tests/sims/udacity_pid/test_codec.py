"""Frames of protocol page formula-trend, section 9, by hand: text from the simulator, numbers from the agent."""

from trailbrake.sims.udacity_pid import codec
from trailbrake.sims.udacity_pid.codec import UdacityPidSteer, UdacityPidTelemetry
from trailbrake.transport import plain_events, socketio

FRAME = '42["telemetry",{"steering_angle":"-1.2500","throttle":"0.3000","speed":"0.4380","cte":"0.7598"}]'
BARE = '{"telemetry":{"steering_angle":"-1.2500","throttle":"0.3000","speed":"0.4380","cte":"0.7598","process":"1"}}'
MESSAGE = UdacityPidTelemetry(0.7598, 0.438, -1.25, 0.3)


def test_the_golden_telemetry_both_ways_and_in_both_framings():
    assert socketio.encode_event("telemetry", codec.encode_telemetry(MESSAGE)) == FRAME
    assert codec.decode_telemetry(socketio.decode_event(FRAME).data) == MESSAGE
    browser = plain_events.PlainClient()
    browser.emit("telemetry", codec.encode_telemetry(MESSAGE, browser=True))
    assert browser.pop_frames() == [BARE]
    assert codec.decode_telemetry(plain_events.PlainServer().receive_frame(BARE, 0.0).data) == MESSAGE


def test_the_golden_answer_both_ways():
    frame = '42["steer",{"steering_angle":-0.15,"throttle":0.3}]'
    assert socketio.encode_event("steer", codec.encode_steer(UdacityPidSteer(-0.15, 0.3))) == frame
    assert codec.decode_steer(socketio.decode_event(frame).data) == UdacityPidSteer(-0.15, 0.3)


def test_a_decimal_comma():
    assert codec.decode_telemetry({"cte": "-0,5000", "speed": "1.234,5"}) == UdacityPidTelemetry(-0.5, 1234.5, 0.0, 0.0)


def test_a_person_drives_where_the_process_is_0_as_text_or_number():
    data = codec.encode_telemetry(MESSAGE)
    assert codec.decode_telemetry({"process": "0"}) is None
    assert codec.decode_telemetry(data | {"process": 0}) is None
    assert codec.decode_telemetry(data | {"process": "1"}) == MESSAGE
