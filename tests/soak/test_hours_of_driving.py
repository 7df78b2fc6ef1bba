"""Hours of driving by wire: memory stays flat, clocks do not drift, recordings rotate.

Not run by default: `pytest -m soak tests/soak/test_hours_of_driving.py`. In lockstep TRAILBRAKE_SOAK_S is the most wall
time for each wire, s, and TRAILBRAKE_SOAK_HOURS the simulated time after which it ends before; in real time, over real
doors, the first is the duration. The first simulated hour, or the first tenth in real time, is not judged. A file of a
recording needs more memory from minute to minute, for its index, until the next one begins: judged is the growth of the
least memory of each file's time.
"""

import json
import math
import os
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest
from helpers.processes import command

from trailbrake.record import Recording

pytestmark = [
    pytest.mark.soak,
    pytest.mark.skipif(sys.platform != "linux", reason="reads the memory of a process from /proc"),
]
SECONDS = float(os.environ.get("TRAILBRAKE_SOAK_S", "600"))  # of wall time, each wire
HOURS = float(os.environ.get("TRAILBRAKE_SOAK_HOURS", "inf"))  # simulated, each wire
MOST_GROWTH_MB = 1.0  # for each simulated hour behind the first
ENDLESS_TANK = ["--world", "fuel_rate=0"]  # else the car stands with an empty tank after an hour, and all is calm
MOST_DRIFT = 1e-3  # of a served world's clock against this machine's: it may skip ticks that it was late for
WIRES = {
    "assetto": ("kartwerk", 1.0 / 333.0),  # s between samples
    "forza": ("kartwerk", 1.0 / 60.0),
    "beamng": ("kartwerk", 0.005),
    "trend": ("clover", 0.04),
}
DRIVE = [sys.executable, "-m", "trailbrake", "drive", "--laps", "0", "--no-report", "--no-pictures", "--json"]
PART_MINUTES = 30.0


def anonymous_megabytes(process):
    with open(f"/proc/{process}/smaps_rollup", encoding="ascii") as file:
        values = dict(line.split(":", 1) for line in file if ":" in line)
    return int(values["Anonymous"].split()[0]) / 1024.0


def descriptors(process):
    return len(os.listdir(f"/proc/{process}/fd"))


def simulated_hours(folder):
    """Return the simulated hours in the recordings of a drive that goes on."""
    first = min(folder.glob("*.mcap"), key=lambda path: len(path.name), default=None)
    if first is None:
        return 0.0
    newest = max(folder.glob("*.mcap"), key=lambda path: path.stat().st_mtime_ns)
    return last_time(Recording.open(newest, join=False, verify=False)) / 3600.0


def last_time(recording):
    """Return the last simulator time of a recording, s, from its last chunk alone; 0 if it has no rows."""
    rows = len(recording)
    return float(recording.read_rows(slice(rows - 1, rows), {"time"}).state["time"][0]) if rows else 0.0


@pytest.mark.parametrize("sim", WIRES)
def test_hours_of_driving_by_wire(sim, tmp_path, capsys):
    track, period = WIRES[sim]
    samples = []  # (simulated hours, anonymous MB, descriptors)
    endless = [] if sim == "trend" else ENDLESS_TANK  # its world knows no fuel
    command = [*DRIVE, *endless, "--sim", sim, "--track", track, "--out", str(tmp_path),
               f"--part-minutes={PART_MINUTES}"]  # fmt: skip
    with (tmp_path / "summary.json").open("wb") as out, (tmp_path / "words").open("wb") as words:
        process = subprocess.Popen(command, stdout=out, stderr=words)
        try:
            ends = threading.Event()
            until = time.monotonic() + SECONDS
            hours = 0.0
            while time.monotonic() < until and hours < HOURS and process.poll() is None:
                ends.wait(10.0)
                hours = simulated_hours(tmp_path)
                if hours > 0.0 and process.poll() is None:
                    samples.append((hours, anonymous_megabytes(process.pid), descriptors(process.pid)))
            process.send_signal(signal.SIGINT)
            code = process.wait(120)
        finally:
            process.kill()
    assert code == 0, (tmp_path / "words").read_text()[-2000:]
    summary = json.loads((tmp_path / "summary.json").read_text())
    parts = summary["recording_parts"]
    hours, memory, files = np.array(samples).T
    late = hours > 1.0
    growth = fit_growth(hours[late], memory[late])
    drift = [clock_drift(path, period) for path in parts]
    with capsys.disabled():
        print(f"\n{sim}: {hours[-1]:.2f} h simulated in {time.monotonic() - until + SECONDS:.0f} s, "
              f"{summary['loop']['ticks']} ticks, "
              f"{memory[0]:.1f} -> {memory[-1]:.1f} MB, {growth:+.2f} MB/h behind the first hour, "
              f"{files.min():.0f}..{files.max():.0f} descriptors, {len(parts)} files, "
              f"clock {max(drift, key=abs):+.2e} s, dropped {summary['dropped']}, {summary['ended']}")  # fmt: skip
    assert (summary["recording_error"], summary["dropped"], summary["link"]["lost"]) == ("", 0, 0)
    assert len(parts) >= int(hours[-1] * 60.0 / (1.1 * PART_MINUTES + 1.0))
    assert sum(lap["time_s"] for lap in summary["laps"]) > 0.9 * 3600.0 * hours[-1], "it has driven all the time"
    assert files.max() - files.min() <= 3
    assert max(map(abs, drift)) < 2e-3  # a clock of whole milliseconds is a sample's worth of both ends
    assert not growth >= MOST_GROWTH_MB
    assert count_rows(parts) == summary["loop"]["ticks"]


def fit_growth(hours, megabytes):
    """Return the growth of the least memory of each file's time, MB/h; NaN for fewer than two of them."""
    part = (hours / (PART_MINUTES / 60.0)).astype(int)
    lowest = [np.flatnonzero(part == each)[megabytes[part == each].argmin()] for each in np.unique(part)]
    return float(np.polyfit(hours[lowest], megabytes[lowest], 1)[0]) if len(lowest) > 1 else math.nan


def list_tenths(values):
    """Return eleven of the values at equal distances as text: whether memory grows evenly or in steps."""
    return " ".join(f"{values[round(k)]:.2f}" for k in np.linspace(0, len(values) - 1, 11))


def count_rows(parts):
    """Return the rows of a recording's files; fail if one does not open by itself or a row is missing between two."""
    ticks = 0
    for path in parts:
        part = Recording.open(path, join=False)
        assert not part.truncated
        sequence = part._rows.read_ticks(slice(None))
        assert (int(sequence[0]), len(sequence)) == (ticks, int(sequence[-1]) - ticks + 1)
        ticks += len(sequence)
    return ticks


def clock_drift(path, period):
    """Return how far the clock of a file has moved from its count of samples, s."""
    recording = Recording.open(path, join=False)
    time, sequence = recording.state["time"], recording.state["sequence"]
    return float(time[-1] - time[0] - (sequence[-1] - sequence[0]) * period)


@pytest.mark.parametrize("sim", ["assetto", "forza"])
def test_hours_in_real_time(sim, tmp_path, capsys):
    """`serve` and `drive --live`, two processes with the doors of the wire between them."""
    shm, out = tmp_path / "shm", tmp_path / "out"
    shm.mkdir()
    options = ("--track", WIRES[sim][0])
    live = ("drive", "--sim", sim, "--live", *options, "--laps=0", "--no-report", "--json", f"--out={out}",
            f"--part-minutes={PART_MINUTES}")  # fmt: skip
    with command("serve", sim, *options, *ENDLESS_TANK, "--json", shm=shm) as host:
        host.until("ready ")
        with command(*live, shm=shm) as client:
            ends, until = threading.Event(), time.monotonic() + SECONDS
            samples, clocks = [], []  # (s, MB of the host, of the client, descriptors of both); (wall, simulated), s
            while time.monotonic() < until and client.process.poll() is None:
                ends.wait(10.0)
                if client.process.poll() is not None:
                    break  # its lines say why
                left = until - time.monotonic()
                samples.append((SECONDS - left, *(measure(one.process.pid) for one in (host, client) for measure in
                                                  (anonymous_megabytes, descriptors))))  # fmt: skip
                clocks.append((time.monotonic(), 3600.0 * simulated_hours(out)))
            client.process.send_signal(signal.SIGINT)
            assert client.end(patience=120.0) == 0, client.said[-20:]
        host.process.send_signal(signal.SIGTERM)
        assert host.end(patience=120.0) == 0, host.said[-20:]
    late = np.array(samples)[:, 0] > 0.1 * SECONDS
    at, host_mb, host_files, client_mb, client_files = np.array(samples)[late].T
    growth = [fit_growth(at / 3600.0, each) for each in (host_mb, client_mb)]
    wall, simulated = np.array(clocks)[late].T
    rate = float(np.polyfit(wall - wall[0], simulated, 1)[0])
    summary, parts = client.summary, client.summary["recording_parts"]
    with capsys.disabled():
        print(f"\n{sim}, real time: {SECONDS:.0f} s, {summary['loop']['ticks']} ticks, host {host_mb[0]:.1f} -> "
              f"{host_mb[-1]:.1f} MB ({growth[0]:+.2f} MB/h), client {client_mb[0]:.1f} -> "
              f"{client_mb[-1]:.1f} MB ({growth[1]:+.2f} MB/h), descriptors {host_files.min():.0f}.."
              f"{host_files.max():.0f} and {client_files.min():.0f}..{client_files.max():.0f}, {len(parts)} files, "
              f"simulated second {rate:.6f} s, lost {summary['link']['lost']}, dropped {summary['dropped']}; host and "
              f"client by tenths, MB: {list_tenths(host_mb)}; {list_tenths(client_mb)}")  # fmt: skip
    assert (summary["recording_error"], summary["dropped"]) == ("", 0)
    assert len(parts) >= int(SECONDS / (1.1 * 60.0 * PART_MINUTES + 60.0))
    assert max(host_files.max() - host_files.min(), client_files.max() - client_files.min()) <= 3
    assert sum(lap["time_s"] for lap in summary["laps"]) > 0.9 * SECONDS - 100.0, "it has driven all the time"
    assert abs(rate - 1.0) < MOST_DRIFT
    assert not max(growth) >= MOST_GROWTH_MB
    assert count_rows(parts) == summary["loop"]["ticks"]
