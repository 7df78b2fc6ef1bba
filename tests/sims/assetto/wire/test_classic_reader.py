"""Looking at the pages of a game that comes and goes."""

import pytest
from helpers.assetto.foreign_pages import pages

from trailbrake.sims.assetto.wire import acpmf, classic_reader
from trailbrake.transport.shm import SharedMemory


def test_pages_come_and_go(tmp_path):
    memory = SharedMemory(tmp_path)
    look = classic_reader.ClassicPageReader(memory)
    assert (look.read_physics(), look.read_graphics(), look.read_static()) == (None, None, None)
    page = memory.create_page(acpmf.STATIC_NAME)
    assert look.read_static() is None  # there, but it names no track yet
    page.write(acpmf.encode_static(acpmf.Static(track="imola")))
    assert look.read_static().track == "imola"
    page.close(remove=True)
    look.close()
    assert look.read_static() is None


def test_a_new_page_of_the_same_name_is_found(tmp_path):
    memory = SharedMemory(tmp_path)
    look = classic_reader.ClassicPageReader(memory)
    path = pages(tmp_path) / acpmf.STATIC_NAME
    for name in ("imola", "monza"):
        path.unlink(missing_ok=True)
        path.write_bytes(acpmf.encode_static(acpmf.Static(track=name)))
        assert look.read_static().track == name
    look.close()
    path.unlink()


def test_words():
    assert [classic_reader.status_text(n) for n in (0, 1, 2, 3, 9)] == ["off", "replay", "live", "pause", "9"]
    assert [classic_reader.session_text(n) for n in (-1, 3, 99)] == ["unknown", "hotlap", "99"]


def test_without_pages_nobody_waits(tmp_path):
    look = classic_reader.ClassicPageReader(SharedMemory(tmp_path))
    assert classic_reader.await_session(look, 5.0, 60.0, lambda: pytest.fail("it waited")) == 5.0
