"""`drive_cell`: one cell in this process, through the simulator's wire, in lockstep."""

import math
from collections.abc import Callable
from pathlib import Path

from msgspec.structs import replace

from trailbrake.cars.car_library import load_car
from trailbrake.drivers.driver_registry import declared_commands, declared_custom_values, load_driver
from trailbrake.driving.goals import Goal, Laps, NoFuel, NoHeadway, TimeUp
from trailbrake.driving.loop.command_gate import CommandGate
from trailbrake.driving.loop.drive_loop import CarLoop, run_loop
from trailbrake.driving.loop.supervisor import Supervisor
from trailbrake.driving.options import UNKNOWN_CAR, DriveOptions
from trailbrake.driving.road_monitor import RoadMonitor
from trailbrake.driving.session.connection import open_connection
from trailbrake.driving.session.drive_setup import make_setup
from trailbrake.driving.session.driver_needs import check_course_needs, check_driver_needs
from trailbrake.errors import TrailbrakeError, UsageError, describe_value, raised_at
from trailbrake.evaluate.cell_result import CellResult, build_result, failed_result
from trailbrake.evaluate.plan import Cell
from trailbrake.planning.course import Course, UnmappedCourse
from trailbrake.record.format import WIRE_DELAY
from trailbrake.record.parted_file import ONE_FILE
from trailbrake.record.recorder import Recorder
from trailbrake.roles import HandDriven, RoadPlant, Tap
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


def build_drive(cell: Cell) -> DriveOptions:
    """Return the drive of a cell: what the driver gets, and the world's own where it is another."""
    world = list(cell.condition)
    if cell.believed_car:
        world.append(f"car={cell.car}")
    if cell.believed_track:
        world.append(f"track={cell.track}")
    return DriveOptions(
        sim=cell.sim, driver=cell.driver, track=cell.believed_track or cell.track, car=cell.believed_car or cell.car,
        laps=cell.laps, seed=cell.seed, gain=cell.gain, config=Path(cell.config) if cell.config else None,
        host=cell.host, world=tuple(world), report=False,
    )  # fmt: skip


def make_cell_goal(laps: int, seconds: float) -> Goal:
    """Return what ends a cell: its laps, an empty tank, no headway, or s of simulator time."""
    return Laps(laps).or_when(NoFuel(), NoHeadway(), TimeUp(seconds, laps))


def _drive_simulator(
    simulator: AnySimulator, cell: Cell, recording: Path | None, say: Callable[[str], None]
) -> CellResult:
    if simulator.world == "miniature":
        raise UsageError("the miniature world is not judged here", where="--sims", got=simulator.name,
                         hint="see trailbrake race")  # fmt: skip
    options, live = build_drive(cell), simulator.live_options()
    driver = load_driver(options.driver, options.config, options.gain)
    if isinstance(driver, HandDriven):
        raise UsageError("this driver needs a person", where="--drivers", got=options.driver)
    check_driver_needs(driver, options.driver, simulator, live)
    course = _load_course(simulator, options, live)
    check_course_needs(driver, options.driver, simulator, course)
    driver.reset(course)
    planned = course.car is not None and not isinstance(course, UnmappedCourse)
    predicted = course.profile.lap_time if planned else math.nan
    supervisor = Supervisor()
    setup = make_setup(simulator, options, live, driver)
    with open_connection(setup, lambda: False) as connection:
        if not isinstance(connection.plant, RoadPlant):
            raise UsageError("a world without a road", where="--sims", got=simulator.name)
        road = connection.plant.track.road
        monitor = RoadMonitor(road, plant=connection.plant)
        goal = make_cell_goal(cell.laps if road.closed else 1, cell.seconds)
        recorder = None if recording is None else _open_recorder(recording, cell, setup.wire_delay)
        taps: list[Tap] = [monitor] if recorder is None else [monitor, recorder]
        commands = CommandGate(connection.link, declared_commands(driver, options.driver), say,
                               custom=declared_custom_values(driver, options.driver))  # fmt: skip
        seat = CarLoop(connection.link, driver, supervisor, taps, lambda: goal.judge(monitor),
                       commands=commands, say=say)  # fmt: skip
        try:
            loop = run_loop(seat, connection.pacer, say=say)
        finally:
            if recorder is not None:
                recorder.close()
        result = build_result(monitor, loop.reason, predicted)
    return result if recorder is None else replace(result, recording=recorder.path.name)


def _load_course(simulator: AnySimulator, options: DriveOptions, live: object) -> Course:
    """Return what the driver gets to know of road and car: in a drive it is the same."""
    car = None if options.car == UNKNOWN_CAR else load_car(options.car)
    if not {"x", "y"} <= simulator.list_supplied(live):
        return UnmappedCourse(car)
    return Course(load_track(options.track), car)


def _open_recorder(path: Path, cell: Cell, wire_delay: float) -> Recorder:
    recorder = Recorder(path, pictures=False, limits=ONE_FILE)
    recorder.start({"sim": cell.sim, "driver": cell.driver, "track": cell.track, "car": cell.car, "seed": cell.seed,
                    "world": list(cell.condition), "laps": cell.laps, WIRE_DELAY: wire_delay})  # fmt: skip
    return recorder
