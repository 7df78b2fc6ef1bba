"""Processes that we start, each with whatever it starts itself in a group of its own; what drivers leave in ours."""

import contextlib
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Container
from typing import Any, NoReturn

from trailbrake.system.confinement import kill_descendants

_left_running: "list[subprocess.Popen[Any]]" = []


def process_group_options() -> dict[str, Any]:
    """Return the arguments of Popen that give the process a group of its own: Ctrl-C is ours to handle."""
    if sys.platform == "win32":
        return {"creationflags": subprocess.CREATE_NEW_PROCESS_GROUP}
    return {"start_new_session": True}


def leave_running(process: "subprocess.Popen[Any]") -> None:
    """Keep the handle of a process that outlives our interest in it until it has ended, and reap those that have.

    A handle that is dropped before makes Python warn, and leaves a zombie.
    """
    _left_running[:] = [each for each in [*_left_running, process] if each.poll() is None]


def end_forked_copy(pid: int, driver: object) -> None:
    """End this process if it is no longer `pid`, but a copy of it that `driver` has made: two would drive one car."""
    if os.getpid() == pid:
        return
    with contextlib.suppress(OSError):
        os.write(2, f"trailbrake: {find_file(driver)} has called os.fork: the copy of the drive ends\n".encode())
    os._exit(1)


def find_file(driver: object) -> str:
    """Return the file in which the class of `driver` is; its name where there is none."""
    return getattr(sys.modules.get(type(driver).__module__), "__file__", None) or type(driver).__qualname__


def wait_for_threads(before: Container[threading.Thread], patience_s: float = 0.5) -> list[str]:
    """Return the names of threads that keep the process alive, were not there `before`, and do not end in time."""
    others = [thread for thread in threading.enumerate() if not thread.daemon and thread not in before]
    deadline = time.monotonic() + patience_s
    for thread in others:
        thread.join(max(deadline - time.monotonic(), 0.0))
    return [thread.name for thread in others if thread.is_alive()]


def exit_without_threads(code: int, patience_s: float = 3.0) -> NoReturn:
    """Exit, after `patience_s` even if threads still run that would keep the process alive."""

    def end() -> None:
        time.sleep(patience_s)
        if wait_for_threads({threading.main_thread()}, 0.0):
            for stream in (sys.stdout, sys.stderr):
                with contextlib.suppress(Exception):
                    stream.flush()
            os._exit(code)

    threading.Thread(target=end, daemon=True).start()
    sys.exit(code)


def end_process_group(process: "subprocess.Popen[Any]", patience_s: float = 0.0) -> None:
    """End a process that was started with `own_group`, and all that it has started.

    Args:
        process: dead or alive: what it has started may live on.
        patience_s: s that it may take to end by itself.
    """
    if patience_s:
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(patience_s)
    if sys.platform == "win32":
        if process.poll() is None:  # the tree is found by its root
            subprocess.run(
                ["taskkill", "/F", "/T", "/PID", str(process.pid)], stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False,
            )  # fmt: skip
            process.kill()
    else:
        if process.poll() is None:
            kill_descendants(process.pid)  # those that have left the group
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)  # the group lives as long as one of it does
    process.wait()
