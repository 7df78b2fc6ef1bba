"""A process that ends a drive whose interpreter hangs, and writes in its place where a dead client's last words stay.

It brakes the car, and gives back what the client has changed of the simulation: a pause, another pace, lines.

A call into machine code that keeps the interpreter's lock stops every thread of Python, the driver's watchdog with
them. This file is also the program of that process: it imports the standard library alone, so that it starts at once.
"""

import contextlib
import json
import mmap
import os
import signal
import struct
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from pathlib import Path

POLL_S = 0.05  # s between looks at a heartbeat that is missing
BEATING_POLL_S = 0.2  # s until the next look after a new heartbeat: to wake up takes most of its time
MOVING_LIMIT_S = 1.0  # s without a heartbeat after which a drive is ended
STANDING_LIMIT_S = 10.0  # s, while the car stands: loading a network may keep the interpreter's lock for seconds
STANDING_SPEED = 0.5  # m/s
BRAKE_S = 12.0  # s for which the last resort holds the brake, as long as a safe stop may take
BUSY_SHARE = 0.05  # of a processor that a process gets which others do not keep from running

_HIDDEN = 0x08000000 | 0x00000200  # Windows: no console window, a process group of its own
_BEAT = struct.Struct("<Qd?")  # count of beats, speed in m/s, whether the drive is over


Resort = tuple[str, int, bytes, bool]  # a roles.LastResort, which this program cannot import
Patch = tuple[str, int, bytes, bytes | None]  # page, offset, data; what was there before, if only a change is mended


def read_bytes(page: str, offset: int, size: int) -> bytes:
    """Return what a page holds at `offset`; nothing where there is no page."""
    try:
        with open(page, "rb") as file:
            file.seek(offset)
            return file.read(size)
    except OSError:
        return b""


class DriveGuard:
    """Starts the process, and tells it that the drive lives.

    Args:
        resorts: what to write if this process dies; none of what restores the simulation has been requested yet.
    """

    def __init__(self, resorts: "Sequence[Resort]") -> None:
        self._count = 0
        self._process: subprocess.Popen[bytes] | None = None
        file, name = tempfile.mkstemp(prefix="trailbrake-guard-")
        try:
            os.truncate(file, _BEAT.size)
            self._page = mmap.mmap(file, _BEAT.size)
        finally:
            os.close(file)
        self._file = Path(name)
        words = []
        for page, offset, data, restores in resorts:
            if restores and sys.platform == "win32":  # there such a page goes with its client
                continue
            before = read_bytes(page, offset, len(data)) if restores else None
            words.append(json.dumps([page, offset, (before or data).hex(), None if before is None else before.hex()]))
        try:
            self._process = subprocess.Popen(
                [sys.executable, "-S", "-E", __file__, str(os.getpid()), name, *words],
                stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, start_new_session=sys.platform != "win32",
                creationflags=_HIDDEN if sys.platform == "win32" else 0,
            )  # fmt: skip
        except BaseException:
            self.close()
            raise

    @property
    def pid(self) -> int:
        """Identity of the process."""
        assert self._process is not None
        return self._process.pid

    def beat(self, speed: float) -> None:
        """Say that the interpreter runs. Called by a thread several times a second, with the car's speed in m/s."""
        self._count += 1
        _BEAT.pack_into(self._page, 0, self._count, speed, False)

    def rest(self) -> None:
        """End the heartbeat until the next `beat`: from now on only the death of this process counts."""
        self._count = 0
        _BEAT.pack_into(self._page, 0, 0, 0.0, False)

    def close(self, *, is_safe: bool = True) -> None:
        """End the process: the drive is over. Where the cars could not be left safe, it brakes them first."""
        if is_safe:
            _BEAT.pack_into(self._page, 0, 0, 0.0, True)
        if self._process is not None and self._process.stdin is not None:
            with contextlib.suppress(OSError):  # closed by the driver's code
                self._process.stdin.close()
            if not is_safe:  # it goes on until the car is braked
                from trailbrake.system.processes import leave_running  # not for the program of that process

                leave_running(self._process)
                self._page.close()
                return
            try:
                self._process.wait(2.0)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()
        self._page.close()
        with contextlib.suppress(OSError):
            self._file.unlink()


def measure_stall(stalled: float, *, passed: float, wait: float, is_new: bool, is_kept: bool) -> float:
    """Return for how long a process has been without a heartbeat, s.

    Args:
        stalled: s, before.
        passed: s since the last look.
        wait: s that it should have been. More than twice that counts as twice: then this process did not run either.
        is_new: whether there is a new heartbeat.
        is_kept: whether the process is kept from running: stopped, or by other processes.
    """
    if is_new:
        return 0.0
    return stalled if is_kept else stalled + min(passed, 2.0 * wait)


class ProcessState:
    """Tells a process that hangs from one that may not run (Linux; elsewhere every process counts as running)."""

    def __init__(self, pid: int) -> None:
        self._folder = Path(f"/proc/{pid}")
        self._spent = self._at = 0.0

    def is_kept(self, now: float) -> bool:
        """Return whether the process is stopped, or waits for a processor."""
        try:
            tasks = [(self._folder / "task" / name / "stat").read_text().rpartition(")")[2].split()
                     for name in os.listdir(self._folder / "task")]  # fmt: skip
        except (OSError, IndexError):
            return False
        spent = sum(int(task[11]) + int(task[12]) for task in tasks) / os.sysconf("SC_CLK_TCK")
        share = (spent - self._spent) / max(now - self._at, 1e-3)
        if now - self._at > 4.0 * POLL_S:  # the clock of processes has steps of 10 ms
            self._spent, self._at = spent, now
        states = {task[0] for task in tasks}
        return bool(states & {"T", "t"}) or ("R" in states and share < BUSY_SHARE)


class BrakePages:
    """The pages of the last resort. On Windows they are open from the beginning: else they vanish with the client."""

    def __init__(self, patches: "Sequence[Patch]") -> None:
        self._patches = patches
        self._maps: list[mmap.mmap] = []
        self._left: dict[str, bytes] = {}  # whole pages, as they were left
        if sys.platform == "win32":
            for patch in patches:
                self._maps.append(mmap.mmap(-1, 4096, tagname=patch[0]))

    def write_brake(self) -> None:
        """Write the bytes that brake, then those that restore what the client has changed."""
        for number, (page, offset, data, before) in enumerate(self._patches):
            if before is not None and read_bytes(page, offset, len(data)) == before:
                continue
            if self._maps:
                self._maps[number][offset : offset + len(data)] = data
            else:
                with contextlib.suppress(OSError), open(page, "r+b") as file:
                    file.seek(offset)
                    file.write(data)
                    file.seek(0)
                    if not before:  # else it was there before the client
                        self._left[page] = file.read()

    def remove_pages(self) -> None:
        """Remove the client's pages to which nobody else has written: the cars are given back."""
        for page, left in self._left.items():
            with contextlib.suppress(OSError):
                if Path(page).read_bytes() == left:
                    os.unlink(page)


def guard_process(pid: int, beat: Path, patches: "Sequence[Patch]") -> None:
    """Watch the process `pid` until its drive is over, or it has died."""
    died = threading.Event()
    threading.Thread(target=_wait_for_end_of_input, args=(died,), daemon=True).start()
    brakes, process = BrakePages(patches), ProcessState(pid)
    with beat.open("rb") as file:
        page = mmap.mmap(file.fileno(), _BEAT.size, access=mmap.ACCESS_READ)
    count, stalled, at, wait = 0, 0.0, time.monotonic(), POLL_S
    while not died.wait(wait):
        now = time.monotonic()
        newest, speed, over = _BEAT.unpack_from(page)
        if over:
            return
        is_new = newest != count or not newest
        is_kept = not is_new and process.is_kept(now)
        stalled = measure_stall(stalled, passed=now - at, wait=wait, is_new=is_new, is_kept=is_kept)
        count, at, wait = newest, now, BEATING_POLL_S if is_new else POLL_S
        limit = STANDING_LIMIT_S if speed < STANDING_SPEED else MOVING_LIMIT_S
        if stalled > limit:
            brakes.write_brake()
            os.kill(pid, signal.SIGTERM if sys.platform == "win32" else signal.SIGKILL)
            print(f"trailbrake: the driver has kept the interpreter for {limit:g} s and cannot be interrupted: "
                  "the process is ended", file=sys.stderr, flush=True)  # fmt: skip
            break
    if _BEAT.unpack_from(page)[2]:
        return
    brakes.write_brake()
    beat.unlink(missing_ok=True)
    if patches:
        _hold_brakes(brakes)


def _hold_brakes(brakes: BrakePages) -> None:
    """Let the cars of a dead process brake, then give them back."""
    os.close(2)  # a reader of the drive's lines does not wait for this process
    time.sleep(BRAKE_S)
    brakes.remove_pages()


def _wait_for_end_of_input(died: threading.Event) -> None:
    while os.read(0, 64):
        pass
    died.set()


if __name__ == "__main__":
    guard_process(
        int(sys.argv[1]), Path(sys.argv[2]),
        [(page, offset, bytes.fromhex(data), None if before is None else bytes.fromhex(before))
         for page, offset, data, before in map(json.loads, sys.argv[3:])],
    )  # fmt: skip
