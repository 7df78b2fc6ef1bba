"""When the guard counts a process as hanging; and the guard itself, with a process that hangs and one that dies."""

import gc
import signal
import struct
import subprocess
import sys
import textwrap

import pytest
from helpers.waiting import HANG, let_pass, wait_for

from trailbrake.system import processes
from trailbrake.system.drive_guard import (
    BEATING_POLL_S,
    BRAKE_S,
    MOVING_LIMIT_S,
    POLL_S,
    STANDING_LIMIT_S,
    BrakePages,
    DriveGuard,
    measure_stall,
)

POSIX = pytest.mark.skipif(sys.platform == "win32", reason="signals and /dev/shm")


def stall_of(polls, **more):
    stalled = 0.0
    for poll in polls:
        usual = {"passed": POLL_S, "wait": POLL_S, "is_new": False, "is_kept": False}
        stalled = measure_stall(stalled, **usual | more | poll)
    return stalled


def test_time_without_a_heartbeat_counts():
    assert stall_of([{}] * 30) == pytest.approx(30 * POLL_S)


def test_a_heartbeat_ends_it():
    assert stall_of([{}] * 30 + [{"is_new": True}]) == 0.0


def test_a_suspended_machine_finds_no_fault():
    assert stall_of([{}, {"passed": 3600.0}, {"is_new": True}]) == 0.0
    assert stall_of([{"passed": 3600.0}]) <= 2.0 * POLL_S
    asleep = {"passed": 3600.0, "wait": BEATING_POLL_S}
    assert stall_of([asleep]) <= 2.0 * BEATING_POLL_S < MOVING_LIMIT_S < STANDING_LIMIT_S < BRAKE_S


def test_a_process_that_may_not_run_finds_no_fault():
    assert stall_of([{"is_kept": True}] * 1000) == 0.0


# A process with a guard: says its id and "ready", beats, then does what its argument says.
GUARDED = """
    import ctypes, os, sys, threading, time
    from trailbrake.system.drive_guard import DriveGuard
    guard = DriveGuard([(sys.argv[1], 4, b"BRAKE", False)])
    over = threading.Event()
    def beat():
        while not over.wait(0.05):
            guard.beat(20.0)
    thread = threading.Thread(target=beat)
    thread.start()
    time.sleep(0.5)
    print("ready", flush=True)
    {body}
    over.set()
    thread.join()
    guard.close()
"""


def run_guarded(tmp_path, body):
    page = tmp_path / "page"
    page.write_bytes(b"0123456789abcdef")
    program = textwrap.dedent(GUARDED).format(body=body)
    process = subprocess.Popen([sys.executable, "-c", program, str(page)], stdin=subprocess.PIPE,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)  # fmt: skip
    assert process.stdout.readline() == "ready\n"
    return process, page


@POSIX
@pytest.mark.slow
def test_a_process_that_keeps_its_interpreter_is_ended_and_its_car_braked(tmp_path):
    process, page = run_guarded(tmp_path, "ctypes.PyDLL(None).sleep(600)")
    _, said = process.communicate(timeout=60.0)
    assert process.returncode == -signal.SIGKILL
    assert "the driver has kept the interpreter for 1 s and cannot be interrupted: the process is ended" in said
    assert page.read_bytes() == b"0123BRAKE9abcdef"


@POSIX
@pytest.mark.slow
def test_the_car_of_a_process_that_was_killed_is_braked(tmp_path):
    process, page = run_guarded(tmp_path, HANG)
    process.kill()
    process.communicate(timeout=60.0)
    wait_for(lambda: page.read_bytes() == b"0123BRAKE9abcdef")


@POSIX
def test_in_the_end_the_car_is_given_back_unless_another_has_taken_it(tmp_path):
    pages = [tmp_path / "ours", tmp_path / "taken", tmp_path / "gone"]
    for page in pages[:2]:
        page.write_bytes(b"0123456789")
    brakes = BrakePages([(str(page), 4, b"BRAKE", None) for page in pages])
    brakes.write_brake()
    assert pages[0].read_bytes() == b"0123BRAKE9"
    pages[1].write_bytes(b"0124BRAKE9")
    brakes.remove_pages()
    assert [page.exists() for page in pages] == [False, True, False]


@POSIX
@pytest.mark.parametrize(
    ("before", "now", "left"),
    [(b"", b"paused", None), (b"", b"", None), (b"paused", b"paused", b"paused"), (b"slowly", b"paused", b"runsed")],
    ids=["created", "never made", "as it was", "changed"],
)
def test_what_the_client_has_changed_of_the_simulation_is_restored(tmp_path, before, now, left):
    page = tmp_path / "page"
    if now:
        page.write_bytes(now)
    brakes = BrakePages([(str(page), 0, b"runs", before[:4])])
    brakes.write_brake()
    assert not now or page.read_bytes()[:4] in (b"runs", before[:4])
    brakes.remove_pages()
    assert (page.read_bytes() if page.exists() else None) == left


@POSIX
@pytest.mark.slow
def test_a_killed_process_leaves_what_others_had_requested_before_it(tmp_path):
    changed = "open(sys.argv[1], 'r+b').write(b'mine'); print('changed', flush=True)"
    process, page = run_guarded(tmp_path, f"guard = DriveGuard([(sys.argv[1], 0, b'idle', True)]); {changed}; {HANG}")
    assert process.stdout.readline() == "changed\n"
    process.kill()
    process.communicate(timeout=60.0)
    wait_for(lambda: page.read_bytes().startswith(b"0123"))


@POSIX
@pytest.mark.slow
def test_a_guard_that_rests_ends_nobody(tmp_path):
    process, page = run_guarded(tmp_path, "over.set(); thread.join(); guard.rest(); time.sleep(1.3)")
    _, said = process.communicate(timeout=60.0)
    assert (process.returncode, said) == (0, "")
    assert page.read_bytes() == b"0123456789abcdef"


@POSIX
@pytest.mark.slow
def test_a_process_that_was_stopped_goes_on_and_one_that_ends_in_order_leaves_its_page(tmp_path):
    process, page = run_guarded(tmp_path, "sys.stdin.readline()")
    process.send_signal(signal.SIGSTOP)
    let_pass(1.5 * MOVING_LIMIT_S)
    process.send_signal(signal.SIGCONT)
    let_pass(0.5)
    _, said = process.communicate("go\n", timeout=60.0)
    assert (process.returncode, said) == (0, "")
    assert page.read_bytes() == b"0123456789abcdef"


def test_a_guard_leaves_nothing_behind():
    guard = DriveGuard([])
    guard.beat(3.0)
    process, file = guard._process, guard._file
    assert struct.calcsize("<Qd?") == file.stat().st_size
    guard.close()
    assert process.returncode == 0
    assert not file.exists()


@POSIX
@pytest.mark.slow
def test_a_guard_that_has_to_brake_is_left_without_a_warning():
    guard = DriveGuard([])
    pid = guard.pid
    guard.close(is_safe=False)
    del guard
    gc.collect(1)  # a handle that is dropped would be a ResourceWarning, which is an error here
    wait_for(lambda: pid not in [each.pid for each in processes._left_running if each.poll() is None])
