"""Learns a car without a description: a test drive, or recordings of anybody, and from them a car file.

After the programme of `car_test` the car is driven by `line_follow` with what has been learned so far, at a grip that
rises from lap to lap up to what the car has shown; each lap is learned from as well. At last it is driven with the
file that is written, and the plan is lowered until the car stays on the road (`verification_laps.py`).
"""

import math
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from msgspec.structs import replace as replace_fields

from trailbrake.drivers.car_test import Driver as CarTest
from trailbrake.driving.road_monitor import RoadMonitor
from trailbrake.driving.session.drive_setup import make_setup
from trailbrake.driving.session.driver_choice import check_driver_needs
from trailbrake.driving.session.progress import ProgressListener, SilentListener
from trailbrake.driving.session.resolved_drive import find_course
from trailbrake.driving.spec import make_spec
from trailbrake.errors import DataError, OsErrors, TrailbrakeError, UsageError
from trailbrake.json_types import JsonObject
from trailbrake.learning.identification.car_file_writer import format_car
from trailbrake.learning.identification.drive_table import DriveTable, join_tables
from trailbrake.learning.identification.learned_car import learn_car
from trailbrake.learning.identification.planned_car import describe_fault, lower_plan, plan_car
from trailbrake.learning.learning_drives import (
    LAPS_BY,
    LapStage,
    LearningProgress,
    drive_learned_laps,
    read_drive,
    record_step,
)
from trailbrake.learning.learning_journal import LearningJournal, LearningStep, journal_folder
from trailbrake.learning.options import LearnCarOptions
from trailbrake.learning.recorded_drive import STUCK, DriveEnd, DriveTarget, FaultMonitor, make_stage_goal
from trailbrake.learning.verification_laps import LAP_MARGIN, LAPS, PlannedFile, make_file, teaches, verify_file
from trailbrake.planning.course import Course, UnmappedCourse
from trailbrake.planning.line_file import road_digest
from trailbrake.record.file_names import safe_name
from trailbrake.simulator import AnySimulator
from trailbrake.tracks.road import Road, RoadColumn
from trailbrake.tracks.track import Track
from trailbrake.tracks.track_library import load_track
from trailbrake.user_files import check_result

PROGRAMME = "car_test"
SHARES = (0.88, 0.95, 1.0)  # of the learned grip, lap by lap
LEAST_STAGE_S = 20.0  # that a stage of laps takes
EFFORTS = (1.0, 0.6, 0.4)  # of the test drive: the first, and those after the car has left the road in one
LEAST_TEST_S = 40.0  # that is left of a test drive which was broken off, below which it is not gone on with
SHORT_ROAD = 700.0  # m, open roads below which the programme does not come to its end
NARROW_ROAD = 5.0  # m, median width below which a car cannot show its limits


def learn_car_file(
    simulator: AnySimulator, options: LearnCarOptions, live: object = None, listener: ProgressListener | None = None
) -> JsonObject:
    """Learn a car, write its file and a report, and return what `trailbrake learn car --json` prints.

    Args:
        simulator: whose wire to drive through, where no recordings are given.
        options: what to learn from, and how.
        live: the simulator's live options; None for their defaults.
        listener: receives messages.

    Raises:
        TrailbrakeError: no such seconds or laps, the simulator does not supply what is needed, a recording cannot be
            read or tells too little, or a file cannot be written.
    """
    listener = listener or SilentListener()
    check_options(options)
    if options.source:
        progress = LearningProgress(*_read_recordings(options.source), listener)
        file = make_file(progress, _name_of(options))
    else:
        progress, file = _drive_programme(simulator, options, live, listener)
    if progress.interrupted:
        listener.show_message("stopped: learned from what was driven; the same command goes on")
    return _write_results(file, progress, options)


def check_options(options: LearnCarOptions) -> None:
    """Check the numbers of a learning and the name of its result; UsageError where they are none."""
    check_result(options.out, ".toml")
    for name, value in (("seconds", options.seconds), ("programme", options.programme)):
        if not 0.0 < value < math.inf:
            raise UsageError("no number of seconds", where=f"--{name}", expected="above 0", got=f"{value:g}")
    if not 0 <= options.laps <= len(SHARES):
        raise UsageError("no number of stages", where="--laps", expected=f"0 to {len(SHARES)}", got=str(options.laps))


def car_file_path(options: LearnCarOptions) -> Path:
    """Return the path of the car file that is written."""
    return options.out or Path(f"{_name_of(options)}.toml")


def _name_of(options: LearnCarOptions) -> str:
    if options.out is not None:
        return safe_name(options.out.stem)
    return "learned" if options.live or options.source else f"{safe_name(Path(options.track).stem)}_learned"


def _read_recordings(paths: Sequence[Path]) -> tuple[list[DriveTable], list[Path]]:
    return [read_drive(path, number) for number, path in enumerate(paths)], list(paths)


def _drive_programme(
    simulator: AnySimulator, options: LearnCarOptions, live: object, listener: ProgressListener
) -> tuple[LearningProgress, PlannedFile]:
    """Drive the test programme, laps at rising grip, and laps that verify the file; return all recordings and it."""
    driver = CarTest(min(options.programme, options.seconds))
    check_driver_needs(driver, PROGRAMME, simulator, live)
    spec = make_spec(sim=options.sim, driver=PROGRAMME, track=options.track, car=options.car, live=options.live,
                     host=options.host, world=options.world)  # fmt: skip
    target, track = _find_road(DriveTarget(simulator, spec, live), options.map, listener)
    progress = LearningProgress([], [], listener, _open_journal(options, track, listener))
    progress.notes = describe_road_limits(track.road)
    for note in progress.notes:
        listener.show_message(note)
    for step in progress.journal.steps if progress.journal else ():
        progress.keep_drive(Path(step.recording), step.seconds, teaches=teaches(step))
    _drive_test(target, track, progress, options)
    if not progress.tables:
        raise DataError("the test drive taught nothing", where="learn car",
                        hint="a longer or wider road may help; the same command drives again")  # fmt: skip
    if not progress.interrupted and options.laps > 0:
        _drive_laps(target, track, progress, options)
    name = _name_of(options)
    if progress.interrupted or not options.verify:
        return progress, make_file(progress, name)
    return progress, verify_file(target, track, progress, (name, _drive_name(target)))


def _open_journal(options: LearnCarOptions, track: Track, listener: ProgressListener) -> LearningJournal:
    basis = ("car", options.sim, options.live, options.track, options.car, options.host, options.world,
             road_digest(track.road))  # fmt: skip
    folder = journal_folder(car_file_path(options))
    return LearningJournal(folder, basis, again=options.again, show_message=listener.show_message)


def describe_road_limits(road: Road) -> tuple[str, ...]:
    """Return what cannot be learned on a road because it is too short or too narrow, one line each."""
    notes = []
    if not road.closed and road.length < SHORT_ROAD:
        notes.append(f"the limits in bends and gears above the lowest: the road ends after {road.length:.0f} m, "
                     f"and the test drive takes {SHORT_ROAD:g} m")  # fmt: skip
    width = float(np.median(road.column(RoadColumn.WIDTH_LEFT) + road.column(RoadColumn.WIDTH_RIGHT)))
    if width < NARROW_ROAD:
        notes.append(f"the tyres at their limits: the road is {width:.1f} m wide, and the test drive takes "
                     f"{NARROW_ROAD:g} m")  # fmt: skip
    return tuple(notes)


def _drive_test(target: DriveTarget, track: Track, progress: LearningProgress, options: LearnCarOptions) -> None:
    """Drive the programme, or what earlier drives have left of it, and keep the recordings.

    A car that leaves the road too often, or stands, has shown little of itself: what is left is driven more gently.
    """
    journal = progress.journal
    if journal and journal.is_finished(PROGRAMME):
        return
    steps = journal.list_steps(PROGRAMME) if journal else []
    broken, done = sum(step.left_road for step in steps), sum(step.seconds for step in steps)
    while broken < len(EFFORTS):
        left = min(options.programme, options.seconds) - done
        if left < LEAST_TEST_S < options.programme:
            return
        driver = CarTest(left, effort=EFFORTS[broken])
        driver.reset(Course(track, None))
        end = _end_of_test(track.road, driver)
        drive = record_step(target, driver, end, (PROGRAMME, f"{_drive_name(target)}_test"), progress)
        if drive is None:
            return
        stands = not driver.finished and end.goal.judge(end.monitor) is not None
        broke_off, why = driver.broke_off or stands, driver.ended or ("the car stands" if stands else drive.reason)
        progress.listener.show_message(f"test drive: {drive.seconds:.0f} s, {why}")
        finished = drive.reason == "" and not broke_off
        progress.add_step(LearningStep(PROGRAMME, str(drive.path), drive.seconds, finished, broke_off,
                                       why if broke_off else ""))  # fmt: skip
        if not broke_off:
            return
        broken, done = broken + 1, done + drive.seconds


def _end_of_test(road: Road, driver: CarTest) -> DriveEnd:
    """Return what ends a test drive: its programme, or a car that stands; in a test it may leave the road."""
    return DriveEnd(RoadMonitor(road), STUCK, lambda: driver.finished)


def _drive_name(target: DriveTarget) -> str:
    return f"{safe_name(Path(target.spec.track or target.spec.site.sim).stem)}_car"


def _find_road(target: DriveTarget, road: Path | None, listener: ProgressListener) -> tuple[DriveTarget, Track]:
    """Return the target with its track and car named, and the road that the drivers know: the file `road`, if any."""
    setup = make_setup(target.simulator, target.spec, target.live)
    target = target._replace(spec=setup.spec)
    if road is not None or not setup.spec.is_live:
        track = load_track(road if road is not None else setup.spec.track)
        return target._replace(road=track.road), track
    setup, course = find_course(setup, lambda: False, listener.show_message)
    if isinstance(course, UnmappedCourse):
        raise UsageError("the road is not known", where="learn car", expected="--map FILE",
                         hint="trailbrake learn track makes one")  # fmt: skip
    return DriveTarget(target.simulator, setup.spec, setup.live, course.track.road), course.track


def _drive_laps(target: DriveTarget, track: Track, progress: LearningProgress, options: LearnCarOptions) -> None:
    """Drive laps by what has been learned, with more of the grip each time, and keep their recordings."""
    road = track.road
    last = 0.0  # s, of the stage before
    for number, share in enumerate(SHARES[: options.laps]):
        name = f"{LAPS_BY} {number + 1}"
        driven = progress.journal.list_steps(name) if progress.journal else []
        if any(step.finished for step in driven):
            progress.reduction = driven[-1].reduction
            last = driven[-1].seconds
            continue
        left = options.seconds - progress.seconds
        if left < max(LEAST_STAGE_S, last * (2.0 if options.verify else 0.0)):  # the verification takes as long
            return
        reduction = progress.reduction._replace(grip=min(share, progress.reduction.grip))
        try:
            car = plan_car(learn_car(join_tables(progress.tables)), reduction)
        except TrailbrakeError as error:
            progress.listener.show_message(f"no laps with the learned car: {error}")
            return
        goal = make_stage_goal(LAPS * LAP_MARGIN if road.closed else 1.0, left)
        names = name, f"{_drive_name(target)}_lap{number + 1}"
        found = drive_learned_laps(target, LapStage(names, track, car, goal, FaultMonitor(road)), progress)
        if found is None:
            return
        lap, fault = found
        if fault is not None:
            progress.reduction = lower_plan(reduction, fault, car, 0)
        outcome = "" if fault is None else describe_fault(fault)
        progress.add_step(LearningStep(name, str(lap.path), lap.seconds, lap.reason == "", fault is not None, outcome,
                                       reduction=progress.reduction))  # fmt: skip
        progress.listener.show_message(
            f"laps at {100.0 * reduction.grip:.0f} % of the grip: {lap.seconds:.0f} s, {outcome or 'clean'}"
        )
        if lap.interrupted:
            return
        last = lap.seconds


def _write_results(file: PlannedFile, progress: LearningProgress, options: LearnCarOptions) -> JsonObject:
    from trailbrake.learning.car_report import describe_car, write_car_report

    out, (learned, car) = car_file_path(options), file
    car = replace_fields(car, name=safe_name(out.stem))
    with OsErrors("cannot write the car file", where=str(out)):
        out.write_text(format_car(learned, car), encoding="utf-8")
    report = write_car_report(
        out.with_suffix(".html"), join_tables(progress.tables), learned, car, [str(path) for path in progress.paths]
    )
    values = {
        key: {"value": value.value, "sigma": value.sigma, "source": value.source, "note": value.note}
        for key, value in learned.values.items()
    }
    return {
        "car": str(out), "report": str(report), "headline": describe_car(car), "class": learned.kind.name,
        "recordings": list(map(str, progress.paths)), "driven_s": learned.seconds, "values": values,
        "planned_share": car.uncertainty.planned_share if car.uncertainty is not None else 1.0,
        "verification": progress.verification, "missing": [*progress.notes, *learned.missing],
        "interrupted": progress.interrupted,
    }  # fmt: skip
