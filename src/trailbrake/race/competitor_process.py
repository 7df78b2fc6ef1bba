"""A competitor's program: started by its command line with its port, ended with all processes that it has started."""

import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from trailbrake.errors import OsErrors, SimulatorError, UsageError, describe_os_error
from trailbrake.race.entry_confinement import confine_program
from trailbrake.race.plan import EntryLimits, RaceEntry
from trailbrake.race.schedule import split_command
from trailbrake.system.processes import end_process_group, process_group_options

ADDRESS = "127.0.0.1"
LAST_LINE_LENGTH = 200  # characters
_TAIL_BYTES = 4096  # bytes of a log that are looked at
HOME = "bot_home"  # its folder


def find_port(entry: RaceEntry) -> int:
    """Return the port on which an entry's program is to listen: its own, or one that is free now.

    Raises:
        SimulatorError: its own is taken. The simulator would connect to the wrong program.
    """
    with socket.socket() as probe:
        if os.name == "posix":  # a port whose last connection has just ended is free; elsewhere the option means more
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        with OsErrors(
            f"port {entry.port} is taken",
            where=f"entry {entry.name}",
            kind=SimulatorError,
            hint="stop the program that has it, or let the bot listen on {port}",
        ):
            probe.bind((ADDRESS, entry.port))
        port: int = probe.getsockname()[1]
        return port


@contextmanager
def run_program(
    entry: RaceEntry, port: int, folder: Path, log: Path, limits: EntryLimits | None = None
) -> Iterator["subprocess.Popen[bytes]"]:
    """Run an entry's program in `folder`; what it prints goes to `log`. It is ended on leaving.

    Args:
        entry: whose.
        port: for it to listen on.
        folder: where it runs.
        log: a new file. Beside it, the program's home is made, the only folder that it may write to.
        limits: what it may use; None for the usual limits.

    Raises:
        UsageError: it cannot be started.
    """
    words = split_command(entry, port, folder)
    home = log.parent / HOME
    home.mkdir(exist_ok=True)
    process: subprocess.Popen[bytes] | None = None
    reason = ""
    read, write = os.pipe()
    options = process_group_options() | ({} if sys.platform == "win32" else {"pass_fds": (write,)})
    with open(read, "rb") as failure, log.open("wb") as out:
        command, environment = confine_program(words, limits or EntryLimits(), home, write)
        environment |= {"PORT": str(port), "TRAILBRAKE_PORT": str(port), "PYTHONUNBUFFERED": "1"}
        try:
            process = subprocess.Popen(
                command, cwd=folder, env=environment, stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.STDOUT,
                **options,
            )  # fmt: skip
        except OSError as error:
            reason = describe_os_error(error)
        finally:
            os.close(write)
        reason = reason or failure.read().decode("utf-8", "replace")  # ends when the program begins
    if process is None or reason:
        if process is not None:
            end_process_group(process)
        raise UsageError("cannot be started", where=f"entry {entry.name}", got=reason, hint=" ".join(words))
    try:
        yield process
    finally:
        end_process_group(process)


def read_last_line(log: Path) -> str:
    """Return the last line of a log that says something, "" where there is none."""
    try:
        with log.open("rb") as file:
            file.seek(max(log.stat().st_size - _TAIL_BYTES, 0))
            lines = file.read().decode("utf-8", "replace").split("\n")
    except OSError:
        return ""
    said = [" ".join(line.split()) for line in lines if line.strip()]
    return said[-1][-LAST_LINE_LENGTH:] if said else ""


def describe_exit(code: int) -> str:
    """Return how a process ended, for people."""
    return f"signal {-code}" if code < 0 else f"exit code {code}"
