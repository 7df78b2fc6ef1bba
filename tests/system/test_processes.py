"""Processes of ours end with all that they have started."""

import contextlib
import gc
import os
import subprocess
import sys
import threading

import pytest
from helpers.waiting import HANG, wait_for

from trailbrake.system import processes
from trailbrake.system.processes import end_process_group, leave_running, process_group_options, wait_for_threads

PARENT = """
import subprocess, sys
child = subprocess.Popen([sys.executable, "-c", "HANG"])
print(child.pid, flush=True)
END
"""


def is_alive(pid):
    with contextlib.suppress(OSError, IndexError), open(f"/proc/{pid}/stat") as file:
        return file.read().rsplit(")", 1)[1].split()[0] != "Z"
    return False


@pytest.mark.slow
@pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="looks at processes as Linux shows them")
@pytest.mark.parametrize("long", [True, False])
def test_the_end_of_a_process_is_the_end_of_its_children(long):
    process = subprocess.Popen(
        [sys.executable, "-c", PARENT.replace("END", "HANG" * long).replace("HANG", HANG)],
        stdout=subprocess.PIPE,
        text=True,
        **process_group_options(),
    )
    child = int(process.stdout.readline())
    if not long:
        process.wait()  # a parent that has ended by itself has left its child behind
    assert is_alive(child)
    end_process_group(process)
    wait_for(lambda: not is_alive(child))
    assert process.returncode is not None
    process.stdout.close()


@pytest.mark.slow
def test_a_process_may_have_time_to_end_by_itself():
    process = subprocess.Popen([sys.executable, "-c", "raise SystemExit(3)"], **process_group_options())
    end_process_group(process, patience_s=60.0)
    assert process.returncode == 3


@pytest.mark.slow
def test_a_process_that_is_left_is_kept_until_it_ends_and_then_reaped():
    process = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    pid, stdin = process.pid, process.stdin
    leave_running(process)
    del process
    gc.collect(1)  # a handle that is dropped would be a ResourceWarning, which is an error here
    assert is_alive(pid)
    stdin.close()
    wait_for(lambda: not is_alive(pid))
    leave_running(subprocess.Popen([sys.executable, "-c", "pass"]))
    with pytest.raises(ChildProcessError):
        os.waitpid(pid, 0)
    wait_for(lambda: all(each.poll() is not None for each in processes._left_running))


def test_threads_that_keep_the_process_alive_are_named():
    over, before = threading.Event(), threading.enumerate()
    names = ("quick", "worker", "helper")
    stay, quick = over.wait, threading.Event().is_set
    threads = [threading.Thread(target=quick if name == "quick" else stay, name=name, daemon=name == "helper")
               for name in names]  # fmt: skip
    for thread in threads:
        thread.start()
    assert wait_for_threads(before, 0.05) == ["worker"]
    over.set()
    assert wait_for_threads(before, 60.0) == []


@pytest.mark.slow
@pytest.mark.parametrize(("seconds", "killed"), [(0.0, False), (600.0, True)])
def test_a_process_exits_with_its_code_whether_its_threads_end_or_not(seconds, killed):
    program = (
        "import atexit, threading, time\n"
        "from trailbrake.system.processes import exit_without_threads\n"
        "atexit.register(print, 'in order')\n"
        f"threading.Thread(target=time.sleep, args=({seconds},)).start()\n"
        "print('said')\n"
        "exit_without_threads(3, 1.0)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True, timeout=60.0)
    assert (done.returncode, done.stdout) == (3, "said\n" if killed else "said\nin order\n")
