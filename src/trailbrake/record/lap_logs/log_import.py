"""`read_lap_log`: a lap log of others as a recording of ours, which is converted once and kept in the cache folder.

`Recording.about["log"]` says what was found: the kind, the fields with units, rates and use, what is not used, notes.
"""

import hashlib
import itertools
import math
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from trailbrake.arrays import Array
from trailbrake.config import logs_folder
from trailbrake.errors import DataError, OsErrors, UsageError
from trailbrake.json_types import JsonObject
from trailbrake.laps import LapRecord
from trailbrake.record.csv_files import is_drive_table, read_csv_columns
from trailbrake.record.lap_logs.channel_names import SI_UNITS, user_channels_file
from trailbrake.record.lap_logs.csv_log import read_csv_log
from trailbrake.record.lap_logs.gps_log import read_geo_log, read_nmea_log
from trailbrake.record.lap_logs.iracing_log import read_iracing_log
from trailbrake.record.lap_logs.lap_log import LapLog, LogChannel, format_date
from trailbrake.record.lap_logs.log_columns import place_columns
from trailbrake.record.lap_logs.log_laps import find_laps
from trailbrake.record.lap_logs.motec_log import read_motec_log
from trailbrake.record.parted_file import ONE_FILE
from trailbrake.record.recorder import CHUNK_ROWS, Recorder
from trailbrake.record.recording_reader import Recording
from trailbrake.state.tables import CONTROL_COLUMNS, STATE_COLUMNS
from trailbrake.user_files import is_regular_file
from trailbrake.version import __version__

KEPT = 40  # converted logs in the cache folder
_APPLIED = ("steer", "throttle", "brake", "clutch", "handbrake", "gear")
READERS: dict[str, Callable[[Path], LapLog]] = {
    ".csv": read_csv_log,
    ".txt": read_csv_log,
    ".ld": read_motec_log,
    ".ibt": read_iracing_log,
    ".nmea": read_nmea_log,
    ".gpx": read_geo_log,
    ".kml": read_geo_log,
}
OWN_TABLE = "CSV table of ours"  # whose columns have one meaning
MAX_TURN_ERROR = 1.5  # rad that a lap may turn more or less than once round
MAX_GAP_SHARE = 0.05  # of the length of a lap, between its end and its begin
MIN_SPEED = 3.0  # m/s above which a lateral acceleration says how the car turns


def is_lap_log(path: Path) -> bool:
    """Return whether a file has the suffix of a lap log that can be read."""
    return path.suffix.lower() in READERS


def read_lap_log(path: Path) -> Recording:
    """Return a lap log as a recording, whose `path` is that of the log.

    Raises:
        UsageError: it cannot be read, or the cache folder cannot be written.
        DataError: it is none, or is of no use; the message says why.
    """
    if not is_regular_file(path):
        raise UsageError("cannot read the lap log", where=str(path), got="no such file")
    if not is_lap_log(path):
        raise DataError(
            "unknown kind of lap log", where=str(path), expected=", ".join(READERS), got=path.suffix or "no suffix"
        )
    kept = logs_folder() / f"{digest_file(path)}.mcap"
    if not kept.is_file():
        _convert_log(path, kept)
    opened = Recording.open(kept)
    opened.path = path
    return opened


def describe_log(recording: Recording) -> list[str]:
    """Return what was read of a lap log, a line each: kind, fields with units and rates, what is not used, notes."""
    log, where = recording.about["log"], recording.path
    fields = (
        f"{len(log['fields'])} columns"
        if log["kind"] == OWN_TABLE
        else ", ".join(
            field["name"]
            + f" [{field['unit']}]" * bool(field["unit"] and f"[{field['unit']}]" not in field["name"])
            + f" as {field['used_for']}"
            + ("" if field["rate_hz"] in (None, log["rate_hz"]) else f" at {field['rate_hz']:g} Hz")
            for field in log["fields"]
        )
    )
    lines = [f"{where}: {log['kind']}, {log['rate_hz']:g} Hz, {log['seconds']:.1f} s", f"read: {fields}"]
    lines += [f"not used: {', '.join(log['unused'])}"] if log["unused"] else []
    return [*lines, *(f"left out: {text}" for text in log["left_out"]), *log["notes"]]


def digest_file(path: Path, *settings: object) -> str:
    """Return a name for the conversion of a file: other for another file, table of channels, setting, or version."""
    parts = [__version__, str(path.resolve()), *map(str, settings)]
    for file in (path, path.with_suffix(".ldx"), user_channels_file()):
        found = file.stat() if file.is_file() else None
        parts.append(f"{found.st_size} {found.st_mtime_ns}" if found else "")
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:32]


class InterpretedLog(NamedTuple):
    """A log in our terms.

    Attributes:
        columns: (n,) each, by the names of the state; what logs alone have is among them.
        controls: (n,) each, by the names of the controls.
        laps: the finished ones.
        about: of the recording.
    """

    columns: dict[str, Array]
    controls: dict[str, Array]
    laps: list[LapRecord]
    about: JsonObject


def interpret_log(path: Path) -> InterpretedLog:
    """Return what a file holds; UsageError or DataError as `read_lap_log`."""
    columns, controls, log, notes, left_out = _read_columns(path)
    found = find_laps(columns, log.beacons, log.lap_times)
    path_note = "" if "x" in columns else reckon_path(columns, found.laps)
    notes = [*log.notes, *notes, *found.notes, *([path_note] if path_note else [])]
    about = {"sim": log.kind, "live": False, "source": path.name, "trailbrake": __version__, **log.about,
             "log": _summarise(log, columns, notes, left_out)}  # fmt: skip
    if "started" in log.about:
        about["started"] = format_date(log.about["started"])
    return InterpretedLog(columns, controls, found.laps, about)


def _convert_log(path: Path, kept: Path) -> None:
    columns, controls, laps, about = interpret_log(path)
    with OsErrors("cannot write the cache", where=str(kept.parent)):
        kept.parent.mkdir(parents=True, exist_ok=True)
        for old in sorted(kept.parent.glob("*.mcap"), key=lambda file: file.stat().st_mtime)[: -KEPT or None]:
            old.unlink(missing_ok=True)
    recorder = Recorder(kept.with_name(f"{kept.stem}.{os.getpid()}.part"), limits=ONE_FILE)
    recorder.start(about)
    rows = len(columns["time"])
    ends = {int(np.searchsorted(columns["time"], lap.end)) + 1: lap for lap in laps}
    stops = sorted({*range(CHUNK_ROWS, rows, CHUNK_ROWS), *(min(end, rows) for end in ends), rows})
    for start, stop in itertools.pairwise([0, *stops]):
        recorder.store_rows(*_make_rows(columns, controls, slice(start, stop)))
        for end in sorted(ends):
            if end == stop or end > stop == rows:  # right behind the row at which it ended
                recorder.store_lap(ends[end])
    recorder.close()
    if recorder.error:
        raise UsageError("cannot write the cache", where=str(kept.parent), got=recorder.error)
    os.replace(recorder.path, kept)


def _read_columns(path: Path) -> tuple[dict[str, Array], dict[str, Array], LapLog, list[str], list[str]]:
    """Return the columns of a log: of the state, and of the controls; the log, notes, and what was left out."""
    if not is_drive_table(path):
        log = READERS[path.suffix.lower()](path)
        columns, notes, left_out = place_columns(log, str(path))
        return columns, {name: columns[name] for name in _APPLIED if name in columns}, log, notes, left_out
    state, controls = read_csv_columns(path)
    time = np.where(state["time"] >= 0.0, state["time"], -math.inf)
    later = np.diff(np.maximum.accumulate(time), prepend=-1.0) > 0.0
    if later.sum() < 2:
        raise DataError("no time that goes on", where=str(path), got=f"{int(later.sum())} rows with one")
    state, controls = ({name: values[later] for name, values in table.items() if np.isfinite(values).any()}
                       for table in (state, controls))  # fmt: skip
    state |= {"lap_share": state["lap_progress"]} if "lap_progress" in state else {}
    channels = [LogChannel(c.csv_name, c.quantity.unit, c.name, state["time"], state[c.name]) for c in STATE_COLUMNS
                if c.name in state]  # fmt: skip
    return state, controls, LapLog(OWN_TABLE, channels), [], []


def _summarise(log: LapLog, columns: dict[str, Array], notes: list[str], left_out: list[str]) -> JsonObject:
    fields = [
        {"name": channel.name, "unit": channel.unit, "used_for": channel.column,
         "rate_hz": None if math.isnan(channel.rate) else round(channel.rate, 3)}
        for channel in log.channels if not any(text.startswith(f"{channel.name}: ") for text in left_out)
    ]  # fmt: skip
    time = columns["time"]
    seconds = float(time[-1] - time[0])
    derived = sorted(set(columns) & set(SI_UNITS) - {channel.column for channel in log.channels} - {"time"})
    return {"kind": log.kind, "rate_hz": round((len(time) - 1) / seconds, 3), "seconds": round(seconds, 3),
            "fields": fields, "derived": derived, "unused": log.unused, "left_out": left_out,
            "notes": notes}  # fmt: skip


def _make_rows(columns: dict[str, Array], commands: dict[str, Array], rows: slice) -> tuple[Array, Array]:
    """Return the rows of the state and of the controls."""
    count = rows.stop - rows.start
    state, controls = (np.full((count, len(table)), math.nan) for table in (STATE_COLUMNS, CONTROL_COLUMNS))
    for at, column in enumerate(STATE_COLUMNS):
        if column.name in columns:
            state[:, at] = columns[column.name][rows]
        elif column.name in ("sequence", "phase"):
            state[:, at] = np.arange(rows.start, rows.stop) if column.name == "sequence" else 0.0
    for at, column in enumerate(CONTROL_COLUMNS):
        if column.name in commands:
            controls[:, at] = commands[column.name][rows]
    return state, controls


def reckon_path(columns: dict[str, Array], laps: Sequence[LapRecord]) -> str:
    """Add x and y to the columns, NaN outside of laps that close; return what to say of it.

    From the speed, and the yaw rate or the lateral acceleration. Headings are corrected by a constant rate so that a
    lap turns once round, places by a share of the gap at its end that grows with the distance. All laps begin alike.
    """
    if "speed" not in columns:
        return ""
    time, speed = columns["time"], np.nan_to_num(columns["speed"])
    if "yaw_rate" in columns:
        rate, source = np.nan_to_num(columns["yaw_rate"]), "yaw rate"
    elif "acceleration_y" in columns:
        rate = np.where(speed > MIN_SPEED, np.nan_to_num(columns["acceleration_y"]) / np.maximum(speed, MIN_SPEED), 0.0)
        source = "lateral acceleration"
    else:
        return ""
    place = np.full(len(time), complex(math.nan, math.nan))
    gaps = []
    for lap in laps:
        inside = np.flatnonzero((time >= lap.end - lap.time_s) & (time <= lap.end))
        if len(inside) < 50:
            continue
        found = _close_lap(time[inside], speed[inside], rate[inside])
        if found is not None:
            place[inside] = found[0]
            gaps.append(found[1])
    if not gaps:
        return f"no positions in the log, and those by speed and {source} do not close: there is no map"
    columns["x"], columns["y"] = place.real.copy(), place.imag.copy()
    return (f"no positions in the log: x and y follow from speed and {source}, closed lap by lap over gaps of up to"
            f" {max(gaps):.0f} m; good for a map, not for lines")  # fmt: skip


def _close_lap(time: Array, speed: Array, rate: Array) -> tuple[NDArray[np.complex128], float] | None:
    """Return the places (n,) of a closed lap, and the gap that was closed, m; None where it does not close."""
    step = np.diff(time)

    def integrate(values: NDArray[Any]) -> NDArray[Any]:
        return np.concatenate([[0.0], np.cumsum(0.5 * (values[1:] + values[:-1]) * step)])

    heading, driven = integrate(rate), integrate(speed)
    error = heading[-1] - math.copysign(2.0 * math.pi, heading[-1])
    if abs(error) > MAX_TURN_ERROR or not driven[-1] > 0.0:
        return None
    heading -= error * (time - time[0]) / (time[-1] - time[0])
    place = integrate(speed * (np.cos(heading) + 1j * np.sin(heading)))
    gap = complex(place[-1]) - complex(place[0])
    if abs(gap) > MAX_GAP_SHARE * driven[-1]:
        return None
    return place - gap * driven / driven[-1], float(abs(gap))
