"""Lap logs as tables of text: one row a sample, a header with names, perhaps rows of units and sources below it.

Above the header may be lines of "key,value"; cells are separated by commas, or by semicolons or tabs, and then numbers
may have decimal commas. Times are numbers, dates of ISO 8601, or m:ss or h:mm:ss with or without a date; places may be
degrees, minutes and seconds. Empty cells are values that are not known.
"""

import csv
import io
import math
import re
from array import array
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from trailbrake.arrays import Array
from trailbrake.errors import DataError
from trailbrake.record.lap_logs.channel_names import ChannelNames, LogDialect, load_channel_names, split_unit
from trailbrake.record.lap_logs.lap_log import LapLog, LogChannel, parse_moment
from trailbrake.user_files import read_user_file

MAX_BYTES = 1 << 30
HEADER_LINES = 100  # within which the header stands
MAX_COLUMNS = 2000
TICKING_SHARE = 0.9  # of the steps of a lap clock that go on: other columns of that name hold the time of a whole lap
MAX_MIDNIGHT_GAP = 60.0  # s between two samples about midnight
LARGEST = 1e20  # of all values that count as known: ns since 1970 are less
USUAL_PACE = 20.0  # m/s
MAX_BAD_SHARE = 0.01  # of the cells of a channel that may be no numbers
_ABOUT = {"track": ("track", "trackname", "venue", "circuit"), "driver": ("driver", "drivername"),
          "car": ("car", "vehicle", "vehicleid"), "started": ("created", "date", "logdate")}  # fmt: skip
_DAY = 86_400.0  # s
_NEEDED = ("time", "latitude", "longitude", "x", "y", "speed")  # other columns that are no numbers are not used
_CLOCK = re.compile(r"(?:[\d./-]+\s+)?((?:\d+:)+\d+(?:\.\d*)?)\s*(?:[ap]m)?", re.IGNORECASE)
_DEGREES = re.compile(
    r"([NSEW]?)\s*(\d+(?:\.\d*)?)°?\s*(?:(\d+(?:\.\d*)?)['′]?\s*)?(?:(\d+(?:\.\d*)?)[\"″]?\s*)?([NSEW]?)"
)
_LAP_LINE = re.compile(r"lap (\d+)", re.IGNORECASE)
_WORDS = {"": math.nan, "true": 1.0, "false": 0.0, "n": 0.0, "r": -1.0, "nan": math.nan, "-": math.nan, "yes": 1.0,
          "no": 0.0, "on": 1.0, "off": 0.0}  # fmt: skip


class _Head(NamedTuple):
    """The header of a table and what stands above it."""

    line: int
    names: list[str]
    units: list[str]
    rows: int  # lines from the first one to the first sample
    above: list[list[str]]
    separator: str

    def parse_cell(self, text: str) -> float:
        """Return the number, the word or the time (s) in a cell; NaN for others."""
        return _parse_cell(text if self.separator == "," else text.replace(",", "."))


def read_csv_log(path: Path) -> LapLog:
    """Return the channels of a table.

    Raises:
        UsageError: it cannot be read.
        DataError: it has no header with channels of a drive, or a line that is damaged; the message names the line.
    """
    data = read_user_file(path, "lap log", MAX_BYTES)
    try:
        text = data.decode("utf-16" if data[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig")
    except UnicodeDecodeError:
        text = data.decode("latin-1")  # the degree sign of tools on Windows
    if "\0" in text:
        raise DataError("not a text file", where=str(path), got="zero bytes")
    names = load_channel_names()
    start = "\n".join(text[:200_000].splitlines()[:HEADER_LINES])
    head = _find_head(start, names, str(path))
    dialect = names.choose_dialect(head.names)
    wanted, unused = _choose_columns(head, names, dialect)
    if "latitude" not in wanted.values() and "speed" not in wanted.values() and "x" not in wanted.values():
        raise _no_header_error(str(path), head.names)
    values, cut = _read_columns(io.StringIO(text, newline=""), head, wanted, str(path))
    unused += [f"{head.names[at]} (no column of numbers)" for at in wanted if at not in values]
    log = LapLog(f"CSV table{f' of {dialect.title}' if dialect else ''}", [], _read_about(head.above), unused)
    log.lap_times, log.beacons = _read_lap_lines(head), _read_beacons(head)
    log.row_rate = dialect.row_rate if dialect else math.nan
    log.notes += ["the last line is cut off and left out"] if cut else []
    for at, column_values in values.items():
        rule = names.find_rule(head.names[at], dialect)
        unit = head.units[at] or names.find_unit(head.names[at]) or (rule.unit if rule else "")
        known = np.where(np.abs(column_values) < LARGEST, column_values, math.nan)
        log.channels.append(LogChannel(head.names[at], unit, wanted[at], np.empty(0), known))
    _set_times(log, names)
    return log


def _set_times(log: LapLog, names: ChannelNames) -> None:
    """Give the channels their time, s: of the column of time, else of the time of day, else of the lap clock.

    A clock that has passed midnight, or noon on a dial of 12 h, goes on; so does one that each lap begins anew.
    """
    found = {channel.column: channel for channel in log.channels}
    source = next((found[name] for name in ("time", "time_of_day", "lap_time") if name in found), None)
    if source is None:
        return
    known = np.flatnonzero(np.isfinite(source.values))
    steps = np.diff(source.values[known])
    ticks = int((steps > 0.0).sum())
    if not ticks or (source.column == "lap_time" and ticks < TICKING_SHARE * len(source.values)):
        return  # `place_columns` says so
    factor = names.find_factor("time", source.unit) if source.unit else None
    if factor is None:
        factor, unit = _guess_time_unit(found, known, steps)
        if unit != "s" or source.unit:
            kind = f"has the unit {source.unit}, which is not known" if source.unit else "has no unit"
            log.notes.append(f"{source.name} {kind}: by the positions it is in {unit}")
    steps *= factor
    stated = steps.copy()
    for day in (0.5 * _DAY, _DAY):
        steps[(steps < 0.0) & (steps + day > 0.0) & (steps + day <= MAX_MIDNIGHT_GAP)] += day
    fallen = np.flatnonzero(steps < 0.0)
    lap = found["lap"].values[known] if "lap" in found else np.zeros(len(known))
    if len(fallen) and (
        source.column == "lap_time"
        or (lap[np.minimum(fallen + 2, len(lap) - 1)] > lap[np.maximum(fallen - 1, 0)]).all()
    ):
        usual = float(np.median(steps[steps > 0.0]))
        steps[fallen] = usual
        log.notes.append(f"{source.name} begins anew with each lap, taken as {usual:.3g} s behind the sample before")
        if "lap_time" not in found:
            log.channels.append(source._replace(column="lap_time"))
    time = source.values * factor
    time[known[1:]] += np.cumsum(steps - stated)
    log.unused += [found["time_of_day"].name] if source.column == "time" and "time_of_day" in found else []
    log.channels = [c._replace(time=time) for c in log.channels if c.column not in ("time", "time_of_day")]


def _guess_time_unit(found: dict[str, LogChannel], known: NDArray[np.int64], steps: Array) -> tuple[float, str]:
    """Return the unit of the time with which the car is nearest to USUAL_PACE along its places; s without places."""
    axes, scale = (("longitude", "latitude"), 1e5) if "latitude" in found else (("x", "y"), 1.0)
    if "y" not in found and "z" in found:
        axes = ("x", "z")
    if not {*axes} <= {*found}:
        return 1.0, "s"
    moved = scale * np.hypot(*(np.diff(found[name].values[known]) for name in axes))
    moved = moved[moved > 0.0]
    pace = float(np.median(moved)) * len(moved) / float(steps[steps > 0.0].sum()) if len(moved) else USUAL_PACE
    units = {"s": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9}
    unit = min(units, key=lambda unit: abs(math.log(pace / units[unit] / USUAL_PACE)))
    return units[unit], unit


def _find_head(start: str, names: ChannelNames, where: str) -> _Head:
    """Return the first line with a place or speed and another channel among its cells.

    Decimal commas may be more than what separates cells: a separator is one with which there is a header.
    """
    separators = sorted(",;\t", key=start.count, reverse=True)
    for separator in separators:
        try:
            rows = list(csv.reader(io.StringIO(start, newline=""), delimiter=separator, skipinitialspace=True))
        except csv.Error:
            continue  # a cell is too long with this one
        lines = [[cell.strip() for cell in row] for row in rows]
        for number, cells in enumerate(lines):
            rules = [names.find_rule(cell) for cell in cells if cell]
            columns = {rule.column for rule in rules if rule is not None}
            if len(columns) >= 2 and columns & {"latitude", "speed", "x"} and len(cells) <= MAX_COLUMNS:
                return _read_head(lines, number, separator)
    raise _no_header_error(where, re.split(separators[0], next(iter(start.splitlines()), "")))


def _read_head(lines: list[list[str]], number: int, separator: str) -> _Head:
    """Return the header in the line `number`, with the row of units below it."""
    head = _Head(number + 1, lines[number], [""] * len(lines[number]), number + 1, lines[:number], separator)
    units, below = head.units, head.rows
    while below < len(lines) and not any(head.parse_cell(cell) == head.parse_cell(cell) for cell in lines[below]):
        if any(lines[below]) and len(lines[below]) == len(head.names) and not any(units):
            units = lines[below]
        below += 1
    return head._replace(units=units, rows=below)


def _no_header_error(where: str, names: list[str]) -> DataError:
    return DataError("no table of a drive", where=where, got=", ".join(names)[:120] or "an empty file",
                     expected="a header with a position or a speed, and a time or a distance",
                     hint="docs/laps_in.md has the names that are known, and how to add others")  # fmt: skip


def _choose_columns(head: _Head, names: ChannelNames, dialect: LogDialect | None) -> tuple[dict[int, str], list[str]]:
    """Return the columns to read, {place: what it is}, the first of each kind, and the names of the others."""
    wanted: dict[int, str] = {}
    unused = []
    for at, name in enumerate(head.names):
        rule = names.find_rule(name, dialect) if name else None
        if rule is not None and rule.column not in wanted.values():
            wanted[at] = rule.column
        elif name:
            unused.append(f"{split_unit(name)[0]} [{head.units[at] or names.find_unit(name)}]".replace(" []", ""))
    return wanted, unused


def _read_columns(file: io.StringIO, head: _Head, wanted: dict[int, str], where: str) -> tuple[dict[int, Array], bool]:
    """Return the values of the wanted columns that are numbers, and whether the last line is cut off."""
    places = list(wanted)
    reader = csv.reader(file, delimiter=head.separator, skipinitialspace=True)
    found = {at: array("d") for at in places}
    bad = dict.fromkeys(places, 0)
    short = 0  # the line that has too few cells: right only as the last one
    try:
        for cells in _skip_lines(reader, head.rows):
            if not any(cells):
                continue
            if short:
                raise DataError("a row is damaged", where=f"{where}:{short}", expected=f"{len(head.names)} cells")
            if len(cells) < len(head.names) and any(cells[len(head.names) :] or [True]) and len(cells) <= max(places):
                short = reader.line_num
                continue
            for at in places:
                text = cells[at].strip()
                value = head.parse_cell(text)
                found[at].append(value)
                bad[at] += value != value and text.lower() not in _WORDS
    except csv.Error as error:
        raise DataError(f"a row is damaged: {error}", where=f"{where}:{reader.line_num}") from None
    rows = len(found[places[0]])
    for at, count in bad.items():
        if count > MAX_BAD_SHARE * rows:
            if wanted[at] in _NEEDED:
                raise DataError(f"{head.names[at]} is no column of numbers", where=where,
                                expected="numbers, times as 1:23.4, 13:02:01.05 or 2026-05-09T13:02:01Z, or degrees",
                                got=f"{count} of {rows} cells are none")  # fmt: skip
            del found[at]
    return {at: np.frombuffer(values, np.float64).copy() for at, values in found.items()}, bool(short)


def _skip_lines(reader: Iterator[list[str]], rows: int) -> Iterator[list[str]]:
    for _ in range(rows):
        next(reader, None)
    return reader


def _parse_cell(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return _parse_words(text)


def _parse_words(text: str) -> float:
    word = _WORDS.get(text.lower())
    if word is not None:
        return word
    if len(text) > 40:
        return math.nan
    if (moment := parse_moment(text)) == moment:
        return moment
    if (clock := _CLOCK.fullmatch(text)) is not None:  # of a date and a time of day the latter: days are counted later
        return float(sum(float(part) * 60.0**k for k, part in enumerate(reversed(clock[1].split(":")))))
    if (place := _DEGREES.fullmatch(text)) is None or not {*"°NSEW"} & {*text}:
        return math.nan
    degrees = float(sum(float(part or 0.0) / 60.0**k for k, part in enumerate(place.groups()[1:4])))
    return -degrees if {*"SW"} & {*text} else degrees


def _read_about(above: list[list[str]]) -> dict[str, str]:
    found: dict[str, str] = {}
    for cells in above:
        key = "".join(c for c in cells[0].lower() if c.isalpha()) if len(cells) > 1 else ""
        for name, keys in _ABOUT.items():
            if key in keys and cells[1]:
                found.setdefault(name, " ".join(cells[1:3] if name == "started" else cells[1:2])[:80])
    return found


def _read_lap_lines(head: _Head) -> dict[int, float]:
    """Return the lap times of lines "Lap 3,33.821,..."."""
    found = {}
    for cells in head.above:
        match = _LAP_LINE.fullmatch(cells[0]) if len(cells) > 1 else None
        if match and head.parse_cell(cells[1]) > 0.0:
            found[int(match[1])] = head.parse_cell(cells[1])
    return found


def _read_beacons(head: _Head) -> list[float]:
    """Return the times of the line "Beacon Markers" of MoTeC's export, s."""
    texts = next((" ".join(cells[1:]) for cells in head.above if cells and cells[0].lower() == "beacon markers"), "")
    return sorted(value for value in map(head.parse_cell, texts.split()) if value > 0.0)
