"""A cell as a task: `drive_cell` from bytes to bytes, with the files that it names for another machine.

`drive_cell`: one cell in this process, through the simulator's wire, in lockstep.
"""

import functools
import math
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import msgspec
from msgspec.structs import replace

from trailbrake.analysis.lap_table import format_lap_time
from trailbrake.campaign.case_run import CaseTask
from trailbrake.driving.goals import Laps, NoFuel, NoHeadway, TimeUp
from trailbrake.driving.loop.supervisor import Supervisor
from trailbrake.driving.road_monitor import RoadMonitor
from trailbrake.driving.run import CarWatch, drive_cars
from trailbrake.driving.session.car_session import store_course
from trailbrake.driving.session.connection import Connection
from trailbrake.driving.session.drive_setup import make_setup
from trailbrake.driving.session.resolved_drive import ResolvedDrive, resolve_drive
from trailbrake.driving.spec import CarSpec, DriveSpec, EmbeddedSite, KeepSpec
from trailbrake.errors import TrailbrakeError, UsageError, describe_value, raised_at
from trailbrake.evaluate.cell_result import CellResult, build_result, failed_result, find_best_time, list_timed_laps
from trailbrake.evaluate.plan import Cell, fingerprint_cell, list_named_words
from trailbrake.planning.course import has_plan
from trailbrake.record.parted_file import ONE_FILE
from trailbrake.record.recorder import Recorder
from trailbrake.roles import HandDriven, RoadPlant, Tap
from trailbrake.sims import registry
from trailbrake.simulator import AnySimulator
from trailbrake.system import steady_clock
from trailbrake.tasks.sent_files import collect_files, place_files, rename_files, rename_files_in_pair
from trailbrake.tasks.task_worker import TaskAnswer
from trailbrake.user_files import make_folder, read_user_file, write_whole

CELL_TASK = "trailbrake.evaluate.cell_task:run_cell_task"
MAX_RECORDING = 2 << 30  # bytes
_DIGITS = 24  # of a fingerprint, in a recording's name


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
    resolved = resolve_drive(make_setup(simulator, build_spec(cell)), say=say)
    course = resolved.course
    if isinstance(resolved.drivers[0], HandDriven):
        raise UsageError("this driver needs a person", where="--drivers", got=cell.driver)
    predicted = course.profile.lap_time if has_plan(course) else math.nan
    watched: list[tuple[RoadMonitor, Recorder | None]] = []

    def watch_cars(connection: Connection) -> Iterator[CarWatch]:
        if not isinstance(connection.plant, RoadPlant):
            raise UsageError("a world without a road", where="--sims", got=simulator.name)
        road = connection.plant.track.road
        monitor = RoadMonitor(road, plant=connection.plant)
        goal = make_cell_goal(cell.laps if road.closed else 1, cell.seconds)
        taps: list[Tap] = [monitor]
        recorder = None if recording is None else _open_recorder(recording, resolved)
        if recorder is not None:
            taps.insert(0, recorder)  # first: a lap is written right after the tick that ended it
            monitor.on_lap = recorder.store_lap
        watched.append((monitor, recorder))

        def record(text: str) -> None:
            if recorder is not None:
                recorder.store_event(monitor.time, text)

        def close() -> None:
            if recorder is not None:
                recorder.close()

        yield CarWatch(taps, lambda: goal.judge(monitor), say, record, close)

    outcome = drive_cars(resolved.setup, resolved.named, watch_cars, Supervisor(), say=say)
    monitor, recorder = watched[0]
    result = build_result(monitor, outcome.loop.reason, predicted)
    return result if recorder is None else replace(result, recording=recorder.path.name)


def _open_recorder(path: Path, drive: ResolvedDrive) -> Recorder:
    setup = drive.setup
    recorder = Recorder(path, pictures=setup.spec.keep.pictures, signals=setup.signals, limits=ONE_FILE)
    recorder.start(drive.about)
    store_course(recorder, drive.course)
    return recorder


class CellJob(msgspec.Struct, frozen=True, kw_only=True):
    """A cell to drive.

    Attributes:
        cell: the drive.
        recording: file of the recording, "" for none.
        returns_recording: whether the answer has the recording, for a machine that has no such file.
        files: contents of the files that the cell names, by the text that names them.
    """

    cell: Cell
    recording: str = ""
    returns_recording: bool = False
    files: dict[str, bytes] = {}


class CellAnswer(msgspec.Struct, frozen=True):
    """What came out, and the recording where it is to be returned."""

    result: CellResult
    recording: bytes = b""


def make_cell_task(recordings: Path | None) -> CaseTask[Cell, CellResult]:
    """Return what a campaign does with a cell.

    Args:
        recordings: the folder of the recordings; None for none.
    """
    fingerprint = functools.cache(fingerprint_cell)  # reads the files that a cell names

    def find_recording(cell: Cell) -> Path | None:
        return None if recordings is None else recordings / f"{fingerprint(cell)[:_DIGITS]}.mcap"

    def encode(cell: Cell, is_remote: bool) -> bytes:
        recording = find_recording(cell)
        job = CellJob(
            cell=cell, recording="" if recording is None else str(recording),
            returns_recording=is_remote and recording is not None,
            files=collect_files(list_named_words(cell)) if is_remote else {},
        )  # fmt: skip
        return msgspec.msgpack.encode(job)

    def decode(cell: Cell, answer: TaskAnswer) -> CellResult:
        if answer.error:
            return failed_result(answer.error)
        found, recording = msgspec.msgpack.decode(answer.value, type=CellAnswer), find_recording(cell)
        if found.recording and recording is not None:
            write_whole(recording, found.recording, "a recording")
        return found.result

    if recordings is not None:
        make_folder(recordings)
    return CaseTask(
        CELL_TASK, "cells", fingerprint, encode, decode, describe_result,
        lambda result: result.outcome == "error",  # it may be one of the machine
    )  # fmt: skip


def describe_result(cell: Cell, result: CellResult) -> str:
    """Return a line about a cell and its result."""
    best = find_best_time(list_timed_laps(result, cell.laps))
    condition = f" ({', '.join(cell.condition)})" if cell.condition else ""
    belief = f", believes {cell.believed_car}" if cell.believed_car else ""
    lap = f", best {format_lap_time(best)}" if math.isfinite(best) else ""
    why = f": {result.ended}" if result.ended else ""
    return (f"{cell.sim}, {cell.car} on {cell.track}{condition}, {cell.driver}{belief}: {result.outcome}{lap}{why}"
            f" [{result.wall_s:.0f} s]")  # fmt: skip


def run_cell_task(argument: bytes) -> bytes:
    """Drive the cell of an encoded `CellJob` and return an encoded `CellAnswer`."""
    job = msgspec.msgpack.decode(argument, type=CellJob)

    def say(text: str) -> None:
        print(text, file=sys.stderr, flush=True)

    with tempfile.TemporaryDirectory(prefix="trailbrake-cell-") as folder:
        cell = place_cell(job.cell, job.files, Path(folder))
        recording = Path(job.recording) if job.recording else None
        if recording is not None and job.returns_recording:
            recording = Path(folder) / recording.name
        result, returned = drive_cell(cell, recording, say), b""
        if recording is not None and job.returns_recording and recording.is_file():
            returned = read_user_file(recording, "recording", MAX_RECORDING)
        return msgspec.msgpack.encode(CellAnswer(result, returned))


def place_cell(cell: Cell, files: Mapping[str, bytes], folder: Path) -> Cell:
    """Return a cell whose files are those that were sent with it, as `place_files` says."""
    names = place_files(files, folder)

    def rename(word: str) -> str:
        return rename_files(word, names)

    def rename_all(pairs: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(rename_files_in_pair(pair, names) for pair in pairs)

    return msgspec.structs.replace(
        cell, track=rename(cell.track), car=rename(cell.car), driver=rename(cell.driver), config=rename(cell.config),
        believed_car=rename(cell.believed_car), believed_track=rename(cell.believed_track),
        host=rename_all(cell.host), gain=rename_all(cell.gain), line=rename(cell.line) if cell.line else cell.line,
    )  # fmt: skip
