"""`coach_laps`: from a person's recordings to what to change first, with evidence and how sure it is."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from trailbrake.analysis.comparison import DriveChoice, add_best_zones, find_zones, measure_zones
from trailbrake.analysis.corner_advice import PhaseLosses, advise_corner
from trailbrake.analysis.corner_figures import CornerFigures, measure_corner
from trailbrake.analysis.corners import Corner, title_corners
from trailbrake.analysis.lap_location import LocatedLap
from trailbrake.arrays import Array
from trailbrake.coaching.corner_findings import (
    DIGITS,
    Habit,
    average_figures,
    find_mean_costs,
    find_mistakes,
    find_slow_corners,
    find_uneven_corners,
)
from trailbrake.coaching.ghost_laps import drive_at_pace
from trailbrake.coaching.habits import find_fading, find_gentle_braking, find_lifts, find_uneven_laps
from trailbrake.coaching.lap_choice import ChosenLaps, choose_laps, describe_doubts
from trailbrake.coaching.learned_place import LearnedPlace, learn_place
from trailbrake.coaching.limit_lap import LimitLap, find_limit_lap
from trailbrake.coaching.options import CoachOptions
from trailbrake.coaching.pace_model import SHARES, PaceModel, build_pace_model, find_car_errors, follow_driven_lap
from trailbrake.coaching.shift_findings import find_high_gears
from trailbrake.coaching.steer_findings import find_slow_hands
from trailbrake.errors import DataError, TrailbrakeError
from trailbrake.units import NORMAL_95

SHOWN = 3  # findings: the one to work on, and two more
DEAREST = 3  # corners in which a pattern costs most, that are named
FEW_LAPS = 3  # below which nothing is said of habits


@dataclass(frozen=True)
class CornerGap:
    """A corner in the person's usual lap, beside the person's own best there and the limit.

    Attributes:
        corner: which.
        to_best_s: s that the usual lap is above the person's best one there.
        to_limit_s: s that it is above the limit lap; NaN without one.
        advice: the sentence against the limit lap, "" without one.
        own: usual figures.
        best: of the lap that was quickest there.
        limit: of the limit lap.
    """

    corner: Corner
    to_best_s: float
    to_limit_s: float
    advice: str
    own: CornerFigures
    best: CornerFigures
    limit: CornerFigures | None


@dataclass(frozen=True)
class CoachReport:
    """What to change, and what it rests on.

    Attributes:
        chosen: the laps, and those that are not used.
        corners: with their zones; empty without laps.
        best_s: s, own best lap; NaN without laps.
        ideal_s: s, own best sections together.
        spread_s: s, standard deviation of the lap times.
        share: of the grip that the person usually uses; NaN where the car is not known.
        place: the road and the car; None where they are not known.
        limit: the limit lap; None where the car is not known.
        findings: at most SHOWN, the one to work on first; empty where no habit stands out.
        gaps: every corner, in driving order.
        notes: what is not known, one line each.
    """

    chosen: ChosenLaps
    corners: tuple[Corner, ...] = ()
    best_s: float = math.nan
    ideal_s: float = math.nan
    spread_s: float = math.nan
    share: float = math.nan
    place: LearnedPlace | None = None
    limit: LimitLap | None = None
    findings: tuple[Habit, ...] = ()
    gaps: tuple[CornerGap, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def best_lap(self) -> LocatedLap:
        """The person's best lap; there must be one."""
        return min(self.chosen.laps, key=lambda lap: lap.time_s)


def coach_laps(
    drives: Sequence[DriveChoice], options: CoachOptions, show_message: Callable[[str], None] = lambda text: None
) -> CoachReport:
    """Return what to change, of the laps of one person.

    Args:
        drives: recordings.
        options: road, car, and how much is to be done.
        show_message: takes lines about what is under way.

    Raises:
        TrailbrakeError: there is no such track.
        DataError: there is no lap in any recording.
    """
    chosen = choose_laps(drives, options.track)
    laps = chosen.laps
    if not laps:
        return CoachReport(chosen, notes=(
            "There is no finished clean lap: nothing can be compared, and nothing is said of habits.",
            "`trailbrake report` shows what was driven; whole laps of one road can be coached.",
        ))  # fmt: skip
    best = min(range(len(laps)), key=lambda k: laps[k].time_s)
    corners = find_zones(chosen.line, laps, best)
    times = measure_zones(laps, corners)
    notes = describe_doubts(chosen)
    if len(laps) < FEW_LAPS:
        notes.append(f"{len(laps)} clean {'lap' if len(laps) == 1 else 'laps'}: a habit shows in {FEW_LAPS} or more.")
    lap_times = np.array([lap.time_s for lap in laps])
    report = CoachReport(
        chosen, tuple(corners), float(lap_times.min()), add_best_zones(laps, corners),
        float(lap_times.std(ddof=1)) if len(laps) > 1 else math.nan,
    )  # fmt: skip
    try:
        place = learn_place(chosen, options, show_message)
    except TrailbrakeError as error:
        notes.append(f"No limit lap and no usual pace: {error}")
        return _finish(report, None, times, notes)
    corners = title_corners(corners, chosen.line, place.place.course.track)
    report = replace(report, corners=tuple(corners), place=place)
    model = _model_pace(report, times, show_message, notes)
    if model.share >= SHARES[-1]:
        notes.append(f"No limit lap and no usual pace: your laps take {SHARES[-1]:.0%} of the grip that was learned,"
                     " or more, so that it is not your car's. --car names one.")  # fmt: skip
        return _finish(report, None, times, [*notes, *place.notes])
    report, notes = replace(report, share=model.share), [*notes, *place.notes]
    try:
        limit = find_limit_lap(place, chosen.line, report.ideal_s, show_message, drive=options.limit)
    except DataError as error:
        return _finish(report, model, times, [str(error), *notes])
    return _finish(replace(report, limit=limit), model, times, notes)


def _model_pace(report: CoachReport, times: Array, show_message: Callable[[str], None], notes: list[str]) -> PaceModel:
    """Return the model of the person's usual pace, by a lap of the learned car where it can be driven."""
    assert report.place is not None
    usual, line = np.median(times, axis=0), report.chosen.line
    model = build_pace_model(report.place.place.course, line, report.corners, usual)
    if model.share >= SHARES[-1]:
        return model
    try:
        show_message(f"driving the learned car at your pace, {model.share:.0%} of its grip")
        lap, share = drive_at_pace(report.place.place, model.share, line)
    except TrailbrakeError as error:
        notes.append(f"The usual pace is planned only: {error}")
        return model
    return follow_driven_lap(model, lap, share, usual)


def _finish(report: CoachReport, model: PaceModel | None, times: Array, notes: list[str]) -> CoachReport:
    """Return the report with findings, gaps and notes."""
    laps, corners = report.chosen.laps, report.corners
    failed, times_held = find_mistakes(corners, laps, times) if len(laps) >= FEW_LAPS else ([], times)
    found = find_patterns(report, model, times_held) if len(laps) >= FEW_LAPS else []
    found = [name_dearest(finding, corners) for finding in found]
    rest = times_held - np.sum([habit.zone_costs for habit in found], axis=0) if found else times_held
    if model is not None:
        model = replace(model, share=model.find_usual_share(np.median(rest, axis=0)))
    found += find_uneven_corners(corners, laps, rest, None if model is None else find_mean_costs(model, laps, rest))
    if model is not None:
        doubt = report.place.doubt if report.place is not None else None
        found += find_slow_corners(model, laps, rest, 0.0 if doubt is None else find_car_errors(model, doubt))
    findings = tuple(rank_findings([*failed, *found])[:SHOWN])
    gaps = tuple(_measure_gap(report, times, k) for k in range(len(corners)))
    return replace(report, findings=findings, gaps=gaps, notes=tuple(notes))


def find_patterns(report: CoachReport, model: PaceModel | None, times: Array) -> list[Habit]:
    """Return what the person does in many corners, or over the laps, each with its cost in every zone.

    Args:
        report: of the laps.
        model: of the usual pace; None where the car is not known.
        times: (laps, zones) s.
    """
    laps, corners, place = report.chosen.laps, report.corners, report.place
    found = find_uneven_laps(laps, times, corners) + find_fading(laps, times)
    if model is None or place is None:
        return found
    found += find_gentle_braking(model, laps)
    found += find_high_gears(model.course.known_car(), laps, corners, place.doubt.drive_force if place.doubt else 0.0)
    if math.isfinite(model.driven_share):
        found += find_lifts(laps, model.lap, corners)
        found += find_slow_hands(laps, model.lap, corners)
    return found


def name_dearest(finding: Habit, corners: Sequence[Corner]) -> Habit:
    """Return the finding of a pattern with the corners in which it costs most in its evidence."""
    order = np.argsort(finding.zone_costs)[: -DEAREST - 1 : -1]
    names = [corners[k].label for k in order if corners[k].number and finding.zone_costs[k] > 0.0]
    return (
        replace(finding, evidence=f"{finding.evidence}; most of the time in {', '.join(names)}") if names else finding
    )


def rank_findings(found: Sequence[Habit]) -> list[Habit]:
    """Return findings by what they cost, one for each corner, and those that are everywhere.

    A corner that is driven otherwise each time and is slow too is one thing: it costs what the mean lap loses there;
    one that is surely slower than that is slow in each lap.
    """
    kept: dict[int | str, Habit] = {}
    for finding in found:
        place = finding.kind if finding.corner is None else finding.corner.number
        before = kept.get(place)
        if before is None or finding.cost_s > before.cost_s + NORMAL_95 * math.hypot(before.error_s, finding.error_s):
            kept[place] = finding
        elif before.kind == "evenness":
            kept[place] = replace(before, own=finding.own, expected=finding.expected)
    return sorted(kept.values(), key=lambda finding: -finding.cost_s)


def _measure_gap(report: CoachReport, times: Array, k: int) -> CornerGap:
    corner, laps, limit = report.corners[k], report.chosen.laps, report.limit
    usual = float(np.median(times[:, k]))
    own = average_figures([measure_corner(lap, corner) for lap in laps])
    best = measure_corner(laps[int(np.argmin(times[:, k]))], corner)
    if limit is None:
        return CornerGap(corner, usual - float(times[:, k].min()), math.nan, "", own, best, None)
    figures = measure_corner(limit.lap, corner)
    lost = usual - figures.time_s
    marks = np.array([corner.start, corner.entry, corner.exit, corner.end])
    spent = np.median([np.diff(lap.interpolate("time", marks)) for lap in laps], axis=0)
    phases = PhaseLosses(*(spent - np.diff(limit.lap.interpolate("time", marks))).tolist())
    advice = advise_corner(own, figures, lost, phases, DIGITS) if corner.number else ""
    return CornerGap(corner, usual - float(times[:, k].min()), lost, advice, own, best, figures)
