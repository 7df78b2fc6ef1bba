"""`driving_log.csv` with its `IMG/`, as camera simulators record a person's driving: read, and written from recordings.

Two layouts, distinguished by their second column (protocol page formula-trend, sections 8 and 9):

* Formula Trend: picture, steer in degrees (+ right), throttle, brake, speed in m/s, time in s, lap.
* Udacity: centre, left and right picture, steer -1..1 (+ right), throttle, brake, speed in mph; a header line or none.

Such folders come from other machines, parts of them are missing, and some have decimal commas. A row that cannot be
used is counted under its reason; only a folder without any usable row is an error.
"""

import csv
import io
import math
import re
import stat
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import combinations, pairwise
from pathlib import Path
from typing import Any

from trailbrake.errors import DataError, OsErrors, UsageError, describe_os_error
from trailbrake.record.format import PNG
from trailbrake.record.recording_reader import Recording
from trailbrake.units import MPH
from trailbrake.user_files import open_user_file

LOG_NAME, PICTURE_FOLDER = "driving_log.csv", "IMG"
TREND_LOCK = 40.0  # degrees; the recorder's limit
TREND_COLUMNS, UDACITY_COLUMNS = 6, 4  # numbers in a row, behind the pictures
_LIMIT_TOLERANCE = 1.02  # of limits: they are recorded as floats
_MAX_SPEED = 100.0  # m/s
_PICTURE = re.compile(r"\.(jpe?g|png)$", re.IGNORECASE)
_TIMESTAMP = re.compile(r"(\d{4})_(\d{2})_(\d{2})_(\d{2})_(\d{2})_(\d{2})_(\d{3})")
_MAX_LINE = 4096
_WHOLE = re.compile(r"[-+]?(0|[1-9]\d*)")
_FRACTION = re.compile(r"\d+([eE][-+]?\d+)?")


@dataclass(frozen=True, slots=True)
class DrivingLogRow:
    """One row of the log.

    Attributes:
        picture: its file, which exists and is not empty; its contents are unchecked.
        steer: share of the lock, positive left.
        throttle: 0..1, below 0 in reverse.
        brake: 0..1.
        speed: m/s.
        time: s, of any clock that runs on within a drive; NaN where neither log nor name has it.
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
class SkippedRows:
    """Rows that were left out: how many for each reason, and the line of the first."""

    counts: Counter[str] = field(default_factory=Counter)
    first: dict[str, int] = field(default_factory=dict)

    def count_row(self, reason: str, line: int) -> None:
        """Count a row."""
        self.counts[reason] += 1
        self.first.setdefault(reason, line)

    def __str__(self) -> str:
        """Return all reasons in one line."""
        parts = [f"{count} {reason} (first in line {self.first[reason]})" for reason, count in self.counts.items()]
        return ", ".join(parts)


class _UnusableRowError(Exception):
    """A row that cannot be used; its text is the reason."""


def read_rows(folder: Path, skipped: SkippedRows) -> Iterator[DrivingLogRow]:
    """Yield the rows of a folder, one line in memory at a time; count the others in `skipped`.

    Raises:
        UsageError: there is no such log, or it cannot be read.
    """
    log = folder / LOG_NAME
    with (
        OsErrors("cannot read the driving log", where=str(log)),
        io.TextIOWrapper(open_user_file(log, "driving log"), "utf-8-sig", "replace", newline="") as file,
    ):
        number = 0
        while line := file.readline(_MAX_LINE):
            number += 1
            if len(line) == _MAX_LINE and not line.endswith("\n"):
                while line and not line.endswith("\n"):
                    line = file.readline(_MAX_LINE)
                skipped.count_row("too long", number)
                continue
            if not line.strip() or (number == 1 and line.lower().startswith("center,")):
                continue
            try:
                yield _parse_row(line, folder)
            except _UnusableRowError as reason:
                skipped.count_row(str(reason), number)


def read_usable_rows(folder: Path, skipped: SkippedRows) -> Iterator[DrivingLogRow]:
    """Yield as `rows` does; DataError where there was not one."""
    count = 0
    for row in read_rows(folder, skipped):
        count += 1
        yield row
    if not count:
        raise DataError("no row can be used", where=str(folder / LOG_NAME), expected="rows of Formula Trend or Udacity",
                        got=str(skipped) or "an empty log")  # fmt: skip


def _parse_row(line: str, folder: Path) -> DrivingLogRow:
    cells = _split_cells(line)
    pictures, rest = _split_pictures(cells)
    udacity = len(pictures) > 1
    numbers = _parse_numbers(rest, UDACITY_COLUMNS if udacity else TREND_COLUMNS)
    picture = _find_picture(pictures[0], folder)
    if udacity:
        steer, throttle, brake, speed = numbers
        return DrivingLogRow(picture, -steer, throttle, brake, speed * MPH, _picture_time(picture.name), 0)
    steer, throttle, brake, speed, time, lap = numbers
    return DrivingLogRow(picture, -steer / TREND_LOCK, throttle, brake, speed, time, int(lap))


def _split_cells(line: str) -> list[str]:
    text = line.rstrip("\r\n")
    try:
        found = next(csv.reader([text], delimiter=";" if ";" in text else ",", skipinitialspace=True), [])
    except csv.Error:
        raise _UnusableRowError("not a row of a table") from None
    return [cell.strip() for cell in found]


def _split_pictures(cells: list[str]) -> tuple[list[str], list[str]]:
    """Return the pictures' names as written, and the cells behind them."""
    # A folder's name may hold a comma.
    end = next((i for i, cell in enumerate(cells) if _PICTURE.search(cell)), None)
    if end is None:
        raise _UnusableRowError("without a picture's name")
    first, rest = ",".join(cells[: end + 1]), cells[end + 1 :]
    others: list[str] = []
    while rest and (not rest[0] or _PICTURE.search(rest[0])):  # side cameras, blank where there are none
        others.append(rest.pop(0))
    if len(others) not in (0, 2):
        raise _UnusableRowError("with other columns")
    return [first, *others], rest


def _parse_numbers(cells: list[str], count: int) -> list[float]:
    if len(cells) < count:
        raise _UnusableRowError("cut short")
    if len(cells) == count:
        numbers = _parse_decimals(cells)
        if not _is_plausible(numbers):
            raise _UnusableRowError("out of range")
        return numbers
    if len(cells) > 2 * count:
        raise _UnusableRowError("with other columns")
    # 0,5 where it should be 0.5: the plausible range of the numbers decides which commas are decimal ones.
    readings = {tuple(reading) for reading in _decimal_comma_readings(cells, count) if _is_plausible(reading)}
    if len(readings) != 1:
        raise _UnusableRowError("with decimal commas that can be read in several ways" if readings else "out of range")
    return list(readings.pop())


def _parse_decimals(cells: list[str]) -> list[float]:
    try:
        return [float(cell.replace(",", ".")) for cell in cells]
    except ValueError:
        raise _UnusableRowError("with something that is no number") from None


def _decimal_comma_readings(cells: list[str], count: int) -> Iterator[list[float]]:
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


def _is_plausible(numbers: list[float]) -> bool:
    steer, throttle, brake, speed = numbers[:4]
    trend = len(numbers) == TREND_COLUMNS
    return (
        all(map(math.isfinite, numbers))
        and abs(steer) <= _LIMIT_TOLERANCE * (TREND_LOCK if trend else 1.0)
        and abs(throttle) <= _LIMIT_TOLERANCE
        and -0.01 <= brake <= _LIMIT_TOLERANCE
        and abs(speed) <= (_MAX_SPEED if trend else _MAX_SPEED / MPH)
        and (not trend or (numbers[4] >= 0.0 and numbers[5] >= 1.0 and numbers[5] == int(numbers[5])))
    )


def _find_picture(written: str, folder: Path) -> Path:
    """Return the picture's file by its name: the log's folder is another machine's."""
    name = re.split(r"[/\\]", written)[-1]
    for path in (folder / PICTURE_FOLDER / name, folder / name):
        try:
            about = path.stat()
        except (OSError, ValueError):  # not there; a name that no file can have
            continue
        if not stat.S_ISREG(about.st_mode):
            continue
        if about.st_size == 0:
            raise _UnusableRowError("with an empty picture")
        return path
    raise _UnusableRowError("whose picture is missing")


def _picture_time(name: str) -> float:
    """Return the time in a picture's name, s since 1970; NaN where there is none."""
    match = _TIMESTAMP.search(name)
    if match is None:
        return math.nan
    year, month, day, hour, minute, second, thousandths = map(int, match.groups())
    try:
        moment = datetime(year, month, day, hour, minute, second)
    except ValueError:
        return math.nan
    return (moment - datetime(1970, 1, 1)).total_seconds() + thousandths / 1000.0


PREFIX = "center"
_UNKNOWN_START = datetime(2000, 1, 1)  # of recordings without a date


def export_driving_log(recording: Recording, folder: Path) -> dict[str, Any]:
    """Add a recording to a folder; return {"log": the file, "rows": how many, "without_picture": ticks left out}.

    Rows are appended to an existing log, and no picture in the folder is overwritten.

    Raises:
        DataError: the recording has no pictures.
        UsageError: the folder cannot be written to.
    """
    state, controls = recording.state, recording.controls
    began, count = _start_time(recording), 0
    columns = [controls["steer"], controls["throttle"], controls["brake"], controls["gear"], state["speed"],
               state["time"], state["lap"]]  # fmt: skip
    file = None
    try:
        for picture in recording.pictures():
            if file is None:  # nothing is made for a recording without pictures
                (folder / PICTURE_FOLDER).mkdir(parents=True, exist_ok=True)
                file = (folder / LOG_NAME).open("a", encoding="utf-8", newline="")
            steer, throttle, brake, gear, speed, time, lap = (float(column[picture.row]) for column in columns)
            if recording.undone[picture.row] or not math.isfinite(steer + throttle + brake + speed + time):
                continue
            path = _write_picture(folder / PICTURE_FOLDER, began + timedelta(seconds=time), picture.data)
            pedal = -throttle if gear < 0.0 else throttle  # as the wire's one pedal: below 0 is backwards
            numbers = [-steer * TREND_LOCK, pedal, brake, speed]
            file.write(",".join([str(path.resolve()), *(f"{x + 0.0:.7g}" for x in numbers), f"{time:.3f}",
                                 f"{lap if lap >= 1.0 else 1.0:.0f}"]) + "\n")  # fmt: skip
            count += 1
    except OSError as error:
        raise UsageError("cannot write the driving log", where=str(error.filename or folder),
                         got=describe_os_error(error)) from error  # fmt: skip
    finally:
        if file is not None:
            file.close()
    if file is None:
        raise DataError("no pictures in the recording", where=str(recording.path),
                        hint="record without --no-pictures, through a wire with a camera")  # fmt: skip
    return {"log": str(folder / LOG_NAME), "rows": count, "without_picture": len(recording) - count}


def _start_time(recording: Recording) -> datetime:
    try:
        return datetime.fromisoformat(str(recording.about.get("started"))).replace(tzinfo=None)
    except ValueError:
        return _UNKNOWN_START


def _write_picture(folder: Path, moment: datetime, data: bytes) -> Path:
    """Write a picture under the first free name from `moment` on: names have the time to the millisecond."""
    suffix = ".png" if data.startswith(PNG) else ".jpg"
    while True:
        stamp = f"{moment:%Y_%m_%d_%H_%M_%S}_{moment.microsecond // 1000:03d}"
        path = folder / f"{PREFIX}_{stamp}{suffix}"
        try:
            with path.open("xb") as file:
                file.write(data)
            return path
        except FileExistsError:
            moment += timedelta(milliseconds=1)
