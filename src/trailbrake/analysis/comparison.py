"""`compare_drives`: laps of any recordings over distance, and what each corner costs.

The reference is one lap; every other lap is compared with it. A corner's zone reaches from where the laps slow down for
it to where they slow down for the next one, so that what a bad exit costs on the straight counts for its corner. The
zones cover the lap: their losses add up to the difference of the lap times.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from trailbrake.analysis.corner_advice import LEAST_LOSS, LEAST_SPEED, PhaseLosses, advise_corner, advise_stretch
from trailbrake.analysis.corner_figures import CornerFigures, find_slowing, lap_speed, measure_corner
from trailbrake.analysis.corners import (
    Corner,
    find_corners,
    find_line_corners,
    find_recorded_track,
    set_zones,
    space_evenly,
    title_corners,
)
from trailbrake.analysis.lap_location import CommonLine, LocatedLap, choose_line, locate_laps
from trailbrake.arrays import Array
from trailbrake.errors import DataError, UsageError
from trailbrake.record.recording_reader import Recording

MAX_LAPS = 24  # of one recording that are read
MAX_COMPARED = 6  # laps beside the best one, where there is one recording only
COARSEST_STEP, FINEST_STEP = 2.0, 0.1  # m of the charts' grid
GRID_POINTS = 4000
FROM_REST = "The lap began at rest, the reference at speed."


@dataclass(frozen=True)
class DriveChoice:
    """A recording, and which of its laps is compared.

    Attributes:
        recording: the drive.
        label: for people.
        lap: number of the lap; 0 = the best.
    """

    recording: Recording
    label: str
    lap: int = 0


@dataclass(frozen=True)
class CornerLoss:
    """What a lap loses in a corner against the reference. `lost_s` is NaN where not both have driven it."""

    corner: Corner
    figures: CornerFigures
    reference: CornerFigures
    lost_s: float
    phases: PhaseLosses
    command_difference: float
    advice: str


@dataclass(frozen=True)
class DriveConsistency:
    """How even the laps of one recording are.

    Attributes:
        laps: how many finished, valid laps there are; the one from rest counts where there is no other.
        best_s: s.
        mean_s: s.
        deviation_s: standard deviation of the lap times, s; NaN with fewer than two.
        theoretical_s: the best time of every zone together, s.
        corner_deviations_s: standard deviation of the time in each zone, s.
        brake_deviations_m: standard deviation of the brake point, m; NaN where fewer than two laps brake.
    """

    laps: int
    best_s: float
    mean_s: float
    deviation_s: float
    theoretical_s: float
    corner_deviations_s: tuple[float, ...]
    brake_deviations_m: tuple[float, ...]


@dataclass(frozen=True)
class Comparison:
    """Laps of one road.

    Attributes:
        drives: the recordings.
        line: what the distances are along.
        corners: with their zones, which cover the lap.
        laps: those that are compared.
        reference: index of the reference in `laps`.
        losses: for each lap, its corners in the order of what they cost; empty for the reference.
        consistency: for each recording.
        theoretical_s: the best time of every zone over all valid laps together, s.
        grid: m, the distances of the charts.
        notes: for the user.
    """

    drives: tuple[DriveChoice, ...]
    line: CommonLine
    corners: tuple[Corner, ...]
    laps: tuple[LocatedLap, ...]
    reference: int
    losses: tuple[tuple[CornerLoss, ...], ...]
    consistency: tuple[DriveConsistency, ...]
    theoretical_s: float
    grid: Array
    notes: tuple[str, ...]

    def name_lap(self, index: int) -> str:
        """Return a label for a lap: the recording's, and the number of the lap."""
        lap = self.laps[index]
        if not lap.number:  # planned
            return self.drives[lap.source].label
        number = f"lap {lap.number}" if lap.finished else "unfinished lap"
        return f"{self.drives[lap.source].label}, {number}" if len(self.drives) > 1 else number

    def compute_delta(self, index: int) -> Array:
        """Return the time (s) that a lap is behind the reference at every place of the grid."""
        return self.laps[index].interpolate("time", self.grid) - self.laps[self.reference].interpolate(
            "time", self.grid
        )


def compare_drives(drives: Sequence[DriveChoice], reference: int = 0) -> Comparison:
    """Compare laps.

    Args:
        drives: one recording, whose laps are compared with its best one; or several, of which one lap each is.
        reference: number of the drive, from 1, whose lap the others are compared with; 0 = the fastest.

    Raises:
        UsageError: no drive, no such reference, or no such lap.
        DataError: there are no two laps to compare, or they are of different roads.
    """
    if not drives or not 0 <= reference <= len(drives):
        raise UsageError("no such drive", where="--reference", expected=f"1 to {len(drives)}", got=str(reference))
    common = choose_line([drive.recording for drive in drives])
    located = [locate_laps(drive.recording, i, common, MAX_LAPS) for i, drive in enumerate(drives)]
    _refuse_other_roads(drives, located)
    laps = [lap for drive, found in zip(drives, located, strict=True) for lap in _choose_laps(drive, found, drives)]
    if len(laps) < 2:
        raise DataError("one lap cannot be compared", where=drives[0].label, expected="two laps or more",
                        hint="give another recording")  # fmt: skip
    candidates = [i for i, lap in enumerate(laps) if not reference or lap.source == reference - 1]
    chosen = min(candidates, key=lambda i: _rank_lap(laps[i]))
    track = find_recorded_track(drives[laps[chosen].source].recording.about.get("track"))
    corners = title_corners(find_zones(common, laps, chosen), common, track)
    consistency = tuple(_measure_consistency(found, corners) for found in located)
    every = [lap for found in located for lap in found if lap.finished and lap.valid]
    step = min(COARSEST_STEP, max(FINEST_STEP, math.ceil(common.length / GRID_POINTS * 10.0) / 10.0))
    return Comparison(
        drives=tuple(drives),
        line=common,
        corners=tuple(corners),
        laps=tuple(laps),
        reference=chosen,
        losses=tuple(_rank_losses(laps, i, chosen, corners) for i in range(len(laps))),
        consistency=consistency,
        theoretical_s=add_best_zones(every, corners),
        grid=np.arange(int(common.length / step) + 1, dtype=np.float64) * step,
        notes=tuple(_list_notes(drives, common, laps)),
    )


def _refuse_other_roads(drives: Sequence[DriveChoice], located: Sequence[list[LocatedLap]]) -> None:
    """Raise DataError where a drive without positions names another road: no distance from the line can show that."""
    names = [str(drive.recording.about.get("track") or "").partition("@")[0] for drive in drives]
    for drive, name, laps in zip(drives, names, located, strict=True):
        others = sorted({other for other in names if other} - {name})
        if name and others and not any(np.isfinite(lap.channels["offset"]).any() for lap in laps):
            raise DataError("laps of another road cannot be compared", where=drive.label, got=name,
                            expected=f"laps of {', '.join(others)}", hint="compare drives of one track")  # fmt: skip


def _rank_lap(lap: LocatedLap) -> tuple[bool, bool, float, float]:
    """Return the key of the order of laps, best first."""
    return not lap.finished, not lap.valid, lap.time_s if lap.finished else 0.0, -float(lap.s[-1])


def _choose_laps(drive: DriveChoice, found: list[LocatedLap], drives: Sequence[DriveChoice]) -> list[LocatedLap]:
    if not found:
        raise DataError("there is no lap in it", where=drive.label)
    if drive.lap:
        laps = [lap for lap in found if lap.number == drive.lap]
        if not laps:
            known = ", ".join(str(lap.number) for lap in found)
            raise UsageError("no such lap", where=drive.label, expected=known, got=str(drive.lap))
        return laps[:1]
    ranked = sorted(found, key=_rank_lap)
    if len(drives) > 1:
        return ranked[:1]
    return sorted([lap for lap in ranked if lap.finished][: MAX_COMPARED + 1] or ranked[:1], key=lambda lap: lap.number)


def find_zones(common: CommonLine, laps: Sequence[LocatedLap], reference: int) -> list[Corner]:
    """Return the corners of a line with their zones, which cover the lap.

    Args:
        common: the line.
        laps: that slow down for them.
        reference: index of the lap whose curvature counts where there is no line.
    """
    if common.line is not None:
        bends = find_line_corners(common.line)
    else:
        s = space_evenly(common.length)
        bends = find_corners(s, np.nan_to_num(laps[reference].interpolate("curvature", s)))
    borders = []
    for corner, before in zip(bends, [None, *bends], strict=False):
        first = before.exit if before is not None else 0.0
        borders.append(min(max(find_slowing(lap, first, corner.entry), first) for lap in laps))
    return set_zones(bends, borders, common.length)


def _rank_losses(
    laps: Sequence[LocatedLap], index: int, reference: int, corners: Sequence[Corner]
) -> tuple[CornerLoss, ...]:
    if index == reference:
        return ()
    losses = [_measure_loss(laps[index], laps[reference], corner) for corner in corners]
    return tuple(sorted(losses, key=lambda loss: -loss.lost_s if math.isfinite(loss.lost_s) else math.inf))


def _measure_loss(lap: LocatedLap, reference: LocatedLap, corner: Corner) -> CornerLoss:
    mine, best = measure_corner(lap, corner), measure_corner(reference, corner)
    # A lap from rest has time before the line: the first zone, which begins at the line, gets it.
    before = 0.0 if corner.start > 0.0 else lap.find_time(0.0) - reference.find_time(0.0)
    lost = mine.time_s - best.time_s + before
    inside = (lap.s >= corner.start) & (lap.s <= corner.end)
    gap = lap.channels["command_difference"][inside]
    difference = float(np.sqrt(np.nanmean(gap**2))) if np.isfinite(gap).any() else math.nan
    # What it loses on its way to the first corner, and by arriving there slower, no brake point mends.
    slower = lap_speed(reference, corner.start) - lap_speed(lap, corner.start) > LEAST_SPEED
    is_start = lap.from_rest and not reference.from_rest and (not corner.number or (corner.number == 1 and slower))
    if not corner.number:
        advice = FROM_REST if is_start else advise_stretch(mine, best, lost)
        return CornerLoss(corner, mine, best, lost, PhaseLosses(lost, math.nan, math.nan), difference, advice)
    turn_in = best.turn_in if math.isfinite(best.turn_in) else corner.entry
    throttle = best.throttle_point if math.isfinite(best.throttle_point) else best.min_speed_at
    marks = np.maximum.accumulate([corner.start, turn_in, throttle, corner.end])
    behind = lap.interpolate("time", marks) - reference.interpolate("time", marks)
    behind[0] -= before
    phases = PhaseLosses(*np.diff(behind).tolist())
    advice = FROM_REST if is_start and lost >= LEAST_LOSS else advise_corner(mine, best, lost, phases)
    return CornerLoss(corner, mine, best, lost, phases, difference, advice)


def measure_zones(laps: Sequence[LocatedLap], corners: Sequence[Corner]) -> Array:
    """Return (laps, zones) times in s."""
    marks = np.array([corners[0].start, *(corner.end for corner in corners)]) if corners else np.zeros(1)
    return np.array([np.diff(lap.interpolate("time", marks)) for lap in laps]).reshape(len(laps), len(corners))


def add_best_zones(laps: Sequence[LocatedLap], corners: Sequence[Corner]) -> float:
    """Return the best time of every zone over all laps together, s; NaN without laps or corners."""
    if not laps or not corners:
        return math.nan
    # A lap from rest has its time before the line; the zones begin at the line.
    before = min(float(lap.find_time(0.0)) for lap in laps)
    return float(measure_zones(laps, corners).min(axis=0).sum()) + (before if math.isfinite(before) else 0.0)


def _measure_consistency(found: Sequence[LocatedLap], corners: Sequence[Corner]) -> DriveConsistency:
    laps = [lap for lap in found if lap.finished and lap.valid]
    laps = [lap for lap in laps if not lap.from_rest] or laps  # a start from rest says nothing about the others
    times = np.array([lap.time_s for lap in laps])
    zones = measure_zones(laps, corners)
    points = np.array([[measure_corner(lap, corner).brake_point for corner in corners] for lap in laps])
    points = points.reshape(len(laps), len(corners))
    return DriveConsistency(
        laps=len(laps),
        best_s=float(times.min()) if laps else math.nan,
        mean_s=float(times.mean()) if laps else math.nan,
        deviation_s=_deviate(times),
        theoretical_s=add_best_zones(laps, corners),
        corner_deviations_s=tuple(_deviate(zones[:, k]) for k in range(len(corners))),
        brake_deviations_m=tuple(_deviate(points[:, k]) for k in range(len(corners))),
    )


def _deviate(values: Array) -> float:
    """Return the sample standard deviation of the finite values, NaN with fewer than two."""
    known = values[np.isfinite(values)]
    return float(known.std(ddof=1)) if len(known) >= 2 else math.nan


def _list_notes(drives: Sequence[DriveChoice], common: CommonLine, laps: Sequence[LocatedLap]) -> list[str]:
    notes = []
    for drive in drives:
        if drive.recording.truncated:
            notes.append(f"{drive.label}: the recording is not complete, its end or a damaged part is missing.")
        if drive.recording.undone.any():
            notes.append(f"{drive.label}: the simulator was rewound; what it has undone is left out.")
        if drive.recording.about.get("open_loop"):
            notes.append(f"{drive.label}: an open-loop replay; the car is the recorded one, the commands are not.")
    if not common.is_timed:
        notes.append(f"The centre of the road was not recorded; distances are along the {common.basis}.")
    elif any(lap.finished and not lap.from_rest and math.isnan(lap.clock_error_s) for lap in laps):
        notes.append("Laps were counted at another line than the start of the road; times may be a tick off.")
    if any(lap.finished and math.isnan(lap.find_time(common.length) - lap.find_time(0.0)) for lap in laps):
        notes.append("A compared lap was counted at another line: where it is not known the losses do not add up.")
    if any(lap.finished and not lap.valid for lap in laps):
        notes.append("A compared lap is not valid.")
    return notes
