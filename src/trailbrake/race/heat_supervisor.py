"""Runs a heat in a process of its own and watches over it: who hangs or dies is taken out, and the rest goes on.

Embedded heats repeat to the bit. So when an entry has hung, the process is ended and the heat is run again with that
entry's driver not called from the same tick on: the other results are those of a heat in which it stopped there.

Files of a heat that are kept: moved out of where it ran, never over a file that is there.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import msgspec

from trailbrake.driving.session.open_connection import make_private_folder
from trailbrake.errors import DataError, OsErrors, TrailbrakeError
from trailbrake.race.competitor_process import describe_exit, read_last_line
from trailbrake.race.entry_confinement import confine_heat, find_excess
from trailbrake.race.entry_result import EntryResult, lost_result
from trailbrake.race.heat import BOT_LOG, NO_ENTRY, RESULT, Heartbeat, HeatJob, Retirement
from trailbrake.race.schedule import Heat
from trailbrake.record.file_names import safe_name
from trailbrake.system import steady_clock
from trailbrake.system.processes import end_process_group, process_group_options
from trailbrake.system.signals import CHILD_VARIABLE
from trailbrake.user_files import read_user_text

SETUP_LIMIT_S = 300.0  # s that building a world may take, kernels to be compiled included
MOST_RESULTS = 64_000_000  # bytes: a day of laps by a full grid is a few MB
_POLL_S = 0.05  # s between looks
_MEASURE_S = 0.25  # s between looks at the memory and the number of all processes of a heat
_END_LIMIT_S = 10.0  # s that a heat may take to end after a stop is requested


def keep_files(result: EntryResult, attempt: Path, out: Path) -> EntryResult:
    """Move a result's files out of the attempt; return it with their paths."""
    if not result.recording:
        return result
    recording = unused_path(out / result.recording)
    shutil.move(attempt / result.recording, recording)
    report = ""
    if result.report:
        report = str(recording.with_suffix(".html"))
        shutil.move(attempt / result.report, report)
    return msgspec.structs.replace(result, recording=str(recording), report=report)


def keep_file(file: Path, wanted: Path) -> str:
    """Move a file to where it is wanted, or beside what is there; return its path."""
    kept = unused_path(wanted)
    shutil.move(file, kept)
    return str(kept)


def unused_path(path: Path) -> Path:
    """Return `path`, or `path` with -2, -3, ... before its suffix where that exists, or its report does."""
    candidate, number = path, 1
    while candidate.exists() or candidate.with_suffix(".html").exists():
        number += 1
        candidate = path.with_name(f"{path.stem}-{number}{path.suffix}")
    return candidate


class HeatOutcome(msgspec.Struct, frozen=True):
    """Results in the order of the grid, and the log's path, "" where there is none."""

    results: list[EntryResult]
    log: str


def supervise_heat(heat: Heat, folder: Path, out: Path, report: bool, stopped: Callable[[], bool]) -> HeatOutcome:
    """Run a heat to its end, whatever its entries do.

    Args:
        heat: the heat; paths in it are whole.
        folder: where programs run.
        out: where recordings, reports and logs go; never over a file that is there.
        report: whether to write reports.
        stopped: tested now and then.

    Raises:
        KeyboardInterrupt: `stopped`.
        UsageError: nothing can be written there.
    """
    retired: dict[int, Retirement] = {}
    log = ""
    names = tuple(_recording_name(heat, entry.name) for entry in heat.grid)
    with OsErrors("cannot make the folder", where=str(out)):
        out.mkdir(parents=True, exist_ok=True)
        out = out.resolve()
    while True:
        with tempfile.TemporaryDirectory(prefix=".heat-", dir=out, ignore_cleanup_errors=True) as attempt:
            job = HeatJob(
                heat=heat, folder=str(folder.resolve()), out=attempt, names=names, report=report, retired=retired
            )
            code, hung = _run_attempt(job, stopped)
            seat, tick, reason = _find_culprit(job, code, hung)
            log = log or _keep_log(Path(attempt), out / f"{names[0]}.log")
            if (Path(attempt) / RESULT).exists():
                results = _read_results(Path(attempt) / RESULT, heat)
                return HeatOutcome([keep_files(result, Path(attempt), out) for result in results], log)
        if seat == NO_ENTRY:
            return HeatOutcome([lost_result(entry.name, reason) for entry in heat.grid], log)
        # Who is at fault a second time is not even loaded any more, and cannot be a third time.
        retired[seat] = Retirement(0 if seat in retired else tick, reason)


def _read_results(path: Path, heat: Heat) -> list[EntryResult]:
    """Return the results of a heat; lost ones where the file is not what a heat writes.

    An entry's driver runs in the process that writes it, so it may hold anything, and name any file.
    """
    try:
        results = msgspec.json.decode(read_user_text(path, "results of the heat", MOST_RESULTS), type=list[EntryResult])
        files = [name for result in results for name in (result.recording, result.report) if name]
        if [result.entry for result in results] != [entry.name for entry in heat.grid]:
            raise DataError("not the entries of the heat", where=str(path))
        if not all(Path(name).name == name and _is_own_file(path.parent / name) for name in files):
            raise DataError("names files of others", where=str(path))
    except (TrailbrakeError, msgspec.MsgspecError, ValueError):
        return [lost_result(entry.name, "the results of the heat cannot be read") for entry in heat.grid]
    return results


def _is_own_file(path: Path) -> bool:
    return path.is_file() and not path.is_symlink()


def _recording_name(heat: Heat, entry: str) -> str:
    return f"{heat.race:02}_{safe_name(heat.track.rpartition(os.sep)[2])}_{safe_name(entry)}"


def _run_attempt(job: HeatJob, stopped: Callable[[], bool]) -> tuple[int, str]:
    """Run the job in a process; return its exit code, and why it was ended, "" if it ended by itself."""
    path = Path(job.out) / "job.json"
    path.write_bytes(msgspec.json.encode(job))
    pulse = Heartbeat(Path(job.out) / "pulse")
    try:
        with make_private_folder() as doors, (Path(job.out) / "log").open("wb") as log:
            home = Path(job.out) / "home"
            home.mkdir(exist_ok=True)
            command, environment = confine_heat(
                [sys.executable, "-m", "trailbrake.race.heat", str(path)], job.heat.grid, job.heat.limits,
                (home, Path(job.out), Path(doors)),
            )  # fmt: skip
            process = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=log, stderr=subprocess.STDOUT,
                env={**environment, "TRAILBRAKE_SHM": doors, CHILD_VARIABLE: "1"}, **process_group_options(),
            )  # fmt: skip
            try:
                hung = _watch_process(process, pulse, job, stopped)
            except BaseException:
                assert process.stdin is not None
                process.stdin.close()  # asks it to end, and its program with it
                end_process_group(process, _END_LIMIT_S)
                raise
            end_process_group(process)
            assert process.stdin is not None
            process.stdin.close()
        return process.returncode, hung
    finally:
        pulse.close()


def _watch_process(
    process: "subprocess.Popen[bytes]", pulse: Heartbeat, job: HeatJob, stopped: Callable[[], bool]
) -> str:
    """Return when the process has ended, or is to be; why it is to be, "" if it has."""
    rules = job.heat.rules
    last, since = pulse.read_mark(), steady_clock.now()
    measure_at = since
    while True:
        try:
            process.wait(_POLL_S)
            return ""
        except subprocess.TimeoutExpired:
            pass
        if stopped():
            raise KeyboardInterrupt
        if steady_clock.now() >= measure_at:
            measure_at = steady_clock.now() + _MEASURE_S
            if excess := find_excess(process.pid, job.heat.limits):
                return excess
        seen = pulse.read_mark()
        if seen != last:
            last, since = seen, steady_clock.now()
        seat, tick = last
        limit = SETUP_LIMIT_S if seat == NO_ENTRY else rules.patience if tick > 1 else rules.start
        if seat == NO_ENTRY and (tick or job.heat.grid[0].command):
            limit = max(rules.wall, SETUP_LIMIT_S)  # the heat's own business: a program's silence, a report's time
        if steady_clock.now() - since > limit:
            return f"no answer for {limit:g} s" if seat != NO_ENTRY else f"the simulator stood still for {limit:g} s"


def _find_culprit(job: HeatJob, code: int, hung: str) -> tuple[int, int, str]:
    """Return the entry whose driver was being called when the process ended, the tick, and the reason to report."""
    pulse = Heartbeat(Path(job.out) / "pulse")
    seat, tick = pulse.read_mark()
    pulse.close()
    if hung:
        return seat, tick, hung
    said = read_last_line(Path(job.out) / "log")
    words = said.removeprefix("trailbrake: ")
    if seat == NO_ENTRY:
        return seat, tick, words or f"the simulator ended, {describe_exit(code)}"
    return seat, tick, f"its process ended, {describe_exit(code)}{words and f': {words}'}"


def _keep_log(attempt: Path, wanted: Path) -> str:
    # A program's own words where there is one; else what drivers have printed.
    said = [path for path in (attempt / BOT_LOG, attempt / "log") if path.is_file() and path.stat().st_size]
    if not said:
        return ""
    return keep_file(said[0], wanted)
