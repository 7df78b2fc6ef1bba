"""Reads `driving_log.csv` with its `IMG/`, as camera simulators record who drives by hand.

Two layouts, told apart by their second column (protocol page formula-trend, sections 8 and 9):

* Formula Trend: picture, steer in degrees (+ right), throttle, brake, speed in m/s, time in s, lap.
* Udacity: centre, left and right picture, steer -1..1 (+ right), throttle, brake, speed in mph; a header line or none.

Such folders come from other machines, halves of them are missing, and some were written where 0.5 is 0,5. A row that
cannot be used is counted under its reason; nothing is raised but for a folder with nothing in it.
"""

import csv
import math
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from itertools import combinations, pairwise
from pathlib import Path

from trailbrake.errors import DataError, UsageError
from trailbrake.units import MPH

LOG, PICTURES = "driving_log.csv", "IMG"
TREND_LOCK = 40.0  # degrees; the recorder's limit
TREND_COLUMNS, UDACITY_COLUMNS = 6, 4  # numbers in a row, behind the pictures
_SLACK = 1.02  # of limits: they are recorded as floats
_FASTEST = 100.0  # m/s
_PICTURE = re.compile(r"\.(jpe?g|png)$", re.IGNORECASE)
_STAMP = re.compile(r"(\d{4})_(\d{2})_(\d{2})_(\d{2})_(\d{2})_(\d{2})_(\d{3})")
_LONGEST_LINE = 4096
_WHOLE = re.compile(r"[-+]?(0|[1-9]\d*)")
_FRACTION = re.compile(r"\d+([eE][-+]?\d+)?")


@dataclass(frozen=True, slots=True)
class Row:
    """A row.

    Attributes:
        picture: its file, which is there and not empty; nobody has looked into it.
        steer: share of the lock, positive left.
        throttle: 0..1, below 0 for a car that backs.
        brake: 0..1.
        speed: m/s.
        time: s, of any clock that goes on within a run; NaN where nothing tells.
        lap: from 1; 0 where the layout has none.
    """

    picture: Path
    steer: float
    throttle: float
    brake: float
    speed: float
    time: float
    lap: int


@dataclass
class Skipped:
    """Rows that were not used: how many for each reason, and the line of the first."""

    counts: Counter[str] = field(default_factory=Counter)
    first: dict[str, int] = field(default_factory=dict)

    def note(self, reason: str, line: int) -> None:
        """Count a row."""
        self.counts[reason] += 1
        self.first.setdefault(reason, line)

    def __str__(self) -> str:
        """Return all of it in a line."""
        parts = [f"{count} {reason} (first in line {self.first[reason]})" for reason, count in self.counts.items()]
        return ", ".join(parts)


class _UnusableError(Exception):
    """A row that cannot be used; its text is the reason."""


def rows(folder: Path, skipped: Skipped) -> Iterator[Row]:
    """Yield the rows of a folder, one line in memory at a time; count the others in `skipped`.

    Raises:
        UsageError: there is no such log, or it cannot be read.
    """
    log = folder / LOG
    try:
        with log.open(encoding="utf-8-sig", errors="replace", newline="") as file:
            number = 0
            while line := file.readline(_LONGEST_LINE):
                number += 1
                if len(line) == _LONGEST_LINE and not line.endswith("\n"):
                    while line and not line.endswith("\n"):
                        line = file.readline(_LONGEST_LINE)
                    skipped.note("too long", number)
                    continue
                if not line.strip() or (number == 1 and line.lower().startswith("center,")):
                    continue
                try:
                    yield _row(line, folder)
                except _UnusableError as reason:
                    skipped.note(str(reason), number)
    except OSError as error:
        raise UsageError("cannot read the driving log", where=str(log), got=error.strerror or str(error)) from error


def usable_rows(folder: Path, skipped: Skipped) -> Iterator[Row]:
    """Yield as `rows` does; DataError where there was not one."""
    count = 0
    for row in rows(folder, skipped):
        count += 1
        yield row
    if not count:
        raise DataError("no row can be used", where=str(folder / LOG), expected="rows of Formula Trend or Udacity",
                        got=str(skipped) or "an empty log")  # fmt: skip


def _row(line: str, folder: Path) -> Row:
    cells = _cells(line)
    pictures, rest = _pictures(cells)
    udacity = len(pictures) > 1
    numbers = _numbers(rest, UDACITY_COLUMNS if udacity else TREND_COLUMNS)
    picture = _found(pictures[0], folder)
    if udacity:
        steer, throttle, brake, speed = numbers
        return Row(picture, -steer, throttle, brake, speed * MPH, _stamp(picture.name), 0)
    steer, throttle, brake, speed, time, lap = numbers
    return Row(picture, -steer / TREND_LOCK, throttle, brake, speed, time, int(lap))


def _cells(line: str) -> list[str]:
    text = line.rstrip("\r\n")
    try:
        found = next(csv.reader([text], delimiter=";" if ";" in text else ",", skipinitialspace=True), [])
    except csv.Error:
        raise _UnusableError("not a row of a table") from None
    return [cell.strip() for cell in found]


def _pictures(cells: list[str]) -> tuple[list[str], list[str]]:
    """Return the pictures' names as written, and the cells behind them."""
    # A folder's name may hold a comma.
    end = next((i for i, cell in enumerate(cells) if _PICTURE.search(cell)), None)
    if end is None:
        raise _UnusableError("without a picture's name")
    first, rest = ",".join(cells[: end + 1]), cells[end + 1 :]
    others: list[str] = []
    while rest and (not rest[0] or _PICTURE.search(rest[0])):  # side cameras, blank where there are none
        others.append(rest.pop(0))
    if len(others) not in (0, 2):
        raise _UnusableError("with other columns")
    return [first, *others], rest


def _numbers(cells: list[str], count: int) -> list[float]:
    if len(cells) < count:
        raise _UnusableError("cut short")
    if len(cells) == count:
        numbers = _read(cells)
        if not _possible(numbers):
            raise _UnusableError("out of range")
        return numbers
    if len(cells) > 2 * count:
        raise _UnusableError("with other columns")
    # 0,5 where it should be 0.5: which commas are decimal ones is told by what the numbers can be.
    readings = {tuple(reading) for reading in _mended(cells, count) if _possible(reading)}
    if len(readings) != 1:
        raise _UnusableError("with decimal commas that can be read in several ways" if readings else "out of range")
    return list(readings.pop())


def _read(cells: list[str]) -> list[float]:
    try:
        return [float(cell.replace(",", ".")) for cell in cells]
    except ValueError:
        raise _UnusableError("with something that is no number") from None


def _mended(cells: list[str], count: int) -> Iterator[list[float]]:
    excess = len(cells) - count
    for starts in combinations(range(len(cells) - 1), excess):
        if any(b - a < 2 for a, b in pairwise(starts)):
            continue
        texts, i = [], 0
        while i < len(cells):
            pair = i in starts
            if not _WHOLE.fullmatch(cells[i]) or (pair and not _FRACTION.fullmatch(cells[i + 1])):
                break
            texts.append(f"{cells[i]}.{cells[i + 1]}" if pair else cells[i])
            i += 1 + pair
        else:
            yield [float(text) for text in texts]


def _possible(numbers: list[float]) -> bool:
    steer, throttle, brake, speed = numbers[:4]
    trend = len(numbers) == TREND_COLUMNS
    return (
        all(map(math.isfinite, numbers))
        and abs(steer) <= _SLACK * (TREND_LOCK if trend else 1.0)
        and abs(throttle) <= _SLACK
        and -0.01 <= brake <= _SLACK
        and abs(speed) <= (_FASTEST if trend else _FASTEST / MPH)
        and (not trend or (numbers[4] >= 0.0 and numbers[5] >= 1.0 and numbers[5] == int(numbers[5])))
    )


def _found(written: str, folder: Path) -> Path:
    """Return the picture's file by its name: the folder that is written before it is another machine's."""
    name = re.split(r"[/\\]", written)[-1]
    for path in (folder / PICTURES / name, folder / name):
        try:
            size = path.stat().st_size
        except (OSError, ValueError):  # not there; a name that no file can have
            continue
        if size == 0:
            raise _UnusableError("with an empty picture")
        return path
    raise _UnusableError("whose picture is missing")


def _stamp(name: str) -> float:
    """Return the time that is written in a picture's name, s since 1970; NaN where there is none."""
    match = _STAMP.search(name)
    if match is None:
        return math.nan
    year, month, day, hour, minute, second, thousandths = map(int, match.groups())
    try:
        moment = datetime(year, month, day, hour, minute, second)
    except ValueError:
        return math.nan
    return (moment - datetime(1970, 1, 1)).total_seconds() + thousandths / 1000.0
