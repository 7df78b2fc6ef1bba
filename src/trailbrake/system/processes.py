"""Processes that we start, each with whatever it starts itself in a group of its own."""

import contextlib
import os
import signal
import subprocess
import sys
from typing import Any

from trailbrake.system.confinement import kill_descendants


def process_group_options() -> dict[str, Any]:
    """Return the arguments of Popen that give the process a group of its own: Ctrl-C is ours to handle."""
    if sys.platform == "win32":
        return {"creationflags": subprocess.CREATE_NEW_PROCESS_GROUP}
    return {"start_new_session": True}


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
