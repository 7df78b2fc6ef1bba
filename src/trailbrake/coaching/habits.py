"""What a person does in many corners, or over the laps: brakes gently, lifts, drives unevenly, becomes slower.

A pattern has its cost in each zone. It is taken off the times before single corners are compared, so that one cause is
one finding.
"""

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from trailbrake.analysis.corner_figures import BRAKE_ON, lap_speed, measure_corner
from trailbrake.analysis.corners import Corner
from trailbrake.analysis.lap_location import LocatedLap
from trailbrake.arrays import Array
from trailbrake.coaching.corner_findings import LEAST_COST, USUAL_SPREAD, Habit, Kind
from trailbrake.coaching.outliers import CONFIDENCE, fisher_tail, student_tail
from trailbrake.coaching.pace_model import PaceModel, time_zones

PATTERNS = 12  # of which 6 are searched for, and corners count for as many: the chance of each is corrected for it
MANY = 1000.0  # degrees of freedom, of a normal distribution
FULL = 0.85  # of the largest throttle, from which it is full
LIFTED = 0.6  # of it, below which it is lifted
LEAST_LIFT_S, MOST_LIFT_S = 0.1, 1.5  # s; longer is no lift
SHIFT_S = 0.4  # s about a shift, in which the throttle is that of the shift
MOST_SHARE = 0.6  # of the laps, in which a place is lifted at
LEAST_PLACES = 3  # of a pattern
BRAKED_OFF = 5.0  # m/s that a braking takes off, from which it counts
NEAR_SLOWEST = 1.03  # of the lowest speed, from which a braking is over
GENTLE = 0.9  # of the deceleration at the person's pace, below which brakings are gentle
DECELERATION_SPREAD = 0.05  # by which the logarithm of that differs from corner to corner in any case
UNEVEN = 3.0  # of the usual spread of a zone's time, from which a person is uneven everywhere
LEAST_RUN = 5  # laps one after the other, of which a trend is looked for
LIFT_ERROR = 0.2  # of a lift's cost


def make_pattern(
    kind: Kind, costs: Array, model_error: float, texts: tuple[str, str], chance: float | None = None
) -> list[Habit]:
    """Return a finding of a pattern, where its cost is sure and worth a word.

    Args:
        kind: of the finding.
        costs: (laps, zones) s.
        model_error: s, standard error of a lap's cost beside the spread of the laps.
        texts: what to change, without a full stop, and the figures behind it.
        chance: that the pattern is there, by another test; None: by its cost.
    """
    zones, total = costs.mean(axis=0), costs.sum(axis=1)
    cost = float(total.mean())
    if len(total) < 2 or not cost >= LEAST_COST:
        return []
    spread = float(total.std(ddof=1)) / math.sqrt(len(total))
    error = math.hypot(spread, model_error)
    if chance is None:
        # Welch and Satterthwaite: what the model is wrong by has no degrees of freedom of the laps.
        freedom = min((len(total) - 1) * (error / max(spread, 1e-6)) ** 4, MANY)
        chance = 1.0 - PATTERNS * student_tail(cost / max(error, 1e-6), freedom)
    if not chance >= CONFIDENCE:
        return []
    return [Habit(kind, None, cost, error, chance, f"{texts[0]}.", texts[1],
                  zone_costs=tuple(zones.tolist()))]  # fmt: skip


def find_full_throttle(lap: LocatedLap) -> NDArray[np.bool_]:
    """Return the rows (rows,) in which the throttle is as far open as the person opens it."""
    throttle = lap.channels["throttle"]
    if not np.isfinite(throttle).any():
        return np.zeros(len(throttle), dtype=np.bool_)
    return np.nan_to_num(throttle) >= FULL * float(np.nanpercentile(throttle, 98.0))


def gain_time(lap: LocatedLap, more: Array, fading: Array | float = 0.0) -> Array:
    """Return the time (rows,) s that a lap would have gained so far with more acceleration.

    Args:
        lap: that was driven.
        more: (rows,) m/s^2; NaN where the speed that was gained is braked away.
        fading: (rows,) 1/m, share of what was gained that a meter takes off: a faster car pulls less.
    """
    speed, way = np.maximum(np.nan_to_num(lap.channels["speed"]), 1.0), np.gradient(lap.s)
    steps, kept = 2.0 * np.nan_to_num(more) * way, np.where(np.isnan(more), 0.0, np.exp(-fading * way))
    gained, before = np.empty(len(more)), 0.0  # of speed squared, up to the middle of a row's way
    for row, (step, share) in enumerate(zip(steps.tolist(), kept.tolist(), strict=True)):
        gained[row] = share * before + 0.5 * step
        before = share * before + step
    saved = np.diff(lap.time, prepend=lap.time[0]) * (1.0 - speed / np.sqrt(np.maximum(speed**2 + gained, 1.0)))
    total: Array = np.cumsum(saved)
    return total


def split_zones(lap: LocatedLap, total: Array, corners: Sequence[Corner]) -> Array:
    """Return what a running total (rows,) of a lap grows by in each zone (zones,)."""
    marks = [corners[0].start, *(corner.end for corner in corners)]
    return np.diff(np.interp(marks, lap.s, total))


def find_gentle_braking(model: PaceModel, laps: Sequence[LocatedLap]) -> list[Habit]:
    """Return a finding where the person slows down less hard than the car does at the person's pace, in most corners.

    Braking early and braking gently are one: the way from the brake point to the lowest speed is too long.

    Args:
        model: of the usual pace.
        laps: the person's.
    """
    ratios = []
    for corner in (corner for corner in model.corners if corner.number):
        found = np.array([compare_braking(lap, model.lap, corner) for lap in laps])
        if np.isfinite(found).mean() > 0.5:
            ratios.append(float(np.nanmedian(found)))
    if len(ratios) < LEAST_PLACES:
        return []
    logs = np.log(ratios)
    error = math.hypot(float(logs.std(ddof=1)), DECELERATION_SPREAD) / math.sqrt(len(logs))
    middle = float(np.median(logs))
    chance = 1.0 - PATTERNS * student_tail((math.log(GENTLE) - middle) / error, len(logs) - 1)
    if chance < CONFIDENCE:
        return []
    limits = model.course.envelope
    usual, gentle, harder = (
        time_zones(model, limits._replace(brake=limits.brake * math.exp(change)))
        for change in (0.0, middle, middle + error)
    )
    costs = np.tile(np.maximum(gentle - usual, 0.0), (len(laps), 1))
    return make_pattern(
        "braking", costs, abs(float((gentle - harder).sum())),
        ("Brake later and harder: on the way from the brake point to the lowest speed you slow down by"
         f" {math.exp(middle):.0%} of what the car does at your pace",
         f"{len(logs)} corners that are braked for, {len(laps)} laps"), chance,
    )  # fmt: skip


def compare_braking(lap: LocatedLap, reference: LocatedLap, corner: Corner) -> float:
    """Return the mean deceleration of a braking over that of the reference; NaN where not both brake enough."""
    (mine, mine_end), (other, other_end) = (_measure_braking(each, corner) for each in (lap, reference))
    end = max(mine_end, other_end)  # who is slow too early has braked too early
    slowed = [lap_speed(each, start) ** 2 - lap_speed(each, end) ** 2
              for each, start in ((lap, mine), (reference, other))]  # fmt: skip
    ratio = slowed[0] / slowed[1] * (end - other) / (end - mine) if end > max(mine, other) and slowed[1] else math.nan
    return ratio if ratio > 0.0 else math.nan


def _measure_braking(lap: LocatedLap, corner: Corner) -> tuple[float, float]:
    """Return where a braking begins and where the lowest speed is reached, m; NaN where little is taken off."""
    figures = measure_corner(lap, corner)
    start = figures.brake_point
    if not (math.isfinite(start) and lap_speed(lap, start) - figures.min_speed >= BRAKED_OFF):
        return math.nan, math.nan
    slow = (lap.s > start) & (lap.channels["speed"] <= NEAR_SLOWEST * figures.min_speed)
    return start, float(lap.s[np.argmax(slow)])


def find_lifts(laps: Sequence[LocatedLap], pace: LocatedLap, corners: Sequence[Corner]) -> list[Habit]:
    """Return a finding where the throttle is lifted in several zones in which the car stays on it.

    Args:
        laps: the person's.
        pace: a lap of the car at the person's pace.
        corners: with their zones.
    """
    costs = np.array([split_zones(lap, gain_time(lap, find_lifted_pull(lap, pace)), corners) for lap in laps])
    usual = (costs > 0.0).mean(axis=0) >= MOST_SHARE
    costs = np.where(usual, costs, 0.0)
    if usual.sum() < LEAST_PLACES:
        return []
    places = ", ".join(corner.label for corner, lifted in zip(corners, usual, strict=True) if lifted)
    return make_pattern("lifting", costs, LIFT_ERROR * float(costs.sum(axis=1).mean()),
                        ("Stay on the throttle where the car needs no lift", f"lifts for {places}"))  # fmt: skip


def find_lifted_pull(lap: LocatedLap, pace: LocatedLap) -> Array:
    """Return by how much more (rows,) m/s^2 the car accelerates at that pace where the person lifts; NaN where not on.

    A lift is short, between two times of full throttle, without brake and without a shift.
    """
    throttle, brake, gear = (lap.channels[name] for name in ("throttle", "brake", "gear"))
    full = find_full_throttle(lap)
    open_ = throttle >= LIFTED * float(np.nanmax(throttle)) if full.any() else full
    more = np.where(full, 0.0, math.nan)
    shifts = lap.time[np.flatnonzero(np.abs(np.nan_to_num(np.diff(gear))) > 0.5)]
    flat = pace.interpolate("throttle", lap.s) >= FULL
    pulled = pace.interpolate("acceleration_x", lap.s) - lap.channels["acceleration_x"]
    edges = np.flatnonzero(np.diff((~full).astype(np.int8), prepend=0, append=0)).reshape(-1, 2)
    for first, stop in edges.tolist():
        rows = slice(first, stop)
        lasted = lap.time[min(stop, len(full) - 1)] - lap.time[first]
        shifted = np.any((shifts > lap.time[first] - SHIFT_S) & (shifts < lap.time[stop - 1] + SHIFT_S))
        if (LEAST_LIFT_S <= lasted <= MOST_LIFT_S and not open_[rows].all() and not shifted
                and not np.any(brake[rows] >= BRAKE_ON) and flat[rows].all()):  # fmt: skip
            more[rows] = np.maximum(np.nan_to_num(pulled[rows]), 0.0)
    return more


def find_uneven_laps(laps: Sequence[LocatedLap], zone_times: Array, corners: Sequence[Corner]) -> list[Habit]:
    """Return a finding where nearly every corner is driven otherwise in each lap.

    Args:
        laps: the person's.
        zone_times: (laps, zones) s.
        corners: with their zones.
    """
    bends = np.array([corner.number > 0 for corner in corners])
    if len(laps) < LEAST_RUN or not bends.any():
        return []
    weight = np.sqrt(np.median(zone_times, axis=0))
    spreads = zone_times.std(axis=0, ddof=1) / weight
    usual = float(np.median(spreads[bends]))
    chance = 1.0 - PATTERNS * fisher_tail((usual / (UNEVEN * USUAL_SPREAD)) ** 2, len(laps) - 1, 30.0)
    if chance < CONFIDENCE:
        return []
    better = np.sort(zone_times, axis=0)[: (len(laps) + 1) // 2].mean(axis=0)  # what was done in every second lap
    costs = np.where(bends, zone_times - better, 0.0)
    points = [
        np.array([measure_corner(lap, corner).brake_point for lap in laps]) for corner in corners if corner.number
    ]
    known = [float(those.std()) for those in points if np.isfinite(those).all()]
    where = f"; brake points that move by {np.median(known):.0f} m" if known else ""
    return make_pattern(
        "evenness", costs, 0.0,
        ("Do the same in each lap, and brake at marks: every second lap you were quicker in each corner",
         f"from lap to lap {usual / USUAL_SPREAD:.0f} times the spread of a practised driver{where}"), chance,
    )  # fmt: skip


def find_fading(laps: Sequence[LocatedLap], zone_times: Array) -> list[Habit]:
    """Return a finding where the laps become slower over a run in most zones, as on tyres that go off.

    Args:
        laps: the person's, in the order driven.
        zone_times: (laps, zones) s.
    """
    runs = [np.array([k for k, lap in enumerate(laps) if lap.source == source])
            for source in sorted({lap.source for lap in laps})]  # fmt: skip
    run = max(runs, key=len)
    if len(run) < LEAST_RUN:
        return []
    numbers = np.array([laps[k].number for k in run], dtype=np.float64)
    numbers -= numbers.mean()
    slopes = numbers @ zone_times[run] / float(numbers @ numbers)
    total = zone_times[run].sum(axis=1)
    rest = total - total.mean() - slopes.sum() * numbers
    freedom = len(run) - 2
    error = math.sqrt(float(rest @ rest) / freedom / float(numbers @ numbers))
    chance = 1.0 - PATTERNS * student_tail(float(slopes.sum()) / max(error, 1e-6), freedom)
    if (slopes > 0.0).mean() < 0.75:
        return []
    costs = np.outer(numbers - numbers[0], slopes)
    warm = [float(np.nanmax(laps[k].channels["core_temperature"])) for k in run[[0, -1]]
            if np.isfinite(laps[k].channels["core_temperature"]).any()]  # fmt: skip
    heat = f"; tyres up to {warm[0]:.0f} and {warm[-1]:.0f} degrees Celsius in the first and the last" if warm else ""
    return make_pattern(
        "fading", np.tile(costs.mean(axis=0), (len(run), 1)), error * float((numbers - numbers[0]).mean()),
        (f"Spare the tyres early in a run: each lap is {slopes.sum():.2f} s slower than the one before",
         f"{len(run)} laps of one run{heat}"), chance,
    )  # fmt: skip
