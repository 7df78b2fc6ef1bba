"""`bench drive`: how fast the main job starts and runs, measured on whole processes where a user waits for one."""

import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

from trailbrake.bench.rows import Row, median_of
from trailbrake.run import rate
from trailbrake.run.options import DriveOptions
from trailbrake.run.session import drive

COMMAND = [sys.executable, "-m", "trailbrake"]
PATIENCE = 60.0  # s that a first run may take before the bench gives up


def rows() -> list[Row]:
    """Measure all rows of this bench (about three minutes)."""
    with tempfile.TemporaryDirectory(prefix="trailbrake-bench-") as folder:
        out = Path(folder)
        cold, cold_note = median_of(3, lambda: _until_moving(out, cold=True))
        _until_moving(out, cold=False)  # fills the user's cache, if it was empty
        warm, warm_note = median_of(5, lambda: _until_moving(out, cold=False))
        help_s, help_note = median_of(9, _help)
        factor, factor_note = median_of(3, lambda: _lockstep(out))
        loop = drive(DriveOptions(speed="real", laps=0, seconds=60.0, out=out, report=False))
    figures = loop["loop"]
    return [
        Row("cold_start_s", cold, "s", "lower", f"Enter to a moving car, empty kernel cache; {cold_note}"),
        Row("warm_start_s", warm, "s", "lower", f"Enter to a moving car; {warm_note}"),
        Row("help_s", help_s, "s", "lower", f"trailbrake --help; {help_note}"),
        Row(
            "lockstep_realtime_factor", factor, "1", "higher",
            f"simulated over wall time, two laps of the default drive, recording on; {factor_note}",
        ),
        Row(
            "loop_p99_us", figures["p99_us"], "us", "lower",
            f"read-decide-write at 333 Hz for 60 s, host in its own process, recording on; {figures['ticks']} ticks, "
            f"p50 {figures['p50_us']:.0f} us, p99.9 {figures['p999_us']:.0f} us, overruns {figures['overruns']}, "
            f"lost samples {loop['link']['lost']}",
        ),
    ]  # fmt: skip


def _help() -> float:
    began = rate.now()
    subprocess.run([*COMMAND, "--help"], check=True, stdout=subprocess.DEVNULL)
    return rate.now() - began


def _lockstep(out: Path) -> float:
    return float(drive(DriveOptions(out=out, report=False))["realtime_factor"])


def _until_moving(out: Path, *, cold: bool) -> float:
    """Start the default drive as a user would and return the s until it says that the car moves."""
    with tempfile.TemporaryDirectory(prefix="trailbrake-cold-") as empty:
        environment = {k: v for k, v in os.environ.items() if k != "NUMBA_CACHE_DIR"}
        if cold:
            environment["TRAILBRAKE_CACHE"] = empty
        began = rate.now()
        process = subprocess.Popen(
            [*COMMAND, "drive", "--json", "--no-report", f"--out={out}"],
            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, env=environment,
        )  # fmt: skip
        assert process.stderr is not None
        said: list[str] = []
        try:
            for line in process.stderr:
                said.append(line)
                if line.startswith("moving"):
                    return rate.now() - began
                if rate.now() - began > PATIENCE:
                    break
        finally:
            process.send_signal(signal.SIGTERM)
            process.communicate(timeout=PATIENCE)
        raise RuntimeError(f"the drive did not get moving: {''.join(said)}")
