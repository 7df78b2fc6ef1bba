"""Runs a heat in a process of its own and watches over it: who hangs or dies is taken out, and the rest goes on.

Embedded heats repeat to the bit. So when an entry has hung, the process is ended and the heat is run again with that
entry not being asked from the same tick on: the others' results are those of a heat in which it stopped there.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import msgspec

from trailbrake.errors import UsageError
from trailbrake.race.bot import exit_text, last_words
from trailbrake.race.heat import BOT_LOG, RESULT, Job, Retired
from trailbrake.race.judge import Judge, Result
from trailbrake.race.pulse import NOBODY, Pulse
from trailbrake.race.schedule import Heat
from trailbrake.record.names import safe_name
from trailbrake.run import rate
from trailbrake.run.children import end, own_group
from trailbrake.run.connect import private_folder
from trailbrake.run.signals import CHILD

SETUP = 300.0  # s that building a world may take, kernels to be compiled included
_LOOK = 0.05  # s between looks
_ENDS = 10.0  # s that a heat may take to end when asked


class Outcome(msgspec.Struct, frozen=True):
    """Results in the order of the grid, and the log's path, "" where nobody has said anything."""

    results: list[Result]
    log: str


def run(heat: Heat, folder: Path, out: Path, report: bool, stopped: Callable[[], bool]) -> Outcome:
    """Run a heat to its end, whatever its entries do.

    Args:
        heat: the heat; paths in it are whole.
        folder: where programs run.
        out: where recordings, reports and logs go; never over a file that is there.
        report: whether to write reports.
        stopped: asked now and then.

    Raises:
        KeyboardInterrupt: `stopped`.
        UsageError: nothing can be written there.
    """
    retired: dict[int, Retired] = {}
    log = ""
    names = tuple(_name(heat, entry.name) for entry in heat.grid)
    try:
        out.mkdir(parents=True, exist_ok=True)
        out = out.resolve()
    except OSError as error:
        raise UsageError("cannot make the folder", where=str(out), got=error.strerror or str(error)) from error
    while True:
        with tempfile.TemporaryDirectory(prefix=".heat-", dir=out, ignore_cleanup_errors=True) as attempt:
            job = Job(heat=heat, folder=str(folder.resolve()), out=attempt, names=names, report=report, retired=retired)
            code, hung = _attempt(job, stopped)
            seat, tick, reason = _culprit(job, code, hung)
            log = log or _kept_log(Path(attempt), out / f"{names[0]}.log")
            if (Path(attempt) / RESULT).is_file():
                results = msgspec.json.decode((Path(attempt) / RESULT).read_bytes(), type=list[Result])
                return Outcome([_kept(result, Path(attempt), out) for result in results], log)
        if seat == NOBODY:
            return Outcome([_lost(heat, entry.name, reason) for entry in heat.grid], log)
        # Who is at fault a second time is not even loaded any more, and cannot be a third time.
        retired[seat] = Retired(0 if seat in retired else tick, reason)


def _name(heat: Heat, entry: str) -> str:
    return f"{heat.race:02}_{safe_name(heat.track.rpartition(os.sep)[2])}_{safe_name(entry)}"


def _attempt(job: Job, stopped: Callable[[], bool]) -> tuple[int, str]:
    """Run the job in a process; return its exit code, and why it was ended, "" if it ended by itself."""
    path = Path(job.out) / "job.json"
    path.write_bytes(msgspec.json.encode(job))
    pulse = Pulse(Path(job.out) / "pulse")
    try:
        with private_folder() as doors, (Path(job.out) / "log").open("wb") as log:
            process = subprocess.Popen(
                [sys.executable, "-m", "trailbrake.race.heat", str(path)], stdin=subprocess.PIPE, stdout=log,
                stderr=subprocess.STDOUT, env={**os.environ, "TRAILBRAKE_SHM": doors, CHILD: "1"}, **own_group(),
            )  # fmt: skip
            try:
                hung = _watched(process, pulse, job, stopped)
            except BaseException:
                assert process.stdin is not None
                process.stdin.close()  # asks it to end, and its program with it
                end(process, _ENDS)
                raise
            end(process)
            assert process.stdin is not None
            process.stdin.close()
        return process.returncode, hung
    finally:
        pulse.close()


def _watched(process: "subprocess.Popen[bytes]", pulse: Pulse, job: Job, stopped: Callable[[], bool]) -> str:
    """Return when the process has ended, or is to be; why it is to be, "" if it has."""
    rules = job.heat.rules
    last, since = pulse.read(), rate.now()
    while True:
        try:
            process.wait(_LOOK)
            return ""
        except subprocess.TimeoutExpired:
            pass
        if stopped():
            raise KeyboardInterrupt
        seen = pulse.read()
        if seen != last:
            last, since = seen, rate.now()
        seat, tick = last
        limit = SETUP if seat == NOBODY else rules.patience if tick > 1 else rules.start
        if seat == NOBODY and (tick or job.heat.grid[0].command):
            limit = max(rules.wall, SETUP)  # the heat's own business: a program's silence, a report's time
        if rate.now() - since > limit:
            return f"no answer for {limit:g} s" if seat != NOBODY else f"the simulator stood still for {limit:g} s"


def _culprit(job: Job, code: int, hung: str) -> tuple[int, int, str]:
    """Return who was being asked when the process ended, at which tick, and what to say of it."""
    pulse = Pulse(Path(job.out) / "pulse")
    seat, tick = pulse.read()
    pulse.close()
    if hung:
        return seat, tick, hung
    said = last_words(Path(job.out) / "log")
    words = said.removeprefix("trailbrake: ")
    if seat == NOBODY:
        return seat, tick, words or f"the simulator ended, {exit_text(code)}"
    return seat, tick, f"its process ended, {exit_text(code)}{words and f': {words}'}"


def _kept(result: Result, attempt: Path, out: Path) -> Result:
    """Move a result's files out of the attempt; return it with their paths."""
    if not result.recording:
        return result
    recording = _free(out / result.recording)
    shutil.move(attempt / result.recording, recording)
    report = ""
    if result.report:
        report = str(recording.with_suffix(".html"))
        shutil.move(attempt / result.report, report)
    return msgspec.structs.replace(result, recording=str(recording), report=report)


def _kept_log(attempt: Path, wanted: Path) -> str:
    # A program's own words where there is one; else what drivers have printed.
    said = [path for path in (attempt / BOT_LOG, attempt / "log") if path.is_file() and path.stat().st_size]
    if not said:
        return ""
    kept = _free(wanted)
    shutil.move(said[0], kept)
    return str(kept)


def _free(path: Path) -> Path:
    """Return `path`, or `path` with -2, -3, ... before its suffix where that exists, or its report does."""
    candidate, number = path, 1
    while candidate.exists() or candidate.with_suffix(".html").exists():
        number += 1
        candidate = path.with_name(f"{path.stem}-{number}{path.suffix}")
    return candidate


def _lost(heat: Heat, entry: str, reason: str) -> Result:
    judge = Judge(entry, heat.laps, heat.rules)
    judge.retire(reason)
    return judge.result()
