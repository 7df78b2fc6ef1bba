"""What only Windows can show. `.ci/windows.py` runs it on Linux too."""

import json
import mmap
import os
import signal
import socket
import subprocess
import sys
from importlib.resources import files

import pytest

from trailbrake.cars.car_library import load_car
from trailbrake.errors import UsageError
from trailbrake.record import Recorder, Recording
from trailbrake.state import CarState, Controls
from trailbrake.system.signals import handle_stop_signals
from trailbrake.transport.pad import open_pad_backend
from trailbrake.transport.shm import LockState, SharedMemory
from trailbrake.transport.udp import UdpSocket
from trailbrake.transport.websocket import call_websocket

pytestmark = pytest.mark.skipif(sys.platform != "win32", reason="Windows only; .ci/windows.py runs it elsewhere")

NAMES = ["with some spaces", "Гоночная трасса", "赛车 记录", "Bremsübung é"]
LOCAL = "127.0.0.1"


def trailbrake(*words, **environment):
    """Run the command line in a process of its own, with pipes, as another program would; decoded as UTF-8."""
    return subprocess.run(
        [sys.executable, "-m", "trailbrake", *map(str, words)], stdin=subprocess.DEVNULL, capture_output=True,
        env={**os.environ, "PYTHONUTF8": "1", **environment}, timeout=300, check=False,
    )  # fmt: skip


def test_a_page_is_the_section_that_other_programs_open_by_name(monkeypatch):
    monkeypatch.delenv("TRAILBRAKE_SHM", raising=False)
    name = f"trailbrake test {os.getpid()}"
    page = SharedMemory().create_page(name)
    assert page.created
    stranger = mmap.mmap(-1, 4096, tagname=name)  # as a game does
    page.write(b"hello", 8)
    assert stranger[8:13] == b"hello"
    stranger[8:9] = b"J"
    assert page.read(5, 8) == b"Jello"
    page.close()
    assert SharedMemory().page_exists(name)  # the stranger still holds it
    stranger.close()
    assert not SharedMemory().page_exists(name)


def test_to_look_for_a_section_does_not_make_one(tmp_path):
    memory = SharedMemory(tmp_path)
    assert memory.open_page("page") is None
    assert not memory.page_exists("page")


def test_folders_set_sections_apart(tmp_path):
    here, there = SharedMemory(tmp_path / "a"), SharedMemory(tmp_path / "b")
    page = here.create_page("page")
    assert there.open_page("page") is None
    again = SharedMemory(tmp_path / "a").open_page("page")
    page.write(b"x")
    assert again.read(1) == b"x"
    again.close()
    page.close()


CHILD = """
import sys
from trailbrake.transport.shm import SharedMemory
memory = SharedMemory(sys.argv[1])
page, lock = memory.open_page("page"), memory.acquire_lock("page")
page.write(b"from a child")
print("held", flush=True)
sys.stdin.read()
"""


def test_another_process_shares_the_section_and_its_death_frees_its_lock(tmp_path):
    memory = SharedMemory(tmp_path)
    page = memory.create_page("page")
    with subprocess.Popen(
        [sys.executable, "-c", CHILD, str(tmp_path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as child:
        assert child.stdout.readline().strip() == b"held"
        assert page.read(12) == b"from a child"
        assert memory.read_lock_state("page") is LockState.HELD
        assert memory.acquire_lock("page") is None
        child.kill()
    assert memory.read_lock_state("page") is LockState.FREE
    page.close()


def test_a_reset_does_not_hide_what_others_send():
    """Windows answers a datagram to a closed port by failing a later receive of the sender (WSAECONNRESET)."""
    ours, peer, gone = UdpSocket(), UdpSocket(), UdpSocket()
    gone.close()
    for _ in range(3):
        assert ours.send(b"anybody?", (LOCAL, gone.port))
    peer.send(b"I am", (LOCAL, ours.port))
    got = None
    for _ in range(5):  # each reset may wake us once for nothing
        if got is None and ours.wait_readable(2.0):
            got = ours.receive()
    assert got == (b"I am", (LOCAL, peer.port))
    assert ours.receive() is None
    ours.close()
    peer.close()


def test_no_second_program_can_share_our_port():
    """Without SO_EXCLUSIVEADDRUSE another program could take the datagrams by asking for SO_REUSEADDR."""
    ours = UdpSocket()
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as thief:
        thief.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        with pytest.raises(OSError, match=r"10013|10048"):
            thief.bind((LOCAL, ours.port))
    ours.close()


def test_a_refused_call_has_the_name_that_it_has_elsewhere():
    with socket.create_server((LOCAL, 0)) as once:
        port = once.getsockname()[1]
    caller = call_websocket((LOCAL, port), "/")
    for _ in range(10_000):
        if caller.poll_channel() is not None or caller.failure:
            break
    assert caller.failure in ("ECONNREFUSED", "")  # Windows tries for up to 2 s before it says so
    caller.close()


@pytest.mark.parametrize("name", NAMES)
def test_a_recording_in_any_folder_is_written_and_read_back(tmp_path, name):
    recorder = Recorder(tmp_path / name / f"{name}.mcap")
    recorder.start({"driver": name})
    for i in range(50):
        recorder.tick(CarState(time=0.01 * i, sequence=i, speed=float(i)), Controls(throttle=0.5))
    recorder.close()
    assert recorder.error == ""
    recording = Recording.open(recorder.path)
    assert recording.state["speed"].tolist() == [float(i) for i in range(50)]
    assert recording.about == {"driver": name}


def test_a_recording_can_be_read_while_it_is_written_and_not_be_taken_away(tmp_path):
    recorder = Recorder(tmp_path / "a.mcap")
    recorder.start({})
    for i in range(3000):
        recorder.tick(CarState(time=0.01 * i, sequence=i), Controls())
    part = Recording.open(recorder.path)
    assert part.truncated
    assert 0 < len(part) <= 3000
    with pytest.raises(PermissionError):
        recorder.path.unlink()
    recorder.close()
    assert len(Recording.open(recorder.path)) == 3000
    recorder.path.unlink()


def test_a_path_too_long_is_told_in_one_line(tmp_path, monkeypatch):
    def refused(*_, **__):
        raise FileNotFoundError(2, "No such file or directory")

    long = tmp_path / ("x" * 120) / ("y" * 120)
    monkeypatch.setattr("builtins.open", refused)  # wine has no such limit
    with pytest.raises(UsageError, match="choose a shorter one with --out: Windows allows 259 characters") as error:
        Recorder(long / "a.mcap").start({})
    assert "\n" not in str(error.value)


def test_ctrl_break_is_a_request():
    asked = []
    with handle_stop_signals(lambda: asked.append(1)):
        signal.raise_signal(signal.SIGBREAK)
    assert asked == [1]


def test_the_gamepad_s_package_or_driver_is_named_in_one_line(monkeypatch):
    monkeypatch.setitem(sys.modules, "vgamepad", None)
    with pytest.raises(
        UsageError, match=r'the package vgamepad is missing; pip install "trailbrake\[windows\]"'
    ) as error:
        open_pad_backend("auto")
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("name", NAMES)
def test_a_car_file_with_dos_line_ends_in_any_folder(tmp_path, name):
    text = files("trailbrake.cars").joinpath("library/hatchback.toml").read_text(encoding="utf-8")
    path = tmp_path / f"{name}.toml"
    path.write_bytes(text.replace("\n", "\r\n").encode())
    assert load_car(str(path)).body == load_car("hatchback").body


@pytest.mark.parametrize("words", [["--help"], ["sims"], ["drivers"], ["tracks"]])
@pytest.mark.parametrize("utf8", ["0", "1"])
def test_lists_and_help_print_into_pipes_of_any_code_page(words, utf8):
    done = trailbrake(*words, PYTHONUTF8=utf8)
    assert done.returncode == 0, done.stderr.decode(errors="replace")
    assert done.stderr == b""
    assert done.stdout.strip()


@pytest.mark.slow
def test_world_and_link_in_two_processes_drive_and_record(tmp_path):
    name = "赛车 Гонка"
    out = tmp_path / name
    out.mkdir()
    words = ["--track=kartwerk", "--laps=0", "--speed=real", "--no-report", "--json"]
    done = trailbrake("drive", *words, "--seconds=3", f"--out={out}", TRAILBRAKE_SHM=str(out))
    said = done.stderr.decode(errors="replace")
    assert done.returncode == 0, said
    summary = json.loads(done.stdout)
    assert summary["ended"] == "done", said
    assert summary["host"]["sim"] == "assetto"
    assert summary["link"]["received"] == summary["loop"]["ticks"] > 100
    assert len(Recording.open(summary["recording"])) > 100
