"""Recorded sessions as datagrams: raw recordings as they came, tables turned back into packets.

A table has no times of arrival as a rule: then the packets' own clock is the time.
"""

from collections.abc import Iterator
from itertools import chain, islice
from pathlib import Path

from trailbrake.errors import UsageError
from trailbrake.sims.forza import codec
from trailbrake.sims.forza.clock import Clock
from trailbrake.sims.forza.raw import is_raw, read_raw
from trailbrake.sims.forza.tables import read_table

TABLES = (".csv", ".tsv", ".txt", ".csv.gz", ".tsv.gz")


def knows(path: Path) -> bool:
    """Return whether `path` looks like a recorded session of this wire."""
    return is_raw(path) or path.name.lower().endswith(TABLES)


def read_datagrams(path: Path) -> Iterator[tuple[bytes, int]]:
    """Return the datagrams of a recorded session with the ns of their arrival: since 1970, or since the first.

    Raises:
        UsageError: there is no such file.
        DataError: it is not a recorded session; or, later, a line of it cannot be read.
    """
    if not path.is_file():
        raise UsageError("no such file", where=str(path))
    found = read_raw(path) if is_raw(path) else _of_table(path)
    first = list(islice(found, 1))  # what is no session is refused now, before anybody opens files of his own
    return chain(first, found)


def _of_table(path: Path) -> Iterator[tuple[bytes, int]]:
    clock, elapsed = Clock(), 0.0
    for packet, received_ns in read_table(path):
        numbers = codec.seen(packet)
        elapsed += clock.step(numbers[codec.TIMESTAMP_MS], codec.race_time(numbers)).dt
        yield codec.encode(packet), round(elapsed * 1e9) if received_ns is None else received_ns
