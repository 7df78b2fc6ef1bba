"""Listeners and callers of TCP, whatever moves over the connection."""

import select
import socket
import sys

import pytest

from trailbrake.errors import SimulatorError
from trailbrake.transport.tcp import TcpCaller, TcpChannel, TcpListener, wait_readable, wait_writable


@pytest.fixture
def listener():
    made = TcpListener(TcpChannel, ("127.0.0.1", 0), where="--listen")
    yield made
    made.close()


def test_a_call_that_is_answered(listener):
    assert listener.accept() is None
    caller, called, answered = TcpCaller(TcpChannel, listener.address), None, None
    while called is None or answered is None:
        called = called or caller.poll_channel()
        answered = answered or listener.accept()
    assert (caller.failure, called.is_closed, answered.close_reason) == ("", False, "")
    assert not wait_readable([called, answered], 0.0)
    for end in (called, answered):
        end._mark_closed("closed")
    assert (called.is_closed, called.close_reason, called.fileno()) == (True, "closed", -1)


def test_a_call_that_is_refused():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = free.getsockname()
    caller = TcpCaller(TcpChannel, address)
    while not caller.failure:
        assert caller.poll_channel() is None
    assert caller.failure == "ECONNREFUSED"
    assert caller.poll_channel() is None


def test_windows_reports_a_refused_call_as_an_exceptional_condition(listener, monkeypatch):
    caller = TcpCaller(TcpChannel, listener.address)
    monkeypatch.setattr(select, "select", lambda *ends: ([], [], ends[2]))
    assert caller.poll_channel() is None
    assert caller.failure == "ECONNREFUSED"


def test_a_call_given_up_leaves_nothing_open(listener):
    TcpCaller(TcpChannel, listener.address).close()


def test_a_taken_port_is_one_line(listener):
    with pytest.raises(SimulatorError, match=r"^--listen: cannot listen on 127.0.0.1:\d+: .*; another program"):
        TcpListener(TcpChannel, listener.address, where="--listen")


def test_waiting_for_closed_ends_returns(listener):
    listener.close()
    assert not wait_readable([listener], 10.0)


def pair(listener):
    caller, called, answered = TcpCaller(TcpChannel, listener.address), None, None
    while called is None or answered is None:
        called = called or caller.poll_channel()
        answered = answered or listener.accept()
    return called, answered


def test_a_peer_that_does_not_read_is_hung_up_on(listener):
    called, answered = pair(listener)
    block = bytes(1 << 20)
    for _ in range(200):
        if answered.is_closed:
            break
        answered._outgoing += block
        answered._try_flush()
    assert answered.close_reason.startswith("the other end does not read")
    assert answered.unsent_bytes == 0  # nor is the memory kept
    called.close()


@pytest.mark.skipif(sys.platform == "win32", reason="descriptors are no small numbers there")
def test_descriptors_above_those_of_select_can_be_waited_for(listener):
    import fcntl
    import resource

    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    if limits[1] < 1200:
        pytest.skip("the system allows too few descriptors")
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(limits[0], 1200), limits[1]))
    called, answered = pair(listener)
    try:
        called._socket = socket.socket(fileno=fcntl.fcntl(called._socket.detach(), fcntl.F_DUPFD, 1100))
        assert called.fileno() >= 1100
        assert not wait_readable([called], 0.0)
        wait_writable(called, 5.0)
        answered._outgoing += b"x"
        answered._try_flush()
        assert wait_readable([called, listener], 5.0)
        caller = TcpCaller(TcpChannel, listener.address)
        caller._socket = socket.socket(fileno=fcntl.fcntl(caller._socket.detach(), fcntl.F_DUPFD, 1100))
        while (third := caller.poll_channel()) is None:
            assert not caller.failure
        third.close()
    finally:
        called.close()
        answered.close()
        resource.setrlimit(resource.RLIMIT_NOFILE, limits)
