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
from trailbrake.run.drive_sources import read_drive
from trailbrake.run.options import DriveOptions, LearnCarOptions, LearnOptions
from trailbrake.run.recorded_drive import DriveEnd, DriveTarget, RecordedDrive, record_drive
from trailbrake.run.session.driver_needs import check_driver_needs
from trailbrake.run.session.progress import ProgressListener, SilentListener
from trailbrake.run.session.session_detection import detect_track_and_car
from trailbrake.simulator import AnySimulator
from trailbrake.state import CarState, Controls
from trailbrake.tracks.road import Road, RoadColumn
from trailbrake.tracks.track import Track
from trailbrake.tracks.track_library import load_track

PROGRAMME, LAPS_BY = "car_test", "line_follow"
SHARES = (0.88, 0.95, 1.0, 1.0)  # of the learned grip, lap by lap
AFTER_LEAVING = 0.93  # of the share, once the car has left the road
UNSHOWN_GROWTH = 1.06  # of the grip that was shown, where the tyres never came near their peak
SATURATED = 0.9  # slip over that of the peak from which the peak counts as shown
LEAST_GRIP = 0.6  # share of the learned grip that is planned with at least
LEAVING_TIME = 0.5  # s beside the road that end a lap
STANDSTILL_S = 12.0
LEAST_STAGE_S = 20.0  # that a stage of laps takes
END_MARGIN = 15.0  # m before the end of an open road
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
    """The recordings so far."""

    tables: list[DriveTable]
    paths: list[Path]
    seconds: float = 0.0
    notes: tuple[str, ...] = ()
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
        progress = _Progress(*_read_recordings(options.source))
    else:
        progress = _drive_programme(simulator, options, live, listener)
    learned = learn_car(join_tables(progress.tables), _name_of(options))
    return _write_results(learned, progress, options)


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
    driver.reset(Course(track, None))
    watch = LapWatch(track.road, math.inf, options.seconds)
    end = DriveEnd(_Steady(watch), lambda: watch.stood or driver.finished)
    progress = _Progress([], [])
    first = record_drive(target, driver, end, f"{_drive_name(target)}_test", listener)
    _keep(progress, first, listener)
    if driver.ended:
        listener.show_message(f"test drive: {first.seconds:.0f} s, {driver.ended}")
    if not progress.tables:
        raise DataError("the test drive taught nothing", where=str(first.path), hint="a longer or wider road may help")
    if not first.interrupted and options.laps > 0:
        _drive_laps(target, track, progress, options, listener)
    return progress


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


def _drive_laps(
    target: DriveTarget, track: Track, progress: _Progress, options: LearnCarOptions, listener: ProgressListener
) -> None:
    """Drive laps by what has been learned, with more of the grip each time, and keep their recordings."""
    allowed, road = 1.0, track.road
    target = target._replace(options=replace(target.options, driver=LAPS_BY))
    for number, share in enumerate(SHARES[: options.laps]):
        left = options.seconds - progress.seconds
        if left < LEAST_STAGE_S:
            return
        try:
            learned = learn_car(join_tables(progress.tables))
            driver = load_driver(LAPS_BY, None, ())
            check_driver_needs(driver, LAPS_BY, target.simulator, target.live)
            driver.reset(Course(track, plan_car(learned, min(share, allowed))))
        except TrailbrakeError as error:
            listener.show_message(f"no laps with the learned car: {error}")
            return
        watch = LapWatch(road, 2.0 * LAP_MARGIN if road.closed else 1.0, left)
        lap = record_drive(target, driver, _end_of(watch), f"{_drive_name(target)}_lap{number + 1}", listener)
        _keep(progress, lap, listener)
        outcome = "left the road" if watch.left_road else "stood" if watch.stood else "clean"
        listener.show_message(
            f"laps at {100.0 * min(share, allowed):.0f} % of the grip: {lap.seconds:.0f} s, {outcome}"
        )
        if lap.interrupted:
            return
        if watch.left_road or watch.stood:
            progress.allowed = allowed = min(share, allowed) * AFTER_LEAVING


def _end_of(watch: LapWatch) -> DriveEnd:
    return DriveEnd(watch, lambda: watch.ended)


def _keep(progress: _Progress, drive: RecordedDrive, listener: ProgressListener) -> None:
    progress.seconds += drive.seconds
    progress.paths.append(drive.path)
    try:
        progress.tables.append(read_drive(drive.path, len(progress.tables)))
    except TrailbrakeError as error:
        listener.show_message(f"not learned from: {error}")


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

    out = options.out or Path(f"{learned.car.name}.toml")
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
        "missing": list(learned.missing),
    }  # fmt: skip


def car_options(options: LearnOptions, track_file: str) -> LearnCarOptions:
    """Return the options for the car of a drive that has just mapped its road.

    Args:
        options: of the map.
        track_file: the map.
    """
    options = options.with_defaults()
    out = None if options.out is None else options.out.with_suffix(".toml")
    return LearnCarOptions(
        sim=options.sim, track=options.track, map=Path(track_file), car=options.car, live=options.live,
        host=options.host, out=out,
    )  # fmt: skip
