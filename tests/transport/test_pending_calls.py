import contextlib
import socket

import pytest

from trailbrake.transport.tcp import HANDSHAKE_S, MAX_PENDING, PendingCalls, wait_readable
from trailbrake.transport.websocket import listen_for_websockets


@pytest.fixture
def listener():
    made = listen_for_websockets()
    yield made
    made.close()


def call(listener, stack):
    connection = stack.enter_context(socket.create_connection(listener.address))
    assert wait_readable([listener], 5.0)
    return connection


def test_the_oldest_goes_where_too_many_wait(listener):
    with contextlib.ExitStack() as stack:
        pending = PendingCalls(listener)
        stack.callback(pending.close)
        callers, accepted = [], []
        for _ in range(MAX_PENDING + 3):
            callers.append(call(listener, stack))
            accepted += pending.accept_calls(0.0)
        assert pending.channels == accepted[3:]
        assert pending.dropped == 3
        assert callers[2].recv(1) == b""
        newest = pending.release(accepted[-1])
        assert newest not in pending.channels
        newest.close()


def test_one_that_never_shakes_hands_goes_in_time(listener):
    with contextlib.ExitStack() as stack:
        pending = PendingCalls(listener)
        stack.callback(pending.close)
        silent = call(listener, stack)
        pending.accept_calls(10.0)
        assert len(pending.channels) == 1
        pending.accept_calls(10.0 + HANDSHAKE_S)
        assert len(pending.channels) == 1
        pending.accept_calls(10.1 + HANDSHAKE_S)
        assert pending.channels == []
        assert silent.recv(1) == b""


def test_one_that_has_left_is_forgotten(listener):
    with contextlib.ExitStack() as stack:
        pending = PendingCalls(listener)
        stack.callback(pending.close)
        call(listener, stack).close()
        (channel,) = pending.accept_calls(0.0)
        while not channel.is_closed:
            channel.poll_texts()
        pending.accept_calls(0.0)
        assert pending.channels == []


def test_of_many_that_send_all_have_their_turn(listener):
    with contextlib.ExitStack() as stack:
        pending = PendingCalls(listener)
        stack.callback(pending.close)
        callers = []
        for _ in range(30):
            callers.append(call(listener, stack))
            pending.accept_calls(0.0)
        assert pending.find_ready() == []
        for caller in callers:
            caller.sendall(b"GET ")
        for channel in pending.channels:
            assert wait_readable([channel], 5.0)
        seen = set()
        for _ in range(4):
            ready = pending.find_ready()
            assert 0 < len(ready) <= 8
            seen |= set(ready)
        assert seen == set(pending.channels)
