"""Lossless recordings: every datagram as it came, with the time of its arrival; and the same as arrays at once.

Source: protocol page forza-data-out, section 4.4. After 8 bytes of magic: u64 ns since 1970, u16 length, the bytes;
little-endian. A file that was cut off gives what is whole in it.
"""

import os
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
_AT_ONCE = 1 << 18  # bytes of `read_columns`: they stay in the processor's cache, and hold the longest datagram
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
        raise _no_recording(path)
    return data


def _no_recording(path: Path) -> DataError:
    return DataError("not a recording of datagrams", where=str(path), expected=f"{MAGIC!r} at its start")


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


def _run(data: bytes | bytearray, at: int, end: int, length: int) -> int:
    """Return how many records follow each other between `at` and `end`, all with datagrams of `length` bytes."""
    size = _HEAD.size + length
    most = (end - at) // size
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
        count = _run(data, at, end, length)
        if length in FORMATS:
            runs.setdefault(length, []).append(np.frombuffer(data, record_type(length), count, at))
        at += count * size
    return {length: parts[0] if len(parts) == 1 else np.concatenate(parts) for length, parts in runs.items()}


class _Columns:
    """The columns of datagrams of one length, `capacity` of them at most."""

    def __init__(self, length: int, capacity: int) -> None:
        kind = record_type(length)
        self._size, self._count = kind.itemsize, 0
        # Neighbours of one type are copied together: (first offset, names, an array with a row for each).
        self._groups: list[tuple[int, list[str], NDArray[Any]]] = []
        together: list[str] = []
        for name in kind.names or ():
            if name == "tail":
                continue
            if together and kind[together[0]] == kind[name]:
                together.append(name)
                continue
            together = [name]
            self._groups.append((kind.fields[name][1], together, np.empty(0)))  # type: ignore[index]
        self._groups = [
            (offset, names, np.empty((len(names), capacity), kind[names[0]])) for offset, names, _ in self._groups
        ]

    def take(self, data: bytearray, at: int, count: int) -> None:
        """Take `count` records that follow each other from `at` on."""
        first, self._count = self._count, self._count + count
        for offset, names, out in self._groups:
            strides = out.itemsize, self._size
            out[:, first : self._count] = np.ndarray((len(names), count), out.dtype, data, at + offset, strides)

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return the columns by their keys."""
        return {
            name: row[: self._count] for _, names, out in self._groups for name, row in zip(names, out, strict=True)
        }


def read_columns(path: Path) -> dict[int, dict[str, NDArray[Any]]]:
    """Return a contiguous array per column by the columns' keys, by the length of the datagrams, without the tail.

    `read_arrays` taken apart, but in pieces that stay in the processor's cache, so that a large file is read once.

    Raises:
        DataError: it is not such a file.
    """
    found: dict[int, _Columns] = {}
    try:
        with path.open("rb", buffering=0) as file:
            # Of a file that somebody still writes to what was there at first.
            left = os.fstat(file.fileno()).st_size - len(MAGIC)
            if file.read(len(MAGIC)) != MAGIC:
                raise _no_recording(path)
            data, held = bytearray(_AT_ONCE), 0
            while got := file.readinto(memoryview(data)[held:left]):
                at, end = 0, held + got
                while at + _HEAD.size <= end:
                    length = _HEAD.unpack_from(data, at)[1]
                    size = _HEAD.size + length
                    if at + size > end:
                        break
                    count = _run(data, at, end, length)
                    if length in FORMATS:
                        if length not in found:
                            found[length] = _Columns(length, (left - at) // size)
                        found[length].take(data, at, count)
                    at += count * size
                held = end - at
                data[:held] = data[at:end]
                left -= at
    except OSError as error:
        raise DataError("cannot read the recording", where=str(path), got=error.strerror or str(error)) from error
    return {length: columns.arrays() for length, columns in found.items()}
