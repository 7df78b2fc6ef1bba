import contextlib
import io
import os
import sys

import pytest

from trailbrake.transport import client_notices
from trailbrake.transport.client_notices import (
    LINE_EVERY_S,
    MOST_DETAILS,
    MOST_LINES,
    UNFINISHED_S,
    WAITING_S,
    ClientNotices,
    LineBudget,
    accepts_line,
    print_to_stderr,
)


@pytest.fixture
def said():
    return []


def test_a_host_without_a_client_says_where_it_waits_once(said):
    notices = ClientNotices("toy", "no client has called 127.0.0.1:9 yet", said.append)
    for now in (100.0, 100.0 + 0.9 * WAITING_S):
        notices.note_waiting(now)
    assert said == []
    for now in (100.1 + WAITING_S, 200.0):
        notices.note_waiting(now)
    assert said == ["toy: no client has called 127.0.0.1:9 yet"]


def test_a_host_whose_client_has_left_does_not_say_that_none_has_called(said):
    notices = ClientNotices("toy", "no client has called 127.0.0.1:9 yet", said.append)
    notices.note_waiting(0.0)
    notices.note_client()
    for now in (100.0, 200.0):
        notices.note_waiting(now)
    assert said == []


def test_a_private_wire_is_silent(said):
    notices = ClientNotices("toy", say=said.append)
    for now in (0.0, 100.0):
        notices.note_waiting(now)
    assert said == []


def test_bytes_without_an_end_are_named_when_they_have_lain_for_a_while(said):
    notices = ClientNotices("toy", say=said.append)
    notices.note_unfinished(31, 0.0, "127.0.0.1:5000")
    notices.note_unfinished(0, 0.5)  # a message that came in pieces
    notices.note_unfinished(31, 0.6, "127.0.0.1:5000")
    assert said == []
    for now in (0.6 + UNFINISHED_S, 9.0):
        notices.note_unfinished(31, now, "127.0.0.1:5000")
    assert said == ["toy: 31 bytes without the end of a message from 127.0.0.1:5000"]


def test_an_hour_of_strangers_is_not_an_endless_log(said):
    now = 0.0
    say = LineBudget(said.append, lambda: now)
    for number in range(36_000):
        now = 0.1 * number
        say(f"stranger {number}")
    assert said[:MOST_LINES] == [f"stranger {k}" for k in range(MOST_LINES)]
    assert MOST_LINES + 58 <= len(said) <= MOST_LINES + 61
    printed = len(said) + sum(int(line.split("(")[1].split()[0]) for line in said[MOST_LINES:] if "(" in line)
    assert 35_000 < printed <= 36_000, "what was left out is counted"
    now += MOST_LINES * LINE_EVERY_S  # quiet for a while: all lines again
    say("a client")
    say("another")
    assert said[-1] == "another"


def test_a_line_that_would_block_is_left_out_and_counted(said):
    is_read = [True, False, False, True]
    say = LineBudget(said.append, lambda: 0.0, lambda: is_read.pop(0))
    for number in range(4):
        say(f"stranger {number}")
    assert said == ["stranger 0", "stranger 3 (2 lines like these left out before)"]


def test_ends_of_connections_have_the_host_s_name(said):
    ClientNotices("toy", say=said.append).note_end("the other end hung up")
    assert said == ["toy: the other end hung up"]


def test_an_unreadable_message_is_named_once_for_each_client(said):
    notices = ClientNotices("toy", say=said.append)
    for _ in range(3):
        notices.note_unreadable("not a number", "127.0.0.1:5000")
    notices.note_client()
    notices.note_unreadable("no JSON")
    assert said == [
        "toy: a message that cannot be read from 127.0.0.1:5000: not a number",
        "toy: a message that cannot be read: no JSON",
    ]  # fmt: skip


def test_other_faults_of_a_client_s_messages_are_named_too(said):
    notices = ClientNotices("toy", say=said.append)
    for detail in ("no scene moon", "no scene moon", "steering: got nan", *(f"no JSON {k}" for k in range(100))):
        notices.note_unreadable(detail)
    assert [line.rpartition(": ")[2] for line in said[:1]] == ["no scene moon"]
    assert said[1].endswith("steering: got nan")
    assert len(said) == MOST_DETAILS


def test_a_substitute_is_named_once(said):
    notices = ClientNotices("toy", say=said.append)
    for _ in range(2):
        notices.note_substitute("the scene warehouse is shown as the track lakeside")
    assert said == ["toy: the scene warehouse is shown as the track lakeside"]


def test_lines_for_the_user_go_to_standard_error(capsys):
    print_to_stderr("camera: the window is closed")
    assert capsys.readouterr().err == "camera: the window is closed\n"


def test_a_sender_s_bytes_cannot_steer_the_terminal(capfd):
    client_notices.print_to_stderr("a message, got \x1b]0;title\x07\x1b[2J\n\u202eend \u00e4")
    assert capfd.readouterr().err == "a message, got ?]0;title??[2J??end \u00e4\n"


@contextlib.contextmanager
def pipe(monkeypatch):
    """Let standard error be a pipe; yield both its ends."""
    reading, writing = os.pipe()
    with (
        os.fdopen(writing, "wb", buffering=0) as end,
        os.fdopen(reading, "rb", buffering=0) as reader,
        monkeypatch.context() as changed,
    ):
        changed.setattr(sys, "stderr", end)
        yield reader, end


@pytest.mark.skipif(sys.platform == "win32", reason="poll")
def test_a_pipe_takes_lines_until_it_is_full_and_again_when_it_has_been_read(monkeypatch):
    with pipe(monkeypatch) as (reader, end):
        assert accepts_line()
        os.set_blocking(end.fileno(), False)
        while end.write(b"x" * 4096):
            pass
        assert not accepts_line()
        reader.read(1 << 20)
        assert accepts_line()


@pytest.mark.skipif(sys.platform == "win32", reason="poll")
def test_a_pipe_without_a_reader_takes_none(monkeypatch):
    with pipe(monkeypatch) as (reader, _):
        reader.close()
        assert not accepts_line()


@pytest.mark.parametrize("stream", [None, io.StringIO()], ids=["none", "text"])
@pytest.mark.skipif(sys.platform == "win32", reason="poll")
def test_what_is_no_file_takes_lines(monkeypatch, stream):
    with monkeypatch.context() as changed:
        changed.setattr(sys, "stderr", stream)
        taken = accepts_line()
    assert taken
