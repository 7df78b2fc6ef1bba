"""The two framings without a handshake, by hand from protocol page formula-trend, section 9."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trailbrake.transport import plain_events
from trailbrake.transport.socketio import SocketIoEvent


def test_the_browser_build_sends_objects_and_gets_arrays():
    agent = plain_events.PlainServer()
    agent.emit("manual", {})  # held: nobody knows yet how to write it
    assert agent.pop_frames() == []
    assert (agent.dialect, agent.is_connected) == (None, False)
    assert agent.receive_frame('{"telemetry":{"cte":"0.7598","speed":"0.4380"}}', 0.0) == SocketIoEvent(
        "telemetry", {"cte": "0.7598", "speed": "0.4380"}
    )
    assert agent.dialect == "bare"
    agent.emit("steer", {"steering_angle": -0.25, "throttle": 0.3})
    assert agent.pop_frames() == ['["manual",{}]', '["steer",{"steering_angle":-0.25,"throttle":0.3}]']


def test_frames_of_42_alone():
    agent = plain_events.PlainServer()
    assert agent.receive_frame('42["telemetry",{"cte":"0.7598"}]', 0.0) == SocketIoEvent("telemetry", {"cte": "0.7598"})
    agent.emit("steer", {"steering_angle": 0.5, "throttle": 0.3})
    assert agent.dialect == "raw"
    assert agent.pop_frames() == ['42["steer",{"steering_angle":0.5,"throttle":0.3}]']


def test_the_simulator_for_the_browser_begins_at_once():
    simulator = plain_events.PlainClient()
    assert simulator.is_connected
    simulator.emit("telemetry", {"cte": "0.7598", "process": "1"})
    assert simulator.pop_frames() == ['{"telemetry":{"cte":"0.7598","process":"1"}}']
    assert simulator.receive_frame('["steer",{"steering_angle":0.5,"throttle":0.3}]', 0.0) == SocketIoEvent(
        "steer", {"steering_angle": 0.5, "throttle": 0.3}
    )
    assert simulator.receive_frame('["manual",{}]', 0.0) == SocketIoEvent("manual", {})


@pytest.mark.parametrize(
    "text", ["", "2", "40", "{}", '{"a":1,"b":2}', "[", "null", '"telemetry"', "42", "42{}", "[[]]"]
)
def test_anything_else_is_counted(text):
    for end in (plain_events.PlainServer(), plain_events.PlainClient()):
        for count in (1, 2):
            assert end.receive_frame(text, 0.0) is None
            assert end.rejected == count


@pytest.mark.parametrize("text", ['42["steer",{}]', '1["steer",{}]', '{"steer":{}}'])
def test_an_agent_s_event_is_an_array_and_nothing_else(text):
    simulator = plain_events.PlainClient()
    assert simulator.receive_frame(text, 0.0) is None
    assert simulator.receive_frame(' \n["steer",{}]', 0.0) == SocketIoEvent("steer", {})
    assert simulator.rejected == 1


def test_there_is_no_engine_no_greeting_and_no_farewell():
    for end in (plain_events.PlainServer(), plain_events.PlainClient()):
        end.check_timers(1e9)
        assert (end.is_opened, end.is_greeted, end.is_over, end.end_reason) == (False, True, False, "")
        assert end.pop_frames() == []
    assert plain_events.REQUEST_PATH == "/"


@given(st.text(max_size=40) | st.sampled_from(["{", "[", "42[", '{"telemetry":', '["steer",']))
def test_no_text_breaks_either_end(text):
    for end in (plain_events.PlainServer(), plain_events.PlainClient()):
        event = end.receive_frame(text, 0.0)
        assert (event is None) == (end.rejected == 1)
