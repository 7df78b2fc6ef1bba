"""Rows of `bench assetto` about many clients: four strangers on four cars at 333 Hz, each in a process of its own.

A client here does not use our codec: plain files, and the reading rule of the protocol page: copy the page, check
whether packet_id is still the same, else copy again. What he takes must fit together: the lap time at the end of the
page goes with the packet_id at its head, and the velocity in the world is as long as the one in the car's axes.
"""

import json
import math
import mmap
import multiprocessing
import os
import struct
import subprocess
import sys
import time
from multiprocessing.connection import Connection as Pipe
from pathlib import Path

from trailbrake.bench.rows import BenchRow
from trailbrake.transport.shm import ENVIRONMENT

CARS = 4
SECONDS = 60.0
_CRUISE = 5.0  # m/s: slow enough to stay on the straight
_PREFIX = "AcTools.CSP.NewBehaviour.CustomAI."
_STEP_MS = 1000.0 / 333.0
_SPEED_SLACK = 1e-3  # m/s: numbers of 32 bits


def _map_page(path: Path, size: int) -> mmap.mmap:
    path.touch()
    with path.open("r+b") as file:
        file.truncate(max(size, path.stat().st_size))
        return mmap.mmap(file.fileno(), size)


def check_page_copy(data: bytes, before: tuple[int, int] | None) -> tuple[str, tuple[int, int]]:
    """Return what a copy of the car's page is, and its packet_id and lap time for the next.

    Args:
        data: 672 bytes.
        before: packet_id and lap time (ms) of an earlier copy; None for the first.

    Returns:
        "" where it is of one piece; "torn" where parts of it belong to different steps; "early" where it is whole and
        of the step after its packet_id, which the host writes last. Then packet_id and lap time.
    """
    (packet_id,) = struct.unpack_from("<i", data, 0)
    world, car = struct.unpack_from("<3f", data, 40), struct.unpack_from("<3f", data, 100)
    (lap_ms,) = struct.unpack_from("<I", data, 644)
    now = (packet_id, lap_ms)
    if abs(math.hypot(*world) - math.hypot(*car)) > _SPEED_SLACK:
        return "torn", now
    if before is None:
        return "", now
    beyond = lap_ms - before[1] - (packet_id - before[0]) * _STEP_MS
    if abs(beyond) <= 0.5 * _STEP_MS:
        return "", now
    return "early" if abs(beyond - _STEP_MS) < 0.5 * _STEP_MS else "torn", now


def _run_client(folder: Path, car: int, seconds: float, pipe: Pipe) -> None:
    """Drive one car slowly ahead; send how many samples were taken, missed, torn, early, and ran backwards."""
    controls = _map_page(folder / f"{_PREFIX}CarControls{car}.v0", 72)
    controls[8:12] = struct.pack("<f", 1.0)  # clutch released
    controls[68] = 1  # automatic box
    while not (folder / f"{_PREFIX}Car{car}.v0").exists():
        time.sleep(0.01)
    page = _map_page(folder / f"{_PREFIX}Car{car}.v0", 672)
    taken = missed = torn = early = backwards = last = 0
    first: tuple[int, int] | None = None
    until = time.perf_counter() + seconds
    while time.perf_counter() < until:
        if struct.unpack_from("<i", page, 0)[0] == last:
            time.sleep(0.0003)
            continue
        for _ in range(4):
            data = page[:672]
            if page[:4] == data[:4]:
                break
        kind, now = check_page_copy(data, first)
        first = first or now
        taken, torn, early = taken + 1, torn + (kind == "torn"), early + (kind == "early")
        missed += max(now[0] - last - 1, 0) if last else 0
        backwards += now[0] <= last
        last = now[0]
        speed = struct.unpack_from("<f", data, 36)[0] / 3.6
        controls[0:4] = struct.pack("<f", 0.3 if speed < _CRUISE else 0.0)
    pipe.send((taken, missed, torn, early, backwards))


def measure_rows(folder: Path) -> list[BenchRow]:
    """Measure the rows about many clients (a little over a minute), with pages in `folder`."""
    host = subprocess.Popen(
        [sys.executable, "-m", "trailbrake", "serve", "assetto", "--json", f"--cars={CARS}", "--park"],
        env={**os.environ, ENVIRONMENT: str(folder)}, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert host.stdout is not None
    assert host.stderr is not None
    try:
        for line in host.stderr:
            if line.startswith("ready "):
                break
        context = multiprocessing.get_context("spawn")
        pipes = []
        for car in range(CARS):
            ours, theirs = context.Pipe(duplex=False)
            context.Process(target=_run_client, args=(folder, car, SECONDS, theirs), daemon=True).start()
            pipes.append(ours)
        results = [pipe.recv() for pipe in pipes]
        host.terminate()
        report = json.loads(host.stdout.read())
    finally:
        host.kill()
        host.wait()
        host.stdout.close()
        host.stderr.close()
    taken, missed, torn, early, backwards = (sum(column) for column in zip(*results, strict=True))
    loop = report["loop"]
    note = f"{CARS} clients on {CARS} cars for {SECONDS:g} s; {taken} samples taken, {missed} missed"
    return [
        BenchRow("clients_host_p99_us", loop["p99_us"], "us", "lower",
            f"one tick of the host, world and classic pages included; {note}; p50 {loop['p50_us']:.0f} us, "
            f"p99.9 {loop['p999_us']:.0f} us, {report['late']} times late"),
        BenchRow("clients_torn", torn, "1", "lower",
            f"samples whose parts belong to different steps; {note}; {early} whole ones were one step newer than their "
            "packet_id, which the host writes last"),
        BenchRow("clients_backwards", backwards, "1", "lower", "samples whose packet_id did not grow"),
    ]  # fmt: skip
