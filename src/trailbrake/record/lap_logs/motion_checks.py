"""Tests speed, accelerations, yaw rate and steer of a lap log by its places: units that are stated, units, signs.

Accelerations and yaw rate that a log lacks follow from the speed and the path, without the slip of the car.
"""

import math

import numpy as np
from numpy.typing import NDArray

from trailbrake.arrays import Array
from trailbrake.errors import DataError
from trailbrake.record.lap_logs.channel_names import SI_UNITS
from trailbrake.record.lap_logs.lap_log import LogWork

MIN_MOVING = 5.0  # m/s above which the speed along the path says something
SPEED_TOLERANCE = 0.06  # relative error of the median speed along places
MIN_AGREEMENT = 0.5  # correlation of a channel with what follows from the path
SMOOTHING_S = 0.5  # s, of derivatives of places
MAX_CHANGE, MIN_SPIKE = 60.0, 2.0  # m/s^2, m/s: a speed that changes by both together is no car's
SPIKE_S = 1.0  # s within which such a change is followed by the one back
_SIGNED = {"acceleration_y": "m/s^2", "yaw_rate": "rad/s", "steer": "1", "steering_wheel_angle": "rad"}


def _smooth(values: Array, time: Array) -> Array:
    width = int(SMOOTHING_S / float(np.median(np.diff(time)))) | 1
    if width < 3 or width >= len(values):
        return values
    padded = np.concatenate([np.full(width // 2, values[0]), values, np.full(width // 2, values[-1])])
    return np.convolve(padded, np.full(width, 1.0 / width), "valid")


def _derive(values: Array, time: Array) -> Array:
    """Return the smoothed derivative; rows may be unevenly apart, so the mean of values belongs to that of times."""
    slope: Array = np.gradient(_smooth(values, time), _smooth(time, time))
    return slope


def check_speed(work: LogWork) -> None:
    """Compare the speed with that along the places, or the distance; find its unit where none is stated."""
    columns, time = work.columns, work.columns["time"]
    along = _measure_speed(work)
    if along is None:
        if "speed" not in columns:
            raise DataError("nothing says how the car moves", where=work.where, expected="a speed, or positions",
                            got=", ".join(work.labels.values()))  # fmt: skip
        if not work.units.get("speed"):
            raise DataError("no unit of the speed, and no positions to find it by", where=work.where,
                            hint="write it into the header: Speed [km/h]")  # fmt: skip
        return
    if "speed" not in columns:
        columns["speed"] = _smooth(along, time)
        work.notes.append(f"the log has no speed: it is that along the positions, mean of {SMOOTHING_S:g} s")
        return
    speed, stated = columns["speed"], work.units.get("speed", "")
    moving = (along > MIN_MOVING) & (speed > 1.0)
    if moving.sum() < 20:
        if not stated:
            raise DataError("no unit of the speed, and the car hardly moves", where=work.where,
                            hint="write it into the header: Speed [km/h]")  # fmt: skip
        return
    ratio = float(np.median(speed[moving] / along[moving]))
    if stated and abs(ratio - 1.0) <= SPEED_TOLERANCE:
        return
    known = {
        unit: factor for unit, factor in work.names.units["m/s"].items() if unit in ("m/s", "km/h", "mph", "kn", "ft/s")
    }
    stated_factor = (work.names.find_factor("speed", stated) or 1.0) if stated else 1.0
    unit = min(known, key=lambda unit: abs(math.log(max(ratio, 1e-9) * known[unit] / stated_factor)))
    fits = abs(ratio * known[unit] / stated_factor - 1.0) <= SPEED_TOLERANCE
    if stated or not fits:
        raise DataError(
            "the speed does not fit the positions", where=f"{work.where}, {work.labels['speed']}",
            expected=f"the speed along them{f' in {stated}' if stated else ' in a usual unit'}",
            got=f"{ratio:.3f} times it", hint=_suggest_unit(ratio, unit if fits else ""),
        )  # fmt: skip
    columns["speed"] = speed * known[unit]
    work.notes.append(
        f"{work.labels['speed']} has no unit: it is {ratio:.3f} times the speed along the positions, so {unit}"
    )


def drop_speed_spikes(work: LogWork) -> None:
    """Interpolate speeds that no car can reach and leave within SPIKE_S, unless the places agree with them."""
    along, time, speed = _measure_speed(work), work.columns["time"], work.columns["speed"]
    known = np.flatnonzero(np.isfinite(speed))
    if len(known) < 4:
        return
    rows = np.concatenate([known[1:2], known, known[-2:-1]])  # so that the first and the last one have two neighbours
    change, step = np.diff(speed[rows]), np.abs(np.diff(time[rows]))
    jumps = np.flatnonzero(np.abs(change) > MAX_CHANGE * step + MIN_SPIKE).tolist()
    wrong = np.zeros(len(speed), np.bool_)
    while len(jumps) > 1:
        first, last = jumps.pop(0), jumps[0]
        inside, beside = rows[first + 1 : last + 1], rows[[first, last + 1]]
        if change[first] * change[last] > 0.0 or abs(np.diff(time[beside])[0]) > SPIKE_S:
            continue
        error, moved = (np.abs(values - along[inside]).mean() if along is not None else math.nan
                        for values in (speed[inside], speed[beside].mean()))  # fmt: skip
        if not error <= moved:
            wrong[inside] = True
            jumps.pop(0)
    if wrong.any():
        good = np.isfinite(speed) & ~wrong
        work.columns["speed"] = np.where(wrong, np.interp(time, time[good], speed[good]), speed)
        work.notes.append(f"{work.labels['speed']}: {int(wrong.sum())} values that no car can reach are left out")


def _suggest_unit(ratio: float, unit: str) -> str:
    if unit:
        return f"it looks like {unit}: write [{unit}] into its header"
    if any(abs(ratio / factor - 1.0) <= SPEED_TOLERANCE for factor in (0.3048, 1.0 / 0.3048)):
        return "one of both looks like feet"
    return "are the positions in m, and the times in s?"


def _measure_speed(work: LogWork) -> Array | None:
    """Return the speed along the places, else along the distance, (n,) m/s; None where there is neither."""
    columns, time = work.columns, work.columns["time"]
    if "x" in columns and "y" in columns and np.isfinite(columns["x"] + columns["y"]).sum() > 20:
        x, y = (_interpolate_gaps(columns[name]) for name in ("x", "y"))
        return np.hypot(_derive(x, time), _derive(y, time))
    if "distance" in columns and work.units.get("distance"):
        return np.abs(np.gradient(_interpolate_gaps(columns["distance"]), time))
    return None


def _interpolate_gaps(values: Array) -> Array:
    known = np.flatnonzero(np.isfinite(values))
    if not len(known):
        return np.zeros(len(values))
    return np.interp(np.arange(len(values)), known, values[known])


def check_motion(work: LogWork) -> None:
    """Find units and signs of accelerations, yaw rate and steer by the path; leave out what does not follow it.

    Accelerations and yaw rate that are not there are those of the path.
    """
    columns, time = work.columns, work.columns["time"]
    speed = _interpolate_gaps(columns["speed"])
    if "x" not in columns or "y" not in columns or not np.isfinite(columns["x"]).any():
        for name in ("acceleration_x", "acceleration_y", "yaw_rate"):
            if name in columns and not work.units.get(name):
                work.leave_out(name, "no unit, and no positions to find it by")
        signed = [work.labels[name] for name in _SIGNED if name in columns]
        if signed:
            work.notes.append(f"no positions: which side is left is as the log has it in {', '.join(signed)}")
        made = {"acceleration_x": _find_gain(speed, time)}
        if "yaw_rate" in columns:
            made["acceleration_y"] = columns["yaw_rate"] * speed
        _add_missing(work, made)
        return
    slope_x, slope_y = (_derive(_interpolate_gaps(columns[name]), time) for name in ("x", "y"))
    course = np.unwrap(np.arctan2(slope_y, slope_x))
    turn = np.where(speed > MIN_MOVING, _smooth(np.gradient(course, time), time), 0.0)
    expected = {"acceleration_x": _find_gain(speed, time), "acceleration_y": turn * speed,
                "yaw_rate": turn, "steer": turn / np.maximum(speed, MIN_MOVING),
                "steering_wheel_angle": turn / np.maximum(speed, MIN_MOVING)}  # fmt: skip
    use = speed > MIN_MOVING
    for name, model in expected.items():
        if name in columns:
            _fit_channel(work, name, model, use)
    _add_missing(work, {name: expected[name] for name in ("acceleration_x", "acceleration_y", "yaw_rate")})


def _add_missing(work: LogWork, made: dict[str, Array]) -> None:
    """Add the columns of speed and turn that are not there, with a note."""
    missing = [name for name in made if name not in work.columns]
    if missing:
        work.columns |= {name: made[name] for name in missing}
        work.notes.append(f"{', '.join(missing)}: of the speed and its direction, mean of {SMOOTHING_S:g} s;"
                          " the slip of the car is neglected")  # fmt: skip


def _find_gain(speed: Array, time: Array) -> Array:
    return _smooth(_derive(speed, time), time)


def _fit_channel(work: LogWork, name: str, model: Array, use: NDArray[np.bool_]) -> None:
    """Set the sign of a column, and its unit where none is stated, so that it follows `model`."""
    time = work.columns["time"]
    values = _smooth(_interpolate_gaps(work.columns[name]), time)
    use = use & np.isfinite(model)
    if use.sum() < 50 or not np.ptp(values[use]) > 0.0:
        return
    agreement = float(np.corrcoef(values[use], model[use])[0, 1])
    label, is_angle = work.labels[name], name.startswith("steer")
    if not abs(agreement) >= (0.5 * MIN_AGREEMENT if is_angle else MIN_AGREEMENT):
        if is_angle or np.std(model[use]) * 3.0 < np.std(values[use]) or np.std(model[use]) > 0.3:
            work.leave_out(name, f"it does not follow the path (correlation {agreement:.2f})")
        return
    sign = 1.0 if agreement > 0.0 else -1.0
    # The ratio of both spreads: neither noise of the path nor that of the channel alone moves it far.
    slope = float(np.std(values[use]) / np.std(model[use]))
    factors = {} if is_angle else {u: work.names.units[SI_UNITS[name]][u] for u in
                                   (("m/s^2", "g") if SI_UNITS[name] == "m/s^2" else ("rad/s", "deg/s"))}  # fmt: skip
    factor = 1.0
    if factors:
        unit = min(factors, key=lambda unit: abs(math.log(max(slope, 1e-9) * factors[unit])))
        stated = work.units.get(name, "")
        if not stated:
            factor = factors[unit]
            work.notes.append(f"{label} has no unit: it follows the path in {unit}")
        elif not 0.5 < slope < 2.0:
            work.leave_out(name, f"it is {slope:.2f} times what follows from the path: is it in {stated}?")
            return
    if sign < 0.0:
        why = "positive in braking" if name == "acceleration_x" else "positive to the right"
        work.notes.append(f"{label} is {why}: turned round")
    work.columns[name] = work.columns[name] * (sign * factor)
