"""Programs of others within limits: hostile ones, each started as a race would start it."""

import contextlib
import json
import os
import signal
import subprocess
import sys

import pytest
from helpers.waiting import HANG, wait_until

from trailbrake.system.confinement import Confinement, confined_command, kill_descendants, measure_tree
from trailbrake.system.processes import end_process_group, process_group_options

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform != "linux", reason="other systems have fewer limits, or none"),
]
MARK = "hostile_child_of_a_test"


def can_isolate():
    done = subprocess.run(["unshare", "-Unmp", "true"], capture_output=True, check=False)
    return done.returncode == 0


isolated = pytest.mark.skipif(
    sys.platform == "linux" and not can_isolate(), reason="this kernel gives users no namespaces"
)
each_way = pytest.mark.parametrize("isolate", [pytest.param(True, marks=isolated), False])


def run(program, folder, isolate=True, patience=60.0, **limits):
    """Run a Python program to its end; return its exit code and what it printed."""
    given = Confinement(isolate=isolate, writable=(str(folder),), **limits)
    with subprocess.Popen(
        confined_command(given, [sys.executable, "-I", "-S", "-c", program]), cwd=folder, stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, **process_group_options(),
    ) as process:  # fmt: skip
        try:
            said, _ = process.communicate(timeout=patience)
        finally:
            end_process_group(process)
    return process.returncode, said.decode()


def marked_processes():
    """Return the living processes with MARK in their command line."""
    found = []
    for name in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(OSError), open(f"/proc/{name}/cmdline", "rb") as file:
            if MARK.encode() in file.read():
                found.append(int(name))
    return found


def all_have_ended():
    return wait_until(lambda: not marked_processes(), 20.0, 0.05) is not None


@each_way
def test_a_program_ends_as_it_would_without_limits(tmp_path, isolate):
    assert run("print('words', flush=True); raise SystemExit(7)", tmp_path, isolate) == (7, "words\n")
    assert run("import os; os.kill(os.getpid(), 15)", tmp_path, isolate)[0] == -signal.SIGTERM
    assert run(f"import os; os.kill(os.getppid(), 15); {HANG}", tmp_path, isolate)[0] == -signal.SIGTERM
    assert run("import os; os.abort()", tmp_path, isolate)[0] == -signal.SIGABRT


@each_way
def test_a_memory_bomb_gets_a_memory_error(tmp_path, isolate):
    program = """
blocks = []
try:
    for _ in range(60): blocks.append(bytearray(10 << 20))
except MemoryError:
    pass
print(len(blocks))
"""
    code, said = run(program, tmp_path, isolate, memory=200)
    assert code == 0
    assert 5 <= int(said) <= 20


@isolated
def test_a_fork_bomb_stays_small_and_leaves_nothing(tmp_path):
    """Bounded here: 300 children that start one each. The limit of the kernel does not hold for root."""
    program = f"""
import os, time
made = 0
for k in range(300):
    try:
        if os.fork() == 0:
            try: os.fork()
            except OSError: pass
            os.execlp("sleep", "{MARK}", "300")
        made += 1
    except OSError:
        break
print(made)
"""
    code, said = run(program, tmp_path, processes=20)
    assert code == 0
    if os.getuid():
        assert int(said) <= 20 + 4 * (os.cpu_count() or 1)
    assert all_have_ended()


@each_way
def test_daemons_that_leave_their_session_end_with_the_program(tmp_path, isolate):
    program = f"""
import os, time
for k in range(3):
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            os.setsid()
            os.execlp("sleep", "{MARK}", "300")
        os._exit(0)
time.sleep(0.3)
print("ended")
"""
    assert run(program, tmp_path, isolate) == (0, "ended\n")
    assert all_have_ended()


@each_way
def test_a_program_that_ignores_every_request_is_killed_with_its_daemons(tmp_path, isolate):
    program = f"""
import os, signal, time
for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP): signal.signal(number, signal.SIG_IGN)
if os.fork() == 0:
    os.setsid()
    os.execlp("sleep", "{MARK}", "300")
print("ready", flush=True)
{HANG}
"""
    given = Confinement(isolate=isolate, writable=(str(tmp_path),))
    with subprocess.Popen(
        confined_command(given, [sys.executable, "-I", "-c", program]), stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL, **process_group_options(),
    ) as process:  # fmt: skip
        try:
            assert process.stdout.readline() == b"ready\n"
            assert measure_tree(process.pid)[0] >= 2
            process.terminate()
            assert process.poll() is None
        finally:
            end_process_group(process)
        assert process.returncode == -signal.SIGKILL
    assert all_have_ended()


@isolated
def test_files_outside_of_its_folder_stay_as_they_are(tmp_path):
    home, other = tmp_path / "home", tmp_path / "other"
    home.mkdir()
    other.write_text("kept")
    program = f"""
import os, tempfile
for path in ({str(other)!r}, {str(tmp_path / "new")!r}, "/tmp/{MARK}", "/dev/shm/{MARK}"):
    try: open(path, "w").write("changed")
    except OSError as error: print(error.errno)
try: os.remove({str(other)!r})
except OSError as error: print(error.errno)
open({str(home / "own")!r}, "w").write("x")
"""
    assert run(program, home) == (0, "30\n" * 5)
    assert (other.read_text(), (home / "own").read_text()) == ("kept", "x")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["home", "other"]


@isolated
def test_the_network_is_a_loopback_of_its_own(tmp_path):
    import socket

    with socket.create_server(("127.0.0.1", 0)) as ours:
        program = f"""
import socket
for address in (("127.0.0.1", {ours.getsockname()[1]}), ("192.0.2.1", 80)):
    try: socket.create_connection(address, 5); print("connected")
    except OSError as error: print(type(error).__name__)
with socket.create_server(("127.0.0.1", 0)) as own: socket.create_connection(own.getsockname()); print("loopback")
"""
        assert run(program, tmp_path) == (0, "ConnectionRefusedError\nOSError\nloopback\n")
        assert run(program, tmp_path, network=True)[1].startswith("connected\n")


@isolated
def test_other_processes_are_out_of_reach(tmp_path):
    with subprocess.Popen(["sleep", "300"]) as other:
        try:
            program = f"import os\ntry: os.kill({other.pid}, 9); print('killed')\nexcept OSError as e: print(e.errno)"
            assert run(program, tmp_path) == (0, "3\n")
            assert other.poll() is None
        finally:
            other.kill()


@each_way
def test_endless_output_ends_at_the_size_of_a_file(tmp_path, isolate):
    given = Confinement(isolate=isolate, writable=(str(tmp_path),), file_size=2)
    program = "import os\nwhile True: os.write(1, b'words ' * 10000)"
    with (tmp_path / "log").open("wb") as log:
        done = subprocess.run(confined_command(given, [sys.executable, "-c", program]), stdout=log,
                              stderr=subprocess.DEVNULL, timeout=60, check=False)  # fmt: skip
    assert done.returncode in (1, -signal.SIGXFSZ)  # Python ignores the signal and gets the error
    assert (tmp_path / "log").stat().st_size <= 2 << 20


@each_way
def test_open_files_and_processor_time_are_limited(tmp_path, isolate):
    program = "files = []\ntry:\n  while True: files.append(open('/dev/null'))\nexcept OSError: print(len(files))"
    assert int(run(program, tmp_path, isolate, open_files=64)[1]) < 64
    assert run("while True: pass", tmp_path, isolate, cpu=1)[0] in (-signal.SIGXCPU, -signal.SIGKILL)


def test_what_the_system_does_not_give_is_said(tmp_path):
    status = tmp_path / "status"
    given = Confinement(isolate=True, writable=(str(tmp_path / "missing"),), status=str(status))
    done = subprocess.run(confined_command(given, ["true"]), capture_output=True, timeout=60, check=False)
    assert done.returncode == 0
    (said,) = json.loads(status.read_text())
    assert said.startswith(("all files of the user can be written", "no namespaces"))


def test_a_program_that_is_not_there_is_said(tmp_path):
    read, write = os.pipe()
    command = confined_command(Confinement(failure=write), [str(tmp_path / "missing")])
    with open(read, "rb") as failure, subprocess.Popen(command, pass_fds=(write,)) as process:
        os.close(write)
        assert failure.read() == b"No such file or directory"
        assert process.wait(60) == 127


def test_a_tree_of_processes_is_measured_and_killed():
    before = measure_tree(os.getpid())[0]  # other tests fork programs from a process that stays
    command = ["sh", "-c", "sleep 300 & sleep 300 & echo both; wait"]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        assert process.stdout.readline() == b"both\n"
        assert measure_tree(process.pid)[0] >= 2
        kill_descendants(process.pid)
        process.wait(20)
    assert measure_tree(os.getpid())[0] == before
