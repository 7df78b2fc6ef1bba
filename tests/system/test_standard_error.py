"""Standard error as a pipe that is read, full, and without a reader."""

import contextlib
import io
import os
import sys

import pytest

from trailbrake.system import standard_error

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="poll")


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


def test_a_pipe_takes_lines_until_it_is_full_and_again_when_it_has_been_read(monkeypatch):
    with pipe(monkeypatch) as (reader, end):
        assert standard_error.accepts_line()
        os.set_blocking(end.fileno(), False)
        while end.write(b"x" * 4096):
            pass
        assert not standard_error.accepts_line()
        reader.read(1 << 20)
        assert standard_error.accepts_line()


def test_a_pipe_without_a_reader_takes_none(monkeypatch):
    with pipe(monkeypatch) as (reader, _):
        reader.close()
        assert not standard_error.accepts_line()


@pytest.mark.parametrize("stream", [None, io.StringIO()], ids=["none", "text"])
def test_what_is_no_file_takes_lines(monkeypatch, stream):
    with monkeypatch.context() as changed:
        changed.setattr(sys, "stderr", stream)
        taken = standard_error.accepts_line()
    assert taken
