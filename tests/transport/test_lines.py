import socket

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from trailbrake.errors import SimulatorError
from trailbrake.transport import lines
from trailbrake.transport.lines import LineCaller, LineListener


def pair():
    """Return a listening end's channel and a plain socket at the other end of it."""
    listener = LineListener()
    other = socket.create_connection(listener.address)
    channel = None
    while channel is None:
        channel = listener.accept()
    listener.close()
    return channel, other


def got(channel, count):
    found = []
    while len(found) < count and not channel.is_closed:
        channel.wait(1.0)
        found += channel.poll()
    return found


def test_lines_both_ways_however_they_are_cut():
    channel, other = pair()
    with other:
        for piece in (b'{"a', b'":1}\r\n\n{"b":2}\n{"c"', b":3}\n"):
            other.sendall(piece)
        assert got(channel, 3) == ['{"a":1}', '{"b":2}', '{"c":3}']
        channel.send("Ä")
        assert other.recv(10) == "Ä\n".encode()
        other.sendall(b"last\n")
    assert got(channel, 1) == ["last"]
    while not channel.is_closed:
        channel.poll()
    assert channel.why == "the other end hung up"
    assert channel.poll() == []
    channel.send("nobody hears")


@settings(max_examples=30)
@given(st.lists(st.binary(max_size=30), max_size=6))
def test_any_bytes_are_lines_of_text(pieces):
    channel, other = pair()
    with other:
        data = b"".join(pieces)
        other.sendall(data + b"\nend\n")
        found = []
        while "end" not in found[-1:]:
            channel.wait(1.0)
            found += channel.poll()
    expected = [line.decode("utf-8", "replace").strip() for line in data.split(b"\n")]
    assert found == [line for line in expected if line] + ["end"]
    channel.close()


def test_a_line_without_an_end_is_hung_up_on(monkeypatch):
    monkeypatch.setattr(lines, "LARGEST", 1000)
    channel, other = pair()
    with other:
        other.sendall(b"x" * 2000)
        assert got(channel, 1) == []
    assert channel.why == "a line of more than 1000 bytes"


def test_what_a_peer_does_not_read_waits():
    channel, other = pair()
    text = "x" * (1 << 20)
    for _ in range(8):
        channel.send(text)
    assert channel.unsent > 0
    read = 0
    with other:
        while read < 8 * ((1 << 20) + 1):
            channel.poll()
            read += len(other.recv(1 << 20))
    assert channel.unsent == 0
    channel.close()


def test_a_call_that_is_answered_and_one_that_is_not():
    listener = LineListener()
    caller, channel, answered = LineCaller(listener.address), None, None
    while channel is None or answered is None:
        channel = channel or caller.channel()
        answered = answered or listener.accept()
    channel.send("hello")
    assert got(answered, 1) == ["hello"]
    address = listener.address
    for end in (channel, answered, listener):
        end.close()
    refused = LineCaller(address)
    while not refused.failed:
        assert refused.channel() is None
    assert refused.failed == "ECONNREFUSED"


def test_a_taken_port_is_one_line():
    listener = LineListener()
    with pytest.raises(SimulatorError, match=r"^--listen: cannot listen on 127.0.0.1:\d+: .*; another program"):
        LineListener(listener.address, where="--listen")
    listener.close()
