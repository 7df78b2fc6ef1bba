"""`bench page`: what the live page costs a drive, and how soon it has a frame.

The page is a client in a process of its own.
"""

import json
import multiprocessing
import tempfile
import time
from contextlib import suppress
from typing import Any

import numpy as np

from trailbrake.bench.rows import BenchRow
from trailbrake.dashboard import page_messages
from trailbrake.dashboard.live_tap import LiveTap
from trailbrake.dashboard.live_view import LiveView
from trailbrake.driving.session.drive_session import drive
from trailbrake.driving.session.progress import SilentListener
from trailbrake.state import CarState, Controls
from trailbrake.system import steady_clock

SECONDS = 60.0  # of the watched drive
TICKS = 100_000  # of the tap alone
PATIENCE = 60.0  # s that the client may take to come and to report


def measure_rows() -> list[BenchRow]:
    """Measure all rows of this bench (a good minute)."""
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    with tempfile.TemporaryDirectory(prefix="trailbrake-bench-") as folder:
        with LiveView(SilentListener()) as page:
            client = context.Process(target=read_frames, args=(page.url, theirs), daemon=True)
            client.start()
            if not ours.poll(PATIENCE):
                raise RuntimeError("the client did not reach the page")
            ours.recv()
            summary = drive(speed="real", laps=0, seconds=SECONDS, out=folder, report=False, listener=page, view=page)
        if not ours.poll(PATIENCE):
            raise RuntimeError("the client did not report")
        late = ours.recv()
        client.join(PATIENCE)
    loop = summary["loop"]
    p50, p90, p99 = (float(np.percentile(late, share)) * 1e3 for share in (50.0, 90.0, 99.0))
    return [
        BenchRow("page_latency_p50_ms", p50, "ms", "lower", f"server to client, {len(late)} frames; p90 {p90:.2f} ms"),
        BenchRow("page_latency_p99_ms", p99, "ms", "lower", "the same"),
        BenchRow(
            "watched_loop_p99_us", loop["p99_us"], "us", "lower",
            f"read-decide-write at 333 Hz for {SECONDS:g} s with one page open; p50 {loop['p50_us']:.0f} us, "
            f"p99.9 {loop['p999_us']:.0f} us, overruns {loop['overruns']}; to compare with loop_p99_us of bench drive",
        ),
        BenchRow(
            "tap_tick_us", _measure_tap_tick() * 1e6, "us", "lower",
            f"CPU time of one tick in the drive's thread, {TICKS} ticks",
        ),
    ]  # fmt: skip


def _measure_tap_tick() -> float:
    tap, controls = LiveTap(steady_clock.now), Controls()
    states = [CarState(time=0.003 * k, x=0.15 * k, y=0.0, speed=50.0) for k in range(TICKS)]
    began = time.thread_time()
    for state in states:
        tap.tick(state, controls)
    return (time.thread_time() - began) / TICKS


def read_frames(url: str, report: Any) -> None:
    """Be a page: answer every frame until the drive is over, then send how late each came, s.

    Args:
        url: the page's.
        report: our end of a pipe; hears "here" first, then the list.
    """
    from websockets.exceptions import ConnectionClosed
    from websockets.sync.client import connect

    late: list[float] = []
    sent = frame = -1
    with connect(url.replace("http", "ws", 1) + "live", max_size=None) as socket, suppress(ConnectionClosed):
        report.send("here")
        while True:
            message = socket.recv()
            if isinstance(message, str):
                header = json.loads(message).get("header")
                if header:
                    names = [column["name"] for part in ("state", "controls", "health") for column in header[part]]
                    sent, frame = 1 + names.index("sent"), 1 + names.index("frame")
                continue
            numbers = np.frombuffer(message, "<f8")
            if numbers[0] == page_messages.FRAME:
                late.append(time.time() - numbers[sent])
                socket.send(page_messages.ANSWER_FORMAT.pack(numbers[frame], *[0.0] * 6))
    report.send(late)
