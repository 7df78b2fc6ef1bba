"""Replays a recorded session: sends its datagrams by UDP in recorded time, by a factor of it, or at once.

Reads recorded sessions as datagrams: raw recordings, and tables whose rows are encoded as packets again.

Most tables have no times of arrival; then the packets' own clock is the time. Tables of a few columns may have no clock
either: their rows follow each other at a stated rate.
"""

import time
from collections.abc import Callable, Iterator
from itertools import chain, islice
from pathlib import Path
from typing import NamedTuple

from trailbrake.errors import UsageError
from trailbrake.sims.forza import codec
from trailbrake.sims.forza.codec import Packet
from trailbrake.sims.forza.raw import is_raw, read_raw
from trailbrake.sims.forza.tables import TableReader, UnknownField, find_unknown_fields, has_packet_columns
from trailbrake.sims.forza.telemetry_stream import PacketClock
from trailbrake.simulator_tools import ReplayResult, ReplayTool
from trailbrake.transport.udp import Address, UdpSocket

MIN_ROW_RATE, MAX_ROW_RATE = 2.0, 1000.0  # 1/s
_RACE_CLOCK_START = 1.0  # s
_CLOCKS, _ARRIVALS = ("timestamp_ms", "cur_race_time"), ("recv_time_ns", "wall_clock")  # columns
TABLE_SUFFIXES = (".csv", ".tsv", ".txt", ".csv.gz", ".tsv.gz")
BURST_LENGTH, BURST_PAUSE_S = (
    64,
    0.001,
)  # at full pace: the receiver's buffer is finite, and it cannot slow the sender down
LONGEST_PAUSE_S = 5.0  # s, to which longer pauses of the recording are shortened
DEFAULT_ROW_RATE = 60.0  # 1/s, the rate that the games document


def is_recorded_session(path: Path) -> bool:
    """Return whether `path` is a raw recording, or a table that mostly has columns of packets."""
    return is_raw(path) or (path.name.lower().endswith(TABLE_SUFFIXES) and has_packet_columns(path))


class RecordedSession(NamedTuple):
    """A recorded session.

    Attributes:
        datagrams: (datagram, ns of its arrival since 1970 or since the first datagram).
        note: one line for the user about the times of its rows; "" where they are its own.
        period: s between two rows, where a rate was stated; else None.
        unknown: fields of CarState that it does not determine although a datagram has them.
        columns: of a table; None = not a table.
    """

    datagrams: Iterator[tuple[bytes, int]]
    note: str = ""
    period: float | None = None
    unknown: tuple[UnknownField, ...] = ()
    columns: tuple[str, ...] | None = None


def open_session(path: Path, rate: float = 0.0) -> RecordedSession:
    """Open a recorded session.

    Args:
        path: a raw recording or a table.
        rate: rows per second of a table without a clock; 0 = DEFAULT_ROW_RATE.

    Raises:
        UsageError: the file does not exist, or the rate is out of range.
        DataError: the file is not a recorded session; while iterating: a line cannot be read.
    """
    if rate != 0.0 and not MIN_ROW_RATE <= rate <= MAX_ROW_RATE:
        raise UsageError(
            "no rate of a table's rows", where="--rate", expected=f"{MIN_ROW_RATE:g} to {MAX_ROW_RATE:g} per second",
            got=f"{rate:g}",
        )  # fmt: skip
    if not path.is_file():
        raise UsageError("no such file", where=str(path))
    if is_raw(path):
        return RecordedSession(_read_first(read_raw(path)), _unused_rate_note(path, rate, "datagrams have"))
    table = TableReader(path)
    unknown, columns = find_unknown_fields(table.keys, table.build_packet), tuple(table.keys)
    timed = [name for name in (*_CLOCKS, *_ARRIVALS) if name in table.keys]
    if timed:
        note = _unused_rate_note(path, rate, f"column {timed[0]} has")
        datagrams = _stamp_packets(table, 0.0) if timed[0] in _ARRIVALS else _encode_packets(table)
        return RecordedSession(_read_first(datagrams), note, None, unknown, columns)
    rows_per_s = rate or DEFAULT_ROW_RATE
    note = f"{path.name} has no column of time: its rows count as {rows_per_s:g} per second"
    note += "" if rate else "; --rate gives another rate"
    return RecordedSession(
        _read_first(_stamp_packets(table, 1.0 / rows_per_s)), note, 1.0 / rows_per_s, unknown, columns
    )


def _unused_rate_note(path: Path, rate: float, source: str) -> str:
    return f"--rate is not used: the {source} the times of {path.name}" if rate else ""


def _read_first(datagrams: Iterator[tuple[bytes, int]]) -> Iterator[tuple[bytes, int]]:
    first = list(islice(datagrams, 1))  # raises for a wrong file now, before the caller opens its own files
    return chain(first, datagrams)


def _encode_packets(table: TableReader) -> Iterator[tuple[bytes, int]]:
    """Yield the rows of a table whose packets have a clock."""
    clock, elapsed = PacketClock(), 0.0
    for packet, received_ns in table.read_packets():
        numbers = codec.select_state_subset(packet)
        elapsed += clock.step(numbers[codec.TIMESTAMP_MS], codec.race_time(numbers)).dt
        yield codec.encode_packet(packet), round(elapsed * 1e9) if received_ns is None else received_ns


def _stamp_packets(table: TableReader, period: float) -> Iterator[tuple[bytes, int]]:
    """Yield the rows of a table without a clock: the time of arrival is their clock or, without one, their number."""
    first_ns = None
    for row, (packet, received_ns) in enumerate(table.read_packets()):
        if received_ns is None:
            received_ns = round(row * period * 1e9)
        first_ns = received_ns if first_ns is None else first_ns
        yield codec.encode_packet(_set_clock(packet, (received_ns - first_ns) / 1e9)), received_ns


def _set_clock(packet: Packet, elapsed: float) -> Packet:
    sled = packet.sled._replace(timestamp_ms=round(elapsed * 1000.0) & 0xFFFFFFFF)
    # A race clock of 0 counts as one that does not run.
    dash = None if packet.dash is None else packet.dash._replace(cur_race_time=elapsed + _RACE_CLOCK_START)
    return packet._replace(sled=sled, dash=dash)


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
    session = open_session(path, rate)
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


REPLAY = ReplayTool(is_recorded_session, parse_pace, replay)
