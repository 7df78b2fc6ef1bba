"""Whether a person drives in too high a gear: the gears at full throttle against those that pull harder."""

import math
from collections.abc import Sequence

import numpy as np

from trailbrake.analysis.corners import Corner
from trailbrake.analysis.lap_location import LocatedLap
from trailbrake.arrays import Array
from trailbrake.cars.params import CarParams
from trailbrake.coaching.corner_findings import Habit
from trailbrake.coaching.habits import FULL, find_full_throttle, gain_time, make_pattern, split_zones
from trailbrake.control.vehicle.drivetrain import HYSTERESIS, upshift_speeds
from trailbrake.units import KMH

BEFORE_S = 0.3  # s before a shift in which the throttle counts
LEAST_SHIFTS = 4
EARLY_SHARE = 0.88  # of the best speed for a shift, above which it is not early
SPEEDS = np.arange(1.0, 120.0, 0.5)  # m/s, at which the pull of the gears is computed
MODEL_ERROR = 0.2  # of a cost: what a harder pull gains is partly braked away


def find_high_gears(car: CarParams, laps: Sequence[LocatedLap], corners: Sequence[Corner], doubt: float) -> list[Habit]:
    """Return a finding where a lower gear would pull harder for long enough to cost time.

    Nothing is found where neither gears nor the engine's speed are known.

    Args:
        car: learned, or named.
        laps: the person's.
        corners: with their zones.
        doubt: standard deviation of the car's drive force, as a share of it.
    """
    best = upshift_speeds(car)
    costs, sure = (
        np.array([split_zones(lap, find_gain(car, lap, lost), corners) for lap in laps])
        for lost in (compare_gears(car), compare_gears(car, doubt))
    )
    model = float((costs - sure).sum(axis=1).mean()) + MODEL_ERROR * float(costs.sum(axis=1).mean())
    shifts = [(gear, speed) for lap in laps for gear, speed in list_upshifts(lap, car) if gear <= len(best)]
    advice, evidence = "Use a lower gear out of the corners", "gears at full throttle"
    if len(shifts) >= LEAST_SHIFTS:
        share = float(np.median([speed / best[gear - 1] for gear, speed in shifts]))
        if share > EARLY_SHARE:
            return []
        later = float(np.median([best[gear - 1] - speed for gear, speed in shifts])) / KMH
        advice = (f"Change up later: at {share:.0%} of the speed at which the next gear pulls harder, some"
                  f" {later:.0f} km/h too early")  # fmt: skip
        evidence = f"{len(shifts)} upshifts at full throttle in {len(laps)} laps"
    return make_pattern("shifting", costs, model, (advice, evidence))


def find_gain(car: CarParams, lap: LocatedLap, lost: Array) -> Array:
    """Return the time (rows,) s that a lap would have gained so far in the best gears, their shifts counted.

    Args:
        car: learned, or named.
        lap: the person's.
        lost: what `compare_gears` returns.
    """
    fading = np.maximum(-np.gradient(compute_pulls(car).max(axis=0), SPEEDS), 0.0) / SPEEDS
    more = find_lost_pull(car, lap, lost) + find_shift_pull(car, lap)
    return gain_time(lap, more, np.interp(lap.channels["speed"], SPEEDS, fading))


def find_shift_pull(car: CarParams, lap: LocatedLap) -> Array:
    """Return the pull (rows,) m/s^2 that shifts at full throttle take off: the person's less those of the best gears.

    Args:
        car: learned, or named.
        lap: the person's.
    """
    gears, full = read_gears(lap, car), find_full_throttle(lap)
    speed = np.nan_to_num(lap.channels["speed"])
    pulls = np.array([np.interp(speed, SPEEDS, each) for each in compute_pulls(car, drag_area=0.0)])
    best, extra = upshift_speeds(car), np.zeros(len(gears))
    for first, stop in np.flatnonzero(np.diff(full.astype(np.int8), prepend=0, append=0)).reshape(-1, 2).tolist():
        wanted = np.searchsorted(best, np.maximum.accumulate(speed[first:stop]))
        for row in (first + 1 + np.flatnonzero(np.diff(gears[first:stop]) == 1.0)).tolist():
            if 1.0 <= gears[row] <= len(pulls):
                extra[row] += pulls[int(gears[row]) - 1, row]
        for row in (first + 1 + np.flatnonzero(np.diff(wanted) > 0)).tolist():
            extra[row] -= pulls[wanted[row - first], row]
    return extra * car.gearbox.shift_time / np.maximum(np.gradient(lap.time), 1e-3)


def compute_pulls(car: CarParams, weaker: float = 0.0, drag_area: float | None = None) -> Array:
    """Return the acceleration (gears, len(SPEEDS)) m/s^2 at full throttle.

    Args:
        car: learned, or named.
        weaker: share by which the drive force is weaker than the car's file says.
        drag_area: m^2; None: the car's.
    """
    drag = 0.5 * car.aero.air_density * (car.aero.drag_area if drag_area is None else drag_area) * SPEEDS**2
    return np.array([
        ((1.0 - weaker) * np.array([car.drive_force(float(v), gear) for v in SPEEDS]) - drag) / car.effective_mass(gear)
        for gear in range(1, car.gearbox.top_gear + 1)
    ])  # fmt: skip


def compare_gears(car: CarParams, weaker: float = 0.0) -> Array:
    """Return by how much more (gears, len(SPEEDS)) m/s^2 the best lower gear pulls than each gear, 0 where none does.

    A gear whose shift is near is no better one.

    Args:
        car: learned, or named.
        weaker: share by which lower gears may pull less than the car's file says.
    """
    longest = [*(HYSTERESIS * v for v in upshift_speeds(car)), math.inf]
    lost, lower = [], np.full(len(SPEEDS), -math.inf)
    for pull, weak, most in zip(compute_pulls(car), compute_pulls(car, weaker), longest, strict=True):
        lost.append(np.maximum(lower - pull, 0.0))
        lower = np.maximum(lower, np.where(most > SPEEDS, weak, -math.inf))
    return np.array(lost)


def find_lost_pull(car: CarParams, lap: LocatedLap, lost: Array) -> Array:
    """Return by how much more (rows,) m/s^2 the best gear would pull; NaN off full throttle.

    Args:
        car: learned, or named.
        lap: the person's.
        lost: what `compare_gears` returns.
    """
    gears, speed = read_gears(lap, car), lap.channels["speed"]
    more = np.where(find_full_throttle(lap) & np.isfinite(gears) & np.isfinite(speed), 0.0, math.nan)
    for gear, more_there in enumerate(lost, 1):
        rows = np.isfinite(more) & (gears == gear)
        more[rows] = np.interp(speed[rows], SPEEDS, more_there)
    throttle: Array = np.nan_to_num(lap.channels["throttle"])
    return more * throttle


def read_gears(lap: LocatedLap, car: CarParams) -> Array:
    """Return the gear of each row (rows,): the recorded one, else that whose ratio the engine's speed shows."""
    gear = lap.channels["gear"]
    if np.isfinite(gear).any():
        return np.round(gear)
    engine, speed = lap.channels["engine_speed"], np.maximum(lap.channels["speed"], 1.0)
    ratios = np.log([car.engine_speed(1.0, number) for number in range(1, car.gearbox.top_gear + 1)])
    shown = np.log(np.maximum(engine, 1.0) / speed)
    nearest = np.abs(shown[:, None] - ratios).argmin(axis=1) + 1.0
    return np.where(np.isfinite(shown), nearest, math.nan)


def list_upshifts(lap: LocatedLap, car: CarParams) -> list[tuple[int, float]]:
    """Return gear and speed (m/s) before each upshift at full throttle."""
    gear, speed, throttle = read_gears(lap, car), lap.channels["speed"], lap.channels["throttle"]
    found = []
    for row in np.flatnonzero(np.diff(gear) == 1.0).tolist():
        before = (lap.time >= lap.time[row] - BEFORE_S) & (lap.time <= lap.time[row])
        if gear[row] >= 1.0 and float(np.nan_to_num(throttle[before]).min()) >= FULL:
            found.append((int(gear[row]), float(speed[row])))
    return found
