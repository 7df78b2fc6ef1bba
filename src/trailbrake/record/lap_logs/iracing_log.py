"""Lap logs of iRacing: .ibt files, read a few megabytes at a time.

The layout is that of the simulator's public SDK: a header with the places of the variables, of the session's text and
of the rows; a second header with the number of rows; 144 bytes that describe each variable; rows of equal length.
"""

import re
import struct
from io import BufferedReader
from pathlib import Path
from typing import Any

import numpy as np

from trailbrake.errors import DataError
from trailbrake.record.lap_logs.channel_names import load_channel_names
from trailbrake.record.lap_logs.lap_log import LapLog, LogChannel
from trailbrake.user_files import open_user_file

HEADER = struct.Struct("<10i8x4i")  # version, status, rate, update, length and place of the text, variables, rows
DISK = struct.Struct("<Qddii")  # behind the header's 112 bytes: date, begin, end, laps, rows
DISK_PLACE = 112
VARIABLE = struct.Struct("<iii?3x32s64s32s")
MAX_VARIABLES, MAX_ROW, MAX_TEXT = 5000, 1 << 20, 16 << 20  # bytes of a row and of the session's text
MAX_RATE = 10_000  # 1/s
BLOCK_BYTES = 8 << 20
_FORMS = {1: "?", 2: "<i4", 3: "<u4", 4: "<f4", 5: "<f8"}  # by the type of a variable; 0 is text
_TEXTS = {"track": r"TrackDisplayName: *(.+)", "started": r"WeekendInfo:[\s\S]*?\n *Date: *(.+)"}


def read_iracing_log(path: Path) -> LapLog:
    """Return the channels of a log.

    Raises:
        UsageError: it cannot be read.
        DataError: it is no such log, or is damaged.
    """
    with open_user_file(path, "lap log") as file:
        size = file.seek(0, 2)
        file.seek(0)
        data = file.read(DISK_PLACE + DISK.size)
        if len(data) < DISK_PLACE + DISK.size:
            raise DataError("no iRacing log, or it is cut off", where=str(path), got=f"{size} bytes")
        version, _, rate, _, text_size, text_at, count, variables_at, _, width, _, rows_at, _, _ = HEADER.unpack_from(
            data
        )
        parts = ((variables_at, count * VARIABLE.size), (text_at, text_size), (rows_at, width))
        inside = all(at >= DISK_PLACE and length >= 0 and at + length <= size for at, length in parts)
        known = version in (1, 2) and 0 < rate <= MAX_RATE and text_size <= MAX_TEXT
        if not (inside and known and 0 < count <= MAX_VARIABLES and 0 < width <= MAX_ROW):
            raise DataError("no iRacing log, or its header is damaged", where=str(path),
                            got=f"version {version}, {count} variables, rows of {width} bytes")  # fmt: skip
        stated = DISK.unpack_from(data, DISK_PLACE)[4]
        rows = (size - rows_at) // width
        log = LapLog("iRacing log", [])
        if 0 < stated <= rows:
            rows = stated
        elif stated:
            log.notes.append(f"the file is cut off: {rows} of {stated} rows are there")
        file.seek(variables_at)
        described = [VARIABLE.unpack(file.read(VARIABLE.size)) for _ in range(count)]
        file.seek(text_at)
        log.about = _read_about(file.read(text_size).decode("latin-1"))
        file.seek(rows_at)
        _read_channels(file, log, described, (rows, width, rate))
    return log


def _read_channels(
    file: BufferedReader, log: LapLog, described: list[tuple[Any, ...]], shape: tuple[int, int, int]
) -> None:
    """Read the variables that mean something here; the file stands at the first row."""
    rows, width, rate = shape
    names = load_channel_names()
    titles = [_decode_text(each[4]) for each in described]
    dialect = names.choose_dialect(titles)
    wanted: dict[str, tuple[str, str, str, int]] = {}  # column: name, unit, form, place in the row
    for title, (kind, place, count, *_, unit_bytes) in zip(titles, described, strict=True):
        rule, form, unit = names.find_rule(title, dialect), _FORMS.get(kind), _decode_text(unit_bytes)
        fits = form is not None and count == 1 and 0 <= place <= width - np.dtype(form).itemsize
        if rule is None or not fits or rule.column in wanted:
            log.unused.append(f"{title} [{unit}]".replace(" []", ""))
        else:
            wanted[rule.column] = (title, rule.unit or unit, str(form), place)
    row = np.dtype({
        "names": list(wanted), "formats": [each[2] for each in wanted.values()],
        "offsets": [each[3] for each in wanted.values()], "itemsize": width,
    })  # fmt: skip
    columns = {column: np.empty(rows) for column in wanted}
    step = max(1, BLOCK_BYTES // width)
    for start in range(0, rows, step):
        block = np.frombuffer(file.read(min(step, rows - start) * width), row)
        with np.errstate(invalid="ignore"):  # any bits may stand there, those of signalling NaN too
            for column, values in columns.items():
                values[start : start + len(block)] = block[column]
    time = columns.pop("time", np.arange(rows) / rate)
    log.channels = [LogChannel(*wanted[column][:2], column, time, values) for column, values in columns.items()]


def _decode_text(data: bytes) -> str:
    return data.split(b"\0")[0].decode("latin-1").strip()


def _read_about(text: str) -> dict[str, str]:
    """Return what the session's text says: its YAML is not always YAML, for names in it are not quoted."""
    found = {key: match[1] for key, form in _TEXTS.items() if (match := re.search(form, text)) is not None}
    number = re.search(r"DriverCarIdx: *(\d+)", text)
    mine = re.search(rf"- CarIdx: *{number[1]}\b([\s\S]*?)(?=\n *- CarIdx:|\Z)", text) if number is not None else None
    for key, form in (("driver", r"UserName: *(.+)"), ("car", r"CarScreenName: *(.+)")):
        if mine is not None and (match := re.search(form, mine[1])) is not None:
            found[key] = match[1]
    return {key: value.strip()[:80] for key, value in found.items() if value.strip()}
