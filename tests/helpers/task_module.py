"""Tasks that work, fail, end their process and hang, as a module for processes that tests start."""

import os

SOURCE = '''
import os, sys, threading
from trailbrake.errors import UsageError

def shout(data):
    print("said", data[:20].decode())
    return data.upper()

def refuse(data):
    raise UsageError("no such thing", where="--" + data.decode())

def fail(data):
    return bytes(1 // 0)

def process_number(data):
    return str(os.getpid()).encode()

def interpreter(data):
    return sys.executable.encode()

def end_process(data):
    os._exit(7)

def end_node_process_once(data):
    """Kill the process that runs this one, in the first call; `data` names a file that remembers it."""
    try:
        os.close(os.open(data, os.O_CREAT | os.O_EXCL))
    except FileExistsError:
        return b"done"
    os.kill(os.getppid(), 9)
    threading.Event().wait()

def hang(data):
    threading.Event().wait()
'''


def write_task_module(folder, monkeypatch):
    """Write `task_module` into a folder where processes started from now on find it."""
    (folder / "task_module.py").write_text(SOURCE)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(folder), os.environ.get("PYTHONPATH", "")]))
