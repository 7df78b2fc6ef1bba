"""Laps with a learned car file as it will be written: the plan is lowered until the car stays on the road in them.

The drives judge by the wire and by the road as the drivers know it. A drive that fails is learned from, like any other;
one that is clean is not, so that the file which is written is the one that was driven.
"""

import hashlib
from typing import NamedTuple

from msgspec.structs import replace

from trailbrake.cars.car_library import parse_car
from trailbrake.cars.params import CarParams
from trailbrake.errors import DataError
from trailbrake.learning.identification.car_file_writer import format_car
from trailbrake.learning.identification.drive_table import join_tables
from trailbrake.learning.identification.learned_car import LearnedCar, learn_car
from trailbrake.learning.identification.planned_car import LapFault, describe_fault, lower_plan, plan_car
from trailbrake.learning.learning_drives import LapStage, LearningProgress, drive_learned_laps
from trailbrake.learning.learning_journal import LearningStep
from trailbrake.learning.recorded_drive import DriveTarget, FaultMonitor, make_stage_goal
from trailbrake.tracks.track import Track

LAP_MARGIN = 1.05  # laps of a drive: from rest to the start line, and round
LAPS = 2  # of a drive on a circuit: from rest, and flying
ATTEMPTS = 6
LEAST_SPEED = 4.0  # m/s, mean of a drive that takes too long
STEP = "verification"
BROKEN_OFF = "broken off"


class PlannedFile(NamedTuple):
    """A car file that may be written.

    Attributes:
        learned: what was learned.
        car: the numbers of the file.
    """

    learned: LearnedCar
    car: CarParams


class _BelievedCar(NamedTuple):
    car: CarParams
    digest: str
    attempt: int


def make_file(progress: LearningProgress, name: str) -> PlannedFile:
    """Return the car file of the drives so far; `name` is the car's."""
    learned = learn_car(join_tables(progress.tables), name)
    return PlannedFile(learned, replace(plan_car(learned, progress.reduction), name=name))


def verify_file(target: DriveTarget, track: Track, progress: LearningProgress, names: tuple[str, str]) -> PlannedFile:
    """Drive laps with the learned car, lower its plan until they are clean, and return the file.

    Args:
        target: what is driven.
        track: as the drivers know it.
        progress: the drives so far; those of this function are added, and `verification` is set.
        names: of the car, and the beginning of the recordings' names.

    Returns:
        The file that was driven clean. Where the drives are broken off, one whose `verified_laps` are 0.

    Raises:
        DataError: the car left the road in all drives.
    """
    show = progress.listener.show_message
    attempts: list[dict[str, object]] = []
    progress.verification = {"laps": 0, "drives": attempts}
    laps = LAPS if track.road.closed else 1
    for attempt in range(ATTEMPTS):
        name = f"{STEP} {attempt + 1}"
        failed = _find_failed(progress, name)
        if failed is not None:
            progress.reduction = failed.reduction
            attempts.append(_describe_drive(failed))
            continue
        file = make_file(progress, names[0])
        car = parse_car(format_car(file.learned, file.car).encode(), where=names[0])  # as the file says it
        digest = hashlib.sha256(repr(car).encode()).hexdigest()[:16]
        step = _find_clean(progress, name, digest)
        if step is None:
            step = _drive(
                target, track, progress, (name, f"{names[1]}_{STEP}{attempt + 1}"), _BelievedCar(car, digest, attempt)
            )
            if step is None:
                return file
            progress.add_step(step, teaches=step.left_road)
            grip = car.uncertainty.planned_share if car.uncertainty is not None else progress.reduction.grip
            outcome = _describe_drive(step)["outcome"]
            show(f"{STEP} with {100.0 * grip:.0f} % of the grip: {step.seconds:.0f} s, {outcome}")
        attempts.append(_describe_drive(step))
        if step.left_road:
            progress.reduction = step.reduction
            continue
        if not step.finished:
            return file
        progress.verification["laps"] = laps
        doubt = file.car.uncertainty
        verified = file.car if doubt is None else replace(file.car, uncertainty=replace(doubt, verified_laps=laps))
        return PlannedFile(file.learned, verified)
    raise DataError(
        f"no car file: in {ATTEMPTS} drives with ever less grip the learned car did not stay on the road",
        where=f"{STEP} laps", got=f"the last fault: {attempts[-1]['outcome']}",
        hint="the recordings are kept; a wider road may help; --no-verify writes the file as it is",
    )  # fmt: skip


def teaches(step: LearningStep) -> bool:
    """Return whether a drive of a journal is learned from: clean or unfinished verification laps are not."""
    return step.left_road or not step.name.startswith(STEP)


def _find_failed(progress: LearningProgress, name: str) -> LearningStep | None:
    steps = progress.journal.list_steps(name) if progress.journal else []
    return next((step for step in steps if step.left_road), None)


def _find_clean(progress: LearningProgress, name: str, digest: str) -> LearningStep | None:
    steps = progress.journal.list_steps(name) if progress.journal else []
    return next((step for step in steps if step.finished and step.car == digest), None)


def _describe_drive(step: LearningStep) -> dict[str, object]:
    return {
        "recording": step.recording,
        "seconds": step.seconds,
        "outcome": step.outcome or ("clean" if step.finished else BROKEN_OFF),
    }


def _drive(
    target: DriveTarget, track: Track, progress: LearningProgress, names: tuple[str, str], believed: _BelievedCar
) -> LearningStep | None:
    """Drive the laps of one attempt; None where they cannot be driven.

    Args:
        target: what is driven.
        track: as the drivers know it.
        progress: the drives so far.
        names: of the step and its recording.
        believed: the car of the attempt.
    """
    road = track.road
    laps = LAPS * LAP_MARGIN if road.closed else 1.0
    goal = make_stage_goal(laps, laps * road.length / LEAST_SPEED)
    stage = LapStage(names, track, believed.car, goal, FaultMonitor(road))
    found = drive_learned_laps(target, stage, progress)
    if found is None:
        return None
    drive, fault = found
    if fault is None and goal.judge(stage.monitor):  # out of time
        fault = LapFault("standstill", 0.0)
    if fault is None:
        lowered, outcome = progress.reduction, ""
    else:
        lowered = lower_plan(progress.reduction, fault, believed.car, believed.attempt)
        outcome = describe_fault(fault)
    return LearningStep(names[0], str(drive.path), drive.seconds, drive.reason == "", fault is not None, outcome,
                        believed.digest, lowered)  # fmt: skip
