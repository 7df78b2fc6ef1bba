import socket
import struct
import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trailbrake.driving.supervised.message_channel import LARGEST_MESSAGE, ChannelClosed, MessageChannel
from trailbrake.errors import WireError


@pytest.fixture
def ends():
    one, other = socket.socketpair()
    channels = MessageChannel(one), MessageChannel(other)
    yield channels
    for channel in channels:
        channel.close()


@given(st.lists(st.binary(max_size=300), max_size=20), st.integers(1, 50))
def test_messages_arrive_whole_and_in_order_however_the_bytes_are_cut(messages, piece):
    one, other = socket.socketpair()
    with one, other:
        channel = MessageChannel(other)
        data = b"".join(struct.pack("<I", len(message)) + message for message in messages)
        got = []
        for at in range(0, len(data), piece):
            one.sendall(data[at : at + piece])
            while (message := channel.receive(0.0)) is not None:
                got.append(message)
        assert got == messages


def test_nothing_is_none_and_a_closed_end_is_an_event(ends):
    one, other = ends
    assert one.receive(0.0) is None
    assert one.receive(0.001) is None
    other.send(b"last words")
    other.close()
    assert one.receive(1.0) == b"last words"
    with pytest.raises(ChannelClosed):
        one.receive(1.0)
    with pytest.raises(ChannelClosed):
        one.send(b"x")


def test_who_has_finished_sending_still_receives(ends):
    one, other = ends
    one.finish_sending()
    with pytest.raises(ChannelClosed):
        other.receive(1.0)
    other.send(b"answer")
    assert one.receive(1.0) == b"answer"
    other.close()
    one.finish_sending()


def test_a_sender_that_has_to_wait_says_so(ends):
    one, other = ends
    waits, received = [], []
    large = bytes(4 << 20)

    def note_wait():
        waits.append(1)
        if len(waits) == 2:
            reader.start()

    reader = threading.Thread(target=lambda: received.append(other.receive(30.0)))
    one.send(large, note_wait)
    reader.join()
    assert received == [large]
    assert len(waits) >= 2


def test_an_impossible_length_is_an_error():
    one, other = socket.socketpair()
    with one, other:
        one.sendall(struct.pack("<I", LARGEST_MESSAGE + 1))
        with pytest.raises(WireError, match="no length of a message"):
            MessageChannel(other).receive(1.0)
