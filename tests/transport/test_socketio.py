"""The frames of protocol page formula-trend, section 3, and each row of its tables in sections 1.1 and 1.2."""

import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trailbrake.transport import socketio
from trailbrake.transport.socketio import CONNECT_S, LEGACY_AFTER_S, SocketIoClient, SocketIoEvent, SocketIoServer

OLD, NEW = "/socket.io/?EIO=3&transport=websocket", "/socket.io/?EIO=4&transport=websocket"
PARKED = '42["steer",{"steering_angle":"0.0","throttle":"0"}]'


def agent(path, now=0.0):
    """Return an agent's session that greets as the official samples do, and its opening packet."""
    session = SocketIoServer(path, now, "e0f4")
    session.emit("restart", {})
    session.emit("steer", {"steering_angle": "0.0", "throttle": "0"})
    return session


def opening(session):
    (first, *rest) = session.pop_frames()
    assert first[0] == "0"
    said = json.loads(first[1:])
    assert (said["sid"], said["upgrades"], said["pingInterval"], said["pingTimeout"]) == ("e0f4", [], 25000, 60000)
    return rest


def test_the_unity_client_asks_for_4_and_speaks_3():
    session = agent(NEW)
    assert opening(session) == []
    assert session.receive_frame("2", 0.001) is None
    assert session.pop_frames() == ['42["restart",{}]', PARKED, "40", "3"]
    assert session.dialect == "legacy"
    event = session.receive_frame('42["telemetry",{"speed":"0.0000","lap":"1"}]', 0.1)
    assert event == SocketIoEvent("telemetry", {"speed": "0.0000", "lap": "1"})
    session.emit("steer", {"steering_angle": "-2.532195685835447", "throttle": "0.052730842092947317"})
    data = '{"steering_angle":"-2.532195685835447","throttle":"0.052730842092947317"}'
    assert session.pop_frames() == [f'42["steer",{data}]']
    assert session.receive_frame('42["telemetry",null]', 0.2) == SocketIoEvent("telemetry", None)
    session.check_timers(60.0)
    assert session.pop_frames() == []  # a legacy server does not ping


def test_eio_3_is_legacy_at_once():
    session = SocketIoServer(OLD, 0.0, "e0f4")
    assert opening(session) == ["40"]
    assert (session.dialect, session.is_connected) == ("legacy", True)


def test_an_event_before_any_connect_is_legacy():
    session = agent(NEW)
    opening(session)
    assert session.receive_frame('42["telemetry",{}]', 0.01) == SocketIoEvent("telemetry", {})
    assert session.dialect == "legacy"
    assert session.pop_frames()[-1] == "40"


@pytest.mark.parametrize("hello", ["40", "40{}", '40{"token":"x"}'])
def test_a_connect_is_modern(hello):
    session = agent(NEW)
    opening(session)
    session.receive_frame(hello, 0.01)
    assert session.dialect == "modern"
    connect, *greeting = session.pop_frames()
    assert connect[:2] == "40"
    assert json.loads(connect[2:])["sid"] not in ("", "e0f4")
    assert greeting == ['42["restart",{}]', PARKED]


def test_silence_is_legacy_and_only_then_a_bare_connect_is_sent():
    session = agent(NEW)
    opening(session)
    session.check_timers(0.9 * LEGACY_AFTER_S)
    assert session.pop_frames() == []
    session.check_timers(1.01 * LEGACY_AFTER_S)
    assert session.dialect == "legacy"
    assert session.pop_frames()[-1] == "40"


def test_a_modern_server_pings_and_ignores_stray_pings():
    session = agent(NEW)
    session.receive_frame("40", 0.0)
    session.pop_frames()
    session.receive_frame("2", 1.0)
    session.check_timers(24.9)
    assert session.pop_frames() == []
    session.check_timers(25.1)
    assert session.pop_frames() == ["2"]
    session.receive_frame("3", 25.2)
    session.check_timers(50.0)
    assert session.pop_frames() == []
    session.check_timers(50.2)
    assert session.pop_frames() == ["2"]


@pytest.mark.parametrize("hello", ["2", "40"])
def test_a_client_that_says_nothing_for_long_is_given_up(hello):
    session = agent(NEW)
    session.receive_frame(hello, 0.0)
    session.check_timers(84.9)
    assert not session.is_over
    session.check_timers(85.1)
    assert session.is_over
    assert session.end_reason == "nothing heard for 85 s"


def test_a_probe_is_answered():
    session = agent(OLD)
    session.pop_frames()
    session.receive_frame("2probe", 0.0)
    assert session.pop_frames() == ["3probe"]


@pytest.mark.parametrize("bye", ["41", "1"])
def test_goodbye(bye):
    session = agent(OLD)
    session.receive_frame(bye, 1.0)
    assert session.is_over
    assert not session.is_connected


def simulator():
    session = SocketIoClient(0.0)
    session.receive_frame('0{"sid":"e0f4","upgrades":[],"pingTimeout":60000,"pingInterval":20000}', 0.0)
    assert session.pop_frames() == []
    return session


def test_a_server_that_speaks_first_is_legacy_and_is_never_asked():
    session = simulator()
    assert session.receive_frame('42["restart",{}]', 0.1) == SocketIoEvent("restart", {})  # before its 40
    assert session.pop_frames() == ["2"]
    assert session.receive_frame(PARKED, 0.1).data["throttle"] == "0"
    session.receive_frame("40", 0.1)
    session.check_timers(5.0)
    assert (session.dialect, session.is_connected) == ("legacy", True)
    assert session.pop_frames() == []
    session.check_timers(20.2)
    assert session.pop_frames() == ["2"]


def test_a_silent_server_is_asked_and_answers_modern():
    session = simulator()
    session.emit("telemetry", {"lap": "1"})
    session.check_timers(0.9 * CONNECT_S)
    assert session.pop_frames() == []
    session.check_timers(1.01 * CONNECT_S)
    assert session.pop_frames() == ["40"]
    session.check_timers(2.0 * CONNECT_S)
    assert session.pop_frames() == []
    assert session.receive_frame('42["restart",{}]', 0.6) == SocketIoEvent("restart", {})  # from its connect handler
    assert not session.is_connected
    session.receive_frame('40{"sid":"wwpv"}', 0.6)
    assert session.dialect == "modern"
    assert session.pop_frames() == ['42["telemetry",{"lap":"1"}]']
    session.receive_frame("2", 25.0)
    assert session.pop_frames() == ["3"]
    session.check_timers(60.0)
    assert session.pop_frames() == []  # a modern client does not ping


@pytest.mark.parametrize(("patience", "asked"), [(0.0, ["40"]), (math.inf, [])])
def test_who_knows_the_dialect_need_not_wait(patience, asked):
    session = SocketIoClient(0.0, patience)
    session.receive_frame('0{"sid":"e0f4"}', 0.0)
    session.check_timers(0.0)
    session.check_timers(24.0)
    assert session.pop_frames() == asked


def test_a_server_that_refuses():
    session = simulator()
    session.receive_frame('44{"message":"no such namespace"}', 0.1)
    assert session.is_over
    assert session.end_reason == 'the other end refused: {"message":"no such namespace"}'


@pytest.mark.parametrize(
    ("text", "event"),
    [
        ('42["telemetry"]', SocketIoEvent("telemetry")),
        ('42[ "steer" , {"throttle": 1} , "more"]', SocketIoEvent("steer", {"throttle": 1})),
        ('4217["steer",{}]', SocketIoEvent("steer", {})),
        ("42", None),
        ("42[]", None),
        ("42{}", None),
        ("42[1,2]", None),
        ('42["telemetry",{]', None),
        ('42["telemetry",NaN]', None),
        ("42" + "[" * 100_000, None),
    ],
)
def test_events(text, event):
    assert socketio.decode_event(text) == event
    session = agent(OLD)
    assert session.receive_frame(text, 0.0) == event
    assert session.rejected == (event is None)


@given(st.text() | st.sampled_from("0123456").flatmap(lambda kind: st.text().map(lambda rest: kind + rest)))
def test_any_text_is_taken(text):
    for session in (agent(NEW), agent(OLD), simulator()):
        session.pop_frames()
        for now in (0.1, 1.0):
            session.receive_frame(text, now)
            session.check_timers(now)
            assert all(isinstance(frame, str) for frame in session.pop_frames())


@given(st.dictionaries(st.text(max_size=5), st.text(max_size=5)))
def test_events_come_back(data):
    assert socketio.decode_event(socketio.encode_event("telemetry", data)) == SocketIoEvent("telemetry", data)
    assert json.loads(socketio.encode_event("telemetry", data)[2:]) == ["telemetry", data]
