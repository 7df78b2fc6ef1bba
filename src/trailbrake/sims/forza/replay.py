"""Replays a recorded session: sends its datagrams by UDP in recorded time, by a factor of it, or at once."""

import time
from collections.abc import Callable
from pathlib import Path

from trailbrake.errors import UsageError
from trailbrake.sims.forza import datagram_files
from trailbrake.simulator_tools import ReplayResult, ReplayTool
from trailbrake.transport.udp import Address, UdpSocket

BURST_LENGTH, BURST_PAUSE_S = (
    64,
    0.001,
)  # at full pace: the receiver's buffer is finite, and it cannot slow the sender down
LONGEST_PAUSE_S = 5.0  # s, to which longer pauses of the recording are shortened


def parse_pace(text: str) -> float:
    """Return the factor in `text`, infinity for "max"; UsageError for any other text."""
    try:
        factor = float("inf") if text == "max" else float(text)
    except ValueError:
        factor = 0.0
    if not factor > 0.0:
        raise UsageError("no pace", where="--pace", expected="a factor above 0, as 1 or 2.5, or max", got=text)
    return factor


def replay(
    path: Path, to: Address, pace: float = 1.0, stopped: Callable[[], bool] = lambda: False, rate: float = 0.0
) -> ReplayResult:
    """Send the datagrams of `path` to `to`.

    Args:
        path: a raw recording or a table.
        to: the receiver.
        pace: 1 as recorded, 2 twice as fast, infinity as fast as a receiver on this machine can follow.
        stopped: returns True to end the replay early.
        rate: rows per second of a table without a clock; 0 = 60.

    Raises:
        UsageError: the file does not exist, or the rate is out of range.
        DataError: the file cannot be read.
    """
    session = datagram_files.open_session(path, rate)
    out = ReplayResult(note=session.note)
    udp = UdpSocket(("0.0.0.0", 0), where="--to")
    try:
        began, first, before, skipped = time.perf_counter(), None, 0, 0.0
        for data, received_ns in session.datagrams:
            if stopped():
                break
            first = received_ns if first is None else first
            silence = (received_ns - before) / 1e9 if out.datagrams else 0.0
            skipped += max(0.0, silence - LONGEST_PAUSE_S)
            before = received_ns
            out.recorded_s = (received_ns - first) / 1e9
            if pace < float("inf"):
                ahead = began + (out.recorded_s - skipped) / pace - time.perf_counter()
                if ahead > 0.0:
                    time.sleep(ahead)
            elif out.datagrams % BURST_LENGTH == BURST_LENGTH - 1:
                time.sleep(BURST_PAUSE_S)
            udp.send(data, to)
            out.datagrams += 1
            out.bytes += len(data)
        out.unsent = udp.unsent
    finally:
        udp.close()
    return out


REPLAY = ReplayTool(datagram_files.is_recorded_session, parse_pace, replay)
