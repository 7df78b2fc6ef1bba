"""The path of laps without positions: from the speed, and the yaw rate or the lateral acceleration, closed lap by lap.

Headings are corrected by a constant rate so that a lap turns once round; places by a share of the gap between the end
of the lap and its begin that grows with the distance. All laps begin in the same place and direction.
"""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trailbrake.laps import LapRecord
from trailbrake.record.lap_logs.lap_log import Array

MAX_TURN_ERROR = 1.5  # rad that a lap may turn more or less than once round
MAX_GAP_SHARE = 0.05  # of the length of a lap, between its end and its begin
MIN_SPEED = 3.0  # m/s above which a lateral acceleration says how the car turns


def reckon_path(columns: dict[str, Array], laps: Sequence[LapRecord]) -> str:
    """Add x and y to the columns, NaN outside of laps that close; return what to say of it."""
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
