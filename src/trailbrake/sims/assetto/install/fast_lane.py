"""`ai/fast_lane.ai` and `ai/pit_lane.ai`: the line that the game's own drivers follow, with the road's edges beside it.

Source: protocol page assetto-custom-ai, section 7. Version 7 is the game's; version -1 of some mod packs has nothing
but points. The file may come from anywhere: each count is checked against the bytes that are there
before it is used. World axes and signs are the game's; `lane_conversion` changes them.
"""

import struct
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from trailbrake.arrays import Array
from trailbrake.errors import DataError
from trailbrake.units import KMH
from trailbrake.user_files import read_user_file

VERSION = 7
OLD_VERSION = -1
MAX_BYTES = 64_000_000  # the longest public circuits with their grids stay under 20 MB
MIN_POINTS = 3
KMH_THRESHOLD = 100.0  # a speed column whose largest value is above this cannot be m/s (section 7 leaves the unit open)

_HEADER = struct.Struct("<4i")
_OLD_HEADER = struct.Struct("<2i")
_COUNT = struct.Struct("<i")
POINT = np.dtype([("place", "<f4", 3), ("length", "<f4"), ("id", "<i4")])
EXTRA = np.dtype(
    [
        ("speed", "<f4"), ("gas", "<f4"), ("brake", "<f4"), ("lateral_g", "<f4"), ("radius", "<f4"),
        ("side_left", "<f4"), ("side_right", "<f4"), ("camber", "<f4"), ("direction", "<f4"), ("normal", "<f4", 3),
        ("length", "<f4"), ("forward", "<f4", 3), ("tag", "<f4"), ("grade", "<f4"),
    ]
)  # fmt: skip

Points = NDArray[np.void]


@dataclass(frozen=True, eq=False)
class FastLane:
    """A line as the file has it.

    Attributes:
        points: (n,) of `POINT`: place x, y, z (m, the game's world), length (m from the start), id.
        extras: (n,) of `EXTRA`: widths to the edges (m), speed, gas, brake, ...; None where the file has none.
        lap_time: as in the file.
        sample_count: as in the file, normally 0.
        grid: the bytes behind the extras, kept as they are: the game's own index of the points.
        version: 7 or -1.
    """

    points: Points
    extras: Points | None
    lap_time: int = 0
    sample_count: int = 0
    grid: bytes = _COUNT.pack(0)
    version: int = VERSION

    @property
    def speed(self) -> Array | None:
        """Speeds (n,) of the game's drivers, m/s; None where the file has none."""
        if self.extras is None:
            return None
        speed = self.extras["speed"].astype(np.float64)
        return speed * KMH if speed.max() > KMH_THRESHOLD else speed


def read_fast_lane(path: Path) -> FastLane:
    """Read a line.

    Raises:
        UsageError: the file cannot be read.
        DataError: naming the file and what is wrong with it.
    """
    return decode_fast_lane(read_user_file(path, "line", MAX_BYTES), str(path))


def decode_fast_lane(data: bytes, where: str = "fast_lane.ai") -> FastLane:
    """Decode the bytes of a file; as `read`. `where` names the file in errors."""
    if len(data) < _OLD_HEADER.size:
        raise DataError("the line is cut short", where=where, expected="a header", got=f"{len(data)} bytes")
    version, count = _OLD_HEADER.unpack_from(data)
    if version == OLD_VERSION:
        points, _ = _read_table(data, _OLD_HEADER.size, count, POINT, where)
        return FastLane(points, None, grid=b"", version=version)
    if version != VERSION:
        raise DataError("unknown version of a line", where=where, expected="7 or -1", got=str(version))
    if len(data) < _HEADER.size:
        raise DataError("the line is cut short", where=where, expected="a header", got=f"{len(data)} bytes")
    _, count, lap_time, sample_count = _HEADER.unpack_from(data)
    points, at = _read_table(data, _HEADER.size, count, POINT, where)
    if len(data) < at + _COUNT.size:
        raise DataError("the line is cut short", where=where, expected="a count of extras", got="the end of the file")
    (extra_count,) = _COUNT.unpack_from(data, at)
    at += _COUNT.size
    extras = None
    if extra_count != 0:
        if extra_count != count:
            raise DataError(
                "the line contradicts itself", where=where, expected=f"{count} extras, one a point",
                got=str(extra_count),
            )  # fmt: skip
        extras, at = _read_table(data, at, extra_count, EXTRA, where)
        _check_sides(extras, where)
    return FastLane(points, extras, lap_time, sample_count, data[at:], version)


def _read_table(data: bytes, at: int, count: int, kind: np.dtype[np.void], where: str) -> tuple[Points, int]:
    """Return the table of `count` records of `kind` at byte `at`, and the byte behind it."""
    room = (len(data) - at) // kind.itemsize
    if not MIN_POINTS <= count <= room:
        what = "points" if kind is POINT else "extras"
        expected = f"{MIN_POINTS} .. {room} {what}, as many as {len(data)} bytes can hold"
        raise DataError(f"no number of {what}", where=where, expected=expected, got=str(count))
    table = np.frombuffer(data, kind, count, at)
    if kind is POINT:
        bad = np.flatnonzero(~np.isfinite(table["place"]).all(axis=1))
        if len(bad):
            k = int(bad[0])
            raise DataError("a point is nowhere", where=f"{where}: point {k} at byte {at + k * kind.itemsize}",
                            expected="finite x, y, z", got=str(table["place"][k].tolist()))  # fmt: skip
    return table, at + count * kind.itemsize


def _check_sides(extras: Points, where: str) -> None:
    for name in ("side_left", "side_right"):
        bad = np.flatnonzero(~(np.abs(extras[name]) < 1e4))  # NaN too
        if len(bad):
            raise DataError("an edge is nowhere", where=f"{where}: {name} of point {bad[0]}",
                            expected="a distance in m", got=f"{extras[name][bad[0]]:g}")  # fmt: skip


def encode_fast_lane(lane: FastLane) -> bytes:
    """Return the bytes of a file. A decoded file comes out as it was, but for what follows the points in version -1."""
    count = len(lane.points)
    if lane.version == OLD_VERSION:
        return _OLD_HEADER.pack(OLD_VERSION, count) + lane.points.tobytes()
    extras = b"" if lane.extras is None else lane.extras.tobytes()
    return b"".join(
        [
            _HEADER.pack(VERSION, count, lane.lap_time, lane.sample_count),
            lane.points.tobytes(),
            _COUNT.pack(0 if lane.extras is None else count),
            extras,
            lane.grid,
        ]
    )
