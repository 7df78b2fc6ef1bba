"""What a person does otherwise in one corner than in the others, what it costs, and how sure that is.

The chance of a finding comes from how much the person's corners differ among themselves, and from the spread of the
laps: one corner that is unlike the others is a habit, a driver who is slow everywhere has none.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from trailbrake.analysis.corner_advice import PhaseLosses, advise_corner
from trailbrake.analysis.corner_figures import CornerFigures, measure_corner
from trailbrake.analysis.corners import Corner
from trailbrake.analysis.lap_location import LocatedLap
from trailbrake.arrays import Array
from trailbrake.coaching.outliers import (
    HARDLY,
    NORMAL_MEDIAN,
    clip_gaps,
    find_large_variances,
    find_outliers,
    moderated_tail,
)
from trailbrake.coaching.pace_model import PaceModel
from trailbrake.units import KMH

DIGITS = 2  # behind the point, of seconds: costs are known to a few hundredths at best
LEAST_COST = 0.05  # s a lap, below which nothing is worth a word
LEAST_CORNER_COST = 0.12  # s a lap, which one corner costs by chance, ...
SPREADS = 3.0  # ... or as many standard deviations from lap to lap, as the corners have usually
LEAST_PART = 0.01  # s, of a straight: there is none between some bends
LEAST_STRAIGHT, LEAST_STRAIGHTS = 0.8, 3  # s; and how many of them tell how long the person takes on straights
ROUNDS = 3  # of that and of the share, which depend on each other a little
SURELY = 1.645  # standard errors that a cost is above 0 with a chance of 95 %
LEAST_LAPS = 3
REPEATED = 2.0  # times the usual spread without the lap that is most unlike, from which a corner is uneven
LEAST_REPEATED = 2  # laps that fail in a corner, and that do not
LEAST_CORNERS = 5
LEAST_DROP = 0.5  # m/s beyond the usual, from which changing down is why a bend is slow
USUAL_COST = 0.015  # s per root of a second in a zone: how much corners differ of a person without a habit
UNEVEN_BRAKING = 15.0  # m/s that a corner takes off, at which the braking is as uneven as the rest of it
USUAL_SPREAD = 0.012  # s per root of a second in a zone: standard deviation from lap to lap of a practised driver
LEAST_MISTAKE, MISTAKE_RANGE = 0.2, 5.0  # s, and times their range, by which laps that fail are behind the others
FAILED_SPEED = 0.85  # of the lowest speed of the others: braking early is not so slow
Kind = Literal["pace", "mistakes", "evenness", "shifting", "hands", "braking", "lifting", "fading"]
_PLACES = ("brake_point", "brake_end", "turn_in", "min_speed_at", "throttle_point", "full_throttle")
_SPEEDS = ("min_speed", "entry_speed", "exit_speed")
# By how much corners of a person without a habit differ: m; and as shares. Times are less sharp than these.
_CLUES = (("brake_point", 2.0), ("entry_speed", 0.02), ("min_speed", 0.015))


@dataclass(frozen=True)
class Habit:
    """Something to change.

    Attributes:
        kind: pace: slow in one corner; mistakes: some laps fail in it; evenness: a corner, or every one, is driven
            otherwise in each lap; shifting: the gears, in one corner or everywhere; hands: they are slow; braking: it
            is gentle; lifting: where it is not needed; fading: slower from lap to lap.
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
    planned = [measure_corner(model.lap, corner) for corner in corners]
    own = [average_figures([measure_corner(lap, corner) for lap in laps]) for corner in corners]
    clues, figures = find_clues(planned, own), calibrate_figures(planned, own)
    times, errors = zone_times[:, bends], np.broadcast_to(car_errors, zone_times.shape[1])[bends]
    before, planned_before = share_before_exit(laps, corners), share_before_exit([model.lap], corners)[0]
    unbraked = ~np.isfinite([figures.brake_point for figures in planned])
    before[:, unbraked] = planned_before[unbraked] = 0.0  # of the way out of the bend before
    in_bends, on_straights = _expect_parts(model, zone_times, before, planned_before)
    whole = _compare_times(times, in_bends + on_straights, errors, clues)
    bend = _compare_times(times * before, in_bends, errors * planned_before, clues)
    behind = _compare_times(times * (1.0 - before), on_straights, errors, clues)
    findings = []
    for k in sorted({*whole.chances, *bend.chances}):
        # A straight hides what is lost in the bend: it counts where more is lost there than hardly by chance.
        lost = whole if k not in bend.chances or (k in whole.chances and behind.tails[k] <= HARDLY) else bend
        cost, chance = float(lost.costs[k]), max(each.chances.get(k, 0.0) for each in (whole, bend))
        phases = _split_phases(model, laps, bends[k])
        finding = Habit(
            "pace", corners[k], cost, float(lost.errors[k]), chance,
            advise_corner(own[k], figures[k], cost, phases, DIGITS), describe_evidence(own[k], figures[k]),
            own[k], figures[k],
        )  # fmt: skip
        findings.append(blame_downshift(finding))
    return findings


def _expect_parts(model: PaceModel, zone_times: Array, before: Array, planned_before: Array) -> tuple[Array, Array]:
    """Return the times (corners,) s at the usual pace up to the ends of bends, and behind them.

    An engine that was learned a few percent wrong is no habit: all straights take as much longer as the person's do in
    the middle, and the share of the grip is that of the rest.

    Args:
        model: of the usual pace.
        zone_times: (laps, zones) s.
        before: (laps, corners) share of the person's times up to the ends of bends.
        planned_before: (corners,) that of the planned lap.
    """
    bends = [k for k, corner in enumerate(model.corners) if corner.number]
    own = np.median(zone_times[:, bends] * (1.0 - before), axis=0)
    share, longer = model.share, 1.0
    for _ in range(ROUNDS):
        straights = model.expect_times(share)[bends] * (1.0 - planned_before)
        counted = straights > LEAST_STRAIGHT
        if counted.sum() >= LEAST_STRAIGHTS:
            longer = float(np.median(own[counted] / straights[counted]))
        usual = np.median(zone_times, axis=0)
        usual[bends] /= planned_before + longer * (1.0 - planned_before)
        share = model.find_usual_share(usual)
    expected = model.expect_times(share)[bends]
    return expected * planned_before, longer * expected * (1.0 - planned_before)


def blame_downshift(finding: Habit) -> Habit:
    """Return the finding of a slow corner, of the gears where changing down is its cause and no early braking."""
    own, expected = finding.own, finding.expected
    if own is None or expected is None:
        return finding
    drop = own.shift_drop - expected.shift_drop
    if not (drop >= LEAST_DROP and not expected.brake_point - own.brake_point >= dict(_CLUES)["brake_point"]):
        return finding
    taken = f"changing down to gear {own.gear:.0f} in the bend takes {drop / KMH:.0f} km/h off"
    advice = (f"Stay in gear {own.gear + 1.0:.0f}, or change down before the bend and match the revs: {taken}, and"
              f" {finding.cost_s:.{DIGITS}f} s are lost.")  # fmt: skip
    return replace(finding, kind="shifting", advice=advice)


def share_before_exit(laps: Sequence[LocatedLap], corners: Sequence[Corner]) -> Array:
    """Return the share (laps, corners) of the time in each corner's zone that is taken up to the end of the bend."""
    marks = np.array([[corner.start, min(corner.exit, corner.end), corner.end] for corner in corners])
    parts = np.array([np.diff(lap.interpolate("time", marks.ravel()).reshape(marks.shape)) for lap in laps])
    shares: Array = parts[..., 0] / parts.sum(axis=-1)
    return shares


def find_mean_costs(model: PaceModel, laps: Sequence[LocatedLap], zone_times: Array) -> tuple[Array, float]:
    """Return what (zones,) s bends cost in the mean lap beyond the usual pace, up to their ends, and how bends differ.

    Args:
        model: of the usual pace.
        laps: the person's.
        zone_times: (laps, zones) s.
    """
    own, expected = share_before_exit(laps, model.corners), share_before_exit([model.lap], model.corners)[0]
    costs: Array = (zone_times * own).mean(axis=0) - model.expect_times(model.share) * expected
    bends = [corner.number > 0 for corner in model.corners]
    costs -= float(np.median(costs[bends]))
    return costs, NORMAL_MEDIAN * float(np.median(np.abs(costs[bends])))


class _TimesLost(NamedTuple):
    """What corners (corners,) cost beyond what the others do, s, with standard errors, and which are outliers."""

    costs: Array
    errors: Array
    tails: Array
    chances: dict[int, float]


def _compare_times(times: Array, expected: Array, car_errors: Array, clues: Array) -> _TimesLost:
    """Return what corners cost beyond what the others do.

    Args:
        times: (laps, corners) s.
        expected: (corners,) s at the usual pace.
        car_errors: (corners,) s, standard error of that.
        clues: (corners,) what `find_clues` returns.
    """
    mean = np.median(times, axis=0)
    errors = np.hypot(1.25 * times.std(axis=0, ddof=1) / math.sqrt(len(times)), car_errors)  # of a median
    weight = np.sqrt(np.maximum(mean, LEAST_PART))  # what differs from corner to corner adds up along it
    slower = (mean - expected) / weight
    chances = dict(find_outliers(slower, errors / weight, USUAL_COST, clues))
    rest = np.array([slower[k] for k in range(len(slower)) if k not in chances])
    costs = (slower - np.median(rest)) * weight
    least = find_least_costs(times, weight)
    tails = [moderated_tail(value, np.delete(slower, k), USUAL_COST) for k, value in enumerate(slower.tolist())]
    spread = math.sqrt(float((clip_gaps(rest, USUAL_COST) ** 2).sum()) / (len(rest) - 1))
    return _TimesLost(costs, np.hypot(errors, spread * weight), np.array(tails),
                      {k: chance for k, chance in chances.items() if costs[k] >= least[k]})  # fmt: skip


def find_least_costs(times: Array, weight: Array) -> Array:
    """Return the cost (corners,) s below which nothing is said of a corner.

    Args:
        times: (laps, corners) s.
        weight: (corners,) that the spreads of the times are in proportion to.
    """
    usual = float(np.median(times.std(axis=0, ddof=1) / weight))
    return np.maximum(LEAST_CORNER_COST, SPREADS * usual * weight)


def _split_phases(model: PaceModel, laps: Sequence[LocatedLap], k: int) -> PhaseLosses:
    """Return where in a corner the time is lost against the usual pace, s."""
    corner = model.corners[k]
    marks = np.array([corner.start, corner.entry, corner.exit, corner.end])
    own = np.median([np.diff(lap.interpolate("time", marks)) for lap in laps], axis=0)
    return PhaseLosses(*(own - np.diff(model.lap.interpolate("time", marks))).tolist())


def find_clues(planned: Sequence[CornerFigures], own: Sequence[CornerFigures]) -> Array:
    """Return how probable (corners,) it is by chance that a corner is braked for so early, or driven so slowly.

    Of a corner that the plan does not brake for, the speeds are those of the way out of the bend before: no clue.
    """
    chances, braked = np.ones(len(own)), np.isfinite([figures.brake_point for figures in planned])
    for name, usual in _CLUES:
        theirs, mine = (np.array([getattr(each, name) for each in figures]) for figures in (planned, own))
        gaps = theirs - mine if name in _PLACES else np.log(theirs / mine)
        known = np.flatnonzero(np.isfinite(gaps) & braked)
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
            ("enter at", "entry_speed", 3.6, "km/h"), ("slowest", "min_speed", 3.6, "km/h"),
            ("throttle at", "throttle_point", 1.0, "m"), ("exit", "exit_speed", 3.6, "km/h"),
            ("off the middle at the apex", "apex_offset", 1.0, "m"))  # fmt: skip
    parts = []
    for said, name, factor, unit in rows:
        mine, theirs = getattr(own, name) * factor, getattr(other, name) * factor
        if math.isfinite(mine - theirs) and abs(mine - theirs) >= 1.0:
            parts.append(f"{said} {mine:.0f} instead of {theirs:.0f} {unit}")
    return "; ".join(parts)


def find_mistakes(
    corners: Sequence[Corner], laps: Sequence[LocatedLap], zone_times: Array
) -> tuple[list[Habit], Array]:
    """Return the corners that fail in several laps and succeed in others, and the times (laps, zones) s without that.

    Args:
        corners: with their zones.
        laps: the person's.
        zone_times: (laps, zones) s.
    """
    findings, rest = [], zone_times.copy()
    for k, corner in enumerate(corners):
        own = zone_times[:, k]
        failed = find_late_laps(own)
        if not corner.number or failed.sum() < LEAST_REPEATED:
            continue
        bad, better = (
            average_figures([measure_corner(lap, corner) for lap, fits in zip(laps, rows, strict=True) if fits])
            for rows in (failed, ~failed)
        )
        if not bad.min_speed < FAILED_SPEED * better.min_speed:
            continue
        good = own[~failed]
        lost = float(own[failed].mean() - good.mean())
        rest[failed, k] = float(np.median(good))
        count, error = int(failed.sum()), float(own.std(ddof=1)) / math.sqrt(len(own))
        findings.append(Habit(
            "mistakes", corner, lost * count / len(own), error, 1.0,
            f"It fails in {count} of {len(own)} laps, by {lost:.1f} s each: first do in each lap what you do in the"
            " others.", describe_evidence(bad, better), bad, better,
        ))  # fmt: skip
    return findings, rest


def find_late_laps(times: Array) -> NDArray[np.bool_]:
    """Return which laps (laps,) may have failed in a corner: far behind the others, which are close together.

    Args:
        times: (laps,) s in its zone.
    """
    order = np.argsort(times)
    ranked = times[order]
    failed = np.zeros(len(times), dtype=np.bool_)
    for good in range(LEAST_REPEATED, len(times)):
        gap, spread = ranked[good] - ranked[good - 1], ranked[good - 1] - ranked[0]
        if gap >= max(LEAST_MISTAKE, MISTAKE_RANGE * spread):
            failed[order[good:]] = True
            break
    return failed


def find_uneven_corners(
    corners: Sequence[Corner],
    laps: Sequence[LocatedLap],
    zone_times: Array,
    pace_costs: tuple[Array, float] | None = None,
) -> list[Habit]:
    """Return the corners that are driven otherwise in each lap, more than the others.

    Args:
        corners: with their zones.
        laps: the person's.
        zone_times: (laps, zones) s.
        pace_costs: what `find_mean_costs` returns; None: the pace is not known, and the best lap's alone counts.
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
    rest = np.take_along_axis(times, order, axis=0)
    spreads = rest.std(axis=0, ddof=1) / weight
    found = [(place, chance) for place, chance in found if spreads[place] >= REPEATED * np.median(spreads)]
    least = find_least_costs(times, weight)
    findings = []
    for place, chance in found:
        k = bends[place]
        own = times[:, place]
        noise = float(own.std(ddof=1)) / math.sqrt(len(laps))
        cost, error = _measure_excess(times, weight, place), (len(laps) + 1.0) / (len(laps) - 1.0) * noise
        if pace_costs is not None and pace_costs[0][k] >= LEAST_COST:
            doubt = math.hypot(noise, pace_costs[1])
            share = error**2 / (error**2 + doubt**2)  # by the inverse variances of both
            cost += share * (float(pace_costs[0][k]) - cost)
            error *= math.sqrt(1.0 - share)
        if min(cost, _measure_excess(rest, weight, place)) < max(least[place], SURELY * noise):
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


def _measure_excess(times: Array, weight: Array, place: int) -> float:
    """Return by how much the mean is above what is possible in a corner, s, beyond what the other corners have.

    The best of few laps is above that too: of times that are evenly distributed by this factor.
    """
    excess = (len(times) + 1.0) / (len(times) - 1.0) * (times.mean(axis=0) - times.min(axis=0)) / weight
    own, usual = float(excess[place]), float(np.median(np.delete(excess, place)))
    return math.sqrt(max(own**2 - usual**2, 0.0)) * float(weight[place])


def _advise_evenness(figures: Sequence[CornerFigures], times: Array, cost: float) -> str:
    best = figures[int(np.argmin(times))]
    points = np.array([each.brake_point for each in figures])
    known = points[np.isfinite(points)]
    if math.isfinite(best.brake_point) and len(known) >= LEAST_LAPS and known.std() >= 2.0:
        return (f"Brake at the same place, {best.brake_point:.0f} m, as in your best lap there: it moves by"
                f" {np.ptp(known):.0f} m, which costs {cost:.2f} s in the mean lap.")  # fmt: skip
    return f"Drive it as in your best lap there: its time changes from lap to lap, which costs {cost:.2f} s."
