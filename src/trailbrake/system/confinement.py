"""Runs a program of others within limits. A script by itself: `python -I -S confinement.py LIMITS PROGRAM ARGUMENTS`.

Limits of resources hold for each process. On Linux the program also gets, where the kernel allows it to users,
namespaces of its own: it sees no network but a loopback of its own and no processes but its own, it can write to the
folders in `writable` alone, and when it ends, or this process is killed, all that it has started is killed with it.

This file is run before anything else is imported and knows only the standard library.
"""

import contextlib
import ctypes
import json
import os
import signal
import socket
import struct
import sys
from dataclasses import asdict, dataclass
from typing import NoReturn

MEGABYTE = 1 << 20  # bytes
_NEW_USER, _NEW_MOUNTS, _NEW_PIDS, _NEW_IPC, _NEW_NET = 0x10000000, 0x00020000, 0x20000000, 0x08000000, 0x40000000
_BIND, _RECURSIVE, _PRIVATE = 4096, 16384, 1 << 18  # of mount(2)
_MOUNT_SETATTR, _AT_FDCWD, _AT_RECURSIVE, _READ_ONLY = 442, -100, 0x8000, 1  # of mount_setattr(2)
_SET_DEATH_SIGNAL, _SET_SUBREAPER = 1, 36  # of prctl(2)
_GET_FLAGS, _SET_FLAGS, _UP = 0x8913, 0x8914, 1  # of a network interface
_KILL_ROUNDS = 100  # a program that starts others faster than they are killed gets so many
_THREADS_PER_CORE = 4  # threads count as processes, and array libraries start some for each core


@dataclass(frozen=True, kw_only=True)
class Confinement:
    """What a program may use; 0 = without a limit.

    Attributes:
        memory: MB of private memory of each process.
        processes: how many beside the threads of array libraries.
        open_files: of each process.
        file_size: MB of each file that it writes.
        cpu: s of processor time of each process.
        isolate: whether it gets namespaces of its own.
        network: whether the network stays: that of the process that starts it.
        writable: folders that it may write to; () = everything that the user may.
        status: a file for what could not be had, a JSON list of texts; "" = none.
        failure: a descriptor to which the reason is written if the program cannot be started; -1 = none.
    """

    memory: int = 0
    processes: int = 0
    open_files: int = 0
    file_size: int = 0
    cpu: int = 0
    isolate: bool = True
    network: bool = False
    writable: tuple[str, ...] = ()
    status: str = ""
    failure: int = -1


def confined_command(limits: Confinement, command: list[str]) -> list[str]:
    """Return the command line that runs `command` within `limits`; the same one where the system has no such limits."""
    if sys.platform == "win32":
        return command
    return [sys.executable, "-I", "-S", __file__, json.dumps(asdict(limits)), *command]


def main(words: list[str]) -> NoReturn:
    """Run the program in `words[1:]` within the limits in `words[0]`; end as it ends."""
    if sys.platform == "win32":
        raise SystemExit("limits of POSIX")
    limits = Confinement(**json.loads(words[0]))
    libc = ctypes.CDLL(None, use_errno=True)
    missing: list[str] = []
    isolated = False
    # Opened before everything is read-only.
    status = open(limits.status, "w", encoding="utf-8") if limits.status else None  # noqa: SIM115
    if sys.platform == "linux":
        libc.prctl(_SET_DEATH_SIGNAL, signal.SIGKILL)
        libc.prctl(_SET_SUBREAPER, 1)  # where there are no namespaces: orphans stay in this tree
        if limits.isolate:
            try:
                isolated = _enter_namespaces(libc, limits, missing)
            except OSError as error:
                missing.append(f"no namespaces: {error.strerror}")
    else:
        missing.append(f"no namespaces on {sys.platform}")
    if status is not None:
        with status:
            json.dump(missing, status)
    if isolated:
        code = _run_as_first(libc, limits, words[1:])
    else:
        code = _wait_for(_start_program(limits, words[1:], isolated))
        kill_descendants(os.getpid())
    _end_like(code)


def list_descendants(root: int) -> list[int]:
    """Return the processes that `root` has started, and theirs. Linux alone knows; elsewhere there are none."""
    children: dict[int, list[int]] = {}
    for name in os.listdir("/proc") if sys.platform == "linux" else ():
        if name.isdigit():
            with contextlib.suppress(OSError, ValueError, IndexError), open(f"/proc/{name}/stat", "rb") as file:
                # Behind the program's name, in which anything may stand: state and parent.
                children.setdefault(int(file.read().rpartition(b")")[2].split()[1]), []).append(int(name))
    found = children.get(root, [])
    for process in found:  # grows meanwhile
        found += children.get(process, [])
    return found


def measure_tree(root: int) -> tuple[int, float]:
    """Return how many processes `root` has started, and the memory in them, MB; (0, 0.0) where that is not known."""
    found, total = list_descendants(root), 0
    for process in found:
        with contextlib.suppress(OSError, ValueError, IndexError), open(f"/proc/{process}/statm", "rb") as file:
            words = file.read().split()
            total += int(words[1]) - int(words[2])  # resident, less what is shared with files
    return len(found), total * os.sysconf("SC_PAGE_SIZE") / MEGABYTE if found else 0.0


def kill_descendants(root: int) -> None:
    """Kill what `root` has started, also what was started while this was done."""
    for _ in range(_KILL_ROUNDS):
        alive = list_descendants(root)
        if root == os.getpid():  # what is killed is reaped, or it would count as alive
            with contextlib.suppress(ChildProcessError):
                while os.waitpid(-1, os.WNOHANG)[0]:
                    pass
            alive = list_descendants(root)
        if not alive:
            return
        for process in alive:
            with contextlib.suppress(OSError):
                os.kill(process, signal.SIGSTOP)  # first: none starts another one while the rest is killed
        for process in alive:
            with contextlib.suppress(OSError):
                os.kill(process, signal.SIGKILL)


def _enter_namespaces(libc: ctypes.CDLL, limits: Confinement, missing: list[str]) -> bool:
    """Leave the network, the other processes and the right to write behind; `missing` gets what is not possible."""
    if sys.platform != "linux":
        return False
    user, group = os.getuid(), os.getgid()
    _call(libc.unshare, _NEW_USER | _NEW_MOUNTS | _NEW_PIDS | _NEW_IPC | (0 if limits.network else _NEW_NET))
    for name, text in (("setgroups", "deny"), ("uid_map", f"{user} {user} 1"), ("gid_map", f"{group} {group} 1")):
        with open(f"/proc/self/{name}", "w", encoding="ascii") as file:
            file.write(text)
    if not limits.network:
        _start_loopback()
    if limits.writable:
        try:
            _allow_writing(libc, limits.writable)
        except OSError as error:
            missing.append(f"all files of the user can be written: {error.strerror}")
    return True


def _start_loopback() -> None:
    if sys.platform != "linux":
        return
    import fcntl

    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        request = struct.pack("16sH14x", b"lo", 0)
        flags = struct.unpack_from("H", fcntl.ioctl(any_socket, _GET_FLAGS, request), 16)[0]
        fcntl.ioctl(any_socket, _SET_FLAGS, struct.pack("16sH14x", b"lo", flags | _UP))


def _allow_writing(libc: ctypes.CDLL, folders: tuple[str, ...]) -> None:
    """Make all file systems read-only but these folders."""
    here = os.getcwd()
    _call(libc.mount, None, b"/", None, _RECURSIVE | _PRIVATE, None)
    paths = [os.path.realpath(folder).encode() for folder in folders]
    for path in paths:
        _call(libc.mount, path, path, None, _BIND | _RECURSIVE, None)

    def set_read_only(path: bytes, flags: int, read_only: bool) -> None:
        attributes = struct.pack("QQQQ", *((_READ_ONLY, 0) if read_only else (0, _READ_ONLY)), 0, 0)
        _call(libc.syscall, _MOUNT_SETATTR, _AT_FDCWD, path, flags, attributes, len(attributes))

    set_read_only(b"/", _AT_RECURSIVE, True)
    for path in paths:
        set_read_only(path, 0, False)
    os.chdir(here)  # by its name: it may be one of these folders now


def _call(function: "ctypes._NamedFuncPointer", *arguments: object) -> None:
    if function(*arguments) != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))


def _run_as_first(libc: ctypes.CDLL, limits: Confinement, command: list[str]) -> int:
    """Run the program as a child of the first process of its namespace; return its wait status."""
    read, write = os.pipe()
    first = os.fork()
    if first:
        os.close(write)
        _close_failure(limits)
        _forward_requests(first)
        with open(read, "rb") as pipe:
            said = pipe.read(8)
        _wait_for(first)
        return struct.unpack("q", said)[0] if len(said) == 8 else signal.SIGKILL
    os.close(read)
    libc.prctl(_SET_DEATH_SIGNAL, signal.SIGKILL)
    with contextlib.suppress(OSError):  # else the table of processes is that of the outside; it may only be read
        _call(libc.mount, b"proc", b"/proc", b"proc", 0, None)
    code = _wait_for(_start_program(limits, command, True))
    os.write(write, struct.pack("q", code))
    os._exit(0)  # and the kernel ends all that is left in the namespace


def _start_program(limits: Confinement, command: list[str], isolated: bool) -> int:
    """Start the program in a child process; return its number."""
    child = os.fork()
    if child:
        _close_failure(limits)
        return child
    try:
        if limits.failure >= 0:
            os.set_inheritable(limits.failure, False)
        _set_limits(limits, isolated)
        os.execvp(command[0], command)
    except BaseException as error:
        reason = getattr(error, "strerror", None) or str(error)
        os.write(limits.failure if limits.failure >= 0 else 2, reason.encode())
    os._exit(127)


def _close_failure(limits: Confinement) -> None:
    if limits.failure >= 0:
        os.close(limits.failure)


def _set_limits(limits: Confinement, isolated: bool) -> None:
    if sys.platform == "win32":
        return
    import resource

    wanted = [
        (resource.RLIMIT_DATA, limits.memory * MEGABYTE),
        (resource.RLIMIT_NOFILE, limits.open_files),
        (resource.RLIMIT_FSIZE, limits.file_size * MEGABYTE),
        (resource.RLIMIT_CPU, limits.cpu),
    ]
    if isolated and limits.processes:  # elsewhere all processes of the user count
        wanted.append((resource.RLIMIT_NPROC, limits.processes + _THREADS_PER_CORE * (os.cpu_count() or 1)))
    for which, value in wanted:
        highest = resource.getrlimit(which)[1]
        if value and (highest == resource.RLIM_INFINITY or value < highest):
            resource.setrlimit(which, (value, value))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _forward_requests(child: int) -> None:
    """Pass the signals that ask a program to end on to `child`."""
    if sys.platform == "win32":
        return

    def forward(number: int, frame: object) -> None:
        with contextlib.suppress(OSError):
            os.kill(child, number)

    for request in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(request, forward)


def _wait_for(child: int) -> int:
    """Return the wait status of `child`, which gets this process' signals; orphans are reaped meanwhile."""
    _forward_requests(child)
    while True:
        try:
            number, status = os.wait()
        except InterruptedError:
            continue
        if number == child:
            return status


def _end_like(status: int) -> NoReturn:
    """End this process with a wait status; orphans in its tree are killed before."""
    if os.WIFSIGNALED(status):
        number = os.WTERMSIG(status)
        if number != signal.SIGKILL:
            signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)
    os._exit(os.waitstatus_to_exitcode(status))


if __name__ == "__main__":
    main(sys.argv[1:])
