"""Whether a person changes up too early: the speeds of upshifts against those at which the next gear pulls harder."""

import math
from collections.abc import Sequence

import numpy as np

from trailbrake.analysis.lap_location import LocatedLap
from trailbrake.analysis.reference_line import Array
from trailbrake.cars.params import CarParams
from trailbrake.coaching.corner_findings import LEAST_COST, Habit
from trailbrake.coaching.outliers import CONFIDENCE, student_tail
from trailbrake.control.vehicle.drivetrain import upshift_speeds
from trailbrake.units import KMH

FULL_THROTTLE = 0.9
BEFORE_S = 0.3  # s before a shift in which the throttle counts
LEAST_SHIFTS = 4
MANY = 1000  # degrees of freedom, of a normal distribution
EARLY_SHARE = 0.88  # of the best speed for a shift, below which it is early


def find_early_shifts(car: CarParams, laps: Sequence[LocatedLap], doubt: float = 0.0) -> list[Habit]:
    """Return a finding where full-throttle upshifts come so early that they cost time; none where gears are not known.

    Args:
        car: learned, or named.
        laps: the person's.
        doubt: standard deviation of the car's drive force, as a share of it.
    """
    best = upshift_speeds(car)
    shares, costs, gains = [], [], []
    for lap in laps:
        for gear, speed in list_upshifts(lap):
            if gear <= len(best):
                shares.append(speed / best[gear - 1])
                costs.append(measure_shift_cost(car, gear, speed, best[gear - 1]))
                gains.append(car.drive_force(speed, gear) / car.drive_force(speed, gear + 1) - 1.0)
    if len(shares) < LEAST_SHIFTS:
        return []
    early = 1.0 - np.array(shares)
    error = float(early.std(ddof=1)) / math.sqrt(len(early))
    chance = 1.0 - student_tail((float(early.mean()) - (1.0 - EARLY_SHARE)) / max(error, 1e-6), len(early) - 1)
    # What an engine gives at speeds that it was never driven at is as sure as its class.
    chance = min(chance, 1.0 - student_tail(float(np.mean(gains)) / max(doubt, 1e-6), MANY))
    cost = sum(costs) / len(laps)
    if chance < CONFIDENCE or cost < LEAST_COST:
        return []
    share, spread = float(np.mean(shares)), float(np.std(costs, ddof=1)) * math.sqrt(len(costs)) / len(laps)
    later = float(np.median(best)) * (1.0 - share) / KMH
    return [Habit(
        "shifting", None, cost, spread, chance,
        f"Change up later: at {share:.0%} of the speed at which the next gear pulls harder, some {later:.0f} km/h too"
        f" early; {cost:.2f} s a lap.",
        f"{len(shares)} upshifts at full throttle in {len(laps)} laps",
    )]  # fmt: skip


def list_upshifts(lap: LocatedLap) -> list[tuple[int, float]]:
    """Return gear and speed (m/s) before each upshift at full throttle."""
    gear, speed, throttle = (lap.channels[name] for name in ("gear", "speed", "throttle"))
    found = []
    for row in np.flatnonzero(np.diff(gear) == 1.0).tolist():
        before = (lap.time >= lap.time[row] - BEFORE_S) & (lap.time <= lap.time[row])
        if gear[row] >= 1.0 and float(np.nanmin(throttle[before])) >= FULL_THROTTLE:
            found.append((int(gear[row]), float(speed[row])))
    return found


def measure_shift_cost(car: CarParams, gear: int, speed: float, best: float) -> float:
    """Return what a shift at `speed` instead of `best` (m/s) costs, s."""
    if speed >= best:
        return 0.0
    speeds: Array = np.linspace(speed, best, 20)

    def pace(number: int) -> Array:
        pull = np.array([car.drive_force(float(v), number) for v in speeds])
        drag = 0.5 * car.aero.air_density * car.aero.drag_area * speeds**2
        return car.effective_mass(number) / np.maximum(pull - drag, 1.0)  # s per m/s

    return float(np.trapezoid(np.maximum(pace(gear + 1) - pace(gear), 0.0), speeds))
