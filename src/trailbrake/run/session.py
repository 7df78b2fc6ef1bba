"""A whole drive: load, check, connect, drive, score, record, report."""

import math
import platform
from contextlib import nullcontext
from dataclasses import asdict
from pathlib import Path
from typing import Any, Protocol

from trailbrake import __version__
from trailbrake.analysis.report import write_report
from trailbrake.config import recordings_folder
from trailbrake.drivers.load import load as load_driver
from trailbrake.drivers.load import needs_of
from trailbrake.errors import DriverError, TrailbrakeError, UsageError, raised_at
from trailbrake.kernels import COLD
from trailbrake.laps import LapRecord
from trailbrake.planning.course import Course
from trailbrake.record.threaded import Threaded
from trailbrake.record.writer import Recorder
from trailbrake.roles import Driver, Tap
from trailbrake.run import rate
from trailbrake.run.connect import connected
from trailbrake.run.loop import LoopResult, run_loop
from trailbrake.run.options import DriveOptions
from trailbrake.run.score import Scorer
from trailbrake.run.signals import on_stop
from trailbrake.run.supervisor import Supervisor
from trailbrake.run.survey import surveyed, told_by
from trailbrake.run.warm import world_compiled_beside
from trailbrake.sims import registry
from trailbrake.state import CarState, Controls
from trailbrake.tracks.road import Column

INTERRUPTED = "interrupted"


class Show(Protocol):
    """What wants to be told how a drive goes; the command line prints it."""

    def say(self, text: str) -> None:
        """A line for the user."""

    def lap(self, lap: LapRecord) -> None:
        """A lap is finished."""

    def progress(self, share_done: float, state: CarState, lap: int) -> None:
        """Called a few times a second."""


class Quiet:
    """A Show that shows nothing."""

    def say(self, text: str) -> None:
        """Say nothing."""

    def lap(self, lap: LapRecord) -> None:
        """Show nothing."""

    def progress(self, share_done: float, state: CarState, lap: int) -> None:
        """Show nothing."""


class _Progress:
    """A tap that passes progress on, a few times a second of wall time, and the moment the car first moves."""

    def __init__(self, show: Show, scorer: Scorer, laps: int) -> None:
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
            done = len(self._scorer.laps) + self._scorer.timer.progress
            self._show.progress(done / self._laps if self._laps else math.nan, state, len(self._scorer.laps) + 1)

    def close(self) -> None:
        """Nothing to end."""


def check_needs(driver: Driver, name: str, sim: str) -> None:
    """Raise UsageError where `sim` does not supply what the driver needs, naming the fields and who supplies them."""
    needs = needs_of(driver, name)
    missing = sorted(needs - registry.part(sim, "spec").SUPPLIES)
    if missing:
        able = [s for s in registry.names() if needs <= registry.part(s, "spec").SUPPLIES]
        raise UsageError(
            f"driver {name} needs what {sim} does not supply: {', '.join(missing)}",
            hint=f"these supply it: {', '.join(able)}" if able else "no simulator supplies all of it",
        )


def drive(options: DriveOptions, live: Any = None, show: Show | None = None) -> dict[str, Any]:
    """Drive as asked and return the summary that `trailbrake drive --json` prints.

    Args:
        options: the drive.
        live: the simulator's `spec.LiveOptions`; None for its defaults.
        show: told how it goes.

    Raises:
        TrailbrakeError: before the drive, when something is wrong or missing. Once the car moves nothing is
            raised: the summary's `ended` says why a drive stopped early.
    """
    show = show or Quiet()
    spec = registry.part(options.sim, "spec")
    supervisor = Supervisor()

    def stopped() -> bool:
        return supervisor.stop_reason != ""

    with on_stop(lambda: supervisor.request_stop(INTERRUPTED)) if options.live else nullcontext():
        options, live, track, car = surveyed(options, live or spec.LiveOptions(), stopped, show.say)
    with nullcontext() if options.live else world_compiled_beside():
        course, driver = _prepare(options, Course(track, car), show)
    laps = options.laps if track.road.closed else 1  # an open road has an end
    about = _about(options, laps)
    with (
        on_stop(lambda: supervisor.request_stop(INTERRUPTED)),
        connected(options, live, stopped) as connection,
    ):
        recorder = _recorder(options, course)

        def finished(lap: LapRecord) -> None:
            recorder.lap(lap)
            show.lap(lap)

        scorer = Scorer(track, course.line, finished)
        # The recorder first: a lap is written right after the tick that ended it.
        taps: list[Tap] = [recorder, scorer, _Progress(show, scorer, laps), *_drawings(options, live, course)]
        for tap in taps:
            tap.start(about)
        try:
            result = run_loop(connection.link, driver, supervisor, taps, connection.pace, _goal(options, laps, scorer))
            if result.reason:
                recorder.event(scorer.time, result.reason)
        finally:
            for tap in taps:
                tap.close()
        told = told_by(options)
    summary = _summary(options, laps, course, scorer, supervisor, result)
    summary["link"] = asdict(connection.link.counters)
    summary["host"] = connection.host_report
    summary["game"] = told
    summary["recording"] = str(recorder.path)
    summary["recording_error"] = recorder.error
    summary["dropped"] = recorder.dropped
    summary["report"] = _report(recorder.path, show) if options.report and scorer.time > 0.0 else None
    return summary


def _report(recording: Path, show: Show) -> str | None:
    """Write the report; return where it is, or say why there is none: the drive has been driven all the same."""
    try:
        return str(write_report(recording, recording.with_suffix(".html")))
    except TrailbrakeError as error:
        show.say(f"no report: {error}")
        return None


def _drawings(options: DriveOptions, live: Any, course: Course) -> list[Tap]:
    """Return what draws the plan in the simulator, where that is asked for."""
    if not getattr(live, "draw", False):
        return []
    return [registry.part(options.sim, "draw").Drawing(course)]


def _prepare(options: DriveOptions, course: Course, show: Show) -> tuple[Course, Driver]:
    """Load the driver, check that it fits, and plan."""
    driver = load_driver(options.driver)
    check_needs(driver, options.driver, options.sim)
    if COLD:
        show.say("compiling kernels (once, a few seconds)")
    try:
        driver.reset(course)
        _ = course.profile  # the score and the report want the plan, whether the driver does or not
    except TrailbrakeError:
        raise
    except (Exception, SystemExit) as error:
        where = raised_at(error) or options.driver
        raise DriverError(f"reset() raised {type(error).__name__}: {error}", where=where) from error
    return course, driver


def _goal(options: DriveOptions, laps: int, scorer: Scorer) -> Any:
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


def _about(options: DriveOptions, laps: int) -> dict[str, Any]:
    return {
        "sim": options.sim,
        "live": options.live,
        "driver": options.driver,
        "track": options.track,
        "car": options.car,
        "seed": options.seed,
        "speed": options.speed,
        "laps": laps,
        "trailbrake": __version__,
        "python": platform.python_version(),
        "system": platform.system(),
        "started": rate.date(),
    }


def _recorder(options: DriveOptions, course: Course) -> Recorder | Threaded:
    folder = options.out or recordings_folder()
    track = course.track.name.replace(":", "-")  # no colon in file names of Windows
    name = f"{track}_{Path(options.car).stem}_{Path(options.driver.split(':')[0]).stem}"
    plain = Recorder(folder / f"{name}_{rate.stamp()}.mcap")
    recorder = Threaded(plain) if options.live or options.speed == "real" else plain
    road, line = course.track.road, course.line
    left, right = road.edges()
    recorder.map(road.table[:, [Column.X, Column.Y]], left[:, :2], right[:, :2], road.closed)
    recorder.plan(line.stations(), line.column(Column.X), line.column(Column.Y), course.profile.speed)
    return recorder


def _summary(
    options: DriveOptions, laps: int, course: Course, scorer: Scorer, supervisor: Supervisor, result: LoopResult
) -> dict[str, Any]:
    valid = [lap.time_s for lap in scorer.laps if lap.valid]
    flying = course.profile.lap_time
    rest = course.plan(course.line, start=0.0).lap_time
    return {
        "sim": options.sim,
        "driver": options.driver,
        "track": options.track,
        "car": options.car,
        "seed": options.seed,
        "laps": [{"number": lap.number, "time_s": lap.time_s, "valid": lap.valid, "sectors_s": list(lap.sectors_s),
                  "invalid_reason": lap.invalid_reason}
                 for lap in scorer.laps],
        "best_s": min(valid, default=None),
        "predicted_s": flying,
        "predicted_from_rest_s": rest,
        "off_track_s": scorer.timer.off_track_s,
        "contacts": scorer.timer.contacts,
        "mean_speed_mps": scorer.mean_speed,
        "max_abs_lateral_error_m": scorer.max_error,
        "ended": result.reason or "done",
        "realtime_factor": result.simulated / result.wall if result.wall else math.nan,
        "loop": {
            "ticks": result.ticks,
            "p50_us": result.work.percentile(0.5) * 1e6,
            "p99_us": result.work.percentile(0.99) * 1e6,
            "p999_us": result.work.percentile(0.999) * 1e6,
            "overruns": result.overruns,
        },
        "supervisor": asdict(supervisor.counters),
    }  # fmt: skip
