"""Frames of protocol page formula-trend, section 9, by hand: JSON numbers both ways, all four lines in the answer."""

import pytest

from trailbrake.errors import WireError
from trailbrake.sims.udacity_mpc import codec
from trailbrake.sims.udacity_mpc.codec import UdacityMpcSteer, UdacityMpcTelemetry
from trailbrake.transport import plain_events, socketio

DATA = (
    '{"ptsx":[-32.16,-43.49,-61.09],"ptsy":[113.36,105.94,92.88],"x":-40.62,"y":108.73,"psi":3.733651,'
    '"psi_unity":4.120927,"speed":12.5,"steering_angle":0.0436,"throttle":0.3}'
)
FRAME = f'42["telemetry",{DATA}]'
MESSAGE = UdacityMpcTelemetry((-32.16, -43.49, -61.09), (113.36, 105.94, 92.88), -40.62, 108.73, 3.733651, 4.120927,
                              12.5, 0.0436, 0.3)  # fmt: skip
ANSWER = '42["steer",{"steering_angle":-0.25,"throttle":0.5,"mpc_x":[1.0],"mpc_y":[0.5],"next_x":[],"next_y":[]}]'


def test_the_golden_telemetry_both_ways_and_in_both_framings():
    assert socketio.encode_event("telemetry", codec.encode_telemetry(MESSAGE)) == FRAME
    assert codec.decode_telemetry(socketio.decode_event(FRAME).data) == MESSAGE
    assert (
        codec.decode_telemetry(plain_events.PlainServer().receive_frame(f'{{"telemetry":{DATA}}}', 0.0).data) == MESSAGE
    )


def test_the_golden_answer_both_ways():
    message = UdacityMpcSteer(-0.25, 0.5, (1.0,), (0.5,))
    assert socketio.encode_event("steer", codec.encode_steer(message)) == ANSWER
    assert codec.decode_steer(socketio.decode_event(ANSWER).data) == message


@pytest.mark.parametrize(
    ("change", "words"),
    [({"ptsx": None}, "^ptsx: not a list"), ({"ptsy": [1.0]}, "^ptsy: not as many as ptsx, expected 3, got 1"),
     ({"ptsx": [1.0, "a", 2.0]}, "^ptsx: not a number"), ({"psi": None}, "^psi: not a number")],
)  # fmt: skip
def test_an_unreadable_telemetry_is_named(change, words):
    with pytest.raises(WireError, match=words):
        codec.decode_telemetry(socketio.decode_event(FRAME).data | change)


@pytest.mark.parametrize("missing", ["steering_angle", "throttle", "mpc_x", "mpc_y", "next_x", "next_y"])
def test_an_answer_lacks_nothing(missing):
    data = socketio.decode_event(ANSWER).data
    del data[missing]
    with pytest.raises(WireError, match=f"^{missing}: not a"):
        codec.decode_steer(data)


def test_what_the_simulator_may_leave_out():
    data = {"ptsx": [], "ptsy": [], "x": 1.0, "y": 2.0, "psi": 3.0, "speed": 4.0}
    assert codec.decode_telemetry(data) == UdacityMpcTelemetry((), (), 1.0, 2.0, 3.0, 0.0, 4.0, 0.0, 0.0)


@pytest.mark.parametrize(
    ("change", "line"),
    [({"mpc_y": []}, "mpc_y: not as many as mpc_x, expected 1, got 0"),
     ({"next_y": [1, 2]}, "next_y: not as many as next_x, expected 0, got 2"),
     ({"next_x": ["x"]}, "next_x: not a number, got x")],
)  # fmt: skip
def test_an_unreadable_answer_is_one_line(change, line):
    with pytest.raises(WireError) as caught:
        codec.decode_steer(socketio.decode_event(ANSWER).data | change)
    assert str(caught.value) == line


def test_the_lines_of_an_answer_are_read_in_their_order():
    lines = {"mpc_x": [1, 2], "mpc_y": [3, 4], "next_x": [5, 6, 7], "next_y": [8, 9, 10]}
    assert codec.decode_steer({"steering_angle": 0.5, "throttle": 0.25, **lines}) == UdacityMpcSteer(
        0.5, 0.25, (1.0, 2.0), (3.0, 4.0), (5.0, 6.0, 7.0), (8.0, 9.0, 10.0)
    )
