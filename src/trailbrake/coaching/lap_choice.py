"""Which laps a person is coached by, and why others are not used: each with a reason in a few words."""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from trailbrake.analysis.comparison import DriveChoice
from trailbrake.analysis.lap_location import CommonLine, LocatedLap, choose_line, locate_laps
from trailbrake.analysis.lap_traces import split_laps
from trailbrake.arrays import Array
from trailbrake.errors import DataError
from trailbrake.tracks.track_library import load_track

MAX_LAPS = 60  # of one recording
SLOW_SPREADS = 5.0  # robust deviations behind the median, and ...
SLOW_SHARE = 0.03  # ... share of it, from which a lap is no attempt
EVERYWHERE = 0.75  # share of the lap in which a slow lap is slow, from which it is a wet or a gentle one
PARTS = 20  # of a lap, for that
PARTS_SLOWER = 0.02  # share of a part's usual time


@dataclass(frozen=True)
class UnusedLap:
    """A lap, or a recording, that is not used; `number` is 0 for a whole recording."""

    label: str
    number: int
    reason: str


@dataclass(frozen=True)
class ChosenLaps:
    """The laps that a person is coached by.

    Attributes:
        drives: recordings of one person, car and road.
        line: what distances are along.
        laps: finished, clean flying laps, in the order driven.
        unused: the others.
    """

    drives: tuple[DriveChoice, ...]
    line: CommonLine
    laps: tuple[LocatedLap, ...]
    unused: tuple[UnusedLap, ...]


def choose_laps(drives: Sequence[DriveChoice], track: str = "") -> ChosenLaps:
    """Return the laps to coach by: of the road, the car and the person that most of the recordings have.

    Args:
        drives: recordings.
        track: a track's name or file, whose road counts where none is recorded; "" = not named.

    Raises:
        TrailbrakeError: there is no such track.
        DataError: there is no lap in any recording.
    """
    kept, unused = _keep_one_group(drives)
    common = choose_line([drive.recording for drive in kept], load_track(track).road if track else None)
    used: list[DriveChoice] = []
    laps: list[LocatedLap] = []
    for drive in kept:
        try:
            found = locate_laps(drive.recording, len(used), common, MAX_LAPS)
        except DataError as error:
            unused.append(UnusedLap(drive.label, 0, f"another road: {error.args[0]}" if error.args else "another road"))
            continue
        used.append(drive)
        for lap in found:
            reason = _find_fault(drive, lap)
            if reason:
                unused.append(UnusedLap(drive.label, lap.number, reason))
            else:
                laps.append(lap)
    laps, slow = _drop_slow(laps, used, common)
    return ChosenLaps(tuple(used), common, tuple(laps), (*unused, *slow))


def _keep_one_group(drives: Sequence[DriveChoice]) -> tuple[list[DriveChoice], list[UnusedLap]]:
    """Return the recordings of the track, car and driver that have the most laps, and the others with the reason."""
    kept, unused = list(drives), []
    for name, said in (("track", "another road"), ("car", "another car"), ("driver", "another driver")):
        counts: Counter[str] = Counter()
        for drive in kept:
            counts[str(drive.recording.about.get(name) or "")] += len(drive.recording.laps)
        known = [(laps, value) for value, laps in counts.items() if value]
        if len(known) < 2:
            continue
        most = max(known)[1]
        for drive in list(kept):
            value = str(drive.recording.about.get(name) or "")
            if value not in ("", most):
                kept.remove(drive)
                unused.append(UnusedLap(drive.label, 0, f"{said}: {value}, the others have {most}; coach it by itself"))
    return kept, unused


def _find_fault(drive: DriveChoice, lap: LocatedLap) -> str:
    """Return why a lap says nothing about how fast the person drives; "" where it does."""
    if not lap.finished:
        return "not finished"
    if lap.from_rest:
        return "begun from rest, or an out lap"
    if not lap.valid:
        records = {record.number: record.invalid_reason for record in drive.recording.laps}
        return records.get(lap.number) or "not valid"
    rows = next((found.rows for found in split_laps(drive.recording) if found.number == lap.number), None)
    if rows is not None and drive.recording.undone[rows].any():
        return "rewound"
    if not np.isfinite(lap.channels["speed"]).mean() > 0.9:
        return "its speed is not known"
    return ""


def _drop_slow(
    laps: list[LocatedLap], drives: Sequence[DriveChoice], common: CommonLine
) -> tuple[list[LocatedLap], list[UnusedLap]]:
    """Return the laps without those that were no attempt: slow by traffic or a mistake, or slow everywhere."""
    if len(laps) < 3:
        return laps, []
    times = np.array([lap.time_s for lap in laps])
    middle = float(np.median(times))
    spread = 1.4826 * float(np.median(np.abs(times - middle)))
    most = middle + max(SLOW_SPREADS * spread, SLOW_SHARE * middle)
    parts = _measure_parts(laps, common)
    usual = np.nanmedian(parts[times <= most], axis=0)
    kept, unused = [], []
    for lap, own in zip(laps, parts, strict=True):
        if lap.time_s <= most:
            kept.append(lap)
            continue
        slower = own > (1.0 + PARTS_SLOWER) * usual
        where = float(np.nanargmax(own - usual)) * common.length / PARTS
        reason = ("slower everywhere: a wet road, or no attempt" if slower.mean() >= EVERYWHERE
                  else f"{lap.time_s - middle:.1f} s slower, near {where:.0f} m: traffic or a mistake")  # fmt: skip
        unused.append(UnusedLap(drives[lap.source].label, lap.number, reason))
    return kept, unused


def _measure_parts(laps: Sequence[LocatedLap], common: CommonLine) -> Array:
    marks = np.linspace(0.0, common.length, PARTS + 1)
    return np.array([np.diff(lap.interpolate("time", marks)) for lap in laps])


def describe_doubts(chosen: ChosenLaps) -> list[str]:
    """Return what the recordings do not tell: who drove, and what their samples are too few for, one line each."""
    notes = []
    if sum(not drive.recording.about.get("driver") for drive in chosen.drives) > 1:
        notes.append("The recordings do not name who drove: they count as one person's.")
    for number, drive in enumerate(chosen.drives):
        steps = [float(np.median(np.diff(lap.time))) for lap in chosen.laps if lap.source == number]
        period = float(np.median(steps)) if steps else math.nan
        if period > 0.15:
            notes.append(f"{drive.label}: about {1.0 / period:.0f} samples a second: places are known to some"
                         f" {period * 40.0:.0f} m at best.")  # fmt: skip
    return notes
