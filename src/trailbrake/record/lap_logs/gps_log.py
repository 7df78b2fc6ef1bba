"""Lap logs of GPS receivers: NMEA 0183 sentences (RMC, GGA), and the timed lines of GPX and KML files."""

import math
from datetime import UTC, datetime
from functools import reduce
from pathlib import Path

import numpy as np

from trailbrake.errors import DataError
from trailbrake.record.lap_logs.lap_log import LapLog, LogChannel, parse_moment
from trailbrake.tracks.geo_lines import MAX_BYTES, parse_geo_lines
from trailbrake.user_files import read_user_file

_DAY = 86_400.0  # s


def read_geo_log(path: Path) -> LapLog:
    """Return the timed lines of a GPX or KML file, one behind the other.

    Raises:
        UsageError: it cannot be read.
        DataError: it is none, or has no times.
    """
    lines = parse_geo_lines(read_user_file(path, "lap log", MAX_BYTES), str(path))
    read = [(np.array(list(map(parse_moment, line.moments)) or [math.nan]), line) for line in lines]
    timed = sorted(((time, line) for time, line in read if np.isfinite(time).all()), key=lambda each: float(each[0][0]))
    if not timed:
        raise DataError("no times in the file", where=str(path), hint="it can be a road: trailbrake drive --track FILE")
    kind = path.suffix.lower().removeprefix(".").upper()
    log = LapLog(f"{kind} file", [], {"track": timed[0][1].name} if timed[0][1].name else {})
    log.about["started"] = datetime.fromtimestamp(float(timed[0][0][0]), UTC).isoformat()
    if len(timed) < len(lines):
        log.notes.append(f"{len(lines) - len(timed)} lines without times are left out")
    time = np.concatenate([each for each, _ in timed])
    for name, unit, column in (
        ("latitude", "rad", "latitude"),
        ("longitude", "rad", "longitude"),
        ("height", "m", "z"),
    ):
        log.channels.append(
            LogChannel(name, unit, column, time, np.concatenate([getattr(line, name) for _, line in timed]))
        )
    return log


def read_nmea_log(path: Path) -> LapLog:
    """Return places and speeds of the sentences of a receiver; those with a wrong checksum are counted and left out.

    Raises:
        UsageError: it cannot be read.
        DataError: there is no RMC sentence with a place in it.
    """
    text = read_user_file(path, "lap log", MAX_BYTES).decode("ascii", "replace")
    rows: list[tuple[float, float, float, float]] = []  # s, degrees, degrees, knots
    heights: dict[float, float] = {}  # m, by s of the day
    wrong = day = 0
    for line in text.splitlines():
        body, mark, checksum = line.strip().removeprefix("$").partition("*")
        if mark and f"{reduce(lambda a, b: a ^ ord(b), body, 0):02X}" != checksum.upper()[:2]:
            wrong += 1
            continue
        cells = body.split(",")
        try:
            if cells[0][2:] == "RMC" and cells[2] == "A":
                seconds = _read_clock(cells[1])
                date = datetime.strptime(cells[9], "%d%m%y").replace(tzinfo=UTC)
                day = round(date.timestamp())
                rows.append((day + seconds, *_read_place(cells[3:7]), float(cells[7] or "nan")))
            elif cells[0][2:] == "GGA" and cells[6] != "0":
                heights[_read_clock(cells[1])] = float(cells[9])
        except (ValueError, IndexError):
            wrong += 1
    if not rows:
        raise DataError("no NMEA log", where=str(path), expected="$GPRMC sentences with places",
                        got=text[:40].strip() or "an empty file")  # fmt: skip
    log = LapLog("NMEA sentences", [])
    log.about["started"] = datetime.fromtimestamp(rows[0][0], UTC).isoformat()
    if wrong:
        log.notes.append(f"{wrong} damaged sentences are left out")
    time, latitude, longitude, knots = np.array(rows).T.copy()
    log.channels = [LogChannel("latitude", "deg", "latitude", time, latitude),
                    LogChannel("longitude", "deg", "longitude", time, longitude),
                    LogChannel("speed over ground", "kn", "speed", time, knots)]  # fmt: skip
    if heights:
        height = np.array([heights.get(each, math.nan) for each in np.round(time % _DAY, 3).tolist()])
        log.channels.append(LogChannel("altitude", "m", "z", time, height))
    return log


def _read_clock(text: str) -> float:
    """Return the s of the day in hhmmss.sss."""
    return round(3600.0 * int(text[:2]) + 60.0 * int(text[2:4]) + float(text[4:]), 3)


def _read_place(cells: list[str]) -> tuple[float, float]:
    """Return latitude and longitude (degrees) in ddmm.mmmm, N or S, dddmm.mmmm, E or W."""
    latitude = int(cells[0][:2]) + float(cells[0][2:]) / 60.0
    longitude = int(cells[2][:3]) + float(cells[2][3:]) / 60.0
    return latitude * (-1.0 if cells[1] == "S" else 1.0), longitude * (-1.0 if cells[3] == "W" else 1.0)
