"""A whole drive: load, check, connect, drive, score, record, report."""

import math
import threading
from collections.abc import Iterator
from contextlib import nullcontext
from dataclasses import asdict
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

from trailbrake.analysis.drive_picture import draw_recording
from trailbrake.analysis.lap_table import format_lap_time
from trailbrake.car_contacts import CarContact
from trailbrake.driving.loop.drive_loop import LoopResult, RequestPacer
from trailbrake.driving.loop.supervisor import Supervisor
from trailbrake.driving.precompile import precompile_in_child
from trailbrake.driving.run import INTERRUPTED, CarWatch, DriveOutcome, drive_cars
from trailbrake.driving.session.car_session import CarSession, make_recorder
from trailbrake.driving.session.connection import Connection
from trailbrake.driving.session.drive_inputs import CONTENTS, DriveContents
from trailbrake.driving.session.drive_setup import DriveSetup, make_setup
from trailbrake.driving.session.driver_choice import name_driver
from trailbrake.driving.session.progress import DriveView, ProgressListener, make_listener
from trailbrake.driving.session.resolved_drive import ResolvedDrive, resolve_drive
from trailbrake.driving.spec import DriveSpec, make_spec
from trailbrake.errors import TrailbrakeError, UsageError
from trailbrake.json_types import JsonObject
from trailbrake.pages.rendering import escape_html
from trailbrake.planning.course import UnmappedCourse, has_plan
from trailbrake.record import Recording
from trailbrake.record.recording_reader import RecordedLaps
from trailbrake.record.run_frame import Telemetry
from trailbrake.roles import DrawsPlan, Driver, HandDriven, Plant, Tap
from trailbrake.sims import registry
from trailbrake.system.breakable_call import BreakableCall
from trailbrake.system.processes import wait_for_threads
from trailbrake.system.signals import handle_stop_signals


class DriveResult(JsonObject):
    """The summary of a drive; docs/cli.md has its keys."""

    @cached_property
    def recording(self) -> Recording:
        """The recording; its `path` is the file."""
        return Recording.open(self["recording"])

    @property
    def laps(self) -> RecordedLaps:
        """The laps of the recording: `laps.best().telemetry()["speed"]`."""
        return self.recording.laps

    def to_pandas(self) -> Any:
        """Return the recording as a DataFrame, as `trailbrake.load` does."""
        return Telemetry(self.recording).to_pandas()

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><td>{lap['number']}</td><td>{format_lap_time(lap['time_s'])}</td>"
            f"<td>{'yes' if lap['valid'] else 'no'}</td></tr>"
            for lap in self["laps"]
        )
        place = ", ".join(escape_html(str(self[key])) for key in ("driver", "car", "track") if self[key])
        end = "" if self["ended"] == "done" else f"<p>{escape_html(str(self['ended']))}</p>"
        try:
            picture = draw_recording(self.recording)
        except TrailbrakeError:  # moved away since
            picture = ""
        return (
            f"<table><caption>{place}</caption><thead><tr><th>lap</th><th>time</th><th>valid</th></tr></thead>"
            f"<tbody>{rows}</tbody></table>{end}{picture}<p>{escape_html(Path(self['recording']).name)}</p>"
        )


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
        listener: receives messages and progress. None: a notebook shows them, other programs nothing.
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
    setup = make_setup(registry.find(spec.site.sim), spec)
    return run_setup(setup, own=own, contents=contents, listener=listener, view=view)


def run_setup(
    setup: DriveSetup,
    *,
    own: Driver | type[Driver] | None = None,
    contents: DriveContents | None = None,
    listener: ProgressListener | None = None,
    view: DriveView | None = None,
) -> DriveResult:
    """Drive, and return the summary.

    Args:
        setup: the drive, without its drivers.
        own: a driver of the user's own, or its class, in place of the named one.
        contents: as of `drive`.
        listener: as of `drive`.
        view: as of `drive`.

    Raises:
        TrailbrakeError: as `drive`.
    """
    listener, supervisor = listener or make_listener(), Supervisor()
    breakable, threads = BreakableCall(), threading.enumerate()
    # A request: an exception inside of the compiler would be lost, and leave half-made kernels behind.
    with handle_stop_signals(lambda: supervisor.request_stop(INTERRUPTED), breakable, supervisor.limit_stop):
        resolved = _prepare_drive(setup, contents, supervisor, listener, own=own)
        name = resolved.setup.spec.first.driver
        if isinstance(resolved.drivers[0], HandDriven) and (view is None or not view.has_hands):
            raise UsageError(f"{name} is driven from the live page", where="--driver", hint="add --watch")
        driven = _drive_cars(resolved, supervisor, listener, view, breakable)
        if left := wait_for_threads(threads):
            listener.show_message(f"{name} has left threads that do not end: {', '.join(left)}")
        return DriveResult(_finish_summary(resolved, driven, listener))


class _DrivenCars(NamedTuple):
    """A drive that is over; s by which the clock of the first car's recording is behind that of the world."""

    cars: list[CarSession]
    result: LoopResult
    host_report: JsonObject
    clock_lag_s: float
    game_report: JsonObject
    camera_report: JsonObject


def _prepare_drive(
    setup: DriveSetup,
    contents: DriveContents | None,
    supervisor: Supervisor,
    listener: ProgressListener,
    *,
    own: Driver | type[Driver] | None,
) -> ResolvedDrive:
    """Resolve a drive while the world's kernels are compiled beside."""

    def stopped() -> bool:
        return supervisor.stop_reason != ""

    simulator = setup.simulator
    own_world = not setup.spec.is_live and simulator.world != "miniature"
    with precompile_in_child() if own_world else nullcontext():
        resolved = resolve_drive(setup, own=own, contents=contents, stopped=stopped, say=listener.show_message)
    supplied = simulator.list_supplied(resolved.setup.live)
    if isinstance(resolved.course, UnmappedCourse) and {"x", "y"} <= supplied:
        counted = "laps are those that the game counts" if "lap" in supplied else "no laps are counted"
        listener.show_message(f"the road is not known: nothing is planned or scored, {counted}; Ctrl-C ends the drive")
    if stopped():
        raise KeyboardInterrupt
    return resolved


def _drive_cars(
    resolved: ResolvedDrive,
    supervisor: Supervisor,
    listener: ProgressListener,
    view: DriveView | None,
    breakable: BreakableCall,
) -> _DrivenCars:
    """Connect and drive until the goal is reached or the drive stops early; `supervisor` is the first car's."""
    setup, course, drivers = resolved.setup, resolved.course, resolved.drivers
    cars: list[CarSession] = []
    reports: list[JsonObject] = []
    lags: list[float] = []

    def watch_cars(connection: Connection) -> Iterator[CarWatch]:
        watchers: list[Tap] = []
        link = connection.link
        drawing = link.make_drawing(course) if isinstance(link, DrawsPlan) and has_plan(course) else None
        if drawing is not None:
            watchers.append(drawing)
        if view is not None:
            watchers.append(view.attach_drive(resolved.about, connection.link, drivers[0], course))
        for number, link in enumerate(connection.links):
            recorder = make_recorder(setup, course, cars[0].recorder.path if cars else None, number)
            cars.append(CarSession(link, recorder, course, listener, number))
            yield cars[-1].start_watch(setup.spec.goal, resolved.about, [] if number else watchers)

    def finish(connection: Connection, outcome: DriveOutcome) -> None:
        counters = {"link": asdict(cars[0].link.counters), "host": connection.read_host_counters()}
        cars[0].recorder.store_wire_counters(counters)
        for car, loop in zip(cars, outcome.cars, strict=True):
            if loop.supervisor.stability is not None:
                slides = loop.supervisor.stability.slides
                car.recorder.store_event(car.scorer.time, f"stability control on; slides in which it acted: {slides}")
        lags.append(_record_contacts(cars, outcome, connection.plant))
        reports.append({} if setup.session_tool is None else setup.session_tool.report())
        reports.append({} if connection.camera is None else connection.camera.summarise_pictures())

    outcome = drive_cars(
        setup, resolved.named, watch_cars, supervisor,
        say=listener.show_message, breakable=breakable, finish=finish,
        adapt_pacer=lambda pacer: pacer if view is None else RequestPacer(pacer, view.execute_requests),
    )  # fmt: skip
    for car, loop in zip(cars, outcome.cars, strict=True):
        car.loop = loop
    return _DrivenCars(cars, outcome.loop, outcome.host_report, lags[0], *reports)


def _record_contacts(cars: list[CarSession], outcome: DriveOutcome, plant: Plant | None) -> float:
    """Store the cars' contacts with each other in their recordings, where the world is in this process.

    The clock of a car's wire begins when the car gets its client; the world's began before. Returns by how many s the
    first car's is behind.
    """
    if plant is None:
        return 0.0
    lags = [plant.car_state(0).time - car.time for car in outcome.cars]
    for contact in (CarContact(**fields) for fields in plant.counters().get("car_contacts", ())):
        for car in (contact.first, contact.second):
            cars[car].recorder.store_event(contact.time_s - lags[car], contact.describe(car))
    return lags[0]


def _shift_times(rows: list[JsonObject], lag_s: float) -> list[JsonObject]:
    """Return contacts or standings of the world with their times on a clock that is `lag_s` behind."""
    return [
        row | {name: row[name] - lag_s for name in ("time_s", "end_s", "finish_s") if row.get(name) is not None}
        for row in rows
    ]


def _finish_summary(resolved: ResolvedDrive, driven: _DrivenCars, listener: ProgressListener) -> JsonObject:
    """Return the summary of a drive; write the report and the driving log."""
    keep, first, memory = resolved.setup.spec.keep, driven.cars[0], resolved.memory
    summary = _build_summary(resolved, first, driven.result)
    summary["host"] = driven.host_report  # its times are the world's
    if math.isnan(summary["contacts"]):  # the wire does not supply them, the embedded world does
        summary["contacts"] = driven.host_report.get("contacts", math.nan)
    summary["game"] = driven.game_report
    summary["camera"] = driven.camera_report
    path, moved = first.recorder.path, first.scorer.time > 0.0
    summary["report"] = _write_report(path, listener) if keep.report and moved else None
    summary["driving_log"] = _write_driving_log(path, Path(keep.log), listener) if keep.log else None
    if memory is not None and moved and (problem := memory.store()):
        listener.show_message(problem)
    summary["memory"] = str(memory.path) if memory is not None else None
    world = driven.host_report.get("world", {})
    for name in ("car_contacts", "race"):
        summary[name] = _shift_times(world.get(name, []), driven.clock_lag_s)
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
    from trailbrake.record.driving_log import export_driving_log
    from trailbrake.record.recording_reader import Recording

    try:
        return export_driving_log(Recording.open(recording), folder)
    except TrailbrakeError as error:
        listener.show_message(f"no driving log: {error}")
        return None


def _build_summary(resolved: ResolvedDrive, first: CarSession, result: LoopResult) -> JsonObject:
    about, course = resolved.about, resolved.course
    planned = has_plan(course)
    return {
        **{name: about[name] for name in ("sim", "driver", "track", "car", "seed", "line", "spec")},
        "inputs": {name: value for name, value in about["inputs"].items() if name != CONTENTS},
        **first.build_summary(),
        "predicted_s": course.profile.lap_time if planned else math.nan,
        "predicted_from_rest_s": course.profile_from_rest.lap_time if planned else math.nan,
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
