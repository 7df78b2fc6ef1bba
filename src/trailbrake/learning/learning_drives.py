"""The drives that a car is learned from: driven, recorded, kept as tables and in a journal."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import numpy as np

from trailbrake.cars.params import CarParams
from trailbrake.drivers.loading.driver_registry import load_driver
from trailbrake.driving.drive_files import open_drive
from trailbrake.driving.goals import Goal
from trailbrake.driving.session.driver_choice import check_driver_needs
from trailbrake.driving.session.progress import ProgressListener
from trailbrake.errors import DataError, TrailbrakeError, UsageError
from trailbrake.json_types import JsonObject
from trailbrake.learning.identification.drive_table import (
    LEARNING_COLUMNS,
    DriveTable,
    RoadBounds,
    WireFacts,
    make_table,
)
from trailbrake.learning.identification.planned_car import LapFault, PlanReduction
from trailbrake.learning.learning_journal import LearningJournal, LearningStep
from trailbrake.learning.recorded_drive import DriveEnd, DriveTarget, FaultMonitor, RecordedDrive, record_drive
from trailbrake.planning.course import Course
from trailbrake.record.recording_reader import Recording
from trailbrake.roles import Driver
from trailbrake.sims import registry
from trailbrake.state.signals import find_learning_signals
from trailbrake.tracks.track import Track

LAPS_BY = "line_follow"
WALKING, UNDER_WAY = 4.0, 10.0  # m/s, and m from the start: grip is not what a car that leaves the road before lacks
LAP_GAINS = ("learn=1", "start_grip=1")  # the whole grip of the plan from the start; a slide lowers it at once


@dataclass
class LearningProgress:
    """The drives so far.

    Attributes:
        tables: what is learned from.
        paths: recordings of all drives.
        listener: receives messages.
        journal: keeps them for a later call; None: recordings of others.
        seconds: of driving.
        notes: what cannot be learned on this road, one line each.
        interrupted: whether the user, or the end of the simulator, has broken off the last drive.
        reduction: shares of what was learned with which the car has not left the road.
        verification: what the verification laps found; empty without.
    """

    tables: list[DriveTable]
    paths: list[Path]
    listener: ProgressListener
    journal: LearningJournal | None = None
    seconds: float = 0.0
    notes: tuple[str, ...] = ()
    interrupted: bool = False
    reduction: PlanReduction = field(default_factory=PlanReduction)
    verification: JsonObject | None = None

    def keep_drive(self, path: Path, seconds: float, *, teaches: bool = True) -> None:
        """Count a drive, and keep it as a table if it `teaches`."""
        self.seconds += seconds
        self.paths.append(path)
        if not teaches:
            return
        try:
            self.tables.append(read_drive(path, len(self.tables)))
        except TrailbrakeError as error:
            self.listener.show_message(f"not learned from: {error}")

    def add_step(self, step: LearningStep, *, teaches: bool = True) -> None:
        """Keep a drive, in the journal as well."""
        self.keep_drive(Path(step.recording), step.seconds, teaches=teaches)
        if self.journal is not None:
            self.journal.add_step(step)


def record_step(
    target: DriveTarget, driver: Driver, end: DriveEnd, names: tuple[str, str], progress: LearningProgress
) -> RecordedDrive | None:
    """Drive one step, of which `names` are that of the step and that of its recording; None where it fails.

    A simulator that goes away takes nothing of what was driven before.
    """
    try:
        drive = record_drive(target, driver, end, names[1], progress.listener)
    except TrailbrakeError as error:
        if not progress.tables:
            raise
        progress.interrupted = True
        progress.listener.show_message(f"{names[0]} was not driven: {error}")
        return None
    progress.interrupted = drive.interrupted
    return drive


class LapDrive(NamedTuple):
    """Laps that were driven.

    Attributes:
        drive: the recording.
        fault: how they went wrong; None where they did not.
    """

    drive: RecordedDrive
    fault: LapFault | None


class LapStage(NamedTuple):
    """Laps to drive.

    Attributes:
        names: of the step and of its recording.
        track: as the driver knows it.
        car: as the driver believes it.
        goal: ends the laps.
        monitor: follows them.
    """

    names: tuple[str, str]
    track: Track
    car: CarParams
    goal: Goal
    monitor: FaultMonitor


def drive_learned_laps(target: DriveTarget, plan: LapStage, progress: LearningProgress) -> LapDrive | None:
    """Drive laps with a learned car until they are over; None, with a message, where they cannot be driven.

    Args:
        target: what is driven.
        plan: how.
        progress: the drives so far.

    Raises:
        DataError: the road of the map is not where the car is.
    """
    try:
        driver = load_driver(LAPS_BY, None, LAP_GAINS)
        check_driver_needs(driver, LAPS_BY, target.simulator, target.live)
        driver.reset(Course(plan.track, plan.car))
    except TrailbrakeError as error:
        progress.listener.show_message(f"no laps with the learned car: {error}")
        return None
    target = target._replace(spec=target.spec.with_cars(driver=LAPS_BY))
    drive = record_step(target, driver, DriveEnd(plan.monitor, plan.goal), plan.names, progress)
    if drive is None:
        return None
    fault, speed, way = plan.monitor.find_fault(), plan.monitor.speed, plan.monitor.travelled
    if fault is not None and fault.phase != "standstill" and (speed < WALKING or way < UNDER_WAY):
        raise DataError("the road of the map is not where the car is", where=plan.names[0],
                        got=f"off it after {way:.0f} m, at {speed:.1f} m/s",
                        hint="put the car on the road, along it; or the map is another road's")  # fmt: skip
    if (
        fault is None and not drive.interrupted and drive.reason
    ):  # no fault of the car: a lost wire, a driver that raised
        progress.listener.show_message(f"{plan.names[0]} broke off: {drive.reason}")
    return LapDrive(drive, fault)


def read_drive(path: Path, number: int, bounds: RoadBounds | None = None) -> DriveTable:
    """Return a drive as a table.

    Args:
        path: what `open_drive` reads.
        number: of the drive.
        bounds: of its road; None: as the recording has them, if it does.

    Raises:
        TrailbrakeError: it cannot be read, or does not tell how a car moves.
    """
    if not path.is_file():
        raise UsageError("cannot read the recording", where=str(path), got="no such file")
    try:
        return tabulate_recording(open_drive(path), number, bounds)
    except DataError as error:
        raise error if str(path) in str(error) else DataError(f"{path}: {error}") from error


def tabulate_recording(
    recording: Recording, number: int, bounds: RoadBounds | None = None, rows: slice = slice(None)
) -> DriveTable:
    """Return some rows of a recording as a table.

    Args:
        recording: the drive.
        number: of the drive.
        bounds: of its road; None: as the recording has them, if it does.
        rows: which.

    Raises:
        DataError: they do not tell how a car moves.
    """
    names = _list_learning_signals(recording)
    wanted = [signal for role in names.values() for signal in role]
    block = recording.read_rows(rows, LEARNING_COLUMNS, wanted)  # at once: of a long drive chunks are not kept
    state, controls = dict(block.state), dict(block.controls)
    if recording.about.get("open_loop"):  # these commands moved no car
        controls = {name: np.full_like(values, np.nan) for name, values in controls.items()}
    state["time"] = np.where(recording.undone[rows], np.nan, state["time"])
    road = recording.road_map if bounds is None else None
    if road is not None:
        bounds = RoadBounds(road.centre, road.left, road.right)
    found = {role: [block.signals[signal] for signal in those] for role, those in names.items()}
    surface = None
    if len(found["surface"]) == len(found["kerb"]) == 4:
        surface = np.where(np.column_stack(found["kerb"]) > 0.0, np.nan, np.column_stack(found["surface"]))
    wire = WireFacts(recording.wire_delay, next(iter(found["engine_power"]), None), surface)
    return make_table(state, controls, number, bounds, wire)


def _list_learning_signals(recording: Recording) -> dict[str, list[str]]:
    """Return the recorded signals that a car is learned from beside states and controls, by their role."""
    simulators = {simulator.name: simulator for simulator in registry.list_simulators().simulators}
    simulator = simulators.get(str(recording.about.get("sim", "")))
    known = find_learning_signals(simulator.list_signals(None) if simulator is not None else ())
    return {role: [name for name in names if name in recording.signals] for role, names in known.items()}
