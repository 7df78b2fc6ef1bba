"""The frames of protocol page formula-trend, section 3, and each row of its tables in sections 1.1 and 1.2."""

import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trailbrake.transport import socketio
from trailbrake.transport.socketio import SocketIoClient, SocketIoEvent, SocketIoServer

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
    session.check_timers(0.249)
    assert session.pop_frames() == []
    session.check_timers(0.25)
    assert session.dialect == "legacy"
    assert session.pop_frames()[-1] == "40"


def test_a_modern_server_pings_and_ignores_stray_pings():
    session = agent(NEW)
    session.receive_frame("40", 0.0)
    session.pop_frames()
    session.receive_frame("2", 1.0)
    session.check_timers(24.9)
    assert session.pop_frames() == []
    session.check_timers(25.0)
    assert session.pop_frames() == ["2"]
    session.receive_frame("3", 25.2)
    session.check_timers(49.9)
    assert session.pop_frames() == []
    session.check_timers(50.0)
    assert session.pop_frames() == ["2"]


@pytest.mark.parametrize("hello", ["2", "40"])
def test_a_client_that_says_nothing_for_long_is_given_up(hello):
    session = agent(NEW, 1000.0)
    session.receive_frame(hello, 1000.0)
    session.check_timers(1085.0)
    assert (session.is_over, session.end_reason) == (False, "")
    session.check_timers(1085.1)
    assert (session.is_over, session.end_reason) == (True, "nothing heard for 85 s")


def test_a_probe_is_answered():
    session = agent(OLD)
    session.pop_frames()
    session.receive_frame("2probe", 0.0)
    assert session.pop_frames() == ["3probe"]


@pytest.mark.parametrize("bye", ["41", "1"])
def test_goodbye(bye):
    session = agent(OLD)
    assert (session.is_over, session.is_connected, session.end_reason) == (False, True, "")
    session.receive_frame(bye, 1.0)
    assert (session.is_over, session.is_connected) == (True, False)
    session.check_timers(1000.0)  # of two ends the first counts
    assert session.end_reason == "the other end said goodbye"
    session.pop_frames()
    session.emit("steer", {})
    assert session.pop_frames() == []


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
    session.check_timers(0.499)
    assert session.pop_frames() == []
    session.check_timers(0.5)
    assert session.pop_frames() == ["40"]
    session.check_timers(1.0)
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
    session = simulator()
    session.receive_frame("44" + "x" * 1000, 0.1)
    assert session.end_reason == "the other end refused: " + "x" * 198, "no page of text in a line"


def test_a_server_that_says_nothing_at_all_gets_events_after_half_a_second():
    """Udacity's C++ agents do not open their end."""
    session = SocketIoClient(1000.0)
    session.emit("telemetry", {})
    session.check_timers(1000.499)
    assert (session.pop_frames(), session.is_opened, session.dialect) == ([], False, None)
    session.check_timers(1000.5)
    assert session.pop_frames() == ["2", '42["telemetry",{}]'], "the ping goes first"
    assert (session.dialect, session.is_connected, session.is_opened, session.is_greeted) == (
        "legacy", True, False, False,
    )  # fmt: skip
    session.check_timers(1012.9)
    assert session.pop_frames() == []
    session.check_timers(1025.5)
    assert session.pop_frames() == ["2"]


def test_times_count_from_the_opening():
    session = SocketIoClient(1000.0)
    session.receive_frame('0{"sid":"e0f4"}', 1000.25)
    assert session.is_opened
    session.check_timers(1000.749)
    assert session.pop_frames() == []
    session.check_timers(1000.75)
    assert session.pop_frames() == ["40"]


@pytest.mark.parametrize(
    ("said", "interval", "timeout"),
    [
        ('{"sid":"a"}', 25.0, 60.0),
        ('{"pingInterval":10000}', 10.0, 60.0),
        ('{"pingTimeout":5000}', 25.0, 5.0),
        ('{"pingInterval":1,"pingTimeout":1}', 0.1, 0.1),  # no faster than that
        ("", 25.0, 60.0),  # unreadable
    ],
)
def test_the_server_s_opening_sets_the_times_of_a_client(said, interval, timeout):
    session = SocketIoClient(0.0)
    session.receive_frame("0" + said, 0.0)
    session.receive_frame("40", 0.0)  # which makes it a legacy one, and pings
    assert (session.pop_frames(), session.rejected) == (["2"], said == "")
    session.check_timers(0.5 * interval - 0.01)
    assert session.pop_frames() == []
    session.check_timers(0.5 * interval)
    assert session.pop_frames() == ["2"], "a server of another kind allows no more than the interval and 5 s"
    session.check_timers(interval + timeout - 0.01)
    assert not session.is_over
    session.check_timers(interval + timeout + 0.01)
    assert session.end_reason == f"nothing heard for {interval + timeout:g} s"


def test_a_connect_with_a_body_that_was_not_requested_is_a_legacy_server_s():
    session = simulator()
    assert not session.is_greeted
    session.receive_frame('40{"sid":"wwpv"}', 0.1)
    assert (session.dialect, session.is_greeted) == ("legacy", True)
    session.check_timers(20.1)
    assert session.pop_frames() == ["2", "2"]


def test_a_connect_without_a_body_is_a_legacy_server_s_although_the_modern_dialect_was_requested():
    session = simulator()
    session.check_timers(0.5)
    session.receive_frame("40", 0.6)
    assert session.dialect == "legacy"


@pytest.mark.parametrize("text", ["", "5", "7", "43", "45-", "x", "60", "0{", "0"])
def test_frames_that_mean_nothing_are_counted(text):
    for session in (agent(NEW), simulator()):
        for count in (1, 2):
            assert session.receive_frame(text, 0.0) is None
            assert session.rejected == count
        assert not session.is_over


@pytest.mark.parametrize("text", ["3", "3probe", "6"])
def test_pongs_and_no_ops_mean_nothing_and_are_no_errors(text):
    for session in (agent(NEW), simulator()):
        session.pop_frames()
        assert session.receive_frame(text, 0.0) is None
        assert (session.rejected, session.pop_frames(), session.dialect) == (0, [], None)


def test_unreadable_openings_and_events_are_counted_each():
    for session, text in ((SocketIoClient(0.0), "0{"), (agent(OLD), "42["), (agent(OLD), "0{}"), (simulator(), "0{}")):
        for count in (1, 2, 3):
            session.receive_frame(text, 0.0)
            assert session.rejected == count


def test_the_numbers_are_those_of_the_page():
    assert (socketio.LEGACY_AFTER_S, socketio.CONNECT_S, socketio.HANDSHAKE_S) == (0.25, 0.5, 0.5)
    assert (socketio.PING_INTERVAL_S, socketio.PING_TIMEOUT_S) == (25.0, 60.0)
    assert socketio.request_path(3) == OLD
    assert socketio.request_path(4) == NEW


@pytest.mark.parametrize(
    ("text", "event"),
    [
        ('42["telemetry"]', SocketIoEvent("telemetry")),
        ('42[ "steer" , {"throttle": 1} , "more"]', SocketIoEvent("steer", {"throttle": 1})),
        ('4217["steer",{}]', SocketIoEvent("steer", {})),
        ("42", None),
        ('42X["steer",{}]', None),
        ("42[]", None),
        ("42{}", None),
        ("42[1,2]", None),
        ('42["telemetry",{]', None),
        ('42["telemetry",NaN]', None),
        ("42" + "[" * 100_000, None),
    ],
)
def test_events(text, event):
    assert SocketIoEvent("telemetry").data is None
    assert socketio.decode_event(text) == event
    session = agent(OLD)
    assert session.receive_frame(text, 0.0) == event
    assert session.rejected == (event is None)


@given(st.dictionaries(st.text(max_size=5), st.text(max_size=5)))
def test_events_come_back(data):
    assert socketio.decode_event(socketio.encode_event("telemetry", data)) == SocketIoEvent("telemetry", data)
    assert json.loads(socketio.encode_event("telemetry", data)[2:]) == ["telemetry", data]
