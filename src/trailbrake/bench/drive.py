"""`bench drive`: how fast the main job starts and runs, measured on whole processes where a user waits for one."""

import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

from trailbrake.bench.rows import BenchRow, measure_median
from trailbrake.driving.session.drive_session import drive
from trailbrake.system import steady_clock

COMMAND = [sys.executable, "-m", "trailbrake"]
PATIENCE = 60.0  # s that a first run may take before the bench gives up


def measure_rows() -> list[BenchRow]:
    """Measure all rows of this bench (about three minutes)."""
    with tempfile.TemporaryDirectory(prefix="trailbrake-bench-") as folder:
        out = Path(folder)
        cold, cold_note = measure_median(3, lambda: _time_until_moving(out, cold=True))
        _time_until_moving(out, cold=False)  # fills the user's cache, if it was empty
        warm, warm_note = measure_median(5, lambda: _time_until_moving(out, cold=False))
        help_s, help_note = measure_median(9, _time_help)
        factor, factor_note = measure_median(3, lambda: _measure_lockstep_factor(out))
        loop = drive(speed="real", laps=0, seconds=60.0, out=out, report=False)
    figures = loop["loop"]
    return [
        BenchRow("cold_start_s", cold, "s", "lower", f"Enter to a moving car, empty kernel cache; {cold_note}"),
        BenchRow("warm_start_s", warm, "s", "lower", f"Enter to a moving car; {warm_note}"),
        BenchRow("help_s", help_s, "s", "lower", f"trailbrake --help; {help_note}"),
        BenchRow(
            "lockstep_realtime_factor", factor, "1", "higher",
            f"simulated over wall time, two laps of the default drive, recording on; {factor_note}",
        ),
        BenchRow(
            "loop_p99_us", figures["p99_us"], "us", "lower",
            f"read-decide-write at 333 Hz for 60 s, host in its own process, recording on; {figures['ticks']} ticks, "
            f"p50 {figures['p50_us']:.0f} us, p99.9 {figures['p999_us']:.0f} us, overruns {figures['overruns']}, "
            f"lost samples {loop['link']['lost']}",
        ),
    ]  # fmt: skip


def _time_help() -> float:
    began = steady_clock.now()
    subprocess.run([*COMMAND, "--help"], check=True, stdout=subprocess.DEVNULL)
    return steady_clock.now() - began


def _measure_lockstep_factor(out: Path) -> float:
    return float(drive(out=out, report=False)["realtime_factor"])


def _time_until_moving(out: Path, *, cold: bool) -> float:
    """Start the default drive as a user would and return the s until it says that the car moves."""
    with tempfile.TemporaryDirectory(prefix="trailbrake-cold-") as empty:
        environment = {k: v for k, v in os.environ.items() if k != "NUMBA_CACHE_DIR"}
        if cold:
            environment["TRAILBRAKE_CACHE"] = empty
        began = steady_clock.now()
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
                    return steady_clock.now() - began
                if steady_clock.now() - began > PATIENCE:
                    break
        finally:
            process.send_signal(signal.SIGTERM)
            process.communicate(timeout=PATIENCE)
        raise RuntimeError(f"the drive did not get moving: {''.join(said)}")
