"""`drive_cell`: one cell in this process, through the simulator's wire, in lockstep."""

import math
from collections.abc import Callable, Iterator
from pathlib import Path

from msgspec.structs import replace

from trailbrake.drivers.loading.driver_registry import load_driver
from trailbrake.driving.goals import Laps, NoFuel, NoHeadway, TimeUp
from trailbrake.driving.loop.supervisor import Supervisor
from trailbrake.driving.road_monitor import RoadMonitor
from trailbrake.driving.run import CarWatch, NamedDriver, drive_cars
from trailbrake.driving.session.car_session import store_course
from trailbrake.driving.session.connection import Connection
from trailbrake.driving.session.drive_session import describe_spec
from trailbrake.driving.session.drive_setup import DriveSetup, make_setup
from trailbrake.driving.session.driver_needs import check_course_needs, check_driver_needs, describe_signals
from trailbrake.driving.session.line_choice import ChosenLine, choose_line
from trailbrake.driving.session.session_detection import load_assumed_car
from trailbrake.driving.spec import CarSpec, DriveSpec, EmbeddedSite, KeepSpec, write_spec
from trailbrake.errors import TrailbrakeError, UsageError, describe_value, raised_at
from trailbrake.evaluate.cell_result import CellResult, build_result, failed_result
from trailbrake.evaluate.plan import Cell
from trailbrake.planning.course import Course, UnmappedCourse
from trailbrake.record.format import WIRE_DELAY
from trailbrake.record.parted_file import ONE_FILE
from trailbrake.record.recorder import Recorder
from trailbrake.roles import HandDriven, RoadPlant, Tap, UsesKerbs
from trailbrake.sims import registry
from trailbrake.simulator import AnySimulator
from trailbrake.system import steady_clock
from trailbrake.tracks.track_library import load_track


def drive_cell(cell: Cell, recording: Path | None, say: Callable[[str], None]) -> CellResult:
    """Drive a cell; whatever goes wrong is a result.

    Args:
        cell: the drive.
        recording: file of the recording to write; None for none.
        say: takes lines for a log.
    """
    began, spent = steady_clock.now(), steady_clock.processor_time()
    try:
        result = _drive_simulator(registry.find(cell.sim), cell, recording, say)
    except TrailbrakeError as error:
        result = failed_result(str(error))
    except (Exception, SystemExit) as error:  # a driver's, or a fault of ours: the other cells go on
        result = failed_result(f"{type(error).__name__}: {describe_value(error)} ({raised_at(error) or 'evaluate'})")
    return replace(result, wall_s=steady_clock.now() - began, processor_s=steady_clock.processor_time() - spent)


def build_spec(cell: Cell) -> DriveSpec:
    """Return the drive of a cell: what the driver gets, and the world's own where it is another."""
    site = EmbeddedSite(sim=cell.sim, track=cell.track, car=cell.car, seed=cell.seed, host=cell.host,
                        conditions=cell.condition)  # fmt: skip
    car = CarSpec(driver=cell.driver, config=cell.config, gain=cell.gain, track=cell.believed_track,
                  car=cell.believed_car, line=cell.line or "", cached_line=False)  # fmt: skip
    goal = make_cell_goal(cell.laps, cell.seconds)
    return DriveSpec(site=site, cars=(car,), goal=goal, keep=KeepSpec(report=False, pictures=False))


def make_cell_goal(laps: int, seconds: float) -> Laps:
    """Return what ends a cell: its laps, an empty tank, no headway, or s of simulator time."""
    return Laps(laps).or_when(NoFuel(), NoHeadway(), TimeUp(seconds, laps))


def _drive_simulator(
    simulator: AnySimulator, cell: Cell, recording: Path | None, say: Callable[[str], None]
) -> CellResult:
    if simulator.world == "miniature":
        raise UsageError("the miniature world is not judged here", where="--sims", got=simulator.name,
                         hint="see trailbrake race")  # fmt: skip
    spec, live = build_spec(cell), simulator.live_options()
    name = cell.driver
    driver = load_driver(name, Path(cell.config) if cell.config else None, cell.gain)
    if isinstance(driver, HandDriven):
        raise UsageError("this driver needs a person", where="--drivers", got=name)
    check_driver_needs(driver, name, simulator, live)
    course = _load_course(simulator, spec, live)
    check_course_needs(driver, name, simulator, course)
    course, line = choose_line(course, driver, spec.first, say)
    if isinstance(driver, UsesKerbs) and driver.uses_kerbs:
        course = course.with_kerbs()
    driver.reset(course)
    planned = course.car is not None and not isinstance(course, UnmappedCourse)
    predicted = course.profile.lap_time if planned else math.nan
    setup = make_setup(simulator, spec, live, [driver])
    watched: list[tuple[RoadMonitor, Recorder | None]] = []

    def watch_cars(connection: Connection) -> Iterator[CarWatch]:
        if not isinstance(connection.plant, RoadPlant):
            raise UsageError("a world without a road", where="--sims", got=simulator.name)
        road = connection.plant.track.road
        monitor = RoadMonitor(road, plant=connection.plant)
        goal = make_cell_goal(cell.laps if road.closed else 1, cell.seconds)
        recorder = None if recording is None else _open_recorder(recording, setup, course, line)
        watched.append((monitor, recorder))
        taps: list[Tap] = [monitor] if recorder is None else [monitor, recorder]

        def record(text: str) -> None:
            if recorder is not None:
                recorder.store_event(monitor.time, text)

        def close() -> None:
            if recorder is not None:
                recorder.close()

        yield CarWatch(taps, lambda: goal.judge(monitor), say, record, close)

    outcome = drive_cars(setup, [NamedDriver(driver, name)], watch_cars, Supervisor(), say=say)
    monitor, recorder = watched[0]
    result = build_result(monitor, outcome.loop.reason, predicted)
    return result if recorder is None else replace(result, recording=recorder.path.name)


def _load_course(simulator: AnySimulator, spec: DriveSpec, live: object) -> Course:
    """Return what the driver gets to know of road and car: in a drive it is the same."""
    car = load_assumed_car(spec)
    if not {"x", "y"} <= simulator.list_supplied(live):
        return UnmappedCourse(car)
    return Course(load_track(spec.track), car)


def _open_recorder(path: Path, setup: DriveSetup, course: Course, line: ChosenLine) -> Recorder:
    spec = setup.spec
    recorder = Recorder(path, pictures=spec.keep.pictures, signals=setup.signals, limits=ONE_FILE)
    about = {**describe_spec(spec, setup.simulator), "laps": spec.goal.count if isinstance(spec.goal, Laps) else 0,
             "line": line.describe(), "spec": write_spec(spec), WIRE_DELAY: setup.wire_delay}  # fmt: skip
    if setup.signals:
        about["signals"] = describe_signals(setup.signals)
    recorder.start(about)
    store_course(recorder, course)
    return recorder
