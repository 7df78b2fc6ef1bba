"""The two framings without a handshake, by hand from protocol page formula-trend, section 9."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trailbrake.transport import plain
from trailbrake.transport.socketio import Event


def test_the_browser_build_sends_objects_and_gets_arrays():
    agent = plain.Server()
    agent.emit("manual", {})  # held: nobody knows yet how to write it
    assert agent.take() == []
    assert (agent.dialect, agent.is_connected) == (None, False)
    assert agent.receive('{"telemetry":{"cte":"0.7598","speed":"0.4380"}}', 0.0) == Event(
        "telemetry", {"cte": "0.7598", "speed": "0.4380"}
    )
    assert agent.dialect == "bare"
    agent.emit("steer", {"steering_angle": -0.25, "throttle": 0.3})
    assert agent.take() == ['["manual",{}]', '["steer",{"steering_angle":-0.25,"throttle":0.3}]']


def test_frames_of_42_alone():
    agent = plain.Server()
    assert agent.receive('42["telemetry",{"cte":"0.7598"}]', 0.0) == Event("telemetry", {"cte": "0.7598"})
    agent.emit("steer", {"steering_angle": 0.5, "throttle": 0.3})
    assert agent.dialect == "raw"
    assert agent.take() == ['42["steer",{"steering_angle":0.5,"throttle":0.3}]']


def test_the_simulator_for_the_browser_begins_at_once():
    simulator = plain.Client()
    assert simulator.is_connected
    simulator.emit("telemetry", {"cte": "0.7598", "process": "1"})
    assert simulator.take() == ['{"telemetry":{"cte":"0.7598","process":"1"}}']
    assert simulator.receive('["steer",{"steering_angle":0.5,"throttle":0.3}]', 0.0) == Event(
        "steer", {"steering_angle": 0.5, "throttle": 0.3}
    )
    assert simulator.receive('["manual",{}]', 0.0) == Event("manual", {})


@pytest.mark.parametrize(
    "text", ["", "2", "40", "{}", '{"a":1,"b":2}', "[", "null", '"telemetry"', "42", "42{}", "[[]]"]
)
def test_anything_else_is_counted(text):
    for end in (plain.Server(), plain.Client()):
        assert end.receive(text, 0.0) is None
        assert end.rejected == 1


@given(st.text(max_size=40) | st.sampled_from(["{", "[", "42[", '{"telemetry":', '["steer",']))
def test_no_text_breaks_either_end(text):
    for end in (plain.Server(), plain.Client()):
        event = end.receive(text, 0.0)
        assert (event is None) == (end.rejected == 1)
