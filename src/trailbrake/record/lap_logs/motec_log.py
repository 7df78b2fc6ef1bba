"""Lap logs of MoTeC: NAME.ld with the channels, and NAME.ldx beside it, if it is there, with the beacons of the laps.

The layout is that of `record/motec_export.py`, with samples of other kinds: whole numbers, scaled by four numbers of
the channel. Each channel has an even rate of its own.
"""

import re
import struct
from io import BufferedReader
from pathlib import Path
from typing import Any

import numpy as np

from trailbrake.arrays import Array
from trailbrake.errors import DataError
from trailbrake.record.lap_logs.channel_names import load_channel_names
from trailbrake.record.lap_logs.lap_log import LapLog, LogChannel
from trailbrake.record.motec_export import CHANNEL, HEADER, MARKER
from trailbrake.user_files import is_regular_file, open_user_file, read_user_file

MAX_CHANNELS = 4000
MAX_SAMPLES = 50_000_000  # of one channel
MAX_RATE = 20_000  # 1/s
_KINDS = {(7, 2): "<f2", (7, 4): "<f4", (0, 2): "<i2", (0, 4): "<i4", (3, 2): "<i2", (3, 4): "<i4", (5, 2): "<i2",
          (5, 4): "<i4", (8, 8): "<f8"}  # fmt: skip
_BEACONS = re.compile(r'<MarkerGroup[^>]*Name="Beacons"[^>]*>(.*?)</MarkerGroup>', re.DOTALL)
_TIME = re.compile(r'\bTime="([^"]{1,40})"')


def read_motec_log(path: Path) -> LapLog:
    """Return the channels of a log.

    Raises:
        UsageError: it cannot be read.
        DataError: it is no such log, or is damaged.
    """
    names = load_channel_names()
    with open_user_file(path, "lap log") as file:
        size = file.seek(0, 2)
        head = _read_part(file, HEADER, 0, size, path)
        if head[0] != MARKER:
            raise DataError("no MoTeC log", where=str(path), got=f"a file that begins with {head[0]:#x}")
        date, clock, driver, car, track = (_decode_text(text) for text in head[12:17])
        log = LapLog(
            "MoTeC log", [], {"started": f"{date} {clock}".strip(), "driver": driver, "car": car, "track": track}
        )
        log.about = {key: value for key, value in log.about.items() if value}
        place = head[1]
        seen: set[int] = set()
        while place:
            if place in seen or len(seen) >= MAX_CHANNELS:
                raise DataError("the list of channels is damaged", where=str(path), got=f"channel {len(seen)} again")
            seen.add(place)
            _, following, start, count, _, kind, width, rate, *scaling, name, _, unit = _read_part(
                file, CHANNEL, place, size, path
            )
            title, unit = _decode_text(name), _decode_text(unit)
            rule, form = names.find_rule(title), _KINDS.get((kind, width))
            if rule is None or form is None or not 0 < rate <= MAX_RATE or not count:
                log.unused.append(f"{title} [{unit}]".replace(" []", ""))
            else:
                values = _read_samples(file, form, (start, count), size, f"{path}, {title}")
                values = _scale_samples(values, scaling)
                log.channels.append(LogChannel(title, unit or rule.unit, rule.column, np.arange(count) / rate, values))
            place = following
    log.beacons = _read_beacons(path.with_suffix(".ldx"))
    if not log.beacons:
        log.notes.append("no .ldx file with beacons beside the log")
    return log


def _read_part(file: BufferedReader, part: struct.Struct, place: int, size: int, path: Path) -> tuple[Any, ...]:
    if place + part.size > size:
        wanted = f"{place + part.size} bytes or more"
        raise DataError("no MoTeC log, or it is cut off", where=str(path), expected=wanted, got=str(size))
    file.seek(place)
    return part.unpack(file.read(part.size))


def _read_samples(file: BufferedReader, form: str, place: tuple[int, int], size: int, where: str) -> Array:
    start, count = place
    length = count * np.dtype(form).itemsize
    if count > MAX_SAMPLES or start + length > size:
        raise DataError("the samples are cut off", where=where, expected=f"{count} of them", got=f"{size} bytes")
    file.seek(start)
    with np.errstate(invalid="ignore"):  # any bits may stand there, those of signalling NaN too
        return np.frombuffer(file.read(length), form).astype(np.float64)


def _scale_samples(values: Array, scaling: list[int]) -> Array:
    """Return samples in the unit of the channel, by its shift, multiplier, scale and decimals."""
    shift, multiplier, scale, decimals = scaling
    if not scale or abs(decimals) > 20:
        return np.full(len(values), np.nan)
    with np.errstate(over="ignore", invalid="ignore"):
        return np.asarray((values / scale * 10.0**-decimals + shift) * multiplier)


def _decode_text(data: bytes) -> str:
    return data.split(b"\0")[0].decode("latin-1").strip()


def _read_beacons(path: Path) -> list[float]:
    """Return the times of the beacons (s) in an .ldx file; none where there is no such file."""
    if not is_regular_file(path):
        return []
    text = read_user_file(path, "laps of the log").decode("utf-8", "replace")
    found = []
    for group in _BEACONS.findall(text):
        for time in _TIME.findall(group):
            try:
                found.append(float(time) * 1e-6)
            except ValueError:
                raise DataError("no time of a beacon", where=str(path), got=time) from None
    return sorted(time for time in found if 0.0 < time < 1e9)
