import errno
import itertools
import json
import os
import socket
import struct
import sys
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from trailbrake.errors import SimulatorError
from trailbrake.transport import json_objects
from trailbrake.transport.json_objects import JsonObjectSplitter, call_for_objects, listen_for_objects
from trailbrake.transport.tcp import MAX_MESSAGES_PER_POLL, wait_readable

TEXTS = st.text('a{}[]",:\\\n \u00e4', max_size=8)
VALUES = TEXTS | st.none() | st.lists(TEXTS, max_size=2) | st.dictionaries(TEXTS, TEXTS, max_size=2)
OBJECTS = st.dictionaries(TEXTS, VALUES, max_size=3)


def cut(data, places):
    """Return `data` cut at `places`, numbers of bytes."""
    edges = [0, *sorted(place % (len(data) + 1) for place in places), len(data)]
    return [data[a:b] for a, b in itertools.pairwise(edges)]


def split(*pieces):
    splitter = JsonObjectSplitter()
    found = [message for piece in pieces for message in splitter.feed(piece)]
    return found, splitter.pending_bytes


@settings(max_examples=100, deadline=None)
@given(
    st.lists(OBJECTS, min_size=1, max_size=4),
    st.sampled_from(["", "\n", "\r\n", " ", "\n\n"]),
    st.sampled_from([None, 1]),
    st.booleans(),
    st.lists(st.integers(0, 10**6), max_size=6),
)
def test_any_objects_come_out_whole_however_they_are_cut_and_separated(wanted, between, indent, ascii_only, places):
    data = between.join(json.dumps(item, indent=indent, ensure_ascii=ascii_only) for item in wanted).encode()
    found, left = split(*cut(data, places))
    assert [json.loads(message) for message in found] == wanted
    assert left == 0


@pytest.mark.parametrize(
    ("data", "messages"),
    [
        (b'{"a":1}{"b":"}{"}', [b'{"a":1}', b'{"b":"}{"}']),
        (rb'{"a":"\\"}{"b":"\"}"}', [rb'{"a":"\\"}', rb'{"b":"\"}"}']),
        (b'junk{"a":1}', [b"junk", b'{"a":1}']),
        (b'junk\n[]\n{"a":1}', [b"junk", b"[]", b'{"a":1}']),
        (b'{"a":"broken\n{"b":2}', [b'{"a":"broken', b'{"b":2}']),  # no string goes over a line
        (b'{"a":1\n{"b":2}\n', [b'{"a":1', b'{"b":2}']),  # nor does an object begin there
        (b'{"a":1}}\n{"b":2}', [b'{"a":1}', b"}", b'{"b":2}']),
        (b'{"a":[1,\n{"b":2}]}', [b'{"a":[1,\n{"b":2}]}']),
        (b'{"a":[1, \n{"b":2}]}', [b'{"a":[1, \n{"b":2}]}']),
        (b'{"a":[ \n{"b":2}]}', [b'{"a":[ \n{"b":2}]}']),
        (b'{"a":1 \n{"b":2}', [b'{"a":1', b'{"b":2}']),
        (b'{"a":X\n{"b":2}', [b'{"a":X', b'{"b":2}']),  # no value
        (b'}{"b":2}', [b"}", b'{"b":2}']),
    ],
)
def test_text_that_is_no_object_costs_nothing_but_itself(data, messages):
    assert split(data)[0] == messages
    assert split(*(data[k : k + 1] for k in range(len(data))))[0] == messages


@settings(max_examples=200)
@given(st.binary(max_size=60), st.lists(st.integers(0, 100), max_size=4))
def test_no_bytes_are_lost_and_where_they_are_cut_changes_nothing(data, places):
    whole, left = split(data + b"\n")
    assert split(*cut(data + b"\n", places)) == (whole, left)
    kept = b"".join(b"".join(message.split()) for message in whole)
    assert b"".join(data.split()).startswith(kept)


def test_what_has_not_ended_is_counted():
    assert split(b'{"msg_type":"control","steering":') == ([], 33)
    assert split(b'{"a":1}  \n') == ([b'{"a":1}'], 0)


def pair():
    listener = listen_for_objects()
    other = socket.create_connection(listener.address)
    channel = None
    while channel is None:
        channel = listener.accept()
    listener.close()
    return channel, other


def receive(channel, count):
    found = []
    while len(found) < count and not channel.is_closed:
        wait_readable([channel], 1.0)
        found += channel.poll_objects()
    return found


def test_a_channel_reads_bare_objects_and_sends_lines():
    channel, other = pair()
    with other:
        assert channel.peer == "{}:{}".format(*other.getsockname())
        for piece in (b'{"a', b'":1}{"b":2}\n{"c":', b"\xff", b"3}"):
            other.sendall(piece)
        assert receive(channel, 3) == ['{"a":1}', '{"b":2}', '{"c":\ufffd3}']
        channel.send_object('{"x":"Ä"}')
        assert other.recv(20) == '{"x":"Ä"}\n'.encode()
        other.sendall(b'{"last":1}')
    assert receive(channel, 1) == ['{"last":1}']
    while not channel.is_closed:
        channel.poll_objects()
    assert channel.close_reason == "the other end hung up"
    assert channel.poll_objects() == []
    channel.send_object("{}")


def test_a_call_to_a_server_of_objects_becomes_a_channel_of_objects():
    listener = listen_for_objects()
    caller = call_for_objects(listener.address)
    ours = theirs = None
    while ours is None or theirs is None:
        ours, theirs = ours or caller.poll_channel(), theirs or listener.accept()
    ours.send_object('{"a":1}')
    assert receive(theirs, 1) == ['{"a":1}']
    for end in (ours, theirs, listener):
        end.close()


@pytest.mark.parametrize(("length", "reason"), [(1000, ""), (1001, "a message of more than 1000 bytes")])
def test_a_message_without_an_end_is_hung_up_on(monkeypatch, length, reason):
    monkeypatch.setattr(json_objects, "MAX_MESSAGE", 1000)
    channel, other = pair()
    with other:
        other.sendall(b'{"' + b"x" * (length - 2))
        assert wait_readable([channel], 5.0)
        while channel.pending_bytes < length:
            assert channel.poll_objects() == []
        assert channel.close_reason == reason
        channel.close()


@pytest.mark.skipif(sys.platform == "win32", reason="lingering has another layout there")
def test_a_connection_that_breaks_is_closed_with_the_system_s_reason():
    channel, other = pair()
    other.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))  # closing it is a reset
    other.close()
    assert wait_readable([channel], 5.0)
    assert channel.poll_objects() == []
    assert channel.close_reason == f"the connection broke: {os.strerror(errno.ECONNRESET)}"


def test_a_port_that_is_taken_is_an_error_at_its_origin():
    with socket.create_server(("127.0.0.1", 0)) as taken:
        for given_place, where in (({}, "tcp"), ({"where": "--port"}, "--port")):
            with pytest.raises(SimulatorError) as caught:
                listen_for_objects(taken.getsockname(), **given_place)
            assert caught.value.where == where


def test_what_a_peer_does_not_read_waits():
    channel, other = pair()
    text = '{"a":"' + "x" * (1 << 20) + '"}'
    for _ in range(8):
        channel.send_object(text)
    assert channel.unsent_bytes > 0
    read = 0
    with other:
        while read < 8 * (len(text) + 1):
            channel.poll_objects()
            read += len(other.recv(1 << 20))
    assert channel.unsent_bytes == 0
    channel.close()


def test_a_message_of_a_million_lines_costs_no_more_than_its_length():
    lines = 150_000  # lines times length would be 10^11 bytes to copy
    began = time.process_time()
    splitter = JsonObjectSplitter()
    data = b'{"a":[' + b"\n{},\n \n1," * lines + b"\n1]}"
    found = [message for at in range(0, len(data), 1 << 16) for message in splitter.feed(data[at : at + (1 << 16)])]
    assert found == [data]
    assert time.process_time() - began < 10.0


def test_a_page_cannot_send_objects_in_the_body_of_a_request():
    channel, other = pair()
    with other:
        other.sendall(
            b'POST / HTTP/1.1\r\nHost: 127.0.0.1:9091\r\nContent-Type: text/plain\r\n\r\n{"msg_type":"control"}'
        )
        assert wait_readable([channel], 5.0)
        assert channel.poll_objects() == []
        assert channel.close_reason == "a browser's request: this port is for simulators' clients"


def test_a_flood_of_small_objects_is_received_in_portions():
    channel, other = pair()
    with other:
        other.sendall(b"{}" * 3000)
        sizes = []
        while sum(sizes) < 3000:
            if not sizes:
                wait_readable([channel], 5.0)
            sizes.append(len(channel.poll_objects()))
        assert max(sizes) == MAX_MESSAGES_PER_POLL
        channel.close()


@pytest.mark.skipif(sys.platform == "win32", reason="descriptors are no small numbers there")
def test_what_is_not_received_yet_waits_in_the_system(monkeypatch):
    """So that a peer that sends more than is read waits, instead of filling our memory."""
    monkeypatch.setattr(json_objects, "RECEIVE_SIZE", 2)
    monkeypatch.setattr(json_objects, "MAX_MESSAGES_PER_POLL", 3)
    channel, other = pair()
    with other, socket.socket(fileno=os.dup(channel.fileno())) as same:
        other.sendall(b"{}" * 10)
        assert wait_readable([channel], 5.0)
        while len(same.recv(100, socket.MSG_PEEK)) < 20:
            pass
        assert channel.poll_objects() == ["{}"] * 3
        assert len(same.recv(100, socket.MSG_PEEK)) == 14
        channel.close()
