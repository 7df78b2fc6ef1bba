"""Pages and locks of the shared memory, in a folder of the test's own."""

import os
import signal
import subprocess
import sys

import pytest
from helpers.waiting import HANG

from trailbrake.errors import SimulatorError, UsageError
from trailbrake.transport.shm import ENVIRONMENT, LockState, SharedMemory

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="looks at the files behind the pages")


@pytest.fixture
def memory(tmp_path):
    return SharedMemory(tmp_path)


@pytest.mark.parametrize("mapped", [False, True])
def test_two_ends_share_the_bytes(memory, mapped):
    here = memory.create_page("page", mapped=mapped)
    there = memory.open_page("page", mapped=not mapped)
    assert here.created
    assert not there.created
    here.write(b"hello", 8)
    assert there.read(5, 8) == b"hello"
    there.write(b"J", 8)
    assert here.read(5, 8) == b"Jello"
    assert len(here.read(4096)) == 4096
    here.close(remove=True)
    there.close()
    assert not memory.page_exists("page")


def test_open_does_not_create(memory):
    assert memory.open_page("page") is None
    assert not memory.page_exists("page")


@pytest.mark.parametrize("length", [0, 1, 64, 72, 76, 256, 5000])
@pytest.mark.parametrize("mapped", [False, True])
def test_a_short_file_is_grown_and_keeps_its_bytes(memory, tmp_path, length, mapped):
    (tmp_path / "page").write_bytes(b"x" * length)
    page = memory.open_page("page", mapped=mapped)
    assert page.read(4096) == (b"x" * length).ljust(4096, b"\0")[:4096]
    assert (tmp_path / "page").stat().st_size == max(length, 4096)
    page.close()


def test_an_unmapped_page_survives_a_stranger_who_truncates_it(memory, tmp_path):
    page = memory.create_page("page")
    page.write(b"abc")
    os.truncate(tmp_path / "page", 0)
    assert page.read(72) == b""
    page.write(b"xyz", 2)
    assert page.read(72) == b"\0\0xyz"
    page.close(remove=True)


def test_current_tells_a_replaced_and_a_removed_page(memory, tmp_path):
    page = memory.create_page("page")
    assert page.is_current()
    (tmp_path / "page").rename(tmp_path / "old")
    assert not page.is_current()
    (tmp_path / "page").write_bytes(b"newer")
    assert not page.is_current()
    page.close(remove=True)  # ours is gone already: the newer page of that name is not ours to remove
    assert (tmp_path / "page").read_bytes() == b"newer"
    page.close()  # twice does no harm


def test_lock_is_exclusive_and_is_left_clean(memory, tmp_path):
    assert memory.read_lock_state("page") is LockState.FREE
    lock = memory.acquire_lock("page")
    assert memory.acquire_lock("page") is None
    assert memory.read_lock_state("page") is LockState.HELD
    lock.close()
    lock.close()
    assert memory.read_lock_state("page") is LockState.FREE
    assert list(tmp_path.iterdir()) == []
    again = memory.acquire_lock("page")
    assert again is not None
    again.close()


def test_a_killed_holders_lock_is_abandoned_and_free(memory, tmp_path):
    code = (
        "import sys; from trailbrake.transport.shm import SharedMemory\n"
        f"lock = SharedMemory(sys.argv[1]).acquire_lock('page'); print('held', flush=True); {HANG}"
    )
    with subprocess.Popen([sys.executable, "-c", code, str(tmp_path)], stdout=subprocess.PIPE) as child:
        assert child.stdout.readline() == b"held\n"
        assert memory.read_lock_state("page") is LockState.HELD
        assert memory.acquire_lock("page") is None
        child.send_signal(signal.SIGKILL)
    assert memory.read_lock_state("page") is LockState.ABANDONED
    lock = memory.acquire_lock("page")
    assert lock is not None
    lock.close()


def test_the_environment_moves_the_public_folder(tmp_path, monkeypatch):
    monkeypatch.setenv(ENVIRONMENT, str(tmp_path))
    assert SharedMemory().folder == str(tmp_path)
    SharedMemory().create_page("page").close()
    assert (tmp_path / "page").stat().st_size == 4096
    monkeypatch.delenv(ENVIRONMENT)
    assert SharedMemory().folder == "/dev/shm"


def test_bad_folders_and_pages_are_one_line(memory, tmp_path):
    with pytest.raises(UsageError, match=r"nowhere: the shared-memory folder is not there.*TRAILBRAKE_SHM"):
        SharedMemory(tmp_path / "nowhere")
    (tmp_path / "page").mkdir()
    for door in (memory.create_page, memory.open_page):
        with pytest.raises(SimulatorError, match="page: cannot"):
            door("page")
    (tmp_path / "link").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(SimulatorError, match="link: cannot"):
        memory.create_page("link")
    assert not (tmp_path / "elsewhere").exists()
