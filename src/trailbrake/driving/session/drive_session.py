"""A whole drive: load, check, connect, drive, score, record, report."""

import math
import platform
from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext, suppress
from dataclasses import asdict, replace
from pathlib import Path
from typing import NamedTuple

from trailbrake.drivers.driver_registry import load_driver
from trailbrake.drivers.probe_states import weaving_state
from trailbrake.drivers.rehearsal import RehearsableDriver
from trailbrake.driving.loop.drive_loop import LoopResult
from trailbrake.driving.loop.request_pacer import RequestPacer
from trailbrake.driving.loop.supervisor import Supervisor
from trailbrake.driving.options import DriveOptions
from trailbrake.driving.precompile import precompile_in_child
from trailbrake.driving.run import INTERRUPTED, CarWatch, DriveOutcome, NamedDriver, drive_cars
from trailbrake.driving.session.car_session import CarSession, SessionPlan, has_plan
from trailbrake.driving.session.connection import Connection
from trailbrake.driving.session.drive_setup import make_setup
from trailbrake.driving.session.driver_memory import DriverMemory
from trailbrake.driving.session.driver_needs import (
    check_course_needs,
    check_driver_needs,
    describe_signals,
    make_unknown_course,
)
from trailbrake.driving.session.progress import DriveView, ProgressListener, SilentListener
from trailbrake.driving.session.session_camera import choose_camera
from trailbrake.driving.session.session_detection import detect_track_and_car, report_game_session
from trailbrake.errors import DriverError, TrailbrakeError, UsageError, describe_value, raised_at
from trailbrake.json_types import JsonObject
from trailbrake.kernels import CACHE_IS_COLD
from trailbrake.planning.course import Course, UnmappedCourse
from trailbrake.planning.line_cache import cached_line_path
from trailbrake.planning.line_file import load_line_course
from trailbrake.record.format import WIRE_DELAY
from trailbrake.record.parted_file import make_part_limits
from trailbrake.roles import Driver, HandDriven, Tap, UsesKerbs
from trailbrake.sims import registry
from trailbrake.simulator import BEST_DRIVER, ESTIMATE_DRIVER, AnySimulator, load_part
from trailbrake.system import steady_clock
from trailbrake.system.breakable_call import BreakableCall, StopInsisted
from trailbrake.system.signals import handle_stop_signals
from trailbrake.version import __version__


def drive(
    options: DriveOptions,
    live: object = None,
    listener: ProgressListener | None = None,
    view: DriveView | None = None,
) -> JsonObject:
    """Drive, and return the summary that `trailbrake drive --json` prints.

    Args:
        options: the drive.
        live: the simulator's live options; None for their defaults.
        listener: receives messages and progress.
        view: receives every tick, and supplies the hands of a HandDriven driver.

    Raises:
        TrailbrakeError: before the drive, when something is wrong or missing. Once the car moves nothing is
            raised: the summary's `ended` says why a drive stopped early.
    """
    listener = listener or SilentListener()
    simulator = registry.find(options.sim)
    supervisor = Supervisor()
    # A request: an exception inside of the compiler would be lost, and leave half-made kernels behind.
    with handle_stop_signals(lambda: supervisor.request_stop(INTERRUPTED)):
        prepared = _prepare_drive(simulator, options, live or simulator.live_options(), supervisor, listener)
    if isinstance(prepared.drivers[0], HandDriven) and (view is None or not view.has_hands):
        raise UsageError(f"{prepared.options.driver} is driven from the live page", where="--driver",
                         hint="add --watch")  # fmt: skip
    breakable = BreakableCall()
    with handle_stop_signals(lambda: supervisor.request_stop(INTERRUPTED), breakable, supervisor.limit_stop):
        driven = _drive_cars(prepared, supervisor, listener, view, breakable)
        return _finish_summary(prepared, driven, listener)


class _PreparedDrive(NamedTuple):
    """A drive that can begin: what `prepare` has named and loaded. One driver per car, after reset."""

    simulator: AnySimulator
    options: DriveOptions
    live: object
    course: Course
    drivers: list[Driver]
    memory: DriverMemory | None


class _DrivenCars(NamedTuple):
    """A drive that is over."""

    cars: list[CarSession]
    result: LoopResult
    host_report: JsonObject
    game_report: JsonObject
    camera_report: JsonObject


def _prepare_drive(
    simulator: AnySimulator, options: DriveOptions, live: object, supervisor: Supervisor, listener: ProgressListener
) -> _PreparedDrive:
    """Check the options, find or load the track and the car, and load and reset the drivers."""

    def stopped() -> bool:
        return supervisor.stop_reason != ""

    _check_cars(simulator, options)
    if options.live and options.world:
        raise UsageError("a live simulator has a world of its own", where=f"--world {options.world[0]}",
                         hint="leave --world or --live out")  # fmt: skip
    make_part_limits(options.part_minutes, options.part_megabytes, options.keep_parts)
    choose_camera(options.camera, simulator, live=options.live, speed=options.speed)  # before the road is planned
    if options.log is not None and not options.pictures:
        raise UsageError("a driving log is made of pictures", where="--log", hint="leave --no-pictures out")
    own_world = not options.live and simulator.world != "miniature"
    with precompile_in_child() if own_world else nullcontext():
        options, live, course = _plan_course(simulator, options, live, stopped, listener)
        options = replace(options, driver=options.driver or choose_default_driver(simulator, course))
        drivers, course = _prepare_drivers(simulator, options, live, course, listener)
        memory = _recall_memory(options, course, drivers, listener)
    supplied = simulator.list_supplied(live)
    if isinstance(course, UnmappedCourse) and {"x", "y"} <= supplied:
        counted = "laps are those that the game counts" if "lap" in supplied else "no laps are counted"
        listener.show_message(f"the road is not known: nothing is planned or scored, {counted}; Ctrl-C ends the drive")
    if stopped():
        raise KeyboardInterrupt
    return _PreparedDrive(simulator, options, live, course, drivers, memory)


def choose_default_driver(simulator: AnySimulator, course: Course) -> str:
    """Return the name of the driver that drives where the user names none."""
    if isinstance(course, UnmappedCourse) and simulator.unmapped_driver:
        return simulator.unmapped_driver
    doubt = None if course.car is None else course.car.uncertainty
    if doubt is not None and not doubt.is_verified and simulator.default_driver == BEST_DRIVER:
        return ESTIMATE_DRIVER
    return simulator.default_driver


def _plan_course(
    simulator: AnySimulator,
    options: DriveOptions,
    live: object,
    stopped: Callable[[], bool],
    listener: ProgressListener,
) -> tuple[DriveOptions, object, Course]:
    """Return the options and the live options as `detect_track_and_car` does, and the course for the drivers."""
    supplied = simulator.list_supplied(live)
    if not {"x", "y"} <= supplied:
        if options.line is not None:
            raise UsageError("a line needs a simulator that supplies positions", where="--line", got=simulator.name)
        return options if options.live else options.with_defaults(simulator.world), live, UnmappedCourse()
    options, live, track, car = detect_track_and_car(simulator, options, live, stopped, listener.show_message)
    if options.line is not None and (track is None or car is None):
        raise UsageError("a line needs a known track and car", where="--line", hint="name them by --track and --car")
    if track is None:
        return options, live, make_unknown_course(simulator, car, live)
    if options.line is not None and car is not None:
        return options, live, load_line_course(options.line, track, car)
    if options.cached_line and car is not None and (path := cached_line_path(track.road, car)).is_file():
        try:
            course = load_line_course(path, track, car)
        except TrailbrakeError as error:  # a cache never prevents a drive
            listener.show_message(f"the cached line is not used: {error}")
        else:
            listener.show_message("minimum-time line of `trailbrake line`; --no-cached-line plans without it")
            return options, live, course
    return options, live, Course(track, car)


def _drive_cars(
    prepared: _PreparedDrive,
    supervisor: Supervisor,
    listener: ProgressListener,
    view: DriveView | None,
    breakable: BreakableCall,
) -> _DrivenCars:
    """Connect and drive until the goal is reached or the drive stops early; `supervisor` is the first car's."""
    simulator, options, live, course, drivers, _ = prepared
    setup = make_setup(simulator, options, live, drivers[0])
    about = _describe_drive(prepared)
    about[WIRE_DELAY] = setup.wire_delay
    if setup.signals:
        about["signals"] = describe_signals(setup.signals)
    plan = SessionPlan(options, _lap_goal(options, course), course, about, setup.signals)
    cars: list[CarSession] = []
    reports: list[JsonObject] = []

    def watch_cars(connection: Connection) -> Iterator[CarWatch]:
        watchers: list[Tap] = []
        if simulator.drawing is not None and simulator.wants_drawing(live) and has_plan(course):
            watchers.append(load_part(simulator.drawing)(course))
        if view is not None:
            watchers.append(view.attach_drive(plan.about, connection.link, drivers[0], course))
        for number, link in enumerate(connection.links):
            cars.append(CarSession(plan, link, listener, number, [] if number else watchers))
            yield cars[-1].make_watch()

    def finish(connection: Connection, outcome: DriveOutcome) -> None:
        counters = {"link": asdict(cars[0].link.counters), "host": connection.read_host_counters()}
        cars[0].recorder.store_wire_counters(counters)
        reports.append(report_game_session(simulator, options))
        reports.append({} if connection.camera is None else connection.camera.summarise_pictures())

    outcome = drive_cars(
        setup, [NamedDriver(driver, options.driver) for driver in drivers], watch_cars, supervisor,
        say=listener.show_message, breakable=breakable, finish=finish,
        adapt_pacer=lambda pacer: pacer if view is None else RequestPacer(pacer, view.execute_requests),
    )  # fmt: skip
    for car, loop in zip(cars, outcome.cars, strict=True):
        car.loop = loop
    return _DrivenCars(cars, outcome.loop, outcome.host_report, *reports)


def _lap_goal(options: DriveOptions, course: Course) -> int:
    """Return how many laps to drive, 0 = no limit: one on an open road, which has an end."""
    mapped = not isinstance(course, UnmappedCourse)
    return 1 if mapped and not course.track.road.closed else options.laps


def _finish_summary(prepared: _PreparedDrive, driven: _DrivenCars, listener: ProgressListener) -> JsonObject:
    """Return the summary of a drive; write the report and the driving log."""
    options, first = prepared.options, driven.cars[0]
    summary = _build_summary(prepared, first, driven.result)
    summary["host"] = driven.host_report
    if math.isnan(summary["contacts"]):  # the wire does not supply them, the embedded world does
        summary["contacts"] = driven.host_report.get("contacts", math.nan)
    summary["game"] = driven.game_report
    summary["camera"] = driven.camera_report
    path, moved = first.recorder.path, first.scorer.time > 0.0
    summary["report"] = _write_report(path, listener) if options.report and moved else None
    summary["driving_log"] = _write_driving_log(path, options.log, listener) if options.log is not None else None
    if prepared.memory is not None and moved and (problem := prepared.memory.store()):
        listener.show_message(problem)
    summary["memory"] = str(prepared.memory.path) if prepared.memory is not None else None
    summary["others"] = [car.build_summary() for car in driven.cars[1:]]
    return summary


def _check_cars(simulator: AnySimulator, options: DriveOptions) -> None:
    if options.cars < 1:
        raise UsageError("a drive needs a car", where="--cars", expected="1 or more", got=str(options.cars))
    if options.cars > 1 and simulator.options_for_car is None:
        raise UsageError(
            f"one car only through the wire of {simulator.name}", where="--cars", expected="1", got=str(options.cars)
        )


def _write_report(recording: Path, listener: ProgressListener) -> str | None:
    """Write the report; return where it is, or say why there is none: the drive has been driven all the same."""
    from trailbrake.analysis.report import write_report  # here and below: what the end needs keeps no start waiting

    try:
        return str(write_report(recording, recording.with_suffix(".html")))
    except TrailbrakeError as error:
        listener.show_message(f"no report: {error}")
        return None


def _write_driving_log(recording: Path, folder: Path, listener: ProgressListener) -> JsonObject | None:
    """Write the driving log out of the recording: nothing is written to many small files while the car drives."""
    from trailbrake.record.driving_log_export import export_driving_log
    from trailbrake.record.recording_reader import Recording

    try:
        return export_driving_log(Recording.open(recording), folder)
    except TrailbrakeError as error:
        listener.show_message(f"no driving log: {error}")
        return None


def _prepare_drivers(
    simulator: AnySimulator, options: DriveOptions, live: object, course: Course, listener: ProgressListener
) -> tuple[list[Driver], Course]:
    """Load the drivers, one per car, check that they fit, and plan; return them and the course with their line."""
    drivers = [load_driver(options.driver, options.config, options.gain) for _ in range(options.cars)]
    check_driver_needs(drivers[0], options.driver, simulator, live, options.camera)
    check_course_needs(drivers[0], options.driver, simulator, course)
    if isinstance(drivers[0], UsesKerbs) and drivers[0].uses_kerbs:
        course = course.with_kerbs()
    if CACHE_IS_COLD:
        listener.show_message("compiling kernels (once, a few seconds)")
    try:
        for driver in drivers:
            driver.reset(course)
        if has_plan(course):
            _ = course.profile  # the score and the report want the plan, whether the driver does or not
            if CACHE_IS_COLD and isinstance(drivers[0], RehearsableDriver):
                # An answer compiles more, best while the world is compiled beside. One that fails does so in a drive.
                with suppress(Exception):
                    drivers[0].rehearse(weaving_state(course, 1, 0.003), 0.003)
    except (TrailbrakeError, StopInsisted):
        raise
    except BaseException as error:
        where = raised_at(error) or options.driver
        raise DriverError(f"reset() raised {type(error).__name__}: {describe_value(error)}", where=where) from error
    return drivers, course


def _recall_memory(
    options: DriveOptions, course: Course, drivers: Sequence[Driver], listener: ProgressListener
) -> DriverMemory | None:
    """Return the memory of the first driver, taken up; None where none is named."""
    if not options.memory:
        return None
    memory = DriverMemory(options, course, drivers[0])
    if said := memory.recall():
        listener.show_message(said)
    return memory


def _describe_drive(prepared: _PreparedDrive) -> JsonObject:
    options = prepared.options
    return {
        "sim": prepared.simulator.name,
        "live": options.live,
        "driver": options.driver,
        "track": options.track,
        "car": options.car,
        **({"gain": list(options.gain)} if options.gain else {}),
        **({"world": list(options.world)} if options.world else {}),
        "seed": options.seed,
        "speed": options.speed,
        **({"camera": options.camera} if options.camera else {}),
        "laps": _lap_goal(options, prepared.course),
        "trailbrake": __version__,
        "python": platform.python_version(),
        "system": platform.system(),
        "started": steady_clock.iso_timestamp(),
    }


def _predict_lap_times(course: Course) -> dict[str, float]:
    if not has_plan(course):
        return {"predicted_s": math.nan, "predicted_from_rest_s": math.nan}
    return {
        "predicted_s": course.profile.lap_time,
        "predicted_from_rest_s": course.plan_speeds(course.line, start=0.0).lap_time,
    }


def _build_summary(prepared: _PreparedDrive, first: CarSession, result: LoopResult) -> JsonObject:
    options = prepared.options
    return {
        "sim": prepared.simulator.name,
        "driver": options.driver,
        "track": options.track,
        "car": options.car,
        "seed": options.seed,
        **first.build_summary(),
        **_predict_lap_times(prepared.course),
        "ended": result.reason or "done",
        "realtime_factor": result.simulated_s / result.wall_s if result.wall_s else math.nan,
        "loop": {
            "ticks": result.ticks,
            "p50_us": result.durations.percentile(0.5) * 1e6,
            "p99_us": result.durations.percentile(0.99) * 1e6,
            "p999_us": result.durations.percentile(0.999) * 1e6,
            "overruns": result.overruns,
        },
    }
