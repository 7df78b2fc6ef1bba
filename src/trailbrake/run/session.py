"""A whole drive: load, check, connect, drive, score, record, report."""

import math
import platform
from collections.abc import Callable
from contextlib import ExitStack, nullcontext, suppress
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from trailbrake import __version__
from trailbrake.drivers.load import load as load_driver
from trailbrake.drivers.sample import weaving
from trailbrake.errors import DriverError, TrailbrakeError, UsageError, raised_at
from trailbrake.kernels import COLD
from trailbrake.planning.course import Course, Unmapped
from trailbrake.roles import Driver, RehearsedDriver, Tap
from trailbrake.run import rate
from trailbrake.run.car import Car
from trailbrake.run.connect import connected, for_driver
from trailbrake.run.loop import LoopResult, run_loop
from trailbrake.run.needs import check_needs
from trailbrake.run.options import DriveOptions, default_driver, world_kind
from trailbrake.run.rest import come_to_rest
from trailbrake.run.show import Quiet, Show, Watch
from trailbrake.run.signals import on_stop
from trailbrake.run.supervisor import Supervisor
from trailbrake.run.survey import surveyed, told_by
from trailbrake.run.warm import world_compiled_beside
from trailbrake.sims import registry

INTERRUPTED = "interrupted"


def drive(
    options: DriveOptions, live: Any = None, show: Show | None = None, watch: Watch | None = None
) -> dict[str, Any]:
    """Drive as asked and return the summary that `trailbrake drive --json` prints.

    Args:
        options: the drive.
        live: the simulator's `spec.LiveOptions`; None for its defaults.
        show: told how it goes.
        watch: sees every tick, and has the hands of a driver that wants some.

    Raises:
        TrailbrakeError: before the drive, when something is wrong or missing. Once the car moves nothing is
            raised: the summary's `ended` says why a drive stopped early.
    """
    show = show or Quiet()
    spec = registry.part(options.sim, "spec")
    supervisor = Supervisor()

    def stopped() -> bool:
        return supervisor.stop_reason != ""

    _check_cars(options, spec)
    if options.log is not None and not options.pictures:
        raise UsageError("a driving log is made of pictures", where="--log", hint="leave --no-pictures out")
    options = replace(options, driver=options.driver or default_driver(options.sim))
    own_world = not options.live and world_kind(options.sim) != "miniature"
    # A request: an exception inside of the compiler would be lost, and leave half-made kernels behind.
    with on_stop(lambda: supervisor.request_stop(INTERRUPTED)):
        with world_compiled_beside() if own_world else nullcontext():
            options, live, course = _course(options, live or spec.LiveOptions(), stopped, show)
            drivers = _prepare(options, course, show)
        if stopped():
            raise KeyboardInterrupt
    mapped = not isinstance(course, Unmapped)
    if hasattr(drivers[0], "hands") and watch is None:
        raise UsageError(f"{options.driver} is driven from the live page", where="--driver", hint="add --watch")
    laps = 1 if mapped and not course.track.road.closed else options.laps  # an open road has an end
    about = _about(options, laps)
    with (
        on_stop(lambda: supervisor.request_stop(INTERRUPTED)),
        connected(for_driver(options, drivers[0]), live, stopped) as connection,
        ExitStack() as watched,
    ):
        watchers = _drawings(options, live, course)
        if watch is not None:
            watchers.append(watch.attend(about, connection.link, drivers[0], course))
        cars = []
        for number, (link, driver) in enumerate(zip(connection.links, drivers, strict=True)):
            own = supervisor if number == 0 else Supervisor()
            car = Car(options, laps, course, link, driver, own, about, show, number, watchers if number == 0 else [])
            watched.callback(car.close)
            cars.append(car)
        first = cars[0]
        result = run_loop(first.seat, connection.pace, [car.seat for car in cars[1:]], show.say)
        if result.reason:
            first.recorder.event(first.scorer.time, result.reason)
        elif options.live:  # the embedded world ends with the drive; the game goes on
            crew = [(car.link, driver, car.supervisor) for car, driver in zip(cars, drivers, strict=True)]
            if not come_to_rest(crew, connection.pace):
                show.say("the car was given back rolling: it did not come to a stand")
        first.recorder.wire({"link": asdict(first.link.counters), "host": connection.host_now()})
        told = told_by(options)
    summary = _summary(options, first, course, result)
    summary["host"] = connection.host_report
    if math.isnan(summary["contacts"]):  # the wire does not tell, the embedded world does
        summary["contacts"] = connection.host_report.get("contacts", math.nan)
    summary["game"] = told
    summary["report"] = _report(first.recorder.path, show) if options.report and first.scorer.time > 0.0 else None
    summary["driving_log"] = _log(first.recorder.path, options.log, show) if options.log is not None else None
    summary["others"] = [car.summary() for car in cars[1:]]
    return summary


def _course(
    options: DriveOptions, live: Any, stopped: Callable[[], bool], show: Show
) -> tuple[DriveOptions, Any, Course]:
    """Return the drive and the live options as `surveyed` does, and what the drivers are told."""
    spec = registry.part(options.sim, "spec")
    elsewhere = options.live and not options.track and getattr(spec, "OWN_ROADS", False)
    if {"x", "y"} <= spec.SUPPLIES and not elsewhere:
        options, live, track, car = surveyed(options, live, stopped, show.say)
        return options, live, Course(track, car)
    return options if options.live else options.named(), live, Unmapped()


def _check_cars(options: DriveOptions, spec: Any) -> None:
    if options.cars < 1:
        raise UsageError("a drive needs a car", where="--cars", expected="1 or more", got=str(options.cars))
    if options.cars > 1 and not hasattr(spec, "seat"):
        raise UsageError(
            f"one car only through the wire of {options.sim}", where="--cars", expected="1", got=str(options.cars)
        )


def _report(recording: Path, show: Show) -> str | None:
    """Write the report; return where it is, or say why there is none: the drive has been driven all the same."""
    from trailbrake.analysis.report import write_report  # here and below: what the end needs keeps no start waiting

    try:
        return str(write_report(recording, recording.with_suffix(".html")))
    except TrailbrakeError as error:
        show.say(f"no report: {error}")
        return None


def _log(recording: Path, folder: Path, show: Show) -> dict[str, Any] | None:
    """Write the driving log out of the recording: nothing is written to many small files while the car drives."""
    from trailbrake.record.driving_log_export import export_driving_log
    from trailbrake.record.reader import Recording

    try:
        return export_driving_log(Recording.open(recording), folder)
    except TrailbrakeError as error:
        show.say(f"no driving log: {error}")
        return None


def _drawings(options: DriveOptions, live: Any, course: Course) -> list[Tap]:
    """Return what draws the plan in the simulator, where that is asked for."""
    if not getattr(live, "draw", False):
        return []
    return [registry.part(options.sim, "draw").Drawing(course)]


def _prepare(options: DriveOptions, course: Course, show: Show) -> list[Driver]:
    """Load the drivers, one per car, check that they fit, and plan."""
    drivers = [load_driver(options.driver, options.config) for _ in range(options.cars)]
    check_needs(drivers[0], options.driver, options.sim)
    if COLD:
        show.say("compiling kernels (once, a few seconds)")
    try:
        for driver in drivers:
            driver.reset(course)
        if not isinstance(course, Unmapped):
            _ = course.profile  # the score and the report want the plan, whether the driver does or not
            if COLD and isinstance(drivers[0], RehearsedDriver):
                # An answer compiles more, best while the world is compiled beside. One that fails does so in a drive.
                with suppress(Exception):
                    drivers[0].rehearse(weaving(course, 1, 0.003), 0.003)
    except TrailbrakeError:
        raise
    except (Exception, SystemExit) as error:
        where = raised_at(error) or options.driver
        raise DriverError(f"reset() raised {type(error).__name__}: {error}", where=where) from error
    return drivers


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


def _predicted(course: Course) -> dict[str, float]:
    if isinstance(course, Unmapped):
        return {"predicted_s": math.nan, "predicted_from_rest_s": math.nan}
    return {
        "predicted_s": course.profile.lap_time,
        "predicted_from_rest_s": course.plan(course.line, start=0.0).lap_time,
    }


def _summary(options: DriveOptions, first: Car, course: Course, result: LoopResult) -> dict[str, Any]:
    return {
        "sim": options.sim,
        "driver": options.driver,
        "track": options.track,
        "car": options.car,
        "seed": options.seed,
        **first.summary(),
        **_predicted(course),
        "ended": result.reason or "done",
        "realtime_factor": result.simulated / result.wall if result.wall else math.nan,
        "loop": {
            "ticks": result.ticks,
            "p50_us": result.work.percentile(0.5) * 1e6,
            "p99_us": result.work.percentile(0.99) * 1e6,
            "p999_us": result.work.percentile(0.999) * 1e6,
            "overruns": result.overruns,
        },
    }
