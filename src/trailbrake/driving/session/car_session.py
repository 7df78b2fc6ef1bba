"""One car of a drive: its seat in the loop, its recording, its score, and its part of the summary."""

import math
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from trailbrake.config import recordings_folder
from trailbrake.driving.goals import AnyGoal
from trailbrake.driving.loop.drive_loop import CarLoop
from trailbrake.driving.road_monitor import RoadMonitor, WireLapScorer
from trailbrake.driving.run import CarWatch
from trailbrake.driving.session.drive_setup import DriveSetup
from trailbrake.driving.session.progress import ProgressListener
from trailbrake.json_types import JsonObject
from trailbrake.laps import MOVING_SPEED, LapRecord, lap_summary
from trailbrake.planning.course import Course, UnmappedCourse, has_plan
from trailbrake.record.file_names import safe_name
from trailbrake.record.recorder import Recorder
from trailbrake.record.writer_thread import write_in_thread
from trailbrake.roles import Link, Tap
from trailbrake.state import CarState, Controls
from trailbrake.system import steady_clock
from trailbrake.tracks.road import Road, RoadColumn

GONE = "the file is gone"  # of a recording, behind its path


SLOW_TICK_S = 0.5  # s of wall time from which a tick is worth a line
SLOW_AFTER_S = 5.0  # s of such ticks before it


class _ProgressTap:
    """A tap that passes progress on, a few times a second of wall time: the first move, and that ticks are slow."""

    def __init__(self, listener: ProgressListener, scorer: RoadMonitor, laps: int) -> None:
        self._listener, self._scorer, self._laps = listener, scorer, laps
        self._due, self._moving = 0.0, False
        self._first: tuple[float, float] | None = None  # wall and simulator time of the first tick; None once said
        self._ticks = 0

    def start(self, about: JsonObject) -> None:
        """Nothing to prepare."""

    def tick(self, state: CarState, controls: Controls) -> None:
        """Look at the time."""
        if not self._moving and state.speed > MOVING_SPEED:
            self._moving = True
            self._listener.show_message(f"moving at {state.time:.2f} s of simulator time")
        now = steady_clock.now()
        self._find_slowness(now, state.time)
        if now >= self._due:
            self._due = now + 0.2
            done = len(self._scorer.laps) + self._scorer.progress
            # The car may be past the finish when the last lap has been counted.
            share = min(done / self._laps, 1.0) if self._laps else math.nan
            self._listener.show_progress(share, state, len(self._scorer.laps) + 1)

    def _find_slowness(self, now: float, time: float) -> None:
        """Say once what a minute takes, where ticks take long: a terminal without a word looks broken."""
        if self._ticks == 0:
            self._first = (now, time)
        elif self._first is not None and now - self._first[0] >= SLOW_AFTER_S:
            wall, simulated = now - self._first[0], time - self._first[1]
            if wall >= SLOW_TICK_S * self._ticks and simulated > 0.0:
                self._listener.show_message(
                    f"slow: a tick takes {wall / self._ticks:.1f} s, mostly the driver; at this pace 1 s of simulator "
                    f"time takes {wall / simulated:.0f} s"
                )
            self._first = None
        self._ticks += 1

    def close(self) -> None:
        """Nothing to end."""


class CarSession:
    """One car of a drive: its taps, its score and its part of the summary.

    Args:
        link: an open link to the car.
        recorder: of the car, not started.
        course: that its driver has.
        listener: receives the first car's progress.
        number: 0 for the first car of the drive.

    Attributes:
        number: 0 for the first car of the drive.
        loop: the car's loop, once the drive has made it.
    """

    def __init__(
        self, link: Link, recorder: Recorder, course: Course, listener: ProgressListener, number: int = 0
    ) -> None:
        self.number, self.link, self.recorder = number, link, recorder
        self._listener = listener
        self._taps: list[Tap] = []
        self.loop: CarLoop | None = None

        def finished(lap: LapRecord) -> None:
            recorder.store_lap(lap)
            if number == 0:
                listener.show_lap(lap)

        self.scorer: RoadMonitor = (
            WireLapScorer(finished, recorder.store_rewind)
            if isinstance(course, UnmappedCourse)
            else RoadMonitor(
                course.track.road, course.line if has_plan(course) else None, finished, on_rewind=recorder.store_rewind
            )
        )

    def start_watch(self, goal: AnyGoal, about: JsonObject, watchers: Sequence[Tap]) -> CarWatch:
        """Start the taps, and return what watches the car and ends its drive.

        Args:
            goal: what ends the drive.
            about: what a recording says about the drive.
            watchers: further taps.
        """
        # The recorder first: a lap is written right after the tick that ended it.
        self._taps = [self.recorder, self.scorer]
        if self.number == 0:
            self._taps.append(_ProgressTap(self._listener, self.scorer, about["laps"]))
        self._taps += watchers
        for tap in self._taps:
            tap.start(about | {"number": self.number} if self.number else about)

        def say(text: str) -> None:
            self._record(text)
            self._listener.show_message(text)

        return CarWatch(self._taps, lambda: goal.judge(self.scorer), say, self._record, self.close)

    def _record(self, text: str) -> None:
        self.recorder.store_event(self.scorer.time, text)

    def close(self) -> None:
        """End what watches: what is held is written."""
        for tap in self._taps:
            tap.close()

    def build_summary(self) -> JsonObject:
        """Return what is to be said of this car."""
        scorer, loop = self.scorer, self.loop
        assert loop is not None
        assert loop.commands is not None
        supervisor, commands = loop.supervisor, loop.commands
        return {
            **({"number": self.number, "ended": supervisor.stop_reason or "done"} if self.number else {}),
            "laps": [lap_summary(lap) for lap in scorer.laps],
            "best_s": min((lap.time_s for lap in scorer.laps if lap.valid), default=None),
            "off_track_s": scorer.off_track_s,
            "contacts": scorer.contacts,
            "mean_speed_mps": scorer.mean_speed,
            "max_abs_lateral_error_m": scorer.max_error,
            "supervisor": asdict(supervisor.counters),
            "stability": supervisor.stability and {"slides": supervisor.stability.slides},
            "commands": {"sent": commands.sent, "refused": commands.refused},
            "pace": None if loop.pace is None else loop.pace.describe(),
            "link": asdict(self.link.counters),
            "recording": str(self.recorder.path),
            "recording_parts": [str(path) for path in self.recorder.paths],
            "recording_error": self.recorder.error or self._find_lost_file(),
            "dropped": self.recorder.dropped_ticks,
        }

    def _find_lost_file(self) -> str:
        """Return that a file which was written is not there, as where its folder has been removed; else ""."""
        lost = next((path for path in self.recorder.paths if not path.is_file()), None)
        return f"{lost}: {GONE}" if lost is not None else ""


def make_recorder(setup: DriveSetup, course: Course, first: Path | None, number: int) -> Recorder:
    """Return the recorder of a car of a drive, with the road and the plan.

    Args:
        setup: the drive.
        course: that the drivers have.
        first: the recording of the first car, beside which this one is; None for the first car: in the usual folder,
            named after road, car, driver and time.
        number: of the car, 0 for the first.
    """
    spec, keep = setup.spec, setup.spec.keep
    if first is None:
        folder = Path(keep.out) if keep.out else recordings_folder()
        mapped = not isinstance(course, UnmappedCourse)
        track = course.track.name if mapped else spec.track or setup.simulator.name
        names = [track, *(Path(name).stem for name in (spec.car, spec.first.driver) if name)]
        path = folder / f"{safe_name('_'.join(names))}_{steady_clock.filename_timestamp()}.mcap"
    else:
        path = first.with_stem(f"{first.stem}_car{number}")
    recorder = Recorder(path, pictures=keep.pictures, signals=setup.signals, limits=setup.part_limits)
    if spec.is_real_time:
        write_in_thread(recorder)
    store_course(recorder, course)
    return recorder


def store_course(recorder: Recorder, course: Course) -> None:
    """Store the outline of a road and the plan in a recording, as far as there are such."""
    if isinstance(course, UnmappedCourse):
        return
    store_road(recorder, course.track.road)
    if has_plan(course):
        line = course.line
        recorder.store_plan(line.stations(), line.column(RoadColumn.X), line.column(RoadColumn.Y), course.profile.speed)


def store_road(recorder: Recorder, road: Road) -> None:
    """Store the outline of a road in a recording."""
    left, right = road.edge_lines()
    recorder.store_map(road.table[:, [RoadColumn.X, RoadColumn.Y]], left[:, :2], right[:, :2], road.closed)
