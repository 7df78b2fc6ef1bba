"""A competitor's program: started by its command line, told its port, ended with all that it has started."""

import os
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from trailbrake.errors import SimulatorError, UsageError
from trailbrake.race.files import words
from trailbrake.race.plan import Entry
from trailbrake.run.children import end, own_group
from trailbrake.run.signals import CHILD

ADDRESS = "127.0.0.1"
LAST_WORDS = 200  # characters
_TAIL = 4096  # bytes of a log that are looked at
_OURS = (CHILD, "TRAILBRAKE_SHM")  # ours, and not the program's business


def port_for(entry: Entry) -> int:
    """Return the port on which an entry's program is to listen: its own, or one that is free now.

    Raises:
        SimulatorError: its own is taken. The simulator would call whoever has it.
    """
    with socket.socket() as probe:
        if os.name == "posix":  # a port whose last connection has just ended is free; elsewhere the option means more
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((ADDRESS, entry.port))
        except OSError as error:
            raise SimulatorError(
                f"port {entry.port} is taken", where=f"entry {entry.name}", got=error.strerror or str(error),
                hint="stop the program that has it, or let the bot listen on {port}",
            ) from error  # fmt: skip
        port: int = probe.getsockname()[1]
        return port


@contextmanager
def running(entry: Entry, port: int, folder: Path, log: Path) -> Iterator["subprocess.Popen[bytes]"]:
    """Run an entry's program in `folder`; what it prints goes to `log`. It is ended on leaving.

    Raises:
        UsageError: it cannot be started.
    """
    command = words(entry, port, folder)
    environment = {name: value for name, value in os.environ.items() if name not in _OURS}
    environment |= {"PORT": str(port), "TRAILBRAKE_PORT": str(port), "PYTHONUNBUFFERED": "1"}
    with log.open("wb") as out:
        try:
            process = subprocess.Popen(
                command, cwd=folder, env=environment, stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.STDOUT,
                **own_group(),
            )  # fmt: skip
        except OSError as error:
            raise UsageError("cannot be started", where=f"entry {entry.name}", got=error.strerror or str(error),
                             hint=" ".join(command)) from error  # fmt: skip
    try:
        yield process
    finally:
        end(process)


def last_words(log: Path) -> str:
    """Return the last line of a log that says something, "" where there is none."""
    try:
        with log.open("rb") as file:
            file.seek(max(log.stat().st_size - _TAIL, 0))
            lines = file.read().decode("utf-8", "replace").split("\n")
    except OSError:
        return ""
    said = [" ".join(line.split()) for line in lines if line.strip()]
    return said[-1][-LAST_WORDS:] if said else ""


def exit_text(code: int) -> str:
    """Return how a process ended, for people."""
    return f"signal {-code}" if code < 0 else f"exit code {code}"
