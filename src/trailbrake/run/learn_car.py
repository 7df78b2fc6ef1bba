"""Learns a car without a description: a test drive, or recordings of anybody, and from them a car file.

After the programme of `car_test` the car is driven by `line_follow` with what has been learned so far, at a grip that
rises from lap to lap up to what the car has shown; each lap is learned from as well.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from msgspec.structs import replace as replace_fields

from trailbrake.cars.params import CarParams, Tyre
from trailbrake.cars.tyre_fit import magic_formula_curve
from trailbrake.drivers.car_test import Driver as CarTest
from trailbrake.drivers.driver_registry import load_driver
from trailbrake.errors import DataError, TrailbrakeError, UsageError
from trailbrake.identification.car_file_writer import format_car
from trailbrake.identification.drive_table import DriveTable, join_tables
from trailbrake.identification.figure_uncertainty import plan_share
from trailbrake.identification.learned_car import LearnedCar, learn_car
from trailbrake.json_types import JsonObject
from trailbrake.planning.course import Course
from trailbrake.record.file_names import safe_name
from trailbrake.roles import Driver
from trailbrake.run.drive_sources import read_drive
from trailbrake.run.learning_journal import LearningJournal, LearningStep, hash_basis, journal_path
from trailbrake.run.options import DriveOptions, LearnCarOptions
from trailbrake.run.recorded_drive import DriveEnd, DriveTarget, RecordedDrive, record_drive
from trailbrake.run.session.drive_session import INTERRUPTED
from trailbrake.run.session.driver_needs import check_driver_needs
from trailbrake.run.session.progress import ProgressListener, SilentListener
from trailbrake.run.session.session_detection import detect_track_and_car
from trailbrake.simulator import AnySimulator
from trailbrake.state import CarState, Controls
from trailbrake.tracks.road import Road, RoadColumn
from trailbrake.tracks.track import Track
from trailbrake.tracks.track_library import load_track

PROGRAMME, LAPS_BY = "car_test", "line_follow"
LAP_GAINS = ("learn=1", "start_grip=1")  # the stage has its share of the grip; a slide lowers it at once
SHARES = (0.88, 0.95, 1.0, 1.0)  # of the learned grip, lap by lap
AFTER_LEAVING = 0.93  # of the share, once the car has left the road
UNSHOWN_GROWTH = 1.06  # of the grip that was shown, where the tyres never came near their peak
SATURATED = 0.9  # slip over that of the peak from which the peak counts as shown
LEAST_GRIP = 0.6  # share of the learned grip that is planned with at least
LEAVING_TIME = 0.5  # s beside the road that end a lap
STANDSTILL_S = 12.0
LEAST_STAGE_S = 20.0  # that a stage of laps takes
END_MARGIN = 15.0  # m before the end of an open road
LEAST_TEST_S = 40.0  # that is left of a test drive which was broken off, below which it is not gone on with
SHORT_ROAD = 700.0  # m, open roads below which the programme does not come to its end
NARROW_ROAD = 5.0  # m, median width below which a car cannot show its limits
LAP_MARGIN = 1.05  # laps of a stage: from rest to the start line, and round


class LapWatch:
    """A Tap that ends a stage: after so many laps, at the end of an open road, off the road, or at a standstill."""

    def __init__(self, road: Road, laps: float, seconds: float) -> None:
        self._road, self._laps, self._seconds, self._row = road, laps, seconds, -1
        self._last = self._start = self._moved_at = self._off_at = math.nan
        self.driven = 0.0
        self.left_road = self.stood = self.ended = False

    def start(self, about: JsonObject) -> None:
        """Nothing to prepare."""

    def tick(self, state: CarState, controls: Controls) -> None:
        """Follow the car."""
        road = self._road
        s, offset, self._row = road.locate(state.x, state.y, self._row)
        if math.isnan(self._start):
            self._start, self._moved_at, self._last = state.time, state.time, s
        step = s - self._last
        if road.closed:
            step -= road.length * math.floor(step / road.length + 0.5)
        self.driven, self._last = self.driven + step, s
        row = road.table[self._row]
        off = abs(offset) > float(row[RoadColumn.WIDTH_LEFT] if offset > 0.0 else row[RoadColumn.WIDTH_RIGHT])
        self._off_at = math.nan if not off else state.time if math.isnan(self._off_at) else self._off_at
        self.left_road = self.left_road or state.time - self._off_at > LEAVING_TIME
        if state.speed > 0.5:
            self._moved_at = state.time
        self.stood = state.time - self._moved_at > STANDSTILL_S
        at_end = not road.closed and s > road.length - END_MARGIN
        over = state.time - self._start > self._seconds or self.driven > self._laps * road.length
        self.ended = self.left_road or self.stood or at_end or over

    def close(self) -> None:
        """Nothing to end."""


@dataclass
class _Progress:
    """The drives so far, as tables, with the journal that keeps them."""

    tables: list[DriveTable]
    paths: list[Path]
    listener: ProgressListener
    journal: LearningJournal | None = None
    seconds: float = 0.0
    notes: tuple[str, ...] = ()
    interrupted: bool = False
    allowed: float = 1.0  # share of the grip with which the car has not left the road


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
        TrailbrakeError: the simulator does not supply what is needed, a recording cannot be read or tells too little,
            or a file cannot be written.
    """
    listener = listener or SilentListener()
    if options.source:
        progress = _Progress(*_read_recordings(options.source), listener)
    else:
        progress = _drive_programme(simulator, options, live, listener)
    learned = learn_car(join_tables(progress.tables), _name_of(options))
    if progress.interrupted:
        listener.show_message("stopped: learned from what was driven; the same command goes on")
    return _write_results(learned, progress, options)


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
) -> _Progress:
    """Drive the test programme, and laps at rising grip; return all recordings."""
    driver = CarTest(min(options.programme, options.seconds))
    check_driver_needs(driver, PROGRAMME, simulator, live)
    drive = DriveOptions(sim=options.sim, driver=PROGRAMME, track=options.track, car=options.car, live=options.live,
                         host=options.host, world=options.world)  # fmt: skip
    target, track = _find_road(DriveTarget(simulator, drive, live), options.map, listener)
    progress = _Progress([], [], listener, _open_journal(options, track, listener))
    progress.notes = describe_road_limits(track.road)
    for note in progress.notes:
        listener.show_message(note)
    for step in progress.journal.steps if progress.journal else ():
        _keep(progress, Path(step.recording), step.seconds)
    _drive_test(target, track, progress, options)
    if not progress.tables:
        raise DataError("the test drive taught nothing", where="learn car",
                        hint="a longer or wider road may help; the same command drives again")  # fmt: skip
    if not progress.interrupted and options.laps > 0:
        _drive_laps(target, track, progress, options)
    return progress


def _open_journal(options: LearnCarOptions, track: Track, listener: ProgressListener) -> LearningJournal:
    basis = hash_basis((options.sim, options.live, options.track, options.car, options.host, options.world,
                        track.road.table.tobytes()))  # fmt: skip
    path = journal_path(car_file_path(options))
    return LearningJournal(path, basis, again=options.again, show_message=listener.show_message)


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


def _drive_test(target: DriveTarget, track: Track, progress: _Progress, options: LearnCarOptions) -> None:
    """Drive the programme, or what an earlier drive has left of it, and keep the recording."""
    journal = progress.journal
    done = sum(step.seconds for step in journal.list_steps(PROGRAMME)) if journal else 0.0
    left = min(options.programme, options.seconds) - done
    if (journal and journal.is_finished(PROGRAMME)) or left < LEAST_TEST_S < options.programme:
        return
    driver = CarTest(left)
    driver.reset(Course(track, None))
    watch = LapWatch(track.road, math.inf, left)
    end = DriveEnd(_Steady(watch), lambda: watch.stood or driver.finished)
    drive = _record_step(target, driver, end, (PROGRAMME, f"{_drive_name(target)}_test"), progress)
    if drive is not None:
        why = driver.ended or ("the car stands" if watch.stood else drive.reason)
        progress.listener.show_message(f"test drive: {drive.seconds:.0f} s, {why}")
        _note_step(progress, LearningStep(PROGRAMME, str(drive.path), drive.seconds, drive.reason == ""))


def _record_step(
    target: DriveTarget, driver: Driver, end: DriveEnd, names: tuple[str, str], progress: _Progress
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


def _note_step(progress: _Progress, step: LearningStep) -> None:
    """Keep a drive in the tables and in the journal."""
    _keep(progress, Path(step.recording), step.seconds)
    if progress.journal is not None:
        progress.journal.add_step(step)


def _drive_name(target: DriveTarget) -> str:
    return f"{safe_name(Path(target.options.track or target.options.sim).stem)}_car"


class _Steady:
    """A Tap that passes everything on to a LapWatch whose leaving of the road ends nothing."""

    def __init__(self, watch: LapWatch) -> None:
        self._watch = watch

    def start(self, about: JsonObject) -> None:
        """Nothing to prepare."""

    def tick(self, state: CarState, controls: Controls) -> None:
        """Follow the car."""
        self._watch.tick(state, controls)

    def close(self) -> None:
        """Nothing to end."""


def _find_road(target: DriveTarget, road: Path | None, listener: ProgressListener) -> tuple[DriveTarget, Track]:
    """Return the target with its track and car named, and the road that the drivers know: the file `road`, if any."""
    simulator, drive, live, _ = target
    if not drive.live:
        drive = drive.with_defaults(simulator.world)
        track = load_track(road if road is not None else drive.track)
        return DriveTarget(simulator, drive, live, track.road), track
    if road is not None:
        track = load_track(road)
        return target._replace(road=track.road), track
    live = live or simulator.live_options()
    drive, live, found, _ = detect_track_and_car(simulator, drive, live, lambda: False, listener.show_message)
    if found is None:
        raise UsageError("the road is not known", where="learn car", expected="--map FILE",
                         hint="trailbrake learn track makes one")  # fmt: skip
    return DriveTarget(simulator, drive, live, found.road), found


def _end_of(watch: LapWatch) -> DriveEnd:
    return DriveEnd(watch, lambda: watch.ended)


def _drive_laps(target: DriveTarget, track: Track, progress: _Progress, options: LearnCarOptions) -> None:
    """Drive laps by what has been learned, with more of the grip each time, and keep their recordings."""
    allowed, road = 1.0, track.road
    target = target._replace(options=replace(target.options, driver=LAPS_BY))
    for number, share in enumerate(SHARES[: options.laps]):
        name = f"{LAPS_BY} {number + 1}"
        driven = progress.journal.list_steps(name) if progress.journal else []
        if any(step.finished for step in driven):
            if any(step.left_road for step in driven):
                progress.allowed = allowed = min(share, allowed) * AFTER_LEAVING
            continue
        left = options.seconds - progress.seconds
        if left < LEAST_STAGE_S:
            return
        try:
            learned = learn_car(join_tables(progress.tables))
            driver = load_driver(LAPS_BY, None, LAP_GAINS)
            check_driver_needs(driver, LAPS_BY, target.simulator, target.live)
            driver.reset(Course(track, plan_car(learned, min(share, allowed))))
        except TrailbrakeError as error:
            progress.listener.show_message(f"no laps with the learned car: {error}")
            return
        watch = LapWatch(road, 2.0 * LAP_MARGIN if road.closed else 1.0, left)
        names = name, f"{_drive_name(target)}_lap{number + 1}"
        end = _end_of(watch)
        lap = _record_step(target, driver, end, names, progress)
        if lap is None:
            return
        failed = watch.left_road or watch.stood or lap.reason not in ("", INTERRUPTED)
        _note_step(progress, LearningStep(name, str(lap.path), lap.seconds, lap.reason == "", failed))
        outcome = "left the road" if watch.left_road else "stood" if watch.stood else lap.reason or "clean"
        progress.listener.show_message(
            f"laps at {100.0 * min(share, allowed):.0f} % of the grip: {lap.seconds:.0f} s, {outcome}"
        )
        if lap.interrupted:
            return
        if failed:
            progress.allowed = allowed = min(share, allowed) * AFTER_LEAVING


def _keep(progress: _Progress, path: Path, seconds: float) -> None:
    progress.seconds += seconds
    progress.paths.append(path)
    try:
        progress.tables.append(read_drive(path, len(progress.tables)))
    except TrailbrakeError as error:
        progress.listener.show_message(f"not learned from: {error}")


def plan_car(learned: LearnedCar, share: float) -> CarParams:
    """Return the learned car with the grip that a plan may use: what is all but certain, and what it has shown.

    Args:
        learned: the car.
        share: 0..1 of that grip.
    """
    car, fit = learned.car, learned.tyres
    if car.uncertainty is not None:
        share *= plan_share(car.uncertainty)
        car = replace_fields(car, uncertainty=replace_fields(car.uncertainty, planned_share=share))
    used = (fit.used_front, fit.used_rear) if fit else (0.0, 0.0)
    tyres = [_reduce_grip(tyre, share, slip) for tyre, slip in zip((car.tyre_front, car.tyre_rear), used, strict=True)]
    return replace_fields(car, tyre_front=tyres[0], tyre_rear=tyres[1])


def _reduce_grip(tyre: Tyre, share: float, used: float) -> Tyre:
    """Return a tyre with a share of its grip; `used` is the most combined slip over its peak that it was driven at."""
    shown = 1.0
    if used < SATURATED:
        curve = magic_formula_curve(np.array([used]), tyre.stiffness_factor, tyre.shape, tyre.curvature)
        shown = max(min(UNSHOWN_GROWTH * float(curve[0]), 1.0), LEAST_GRIP)
    return replace_fields(tyre, mu_x=share * shown * tyre.mu_x, mu_y=share * shown * tyre.mu_y)


def _write_results(learned: LearnedCar, progress: _Progress, options: LearnCarOptions) -> JsonObject:
    from trailbrake.analysis.car_report import write_car_report

    out = car_file_path(options)
    car = replace_fields(plan_car(learned, progress.allowed), name=safe_name(out.stem))
    try:
        out.write_text(format_car(learned, car), encoding="utf-8")
    except OSError as error:
        raise UsageError("cannot write the car file", where=str(out), got=error.strerror or str(error)) from error
    report = write_car_report(out.with_suffix(".html"), learned, [str(path) for path in progress.paths])
    values = {
        key: {"value": value.value, "sigma": value.sigma, "source": value.source, "note": value.note}
        for key, value in learned.values.items()
    }
    return {
        "car": str(out), "report": str(report), "class": learned.kind.name,
        "recordings": list(map(str, progress.paths)), "driven_s": learned.seconds, "values": values,
        "planned_share": car.uncertainty.planned_share if car.uncertainty is not None else 1.0,
        "missing": [*progress.notes, *learned.missing], "interrupted": progress.interrupted,
    }  # fmt: skip
