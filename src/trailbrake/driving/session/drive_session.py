"""A whole drive: load, check, connect, drive, score, record, report."""

import math
import os
import platform
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext, suppress
from dataclasses import asdict
from pathlib import Path
from typing import NamedTuple

from trailbrake.drivers.loading.check import RehearsableDriver
from trailbrake.drivers.loading.course_probe import weaving_state
from trailbrake.driving.goals import Laps
from trailbrake.driving.loop.drive_loop import LoopResult
from trailbrake.driving.loop.request_pacer import RequestPacer
from trailbrake.driving.loop.supervisor import Supervisor
from trailbrake.driving.precompile import precompile_in_child
from trailbrake.driving.run import INTERRUPTED, CarWatch, DriveOutcome, NamedDriver, drive_cars
from trailbrake.driving.session.car_session import CarSession, SessionPlan, has_plan
from trailbrake.driving.session.connection import Connection
from trailbrake.driving.session.drive_inputs import DriveContents, check_inputs, describe_inputs
from trailbrake.driving.session.drive_result import DriveResult
from trailbrake.driving.session.drive_setup import choose_spec_camera, make_setup
from trailbrake.driving.session.driver_choice import choose_default_driver, make_drivers, name_driver
from trailbrake.driving.session.driver_memory import DriverMemory
from trailbrake.driving.session.driver_needs import (
    check_course_needs,
    check_driver_needs,
    describe_signals,
    make_unknown_course,
)
from trailbrake.driving.session.line_choice import ChosenLine, choose_line
from trailbrake.driving.session.progress import DriveView, ProgressListener, SilentListener
from trailbrake.driving.session.session_detection import detect_track_and_car, report_game_session
from trailbrake.driving.spec import DriveSpec, EmbeddedSite, LiveSite, make_spec, write_spec
from trailbrake.errors import DriverError, TrailbrakeError, UsageError, describe_value, raised_at
from trailbrake.json_types import JsonObject
from trailbrake.kernels import CACHE_IS_COLD
from trailbrake.planning.course import Course, UnmappedCourse
from trailbrake.record.format import WIRE_DELAY
from trailbrake.record.parted_file import make_part_limits
from trailbrake.roles import DrawsPlan, Driver, HandDriven, Tap, UsesKerbs
from trailbrake.sims import registry
from trailbrake.simulator import AnySimulator
from trailbrake.system import steady_clock
from trailbrake.system.breakable_call import BreakableCall, StopInsisted
from trailbrake.system.processes import end_forked_copy, wait_for_threads
from trailbrake.system.signals import handle_stop_signals, reclaim_stop_signals
from trailbrake.version import __version__


def drive(
    spec: DriveSpec | None = None,
    *,
    driver: Driver | type[Driver] | str | None = None,
    contents: DriveContents | None = None,
    listener: ProgressListener | None = None,
    view: DriveView | None = None,
    **names: object,
) -> DriveResult:
    """Drive, and return the summary that `drive --json` prints: `drive(driver=Mine(), track="pinegrove", laps=2)`.

    Args:
        spec: the drive. None: `driver` and `names` say it.
        driver: a driver, its class, or a name or file as the command line takes them.
        contents: what the drive had at its start and the machine may not have any more: of a recording that is driven
            again. None: files and caches are read.
        listener: receives messages and progress.
        view: receives every tick, and supplies the hands of a HandDriven driver.
        names: as of `driving.spec.make_spec`: track, car, laps, sim, gain and others.

    Raises:
        TrailbrakeError: before the drive, when something is wrong or missing. Once the car moves nothing is
            raised: the summary's `ended` says why a drive stopped early.
    """
    own = None if isinstance(driver, str) else driver
    if spec is None:
        spec = make_spec(driver=driver if own is None else name_driver(own), **names)
    elif driver is not None or names:
        raise UsageError("a spec and names beside it", where="drive", got=", ".join(names) or "driver",
                         hint="spec.with_cars(driver=...) changes a spec")  # fmt: skip
    listener = listener or SilentListener()
    simulator = registry.find(spec.site.sim)
    supervisor = Supervisor()
    breakable, threads = BreakableCall(), threading.enumerate()
    # A request: an exception inside of the compiler would be lost, and leave half-made kernels behind.
    with handle_stop_signals(lambda: supervisor.request_stop(INTERRUPTED), breakable, supervisor.limit_stop):
        prepared = _prepare_drive(simulator, spec, contents, supervisor, listener, own=own)
        name = prepared.spec.first.driver
        if isinstance(prepared.drivers[0], HandDriven) and (view is None or not view.has_hands):
            raise UsageError(f"{name} is driven from the live page", where="--driver", hint="add --watch")
        driven = _drive_cars(prepared, supervisor, listener, view, breakable)
        if left := wait_for_threads(threads):
            listener.show_message(f"{name} has left threads that do not end: {', '.join(left)}")
        return DriveResult(_finish_summary(prepared, driven, listener))


class _PreparedDrive(NamedTuple):
    """A drive that can begin: what `prepare` has named and loaded. One driver per car, after reset."""

    simulator: AnySimulator
    spec: DriveSpec
    live: object
    course: Course
    line: ChosenLine
    drivers: list[Driver]
    memory: DriverMemory | None
    inputs: JsonObject


class _DrivenCars(NamedTuple):
    """A drive that is over."""

    cars: list[CarSession]
    result: LoopResult
    host_report: JsonObject
    game_report: JsonObject
    camera_report: JsonObject


def _prepare_drive(
    simulator: AnySimulator,
    spec: DriveSpec,
    contents: DriveContents | None,
    supervisor: Supervisor,
    listener: ProgressListener,
    *,
    own: Driver | type[Driver] | None,
) -> _PreparedDrive:
    """Check the options, find or load the track and the car, and load and reset the drivers."""

    def stopped() -> bool:
        return supervisor.stop_reason != ""

    keep = spec.keep
    if len(spec.cars) > 1 and simulator.options_for_car is None:
        raise UsageError(f"one car only through the wire of {simulator.name}", where="--cars", expected="1",
                         got=str(len(spec.cars)))  # fmt: skip
    make_part_limits(keep.part_minutes, keep.part_megabytes, keep.keep_parts)
    choose_spec_camera(simulator, spec)  # before the road is planned
    if keep.log and not keep.pictures:
        raise UsageError("a driving log is made of pictures", where="--log", hint="leave --no-pictures out")
    own_world = not spec.is_live and simulator.world != "miniature"
    with precompile_in_child() if own_world else nullcontext():
        spec, live, course = _find_course(simulator, spec, stopped, listener)
        if not spec.first.driver:
            spec = spec.with_cars(driver=choose_default_driver(simulator, course))
        drivers = make_drivers(spec, own)
        course, line = _prepare_drivers(simulator, spec, live, course, drivers, contents=contents, listener=listener)
        if contents is not None:
            check_inputs(contents, spec, course, drivers[0])
        memory = _recall_memory(spec, course, drivers, contents, listener)
    supplied = simulator.list_supplied(live)
    if isinstance(course, UnmappedCourse) and {"x", "y"} <= supplied:
        counted = "laps are those that the game counts" if "lap" in supplied else "no laps are counted"
        listener.show_message(f"the road is not known: nothing is planned or scored, {counted}; Ctrl-C ends the drive")
    if stopped():
        raise KeyboardInterrupt
    inputs = describe_inputs(spec, course, drivers, line, memory)
    return _PreparedDrive(simulator, spec, live, course, line, drivers, memory, inputs)


def _find_course(
    simulator: AnySimulator, spec: DriveSpec, stopped: Callable[[], bool], listener: ProgressListener
) -> tuple[DriveSpec, object, Course]:
    """Return the drive and the live options as `detect_track_and_car` does, and the course without a line."""
    live: object = simulator.make_live_options(spec.site.options)
    supplied = simulator.list_supplied(live)
    if not {"x", "y"} <= supplied:
        if spec.first.line:
            raise UsageError("a line needs a simulator that supplies positions", where="--line", got=simulator.name)
        return spec.with_site_defaults(simulator.world), live, UnmappedCourse()
    spec, live, track, car = detect_track_and_car(simulator, spec, live, stopped, listener.show_message)
    if spec.first.line and (track is None or car is None):
        raise UsageError("a line needs a known track and car", where="--line", hint="name them by --track and --car")
    return spec, live, make_unknown_course(simulator, car, live) if track is None else Course(track, car)


def _drive_cars(
    prepared: _PreparedDrive,
    supervisor: Supervisor,
    listener: ProgressListener,
    view: DriveView | None,
    breakable: BreakableCall,
) -> _DrivenCars:
    """Connect and drive until the goal is reached or the drive stops early; `supervisor` is the first car's."""
    simulator, spec, live, course, drivers = (
        prepared.simulator, prepared.spec, prepared.live, prepared.course, prepared.drivers,
    )  # fmt: skip
    setup = make_setup(simulator, spec, live, drivers)
    about = _describe_drive(prepared)
    about[WIRE_DELAY] = setup.wire_delay
    if setup.signals:
        about["signals"] = describe_signals(setup.signals)
    plan = SessionPlan(spec, _count_laps(spec, course), course, about, setup.signals)
    cars: list[CarSession] = []
    reports: list[JsonObject] = []

    def watch_cars(connection: Connection) -> Iterator[CarWatch]:
        watchers: list[Tap] = []
        link = connection.link
        drawing = link.make_drawing(course) if isinstance(link, DrawsPlan) and has_plan(course) else None
        if drawing is not None:
            watchers.append(drawing)
        if view is not None:
            watchers.append(view.attach_drive(plan.about, connection.link, drivers[0], course))
        for number, link in enumerate(connection.links):
            cars.append(CarSession(plan, link, listener, number, [] if number else watchers))
            yield cars[-1].make_watch()

    def finish(connection: Connection, outcome: DriveOutcome) -> None:
        counters = {"link": asdict(cars[0].link.counters), "host": connection.read_host_counters()}
        cars[0].recorder.store_wire_counters(counters)
        reports.append(report_game_session(simulator, spec))
        reports.append({} if connection.camera is None else connection.camera.summarise_pictures())

    outcome = drive_cars(
        setup, [NamedDriver(driver, spec.first.driver) for driver in drivers], watch_cars, supervisor,
        say=listener.show_message, breakable=breakable, finish=finish,
        adapt_pacer=lambda pacer: pacer if view is None else RequestPacer(pacer, view.execute_requests),
    )  # fmt: skip
    for car, loop in zip(cars, outcome.cars, strict=True):
        car.loop = loop
    return _DrivenCars(cars, outcome.loop, outcome.host_report, *reports)


def _count_laps(spec: DriveSpec, course: Course) -> int:
    """Return how many laps are driven, 0 = no limit: one on an open road, which has an end."""
    if not isinstance(course, UnmappedCourse) and not course.track.road.closed:
        return 1
    return spec.goal.count if isinstance(spec.goal, Laps) else 0


def _finish_summary(prepared: _PreparedDrive, driven: _DrivenCars, listener: ProgressListener) -> JsonObject:
    """Return the summary of a drive; write the report and the driving log."""
    spec, first = prepared.spec, driven.cars[0]
    keep = spec.keep
    summary = _build_summary(prepared, first, driven.result)
    summary["host"] = driven.host_report
    if math.isnan(summary["contacts"]):  # the wire does not supply them, the embedded world does
        summary["contacts"] = driven.host_report.get("contacts", math.nan)
    summary["game"] = driven.game_report
    summary["camera"] = driven.camera_report
    path, moved = first.recorder.path, first.scorer.time > 0.0
    summary["report"] = _write_report(path, listener) if keep.report and moved else None
    summary["driving_log"] = _write_driving_log(path, Path(keep.log), listener) if keep.log else None
    if prepared.memory is not None and moved and (problem := prepared.memory.store()):
        listener.show_message(problem)
    summary["memory"] = str(prepared.memory.path) if prepared.memory is not None else None
    summary["others"] = [car.build_summary() for car in driven.cars[1:]]
    return summary


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
    simulator: AnySimulator,
    spec: DriveSpec,
    live: object,
    course: Course,
    drivers: Sequence[Driver],
    *,
    contents: DriveContents | None,
    listener: ProgressListener,
) -> tuple[Course, ChosenLine]:
    """Check that the drivers fit, plan, and reset them; return the course with their line, and the line."""
    first = spec.first
    check_driver_needs(drivers[0], first.driver, simulator, live, spec.site.camera)
    check_course_needs(drivers[0], first.driver, simulator, course)
    course, line = choose_line(course, drivers[0], first, listener.show_message, contents and contents.line)
    if isinstance(drivers[0], UsesKerbs) and drivers[0].uses_kerbs:
        course = course.with_kerbs()
    if CACHE_IS_COLD:
        listener.show_message("compiling kernels (once, a few seconds)")
    try:
        pid = os.getpid()
        for driver in drivers:
            driver.reset(course)
            end_forked_copy(pid, driver)
            reclaim_stop_signals()
        if has_plan(course):
            _ = course.profile  # the score and the report want the plan, whether the driver does or not
            if CACHE_IS_COLD and isinstance(drivers[0], RehearsableDriver):
                # An answer compiles more, best while the world is compiled beside. One that fails does so in a drive.
                with suppress(Exception):
                    drivers[0].rehearse(weaving_state(course, 1, 0.003), 0.003)
    except (TrailbrakeError, StopInsisted):
        raise
    except BaseException as error:
        where = raised_at(error) or first.driver
        raise DriverError(f"reset() raised {type(error).__name__}: {describe_value(error)}", where=where) from error
    return course, line


def _recall_memory(
    spec: DriveSpec,
    course: Course,
    drivers: Sequence[Driver],
    contents: DriveContents | None,
    listener: ProgressListener,
) -> DriverMemory | None:
    """Return the memory of the first driver, taken up; None where none is named."""
    if not spec.first.memory:
        return None
    replayed = contents is not None
    entry = contents.memory if contents is not None else None
    memory = DriverMemory(spec, course, drivers[0], replayed=replayed, entry=entry)
    if said := memory.recall():
        listener.show_message(said)
    return memory


def _describe_drive(prepared: _PreparedDrive) -> JsonObject:
    spec = prepared.spec
    about = describe_spec(spec, prepared.simulator)
    return {
        **about,
        "laps": _count_laps(spec, prepared.course),
        "line": prepared.line.describe(),
        "spec": write_spec(spec),
        "inputs": prepared.inputs,
        "trailbrake": __version__,
        "python": platform.python_version(),
        "system": platform.system(),
        "started": steady_clock.iso_timestamp(),
    }


def describe_spec(spec: DriveSpec, simulator: AnySimulator) -> JsonObject:
    """Return what a recording, and its readers of before there were specs, know a drive by."""
    site, first = spec.site, spec.first
    world = () if isinstance(site, LiveSite) else site.conditions
    if isinstance(site, EmbeddedSite):
        world += tuple(
            f"{name}={value}" for name, value, given in (("car", site.car, spec.car), ("track", site.track, spec.track))
            if value != given
        )  # fmt: skip
    return {
        "sim": simulator.name,  # that of the site may be a file
        "live": spec.is_live,
        "driver": first.driver,
        "track": spec.track,
        "car": spec.car,
        **({"gain": list(first.gain)} if first.gain else {}),
        **({"world": list(world)} if world else {}),
        "seed": 0 if isinstance(site, LiveSite) else site.seed,
        "speed": "max" if isinstance(site, LiveSite) else site.speed,
        **({"camera": site.camera} if site.camera else {}),
    }


def _predict_lap_times(course: Course) -> dict[str, float]:
    if not has_plan(course):
        return {"predicted_s": math.nan, "predicted_from_rest_s": math.nan}
    return {
        "predicted_s": course.profile.lap_time,
        "predicted_from_rest_s": course.plan_speeds(course.line, start=0.0).lap_time,
    }


def _build_summary(prepared: _PreparedDrive, first: CarSession, result: LoopResult) -> JsonObject:
    spec = prepared.spec
    about = describe_spec(spec, prepared.simulator)
    return {
        **{name: about[name] for name in ("sim", "driver", "track", "car", "seed")},
        "line": prepared.line.describe(),
        "spec": write_spec(spec),
        "inputs": {name: value for name, value in prepared.inputs.items() if name != "contents"},
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
