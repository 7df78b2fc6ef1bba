"""`bench camera`: how soon a change in a window is in `state.image`, and what the camera costs the drive's loop.

Needs a screen (or `xvfb-run`), tkinter and the extra `capture`. The window is a process of its own.
"""

import subprocess
import sys
import time

import numpy as np

from trailbrake.bench.rows import BenchRow
from trailbrake.driving.session.camera_link import add_camera
from trailbrake.errors import SimulatorError, UsageError
from trailbrake.roles import Link, LinkCounters
from trailbrake.state import CarState, Controls, SimCommand
from trailbrake.system import steady_clock
from trailbrake.transport.capture.camera_option import parse_camera
from trailbrake.transport.capture.live_camera import LiveCamera, open_window

TITLE, SIZE = "trailbrake bench camera", "1280x720"
RATES = (30, 60)  # pictures per second
CHANGES, READS = 200, 100_000
PERIOD = 1.0 / 333.0  # s, of the loop that reads
PATIENCE = 30.0  # s that a change may take to arrive

# Black and white in turn; each line is the time at which the window system had drawn the change.
_WINDOW = """
import random, sys, time, tkinter
window = tkinter.Tk()
window.title(sys.argv[1])
window.geometry(sys.argv[2])
window.configure(bg="black")
window.update()
print("shown", flush=True)
for number, line in enumerate(sys.stdin):
    until = time.perf_counter() + 0.05 + 0.1 * random.Random(number).random()
    while time.perf_counter() < until:
        window.update()
        time.sleep(0.001)
    window.configure(bg="black" if number % 2 else "white")
    window.update()
    window.winfo_pointerx()  # an answer: all before it is drawn
    print(time.perf_counter(), flush=True)
"""


class _IdleLink:
    """A link with one state, which costs nothing."""

    SUPPLIES = ACCEPTS = frozenset[str]()
    period = PERIOD

    def __init__(self) -> None:
        self.counters, self._state = LinkCounters(), CarState()

    def open(self, now: float) -> None:
        """Nothing to open."""

    def has_new_sample(self) -> bool:
        """Return True."""
        return True

    def read(self, now: float) -> CarState:
        """Return the state."""
        return self._state

    def write(self, controls: Controls) -> None:
        """Nothing to send."""

    def send_command(self, command: SimCommand) -> None:
        """Nothing to send."""

    def release(self) -> None:
        """Nothing to release."""

    def close(self) -> None:
        """Nothing to close."""


def measure_rows() -> list[BenchRow]:
    """Measure all rows of this bench (about a minute)."""
    words = [sys.executable, "-c", _WINDOW, TITLE, SIZE]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as window:
        assert window.stdout is not None
        if window.stdout.readline().strip() != "shown":
            raise UsageError("no window can be opened", where="bench camera", hint="run it on a screen, or by xvfb-run")
        try:
            return [row for rate in RATES for row in _measure_rate(window, rate)]
        finally:
            assert window.stdin is not None
            window.stdin.close()


def _measure_rate(window: "subprocess.Popen[str]", rate: int) -> list[BenchRow]:
    option = parse_camera(f"window:{TITLE},rate={rate}")
    assert option is not None
    camera = LiveCamera(open_window(option), option)
    try:
        link = add_camera(_IdleLink(), camera)
        delays = [_measure_change(window, link, white=number % 2 == 0) for number in range(CHANGES)]
        summary = camera.summarise_pictures()
        cost = _measure_reads(link) - _measure_reads(_IdleLink())
    finally:
        camera.close()
    p50, p99 = (float(np.percentile(delays, share)) * 1e3 for share in (50.0, 99.0))
    what = f"{SIZE} to {option.width}x{option.height} at rate={rate}"
    return [
        BenchRow(f"camera_latency_p50_ms_{rate}", p50, "ms", "lower",
                 f"drawn in the window until read in state.image, {CHANGES} changes, {what}"),
        BenchRow(f"camera_latency_p99_ms_{rate}", p99, "ms", "lower", "the same"),
        BenchRow(f"camera_rate_hz_{rate}", summary["rate_hz"], "1/s", "higher", f"pictures captured, {what}"),
        BenchRow(f"camera_capture_p50_ms_{rate}", summary["capture_p50_ms"], "ms", "lower",
                 f"grab, scale, encode and decode, in the camera's thread; p99 {summary['capture_p99_ms']:.2f} ms"),
        BenchRow(f"camera_tick_us_{rate}", cost * 1e6, "us", "lower",
                 f"what the camera adds to a read in the loop's thread: processor time, {READS} reads"),
    ]  # fmt: skip


def _measure_change(window: "subprocess.Popen[str]", link: Link, *, white: bool) -> float:
    """Have the window change; return the seconds from its drawing to the first read that has it."""
    assert window.stdin is not None
    assert window.stdout is not None
    window.stdin.write("change\n")
    window.stdin.flush()
    began = steady_clock.now()
    while True:
        now = steady_clock.sleep_until(steady_clock.now() + PERIOD)
        image = link.read(now).image
        if image is not None and bool(image.pixels[0, 0, 0] > 127) is white:
            return now - float(window.stdout.readline())
        if now - began > PATIENCE:
            raise SimulatorError("a change in the window did not arrive", where="bench camera")


def _measure_reads(link: Link) -> float:
    """Return the processor time of one read in this thread, s."""
    began = time.thread_time()
    for _ in range(READS):
        link.read(0.0)
    return (time.thread_time() - began) / READS
