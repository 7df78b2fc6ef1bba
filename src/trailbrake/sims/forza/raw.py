"""Lossless recordings: every datagram as it came, with the time of its arrival; and the same as arrays at once.

Source: protocol page forza-data-out, section 4.4. After 8 bytes of magic: u64 ns since 1970, u16 length, the bytes;
little-endian. A file that was cut off gives what is whole in it.
"""

import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from trailbrake.errors import DataError, UsageError
from trailbrake.sims.forza.blocks import Dash, Extra, Gap, Sled, fields
from trailbrake.sims.forza.codec import FORMATS

MAGIC = b"TBFORZA1"
_HEAD = struct.Struct("<QH")
_ROWS_AT_ONCE = 2048  # of `columns`: some 700 kB
_BLOCKS: dict[str, tuple[type, ...]] = {
    "sled": (Sled,),
    "dash": (Sled, Dash),
    "fh": (Sled, Gap, Dash),
    "fm2023": (Sled, Dash, Extra),
}


class RawWriter:
    """Writes a file of datagrams.

    Raises:
        UsageError: the file cannot be opened.
    """

    def __init__(self, path: Path) -> None:
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._file: BinaryIO = path.open("wb")
        except OSError as error:
            raise UsageError("cannot write the recording", where=str(path), got=error.strerror or str(error)) from error
        self._file.write(MAGIC)
        self.count = 0

    def write(self, data: bytes, received_ns: int) -> None:
        """Write one datagram that came at `received_ns` (ns since 1970)."""
        self._file.write(_HEAD.pack(received_ns, len(data)) + data)
        self.count += 1

    def close(self) -> None:
        """Close the file."""
        self._file.close()


def is_raw(path: Path) -> bool:
    """Return whether a file begins like one of ours."""
    try:
        with path.open("rb") as file:
            return file.read(len(MAGIC)) == MAGIC
    except OSError:
        return False


def _content(path: Path) -> bytes:
    try:
        data = path.read_bytes()
    except OSError as error:
        raise DataError("cannot read the recording", where=str(path), got=error.strerror or str(error)) from error
    if not data.startswith(MAGIC):
        raise DataError("not a recording of datagrams", where=str(path), expected=f"{MAGIC!r} at its start")
    return data


def read_raw(path: Path) -> Iterator[tuple[bytes, int]]:
    """Yield every datagram and the ns since 1970 of its arrival; DataError where it is not such a file."""
    data = _content(path)
    at, end = len(MAGIC), len(data)
    while at + _HEAD.size <= end:
        received_ns, length = _HEAD.unpack_from(data, at)
        at += _HEAD.size + length
        if at > end:
            return
        yield data[at - length : at], received_ns


def record_type(length: int) -> np.dtype[Any]:
    """Return the NumPy type of one record with a datagram of `length` bytes: the columns by their keys, packed."""
    names: list[tuple[str, str]] = [("recv_time_ns", "<u8"), ("packet_len", "<u2")]
    size = 0
    for block in _BLOCKS[FORMATS[length]]:
        for key, wire in fields(block).items():
            kind = np.dtype(wire.code).newbyteorder("<")
            names.append((key, kind.str))
            size += kind.itemsize
    if length > size:
        names.append(("tail", f"V{length - size}"))
    return np.dtype(names)


def _run(data: bytes, at: int, size: int, length: int) -> int:
    """Return how many records of `size` bytes follow each other from `at` on, all with datagrams of `length` bytes."""
    most = (len(data) - at) // size
    count, window = 1, 16
    while count < most:
        # The length field of each stands where that of the first does, as far as they are alike. Windows grow, so
        # that a file of ever changing lengths is not read over and over.
        window = min(2 * window, most - count)
        lengths = np.ndarray((window,), "<u2", data, at + count * size + _HEAD.size - 2, (size,))
        other = np.flatnonzero(lengths != length)
        if len(other):
            return count + int(other[0])
        count += window
    return count


def read_arrays(path: Path) -> dict[int, NDArray[Any]]:
    """Return the records of a file as structured arrays, by the length of their datagrams, each in order of arrival.

    The columns have the keys of `blocks`, and `recv_time_ns` and `packet_len`. Datagrams of lengths that no title sends
    are left out. Runs of equal length, which is the rule, are taken without a copy.

    Raises:
        DataError: it is not such a file.
    """
    data = _content(path)
    at, end = len(MAGIC), len(data)
    runs: dict[int, list[NDArray[Any]]] = {}
    while at + _HEAD.size <= end:
        length = _HEAD.unpack_from(data, at)[1]
        size = _HEAD.size + length
        if at + size > end:
            break
        count = _run(data, at, size, length)
        if length in FORMATS:
            runs.setdefault(length, []).append(np.frombuffer(data, record_type(length), count, at))
        at += count * size
    return {length: parts[0] if len(parts) == 1 else np.concatenate(parts) for length, parts in runs.items()}


def columns(table: NDArray[Any]) -> dict[str, NDArray[Any]]:
    """Return the columns of a table of `read_arrays` as arrays of their own, by their keys, without the tail.

    Some thousand rows at a time: they stay in the processor's cache while their columns are taken apart.
    """
    names = [name for name in table.dtype.names or () if name != "tail"]
    out = {name: np.empty(len(table), table.dtype[name]) for name in names}
    for first in range(0, len(table), _ROWS_AT_ONCE):
        part = table[first : first + _ROWS_AT_ONCE]
        for name in names:
            out[name][first : first + len(part)] = part[name]
    return out
