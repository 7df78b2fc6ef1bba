"""One car of a drive: its seat in the loop, its recording, its score, and its part of the summary."""

import math
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from trailbrake.config import recordings_folder
from trailbrake.laps import LapRecord
from trailbrake.planning.course import Course, Unmapped
from trailbrake.record.names import safe_name
from trailbrake.record.threaded import Threaded
from trailbrake.record.writer import Recorder
from trailbrake.roles import Driver, Link, Tap
from trailbrake.run import rate
from trailbrake.run.count import LapCounter
from trailbrake.run.loop import Seat
from trailbrake.run.options import DriveOptions
from trailbrake.run.score import Score, Scorer, as_json
from trailbrake.run.show import Show
from trailbrake.run.supervisor import Supervisor
from trailbrake.state import CarState, Controls
from trailbrake.tracks.road import Column


class _Progress:
    """A tap that passes progress on, a few times a second of wall time, and the moment the car first moves."""

    def __init__(self, show: Show, scorer: Score, laps: int) -> None:
        self._show, self._scorer, self._laps = show, scorer, laps
        self._due, self._moving = 0.0, False

    def start(self, about: dict[str, Any]) -> None:
        """Nothing to prepare."""

    def tick(self, state: CarState, controls: Controls) -> None:
        """Look at the time."""
        if not self._moving and state.speed > 0.5:
            self._moving = True
            self._show.say(f"moving at {state.time:.2f} s of simulator time")
        now = rate.now()
        if now >= self._due:
            self._due = now + 0.2
            done = len(self._scorer.laps) + self._scorer.progress
            self._show.progress(done / self._laps if self._laps else math.nan, state, len(self._scorer.laps) + 1)

    def close(self) -> None:
        """Nothing to end."""


class Car:
    """A car and all that watches it.

    Args:
        options: the drive.
        laps: how many to drive, 0 = no limit.
        course: where.
        link: an open link to the car.
        driver: who drives it, already reset.
        supervisor: the car's own.
        about: what the recording says about itself.
        show: told of the first car's progress.
        number: 0 for the first car of the drive.
        watchers: taps beside those that it brings.
    """

    def __init__(
        self,
        options: DriveOptions,
        laps: int,
        course: Course,
        link: Link,
        driver: Driver,
        supervisor: Supervisor,
        about: dict[str, Any],
        show: Show,
        number: int,
        watchers: Sequence[Tap] = (),
    ) -> None:
        self.number, self.link, self.supervisor = number, link, supervisor
        self.recorder = recorder = _recorder(options, course, number)

        def finished(lap: LapRecord) -> None:
            recorder.lap(lap)
            if number == 0:
                show.lap(lap)

        self.scorer: Score = (
            LapCounter(finished) if isinstance(course, Unmapped) else Scorer(course.track, course.line, finished)
        )
        # The recorder first: a lap is written right after the tick that ended it.
        taps: list[Tap] = [recorder, self.scorer]
        if number == 0:
            taps.append(_Progress(show, self.scorer, laps))
        taps += watchers
        self._taps = taps
        for tap in taps:
            tap.start(about | {"number": number} if number else about)
        self.seat = Seat(link, driver, supervisor, taps, _goal(options, laps, self.scorer))

    def close(self) -> None:
        """End what watches: what is held is written."""
        for tap in self._taps:
            tap.close()

    def summary(self) -> dict[str, Any]:
        """Return what is to be said of this car."""
        scorer = self.scorer
        return {
            **({"number": self.number, "ended": self.supervisor.stop_reason or "done"} if self.number else {}),
            "laps": [as_json(lap) for lap in scorer.laps],
            "best_s": min((lap.time_s for lap in scorer.laps if lap.valid), default=None),
            "off_track_s": scorer.off_track_s,
            "contacts": scorer.contacts,
            "mean_speed_mps": scorer.mean_speed,
            "max_abs_lateral_error_m": scorer.max_error,
            "supervisor": asdict(self.supervisor.counters),
            "link": asdict(self.link.counters),
            "recording": str(self.recorder.path),
            "recording_error": self.recorder.error,
            "dropped": self.recorder.dropped,
        }


def _goal(options: DriveOptions, laps: int, scorer: Score) -> Any:
    seconds = options.seconds or math.inf
    began = math.nan

    def goal() -> str | None:
        nonlocal began
        if laps and len(scorer.laps) >= laps:
            return ""
        if seconds < math.inf:
            began = scorer.time if math.isnan(began) else began
            if scorer.time - began >= seconds:
                return ""
        return None

    return goal


def _recorder(options: DriveOptions, course: Course, number: int) -> Recorder | Threaded:
    folder = options.out or recordings_folder()
    mapped = not isinstance(course, Unmapped)
    track = course.track.name if mapped else options.track or options.sim
    names = [track, *(Path(name).stem for name in (options.car, options.driver) if name)]
    name = safe_name("_".join(names))
    which = f"_car{number}" if number else ""
    plain = Recorder(folder / f"{name}_{rate.stamp()}{which}.mcap", pictures=options.pictures)
    recorder = Threaded(plain) if options.live or options.speed == "real" else plain
    if not mapped:
        return recorder
    road, line = course.track.road, course.line
    left, right = road.edges()
    recorder.map(road.table[:, [Column.X, Column.Y]], left[:, :2], right[:, :2], road.closed)
    recorder.plan(line.stations(), line.column(Column.X), line.column(Column.Y), course.profile.speed)
    return recorder
