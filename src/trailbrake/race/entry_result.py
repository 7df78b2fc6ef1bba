"""What came out of a race for one entry. Pure data."""

import hashlib

import msgspec

from trailbrake.driving.road_monitor import RoadMonitor


class JudgedLap(msgspec.Struct, frozen=True):
    """A finished lap: s from line to line, whether it counts and why not, contacts, and s off the road."""

    number: int
    time_s: float
    valid: bool
    reason: str
    contacts: int
    off_track_s: float


class EntryResult(msgspec.Struct, frozen=True, kw_only=True):
    """How a race went for one entry.

    Attributes:
        entry: its name.
        finished: whether it drove all laps.
        ended: why not; "" if it did.
        laps: those that it finished.
        time_s: s from the start to the end of its last lap.
        best_s: its best lap that counts; None where there is none.
        contacts: with walls and cars.
        digest: of every state of its car and of all of the above but `ended`: equal for equal races.
        recording: file name, "" where there is none; so `report`.
        report: the recording as a page.
    """

    entry: str
    finished: bool
    ended: str
    laps: tuple[JudgedLap, ...]
    time_s: float
    best_s: float | None
    contacts: int
    digest: str
    recording: str = ""
    report: str = ""


def lost_result(entry: str, reason: str) -> EntryResult:
    """Return the result of an entry that has not raced at all, and why."""
    return build_result(entry, reason, RoadMonitor(None), hashlib.sha256())


def build_result(
    entry: str, ended: str | None, monitor: RoadMonitor, states: "hashlib._Hash", *, clean: bool = True
) -> EntryResult:
    """Return how a race went.

    Args:
        entry: its name.
        ended: why it ended, "" = all laps driven; None: it did not.
        monitor: of the world's own states.
        states: the hash of these.
        clean: whether only laps that count are best laps.
    """
    laps = tuple(
        JudgedLap(number, lap.time_s, lap.valid, lap.invalid_reason, lap.contacts, lap.off_track_s)
        for number, lap in enumerate(monitor.laps, 1)
    )
    best = min((lap.time_s for lap in laps if lap.valid or not clean), default=None)
    hashed, time_s, finished = states.copy(), monitor.finished_at, ended == ""
    hashed.update(msgspec.json.encode((entry, laps, time_s, best, float(monitor.contacts), finished)))
    return EntryResult(
        entry=entry, finished=finished, ended=ended or "", laps=laps, time_s=time_s, best_s=best,
        contacts=int(monitor.contacts), digest=hashed.hexdigest(),
    )  # fmt: skip
