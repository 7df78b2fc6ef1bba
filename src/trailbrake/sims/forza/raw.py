"""Raw recordings: every received datagram with its time of arrival; read one by one, or as NumPy arrays.

Source: protocol page forza-data-out, section 4.4. After 8 bytes of magic each record is u64 ns since 1970, u16 length,
and the datagram; little-endian. A truncated file is read up to its last complete record.
"""

import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from trailbrake.errors import DataError, OsErrors, UsageError
from trailbrake.sims.forza.blocks import Dash, HorizonBlock, MotorsportBlock, Sled, block_fields
from trailbrake.sims.forza.codec import FORMATS
from trailbrake.user_files import open_user_file, read_user_file

MAGIC = b"TBFORZA1"
MAX_BYTES = 16 << 30  # of a file that is read at once: some 200 h of datagrams
_RECORD_HEADER = struct.Struct("<QH")
_BLOCKS: dict[str, tuple[type, ...]] = {
    "sled": (Sled,),
    "dash": (Sled, Dash),
    "fh": (Sled, HorizonBlock, Dash),
    "fm2023": (Sled, Dash, MotorsportBlock),
}


class RawWriter:
    """Writes a file of datagrams.

    Raises:
        UsageError: the file cannot be opened.
    """

    def __init__(self, path: Path) -> None:
        with OsErrors("cannot write the recording", where=str(path)):
            path.parent.mkdir(parents=True, exist_ok=True)
            self._file: BinaryIO = path.open("wb")
        self._file.write(MAGIC)
        self.count = 0

    def write(self, data: bytes, received_ns: int) -> None:
        """Write one datagram received at `received_ns` (ns since 1970)."""
        self._file.write(_RECORD_HEADER.pack(received_ns, len(data)) + data)
        self.count += 1

    def close(self) -> None:
        """Close the file."""
        self._file.close()


def is_raw(path: Path) -> bool:
    """Return whether a file starts with the magic of raw recordings."""
    try:
        with open_user_file(path, "recording") as file:
            return file.read(len(MAGIC)) == MAGIC
    except (OSError, UsageError):
        return False


def _read_content(path: Path) -> bytes:
    data = read_user_file(path, "recording", MAX_BYTES)
    if not data.startswith(MAGIC):
        raise DataError("not a recording of datagrams", where=str(path), expected=f"{MAGIC!r} at its start")
    return data


def read_raw(path: Path) -> Iterator[tuple[bytes, int]]:
    """Yield every datagram and its time of arrival, ns since 1970; DataError if the file is not a raw recording."""
    data = _read_content(path)
    at, end = len(MAGIC), len(data)
    while at + _RECORD_HEADER.size <= end:
        received_ns, length = _RECORD_HEADER.unpack_from(data, at)
        at += _RECORD_HEADER.size + length
        if at > end:
            return
        yield data[at - length : at], received_ns


def record_dtype(length: int) -> np.dtype[Any]:
    """Return the packed NumPy type of a record with a datagram of `length` bytes; its fields are those of `blocks`."""
    names: list[tuple[str, str]] = [("recv_time_ns", "<u8"), ("packet_len", "<u2")]
    size = 0
    for block in _BLOCKS[FORMATS[length]]:
        for key, wire in block_fields(block).items():
            kind = np.dtype(wire.code).newbyteorder("<")
            names.append((key, kind.str))
            size += kind.itemsize
    if length > size:
        names.append(("tail", f"V{length - size}"))
    return np.dtype(names)


def _count_run(data: bytes, at: int, length: int) -> int:
    """Return how many consecutive records from `at` on have datagrams of `length` bytes."""
    size = _RECORD_HEADER.size + length
    most = (len(data) - at) // size
    count, window = 1, 16
    while count < most:
        # While the records have equal length, their length fields have a constant stride. The window doubles, so that
        # a file with many changes of length is not compared over and over.
        window = min(2 * window, most - count)
        lengths = np.ndarray((window,), "<u2", data, at + count * size + _RECORD_HEADER.size - 2, (size,))
        other = np.flatnonzero(lengths != length)
        if len(other):
            return count + int(other[0])
        count += window
    return count


def _split_runs(data: bytes) -> Iterator[tuple[int, int, int]]:
    """Yield offset, length of the datagrams and count of each run of whole records behind the magic."""
    at = len(MAGIC)
    while at + _RECORD_HEADER.size <= len(data):
        length = _RECORD_HEADER.unpack_from(data, at)[1]
        size = _RECORD_HEADER.size + length
        if at + size > len(data):
            return
        count = _count_run(data, at, length)
        yield at, length, count
        at += count * size


def read_arrays(path: Path) -> dict[int, NDArray[Any]]:
    """Return the records of a raw recording as {length of the datagrams: structured array in order of arrival}.

    The fields are those of `blocks`, and `recv_time_ns` and `packet_len`. Datagrams of unknown length are left out. A
    file whose datagrams have one length is not copied.

    Raises:
        DataError: the file is not a raw recording.
    """
    data = _read_content(path)
    runs: dict[int, list[NDArray[Any]]] = {}
    for at, length, count in _split_runs(data):
        if length in FORMATS:
            runs.setdefault(length, []).append(np.frombuffer(data, record_dtype(length), count, at))
    return {length: parts[0] if len(parts) == 1 else np.concatenate(parts) for length, parts in runs.items()}
