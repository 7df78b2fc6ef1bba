"""What a person does otherwise in one corner than in the others, what it costs, and how sure that is.

The chance of a finding comes from how much the person's corners differ among themselves, and from the spread of the
laps: one corner that is unlike the others is a habit, a driver who is slow everywhere has none.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from trailbrake.analysis.corner_advice import PhaseLosses, advise_corner
from trailbrake.analysis.corner_figures import CornerFigures, measure_corner
from trailbrake.analysis.corners import Corner
from trailbrake.analysis.lap_location import LocatedLap
from trailbrake.arrays import Array
from trailbrake.coaching.outliers import find_large_variances, find_outliers, moderated_tail
from trailbrake.coaching.pace_model import PaceModel

LEAST_COST = 0.05  # s a lap, below which nothing is worth a word
SURELY = 1.645  # standard errors that a cost is above 0 with a chance of 95 %
LEAST_LAPS = 3
REPEATED = 2.0  # times the usual spread without the lap that is most unlike, from which a corner is uneven
LEAST_CORNERS = 5
USUAL_COST = 0.02  # s per root of a second in a zone: how much corners differ of a person without a habit
UNEVEN_BRAKING = 15.0  # m/s that a corner takes off, at which the braking is as uneven as the rest of it
USUAL_SPREAD = 0.012  # s per root of a second in a zone: standard deviation from lap to lap of a practised driver
Kind = Literal["pace", "evenness", "shifting", "hands", "braking", "lifting", "fading"]
_PLACES = ("brake_point", "brake_end", "turn_in", "min_speed_at", "throttle_point", "full_throttle")
_SPEEDS = ("min_speed", "entry_speed", "exit_speed")
# By how much corners of a person without a habit differ: m; and as shares. Times are less sharp than these.
_CLUES = (("brake_point", 3.0), ("entry_speed", 0.03), ("min_speed", 0.03))


@dataclass(frozen=True)
class Habit:
    """Something to change.

    Attributes:
        kind: pace: slow in one corner; evenness: a corner, or every one, is driven otherwise in each lap; shifting: the
            gears; hands: they are slow; braking: it is gentle; lifting: where it is not needed; fading: slower from lap
            to lap.
        corner: where; None: everywhere.
        cost_s: s a lap.
        error_s: standard error of that, s.
        chance: that it is there, 0..1.
        advice: what to change.
        evidence: the figures behind it.
        own: the person's usual figures in the corner.
        expected: those at the person's usual pace.
        zone_costs: s a lap in each zone, of what is everywhere.
    """

    kind: Kind
    corner: Corner | None
    cost_s: float
    error_s: float
    chance: float
    advice: str
    evidence: str
    own: CornerFigures | None = None
    expected: CornerFigures | None = None
    zone_costs: tuple[float, ...] = ()


def average_figures(figures: Sequence[CornerFigures]) -> CornerFigures:
    """Return the median figures of laps in one corner; a place that most laps have not is NaN."""
    values = {}
    for name in vars(figures[0]):
        column = np.array([getattr(each, name) for each in figures])
        known = column[np.isfinite(column)]
        values[name] = float(np.median(known)) if 2 * len(known) > len(column) else math.nan
    return CornerFigures(**values)


def find_slow_corners(
    model: PaceModel, laps: Sequence[LocatedLap], zone_times: Array, car_errors: Array | float = 0.0
) -> list[Habit]:
    """Return the corners that cost more than the person's usual pace explains.

    Args:
        model: planned laps.
        laps: the person's.
        zone_times: (laps, zones) s.
        car_errors: (zones,) s, standard error of the times at the usual pace, by what is not known of the car.
    """
    bends = [k for k, corner in enumerate(model.corners) if corner.number]
    if len(laps) < LEAST_LAPS or len(bends) < LEAST_CORNERS:
        return []
    corners = [model.corners[k] for k in bends]
    times = zone_times[:, bends]
    mean = np.median(times, axis=0)
    error = 1.25 * times.std(axis=0, ddof=1) / math.sqrt(len(laps))  # of a median
    error = np.hypot(error, np.broadcast_to(car_errors, zone_times.shape[1])[bends])
    weight = np.sqrt(mean)  # what differs from corner to corner adds up along it
    slower = (mean - model.expect_times(model.share)[bends]) / weight
    planned = [measure_corner(model.lap, corner) for corner in corners]
    own = [average_figures([measure_corner(lap, corner) for lap in laps]) for corner in corners]
    chances = dict(find_outliers(slower, error / weight, USUAL_COST, find_clues(planned, own)))
    rest = np.array([slower[k] for k in range(len(bends)) if k not in chances])
    figures = calibrate_figures(planned, own)
    findings = []
    for k, chance in chances.items():
        cost = float((slower[k] - np.median(rest)) * weight[k])
        doubt = math.hypot(float(error[k]), float(rest.std(ddof=1) * weight[k]))
        if cost < LEAST_COST:
            continue
        phases = _split_phases(model, laps, bends[k])
        findings.append(Habit(
            "pace", corners[k], cost, doubt, chance,
            advise_corner(own[k], figures[k], cost, phases), describe_evidence(own[k], figures[k]), own[k], figures[k],
        ))  # fmt: skip
    return findings


def _split_phases(model: PaceModel, laps: Sequence[LocatedLap], k: int) -> PhaseLosses:
    """Return where in a corner the time is lost against the usual pace, s."""
    corner = model.corners[k]
    marks = np.array([corner.start, corner.entry, corner.exit, corner.end])
    own = np.median([np.diff(lap.interpolate("time", marks)) for lap in laps], axis=0)
    return PhaseLosses(*(own - np.diff(model.lap.interpolate("time", marks))).tolist())


def find_clues(planned: Sequence[CornerFigures], own: Sequence[CornerFigures]) -> Array:
    """Return how probable (corners,) it is by chance that a corner is braked for so early, or driven so slowly."""
    chances = np.ones(len(own))
    for name, usual in _CLUES:
        theirs, mine = (np.array([getattr(each, name) for each in figures]) for figures in (planned, own))
        gaps = theirs - mine if name in _PLACES else np.log(theirs / mine)
        known = np.flatnonzero(np.isfinite(gaps))
        for k in known if len(known) >= LEAST_CORNERS else ():
            chance = moderated_tail(float(gaps[k]), gaps[known[known != k]], usual)
            chances[k] = min(chances[k], len(_CLUES) * chance)
    return chances


def calibrate_figures(planned: Sequence[CornerFigures], own: Sequence[CornerFigures]) -> list[CornerFigures]:
    """Return planned figures moved by what the person's differ from them in most corners.

    A pedal is not an acceleration, and a person who brakes a little early everywhere has that pace: what counts in a
    corner is what is different there.
    """
    moved: list[dict[str, float]] = [{} for _ in planned]
    for name in (*_PLACES, *_SPEEDS, "apex_offset"):
        gap = np.array([getattr(a, name) - getattr(b, name) for a, b in zip(own, planned, strict=True)])
        for k, values in enumerate(moved):
            others = np.delete(gap, k)
            others = others[np.isfinite(others)]
            value = getattr(planned[k], name)
            values[name] = value + float(np.median(others)) if len(others) else value
    return [
        replace(figures, **values, brake_peak=person.brake_peak, gear=person.gear)
        for figures, person, values in zip(planned, own, moved, strict=True)
    ]


def describe_evidence(own: CornerFigures, other: CornerFigures) -> str:
    """Return the figures in which two differ, in a line."""
    rows = (("brake at", "brake_point", 1.0, "m"), ("turn in at", "turn_in", 1.0, "m"),
            ("slowest", "min_speed", 3.6, "km/h"), ("throttle at", "throttle_point", 1.0, "m"),
            ("exit", "exit_speed", 3.6, "km/h"), ("off the middle at the apex", "apex_offset", 1.0, "m"))  # fmt: skip
    parts = []
    for said, name, factor, unit in rows:
        mine, theirs = getattr(own, name) * factor, getattr(other, name) * factor
        if math.isfinite(mine - theirs) and abs(mine - theirs) >= 1.0:
            parts.append(f"{said} {mine:.0f} instead of {theirs:.0f} {unit}")
    return "; ".join(parts)


def find_uneven_corners(
    corners: Sequence[Corner], laps: Sequence[LocatedLap], zone_times: Array, expected: Array | None = None
) -> list[Habit]:
    """Return the corners that are driven otherwise in each lap, more than the others.

    Args:
        corners: with their zones.
        laps: the person's.
        zone_times: (laps, zones) s.
        expected: (zones,) s at the usual pace; None: it is not known, and the best lap's counts.
    """
    bends = [k for k, corner in enumerate(corners) if corner.number]
    if len(laps) < LEAST_LAPS + 1 or len(bends) < LEAST_CORNERS:
        return []
    times = zone_times[:, bends]
    best = laps[int(np.argmin(zone_times.sum(axis=1)))]
    braked = np.array([_measure_braked_speed(best, corners[k]) for k in bends])
    uneven = np.hypot(1.0, braked / UNEVEN_BRAKING)
    weight = np.sqrt(np.median(times, axis=0)) * uneven / np.median(uneven)
    found = find_large_variances((times / weight).var(axis=0, ddof=1), len(laps) - 1, USUAL_SPREAD**2)
    # One lap that is unlike the others is a mistake.
    order = np.argsort(np.abs(times - np.median(times, axis=0)), axis=0)[:-1]
    rest = np.take_along_axis(times, order, axis=0).std(axis=0, ddof=1) / weight
    found = [(place, chance) for place, chance in found if rest[place] >= REPEATED * np.median(rest)]
    findings = []
    for place, chance in found:
        k = bends[place]
        own = times[:, place]
        cost = float(own.mean() - own.min() - _usual_excess(times, weight, place))
        if expected is not None and own.mean() - expected[k] >= LEAST_COST:
            cost = float(own.mean() - expected[k])
        error = float(own.std(ddof=1)) / math.sqrt(len(laps))
        if cost < max(LEAST_COST, SURELY * error):
            continue
        figures = [measure_corner(lap, corners[k]) for lap in laps]
        findings.append(Habit(
            "evenness", corners[k], cost, error, chance,
            _advise_evenness(figures, own, cost),
            f"{own.min():.2f} s there in the quickest lap, {own.max():.2f} s in the slowest",
        ))  # fmt: skip
    return findings


def _measure_braked_speed(lap: LocatedLap, corner: Corner) -> float:
    """Return the speed that a corner takes off, m/s."""
    speed = lap.channels["speed"][(lap.s >= corner.start) & (lap.s <= corner.end)]
    slowest = int(np.nanargmin(speed))
    return float(np.nanmax(speed[: slowest + 1]) - speed[slowest])


def _usual_excess(times: Array, weight: Array, place: int) -> float:
    """Return by how much the mean is above the best in a corner that is as even as the others, s."""
    excess = (times.mean(axis=0) - times.min(axis=0)) / weight
    return float(np.median(np.delete(excess, place)) * weight[place])


def _advise_evenness(figures: Sequence[CornerFigures], times: Array, cost: float) -> str:
    best = figures[int(np.argmin(times))]
    points = np.array([each.brake_point for each in figures])
    known = points[np.isfinite(points)]
    if math.isfinite(best.brake_point) and len(known) >= LEAST_LAPS and known.std() >= 2.0:
        return (f"Brake at the same place, {best.brake_point:.0f} m, as in your best lap there: it moves by"
                f" {np.ptp(known):.0f} m, which costs {cost:.2f} s in the mean lap.")  # fmt: skip
    return f"Drive it as in your best lap there: its time changes from lap to lap, which costs {cost:.2f} s."
