"""A competitor's program: its port, its log, its last words."""

import socket
import sys

import pytest

from trailbrake.errors import SimulatorError, UsageError
from trailbrake.race import competitor_process
from trailbrake.race.plan import RaceEntry


def test_a_free_port_is_one_that_can_be_had():
    port = competitor_process.find_port(RaceEntry(name="a"))
    with socket.create_server(("127.0.0.1", port)):
        pass


def test_a_port_of_its_own_that_another_program_has_is_refused():
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(SimulatorError, match=f"entry Bot: port {port} is taken"):
            competitor_process.find_port(RaceEntry(name="Bot", port=port))
    assert competitor_process.find_port(RaceEntry(name="Bot", port=port)) == port


@pytest.mark.slow
def test_a_program_is_told_its_port_twice_and_its_words_are_kept(tmp_path, monkeypatch):
    monkeypatch.setenv("TRAILBRAKE_CHILD", "1")  # ours: a program that is trailbrake itself must not end at once
    text = "import os, sys; print(sys.argv[1], os.environ['PORT'], os.environ.get('TRAILBRAKE_CHILD'), os.getcwd())"
    entry = RaceEntry(name="a", command=("{python}", "-c", text, "{port}"))
    with competitor_process.run_program(entry, 4321, tmp_path, tmp_path / "log") as process:
        assert process.wait(60) == 0
    assert competitor_process.read_last_line(tmp_path / "log") == f"4321 4321 None {tmp_path}"


def test_a_program_that_cannot_be_started(tmp_path):
    program = tmp_path / "bot.bin"
    program.write_bytes(b"\0\0\0\0")
    program.chmod(0o755)
    with (
        pytest.raises(UsageError, match="entry Bot: cannot be started"),
        competitor_process.run_program(RaceEntry(name="Bot", command="./bot.bin"), 1, tmp_path, tmp_path / "log"),
    ):
        pass


@pytest.mark.parametrize(
    ("said", "words"),
    [
        (b"", ""),
        (b"first\nlast  words\r\n\n", "last words"),
        (b"\xff\xfe broken", "\ufffd\ufffd broken"),
        (b"x" * 10_000 + b"\n", "x" * competitor_process.LAST_LINE_LENGTH),
    ],
)
def test_last_words(said, words, tmp_path):
    (tmp_path / "log").write_bytes(said)
    assert competitor_process.read_last_line(tmp_path / "log") == words


def test_nobody_has_said_anything_where_there_is_no_log(tmp_path):
    assert competitor_process.read_last_line(tmp_path / "none") == ""


def test_how_a_process_ended():
    assert competitor_process.describe_exit(-9) == "signal 9"
    assert competitor_process.describe_exit(3) == "exit code 3"


@pytest.mark.skipif(sys.platform == "win32", reason="the option is POSIX's")
def test_a_port_whose_last_connection_has_just_ended_is_free():
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        with socket.create_connection(("127.0.0.1", port)):
            server.accept()[0].close()  # this end waits a minute for late packets
    assert competitor_process.find_port(RaceEntry(name="a", port=port)) == port
