"""From the channels of a lap log to columns of ours: one time, SI units, places in m, signs of ISO 8855.

Units are those that the log states. Where it states none, and to test what it states, values are compared with what
follows from the places: the speed along them, its change, the turn of the path. What cannot be decided is left out,
and what was decided is a note.
"""

import math
from typing import NamedTuple

import numpy as np

from trailbrake.arrays import Array
from trailbrake.errors import DataError
from trailbrake.record.lap_logs.channel_names import SI_UNITS, load_channel_names, plain_unit
from trailbrake.record.lap_logs.lap_log import SHORTEST_STEP, LapLog, LogChannel, LogWork
from trailbrake.record.lap_logs.motion_checks import check_motion, check_speed, drop_speed_spikes
from trailbrake.tracks.geometry import choose_origin, project_places

MAX_RATE = 100.0  # rows per second, where channels have several rates
MIN_RATE = 4.0  # samples per second; below, corners are missing
LARGEST = 1e13  # of any value of a log that counts as known
MAX_HOLE_S = 2.0  # s without a sample over which nothing is interpolated
SAME_BEGIN = 1.0  # s about the first time, to which that of a second session in the file goes back
MAX_SPEED = 150.0  # m/s; faster places are jumps
STEPPED = ("gear", "lap", "lap_time", "lap_share", "last_lap_time", "surface")  # never interpolated between samples
_SHARES = ("throttle", "brake", "clutch", "steer", "lap_share")
FULL_BYTE = 127.0  # of a steer that is a signed byte


class PlacedColumns(NamedTuple):
    """Columns and what was decided.

    Attributes:
        columns: (n,) each in SI units, `time` among them; NaN where not known.
        notes: one line each.
        left_out: "name: why" of channels that were read and are not used.
    """

    columns: dict[str, Array]
    notes: list[str]
    left_out: list[str]


def place_columns(log: LapLog, where: str) -> PlacedColumns:
    """Return the columns of a log.

    Raises:
        DataError: no time can be found, there are too few samples, a stated unit is wrong, or nothing says how the car
            moves.
    """
    work = LogWork(log, where, load_channel_names())
    chosen: dict[str, LogChannel] = {}
    for channel in log.channels:
        time, values = (np.where(np.abs(each) < LARGEST, each, math.nan) for each in (channel.time, channel.values))
        if np.isfinite(values).any():
            chosen.setdefault(channel.column, channel._replace(time=time, values=values))
    _align_channels(work, chosen)
    _convert_units(work)
    if "latitude" in work.columns and "longitude" in work.columns:
        _project_degrees(work)
    elif "x" in work.columns:
        _orient_axes(work)
    if "time" not in work.columns:
        _find_time(work)
    _drop_bad_times(work)
    _check_rate(work)
    _fill_places(work)
    check_speed(work)
    drop_speed_spikes(work)
    check_motion(work)
    for column in ("latitude", "longitude"):
        work.columns.pop(column, None)
    return PlacedColumns(work.columns, work.notes, work.left_out)


def _align_channels(work: LogWork, chosen: dict[str, LogChannel]) -> None:
    """Fill the columns, all at the times of the quickest channel up to MAX_RATE."""
    if not chosen:
        raise DataError("no channels of a drive", where=work.where, expected="a position or a speed, and pedals")
    work.units = {column: channel.unit for column, channel in chosen.items()}
    work.labels = {column: channel.name for column, channel in chosen.items()}
    sizes = {len(channel.values): channel for channel in chosen.values()}
    if len(sizes) == 1 or not all(len(channel.time) for channel in chosen.values()):
        first = next(iter(chosen.values()))
        work.columns = {column: channel.values for column, channel in chosen.items()}
        if len(first.time):
            work.columns["time"] = first.time
        return
    rates = {channel.rate: channel for channel in chosen.values() if np.isfinite(channel.time).all()}
    allowed = [rate for rate in rates if rate <= MAX_RATE * 1.001] or [rate for rate in rates if rate == rate]
    if not allowed:
        raise DataError("no time that goes on", where=work.where)
    base = rates[max(allowed) if max(allowed) <= MAX_RATE * 1.001 else min(allowed)].time
    work.columns["time"] = base
    for column, channel in chosen.items():
        work.columns[column] = _sample_channel(channel, base, stepped=column in STEPPED)
    slow = sorted(
        {f"{channel.name} {channel.rate:.3g} Hz" for channel in chosen.values() if len(channel.time) < len(base)}
    )
    if slow:
        work.notes.append(f"interpolated between slower samples: {', '.join(slow)}")


def _sample_channel(channel: LogChannel, at: Array, *, stepped: bool) -> Array:
    known = np.isfinite(channel.values + channel.time)
    time, values = channel.time[known], channel.values[known]
    if stepped:
        after = np.searchsorted(time, at + 1e-9, side="right") - 1
        return np.where(after < 0, math.nan, values[np.clip(after, 0, None)])
    return np.interp(at, time, values, left=math.nan, right=math.nan)


def _convert_units(work: LogWork) -> None:
    """Bring columns with stated units to SI; those without are left for later, but for shares and whole numbers."""
    for column in list(work.columns):
        if column in _SHARES and not work.units.get(column):
            _scale_share(work, column)
        unit = work.units.get(column, "")
        if column == "time" or not unit:
            continue
        if column == "steer" and work.names.find_factor("steering_wheel_angle", unit) is not None:
            if "steering_wheel_angle" in work.columns:
                work.leave_out(column, "a second angle of the wheel")
                continue
            column = work.rename(column, "steering_wheel_angle")
        elif column == "steering_wheel_angle" and plain_unit(unit) in ("%", "1") and "steer" not in work.columns:
            column = work.rename(column, "steer")
        factor = work.names.find_factor(column, unit)
        if factor is None:
            if column in ("gear", "lap"):
                continue
            work.leave_out(column, f"the unit {unit} is not known, expected one for {SI_UNITS[column]}")
        elif column == "clutch" and work.names.find_factor("clutch", unit) == 0.01:
            _scale_share(work, column)
        else:
            work.columns[column] = work.columns[column] * factor


def _scale_share(work: LogWork, column: str) -> None:
    """Bring pedals and steer without a unit to shares, by their largest value; a steer beyond them is in degrees."""
    values = work.columns[column]
    largest = float(np.nanmax(np.abs(values)))
    full = next((full for full in (1.0, 100.0, 255.0) if largest <= 1.02 * full), 0.0)
    if column == "steer" and largest > 102.0:
        if largest != FULL_BYTE or (values % 1.0 > 0.0).any():
            work.units[column] = "deg"
            work.notes.append(f"{work.labels[column]} has no unit and values up to {largest:.4g}: taken as degrees")
            return
        full = FULL_BYTE
    if not full:
        work.leave_out(column, f"no share of a pedal: values up to {largest:.4g}")
        return
    if full > 1.0:
        work.notes.append(
            f"{work.labels[column]} has no unit and values up to {largest:.4g}: taken as shares of {full:g}"
        )
        work.columns[column] = work.columns[column] / full


def _project_degrees(work: LogWork) -> None:
    """Make x and y of latitude and longitude."""
    factor = math.pi / 180.0
    latitude, longitude = work.columns["latitude"], work.columns["longitude"]
    if not work.units["latitude"]:
        latitude, longitude = latitude * factor, longitude * factor
    bad = (
        ~(np.abs(latitude) <= 0.5 * math.pi)
        | ~(np.abs(longitude) <= math.pi)
        | ((latitude == 0.0) & (longitude == 0.0))
    )
    if bad.all():
        raise DataError("latitude and longitude are no degrees", where=work.where,
                        got=f"{work.columns['latitude'][:1]}, {work.columns['longitude'][:1]}")  # fmt: skip
    origin = choose_origin(latitude[~bad], longitude[~bad])
    x, y = project_places(latitude, longitude, origin)
    work.columns["x"], work.columns["y"] = np.where(bad, math.nan, x), np.where(bad, math.nan, y)
    work.labels |= {"x": "longitude", "y": "latitude"}
    degrees = f"{math.degrees(origin[0]):.1f}, {math.degrees(origin[1]):.1f}"
    work.notes.append(f"positions are m east and north of {degrees} degrees: a transverse Mercator plane of WGS 84")


def _orient_axes(work: LogWork) -> None:
    """Take the axis that changes least as the height: games have y or z up."""
    axes = [name for name in "xyz" if name in work.columns]
    if len(axes) < 2:
        work.leave_out("x", "a place needs two axes")
        return
    for name in axes:
        unit = work.units[name]
        if not unit:
            work.notes.append(f"{work.labels[name]} has no unit: taken as m")
    if len(axes) < 3:
        if axes[1] == "z":
            work.columns["y"] = work.columns.pop("z")
            work.notes.append("the ground plane is x, z")
        return
    up = min(axes, key=lambda name: float(np.nanmax(work.columns[name]) - np.nanmin(work.columns[name])))
    if up == "y":
        work.columns["y"], work.columns["z"] = work.columns["z"], work.columns["y"]
        work.notes.append("y is the axis that changes least, so it is up; the ground plane is x, z as the log has them")
    elif up == "x":
        work.notes.append("x changes least of all axes, yet z is taken as up")


def _find_time(work: LogWork) -> None:
    """Make the time of rows without one: from the speed along the places, or the even rate of the tool."""
    columns, rate = work.columns, work.log.row_rate
    speed = columns.get("speed")
    if speed is None or "x" not in columns or "y" not in columns:
        raise DataError("no column of time", where=work.where, got=", ".join(work.labels.values()),
                        expected="a time, or positions and a speed in a known unit, from which it follows")  # fmt: skip
    if not work.units.get("speed"):
        raise DataError(
            "no time and no unit of the speed", where=work.where, hint="write it into the header: Speed [km/h]"
        )
    step = np.hypot(np.diff(columns["x"]), np.diff(columns["y"]))
    pace = 0.5 * (speed[1:] + speed[:-1])
    seconds = np.where(pace > 0.5, step / np.maximum(pace, 0.5), math.nan)
    usual = float(np.nanmedian(seconds)) if np.isfinite(seconds).any() else math.nan
    if not 0.001 < usual < 1.0:
        raise DataError("the speed does not fit the positions", where=work.where, got=f"{usual:.3g} s from row to row",
                        hint="is the unit of the speed right?")  # fmt: skip
    if abs(usual * rate - 1.0) < 0.02:
        columns["time"] = np.arange(len(speed)) / rate
        found = f"the speed along the positions gives {1.0 / usual:.2f} rows per second"
        work.notes.append(f"the log has no time: {found}, taken as the {rate:g} of this tool")
        return
    if not math.isnan(rate) and min(abs(usual * rate / f - 1.0) for f in (3.6, 1.0 / 3.6, 2.236936, 0.44704)) < 0.05:
        got = f"{1.0 / usual:.1f} rows per second, not {rate:g}"
        raise DataError(
            "the speed does not fit the positions", where=work.where, got=got, hint="is it in another unit?"
        )
    columns["time"] = np.concatenate([[0.0], np.cumsum(np.where(np.isfinite(seconds), seconds, usual))])
    work.notes.append(
        f"the log has no time: it follows from the speed along the positions, {1.0 / usual:.1f} rows per second"
    )


def _drop_bad_times(work: LogWork) -> None:
    """Leave out rows without a time or that are not later than those before; begin at 0."""
    time = work.columns["time"]
    later = np.isfinite(time)
    known = np.where(later, time, -math.inf)
    rows = np.flatnonzero(later)
    good = time[rows]
    fallen = np.flatnonzero((np.diff(good) < 0.0) & (good[1:] <= good[:1] + SAME_BEGIN)).tolist()
    later[1:] &= known[1:] > np.maximum.accumulate(known)[:-1] + SHORTEST_STEP
    again = [rows[row + 1] for row in fallen if (good[row + 1 : row + 11] < good[row]).all()]
    if again:
        later[again[0] :] = False
        work.notes.append(f"the time begins again at sample {again[0] + 1}: another session; split the file there")
    if later.sum() < 2:
        raise DataError("no time that goes on", where=work.where, got=f"{int(later.sum())} rows with one")
    if not later.all():
        work.notes.append(f"{int((~later).sum())} rows whose time does not go on are left out")
        work.columns = {name: values[later] for name, values in work.columns.items()}
    time = work.columns["time"]
    work.log.beacons = [beacon - float(time[0]) for beacon in work.log.beacons]
    work.columns["time"] = time - time[0]


def _check_rate(work: LogWork) -> None:
    time = work.columns["time"]
    steps = np.diff(time)
    rate = 1.0 / float(np.median(steps))
    if rate < MIN_RATE:
        wanted = f"{MIN_RATE:g} a second or more (10 is usual)"
        raise DataError("too few samples for laps", where=work.where, expected=wanted, got=f"{rate:.2g} a second",
                        hint="is its time in s? If so, it can be a road: drive --track FILE")  # fmt: skip
    holes = steps > max(10.0 / rate, 1.0)
    if holes.any():
        work.notes.append(f"{int(holes.sum())} gaps in the log, the longest {steps.max():.1f} s")


def _fill_places(work: LogWork) -> None:
    """Interpolate between known values: places that a slower sensor repeats, empty cells; not over long holes."""
    columns, time = work.columns, work.columns["time"]
    if "x" in columns and "y" in columns:
        x, y = columns["x"], columns["y"]
        step = np.hypot(np.diff(x), np.diff(y))
        moved = np.concatenate([[True], step != 0.0])
        speed = columns.get("speed")
        moving = np.ones(len(x), np.bool_) if speed is None else np.nan_to_num(speed) > 1.0
        if (~moved & moving).sum() > 0.3 * moving.sum():
            columns["x"], columns["y"] = np.where(moved, x, math.nan), np.where(moved, y, math.nan)
            rate = float(moved.sum() / (time[-1] - time[0]))
            work.notes.append(
                f"positions repeat: about {rate:.3g} a second are measured, those between are interpolated"
            )
        _drop_jumps(work)
    for name, values in columns.items():
        known = np.isfinite(values)
        if known.all() or not known.any():
            continue
        if name in STEPPED:
            last = np.maximum.accumulate(np.where(known, np.arange(len(values)), -1))
            held = (last >= 0) & (time - time[np.clip(last, 0, None)] <= MAX_HOLE_S)
            columns[name] = np.where(held, values[np.clip(last, 0, None)], math.nan)
            continue
        filled = np.interp(time, time[known], values[known], left=math.nan, right=math.nan)
        before = time[known][np.clip(np.searchsorted(time[known], time, side="right") - 1, 0, None)]
        after = time[known][np.clip(np.searchsorted(time[known], time), None, known.sum() - 1)]
        columns[name] = np.where(known | (after - before <= MAX_HOLE_S), filled, math.nan)


def _drop_jumps(work: LogWork) -> None:
    """Leave out single places to which no car can have moved."""
    x, y, time = (work.columns[name] for name in ("x", "y", "time"))
    known = np.flatnonzero(np.isfinite(x + y))
    if len(known) < 3:
        return
    speed = np.hypot(np.diff(x[known]), np.diff(y[known])) / np.diff(time[known])
    wild = np.zeros(len(known), np.bool_)
    wild[1:-1] = (speed[:-1] > MAX_SPEED) & (speed[1:] > MAX_SPEED)
    if wild.any():
        x[known[wild]] = y[known[wild]] = math.nan
        work.notes.append(f"{int(wild.sum())} positions far off the path are left out")
