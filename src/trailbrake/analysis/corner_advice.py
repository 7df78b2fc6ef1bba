"""One sentence for a corner: what to change, out of where the time is lost and how the two laps differ there."""

import math
from typing import NamedTuple

import numpy as np

from trailbrake.analysis.corner_figures import CornerFigures
from trailbrake.units import KMH

LEAST_LOSS = 0.005  # s below which a corner counts as equal
LEAST_WAY = 2.0  # m of difference that is worth a word
LEAST_SPEED = 0.3  # m/s
LEAST_PEDAL = 0.08
LEAST_OFFSET = 0.5  # m
TOO_FAST = 1.02  # of the reference's speed at the turn-in, from which more speed may be why the bend is slow
BEND_SHARE = 0.6  # of the speed missing at the exit: if that much was missing in the bend, the bend is the cause


class PhaseLosses(NamedTuple):
    """Time lost (s) before the turn-in, from there to the throttle point, and behind it; NaN where not known."""

    entry: float
    middle: float
    exit: float


def advise_corner(
    lap: CornerFigures, reference: CornerFigures, lost_s: float, phases: PhaseLosses, digits: int = 3
) -> str:
    """Return the sentence.

    Args:
        lap: the lap that is to become faster.
        reference: the lap that it is compared with.
        lost_s: s lost in the corner's zone.
        phases: the same, by phase.
        digits: of the time, behind the point.
    """
    if not math.isfinite(lost_s):
        return "Not driven by both laps."
    if lost_s <= -LEAST_LOSS:
        return f"Keep it: {-lost_s:.{digits}f} s faster than the reference."
    if lost_s < LEAST_LOSS:
        return "As fast as the reference."
    phase = max(PhaseLosses._fields, key=lambda name: _known_or(getattr(phases, name), -math.inf))
    cause = "middle" if phase == "exit" and _is_slow_from_the_bend(lap, reference) else phase
    finders = {"entry": _advise_entry, "middle": _advise_middle, "exit": _advise_exit}
    order = [cause, *(name for name in ("entry", "middle", "exit") if name != cause)]
    change = "" if cause == "entry" else _advise_slower_entry(lap, reference)
    change = change or next((text for name in order if (text := finders[name](lap, reference))), "")
    if not change:
        change = f"Carry more speed through the {phase} of the corner"
    return f"{change}: {lost_s:.{digits}f} s lost, most of it {_name_phase(phase)}."


def advise_stretch(lap: CornerFigures, reference: CornerFigures, lost_s: float) -> str:
    """Return the sentence for the stretch between the start line and the zone of the first corner."""
    if not math.isfinite(lost_s):
        return "Not driven by both laps."
    if lost_s < LEAST_LOSS:
        return "As fast as the reference." if lost_s > -LEAST_LOSS else f"{-lost_s:.3f} s faster than the reference."
    slower = (reference.entry_speed - lap.entry_speed) / KMH
    if slower >= 1.0:
        return (f"Leave the last corner faster: {slower:.0f} km/h are missing at the start line, which costs"
                f" {lost_s:.3f} s.")  # fmt: skip
    return f"Accelerate earlier and harder from the start line: {lost_s:.3f} s lost."


def _is_slow_from_the_bend(lap: CornerFigures, reference: CornerFigures) -> bool:
    """Return whether the exit is slow since the bend was: most of the missing speed was missing before."""
    missing = subtract_shown(reference.min_speed, lap.min_speed, KMH)
    return missing >= LEAST_SPEED and missing >= BEND_SHARE * (reference.exit_speed - lap.exit_speed)


def _known_or(value: float, other: float) -> float:
    return value if math.isfinite(value) else other


def subtract_shown(first: float, second: float, unit: float = 1.0) -> float:
    """Return a difference as of the rounded numbers that readers see, whose unit is `unit`."""
    return unit * float(np.round(first / unit) - np.round(second / unit))


def _name_phase(phase: str) -> str:
    return {"entry": "before the turn-in", "middle": "in the bend", "exit": "on the exit"}[phase]


def _advise_entry(lap: CornerFigures, reference: CornerFigures) -> str:
    earlier = subtract_shown(reference.brake_point, lap.brake_point)
    if math.isnan(reference.brake_point) and math.isfinite(lap.brake_point) and lap.brake_peak >= LEAST_PEDAL:
        return "Do not brake here, lift at most"
    if earlier >= LEAST_WAY:
        harder = reference.brake_peak - lap.brake_peak >= LEAST_PEDAL
        return f"Brake {earlier:.0f} m later, at {reference.brake_point:.0f} m" + (", and harder" if harder else "")
    if reference.brake_peak - lap.brake_peak >= LEAST_PEDAL and math.isfinite(earlier):
        return f"Brake harder, to {reference.brake_peak:.0%} instead of {lap.brake_peak:.0%}"
    longer = subtract_shown(lap.brake_end, reference.brake_end)
    if longer >= LEAST_WAY:
        return f"Release the brake {longer:.0f} m earlier, at {reference.brake_end:.0f} m"
    return ""


def _advise_slower_entry(lap: CornerFigures, reference: CornerFigures) -> str:
    """Return the advice for who is faster at the turn-in and pays for it: slower, or later on the throttle, behind."""
    too_fast = subtract_shown(lap.entry_speed, reference.entry_speed, KMH)
    late = subtract_shown(lap.throttle_point, reference.throttle_point)
    slow = subtract_shown(reference.min_speed, lap.min_speed, KMH)
    if not (lap.entry_speed >= TOO_FAST * reference.entry_speed and (late >= LEAST_WAY or slow >= LEAST_SPEED)):
        return ""
    text = f"Enter {too_fast / KMH:.0f} km/h slower, at {reference.entry_speed / KMH:.0f} km/h"
    earlier = subtract_shown(lap.brake_point, reference.brake_point)
    text += f", by braking {earlier:.0f} m earlier" if earlier >= LEAST_WAY else ""
    return text + (f", to open the throttle {late:.0f} m earlier" if late >= LEAST_WAY else "")


def _advise_middle(lap: CornerFigures, reference: CornerFigures) -> str:
    missing = subtract_shown(reference.min_speed, lap.min_speed, KMH)
    if missing >= LEAST_SPEED:
        text = f"Carry {missing / KMH:.0f} km/h more, {reference.min_speed / KMH:.0f} km/h at the slowest place"
        later = subtract_shown(reference.brake_point, lap.brake_point)
        turn = subtract_shown(reference.turn_in, lap.turn_in)
        if later <= -LEAST_WAY:
            text += f", by braking {-later:.0f} m earlier"
        elif later >= LEAST_WAY and not abs(turn) > later:  # NaN: the braking
            text += f", and brake {later:.0f} m later"
        elif abs(turn) >= LEAST_WAY:
            text += f", by turning in {abs(turn):.0f} m {'later' if turn > 0.0 else 'earlier'}"
        return text
    aside = reference.apex_offset - lap.apex_offset
    if abs(aside) >= LEAST_OFFSET:
        return f"Drive {abs(aside):.1f} m further {'left' if aside > 0.0 else 'right'} at the apex"
    return ""


def _advise_exit(lap: CornerFigures, reference: CornerFigures) -> str:
    later = subtract_shown(lap.throttle_point, reference.throttle_point)
    if later >= LEAST_WAY:
        return f"Open the throttle {later:.0f} m earlier, at {reference.throttle_point:.0f} m"
    is_flat = math.isnan(reference.throttle_point) and math.isfinite(reference.least_throttle)
    if is_flat and math.isfinite(lap.throttle_point):
        return "Stay on the throttle"
    later = subtract_shown(lap.full_throttle, reference.full_throttle)
    if later >= LEAST_WAY:
        return f"Be at full throttle {later:.0f} m earlier, at {reference.full_throttle:.0f} m"
    if abs(subtract_shown(lap.gear, reference.gear)) >= 1.0:  # a median over laps may lie between two
        return f"Drive the corner in gear {reference.gear:.0f} instead of {lap.gear:.0f}"
    missing = subtract_shown(reference.exit_speed, lap.exit_speed, KMH)
    if missing >= LEAST_SPEED:
        return f"Leave the corner {missing / KMH:.0f} km/h faster, at {reference.exit_speed / KMH:.0f} km/h"
    return ""
