"""Plays a recorded session as the game: its datagrams by UDP, at the pace they came, by a factor of it, or at once."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from trailbrake.errors import UsageError
from trailbrake.sims.forza import sources
from trailbrake.transport.udp import Address, Udp

BURST, BURST_PAUSE_S = 64, 0.001  # at full pace: the receiver has no way to say "wait", and its buffer is finite
LONGEST_PAUSE_S = 5.0  # a longer silence in the recording is a pause that nobody wants to sit through
knows = sources.knows


@dataclass(slots=True)
class Replayed:
    """What was sent."""

    datagrams: int = 0
    bytes: int = 0
    unsent: int = 0
    recorded_s: float = 0.0


def pace_of(text: str) -> float:
    """Return the factor in `text`, infinity for "max"; UsageError where it is neither."""
    try:
        factor = float("inf") if text == "max" else float(text)
    except ValueError:
        factor = 0.0
    if not factor > 0.0:
        raise UsageError("no pace", where="--pace", expected="a factor above 0, as 1 or 2.5, or max", got=text)
    return factor


def replay(path: Path, to: Address, pace: float = 1.0, stopped: Callable[[], bool] = lambda: False) -> Replayed:
    """Send the datagrams of `path` to `to`.

    Args:
        path: a raw recording or a table.
        to: the receiver.
        pace: 1 as recorded, 2 twice as fast, infinity as fast as a receiver on this machine can follow.
        stopped: ends it early.

    Raises:
        UsageError or DataError: the file is not there or cannot be read.
    """
    out = Replayed()
    udp = Udp(("0.0.0.0", 0), where="--to")
    try:
        began, first, before, skipped = time.perf_counter(), None, 0, 0.0
        for data, received_ns in sources.read_datagrams(path):
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
            elif out.datagrams % BURST == BURST - 1:
                time.sleep(BURST_PAUSE_S)
            udp.send(data, to)
            out.datagrams += 1
            out.bytes += len(data)
        out.unsent = udp.unsent
    finally:
        udp.close()
    return out
