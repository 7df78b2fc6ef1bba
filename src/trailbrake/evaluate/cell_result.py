"""`CellResult`: what came out of a cell. Pure data."""

import math
from typing import Annotated, Literal

import msgspec

from trailbrake.driving.road_monitor import RoadMonitor

Outcome = Literal["clean", "off", "crash", "error"]


class CellLap(msgspec.Struct, frozen=True):
    """A finished lap.

    Attributes:
        number: 1, 2, ...
        time_s: s from line to line.
        valid: whether it counts.
        reason: why it does not, "" if it does.
        off_track_s: s with more than two wheels off the road.
        contacts: with walls.
    """

    number: int
    time_s: Annotated[float, msgspec.Meta(gt=0.0)]
    valid: bool
    reason: str = ""
    off_track_s: float = 0.0
    contacts: int = 0


class CellResult(msgspec.Struct, frozen=True, kw_only=True):
    """What came out of a cell, by the world's own account.

    Attributes:
        outcome: clean = all laps driven and valid; off = all laps driven, some do not count; crash = a contact, a car
            that got stuck, or a drive that the driver did not finish; error = no result: it is driven again next time.
        ended: "" = all laps driven; else why it ended.
        laps: the finished laps.
        closed: whether the road is a circuit.
        time_s: s of simulator time.
        distance_m: m along the road.
        mean_speed_mps: m/s, the way over the time since the car first moved; None where it never did.
        off_track_count: times that more than two wheels left the road.
        off_track_s: s with more than two wheels off the road.
        stuck_s: s in which the car made no headway.
        contacts: with walls.
        predicted_s: s, the planned flying lap for what the driver believes; None without a plan.
        recording: file name of the recording, "" without one.
        steps: samples of the wire that the driver answered.
        processor_s: s of processor time, planning included.
        wall_s: s of wall time.
    """

    outcome: Outcome
    ended: str = ""
    laps: tuple[CellLap, ...] = ()
    closed: bool = True
    time_s: float = 0.0
    distance_m: float = 0.0
    mean_speed_mps: float | None = None
    off_track_count: int = 0
    off_track_s: float = 0.0
    stuck_s: float = 0.0
    contacts: int = 0
    predicted_s: float | None = None
    recording: str = ""
    steps: int = 0
    processor_s: float = 0.0
    wall_s: float = 0.0


def build_result(monitor: RoadMonitor, ended: str, predicted_s: float) -> CellResult:
    """Return the result of a drive.

    Args:
        monitor: of the world's own states.
        ended: why the drive ended, "" = all laps driven.
        predicted_s: planned flying lap, s; NaN without a plan.
    """
    laps = tuple(
        CellLap(lap.number, lap.time_s, lap.valid, lap.invalid_reason, lap.off_track_s, lap.contacts)
        for lap in monitor.laps
    )
    outcome: Outcome = "clean"
    if ended or monitor.contacts:
        outcome = "crash"
    elif not all(lap.valid for lap in laps):
        outcome = "off"
    way, driven = monitor.distance, monitor.clock - monitor.moved_at
    return CellResult(
        outcome=outcome, ended=ended, laps=laps, closed=not monitor.is_open_road, time_s=monitor.elapsed,
        distance_m=way, mean_speed_mps=way / driven if driven > 0.0 else None,
        off_track_count=monitor.off_track_count, off_track_s=monitor.off_track_s, stuck_s=monitor.stuck_s,
        contacts=int(monitor.contacts), predicted_s=None if math.isnan(predicted_s) else predicted_s,
        steps=monitor.states,
    )  # fmt: skip


def failed_result(reason: str, wall_s: float = 0.0) -> CellResult:
    """Return the result of a cell that could not be driven."""
    return CellResult(outcome="error", ended=reason, wall_s=wall_s)
