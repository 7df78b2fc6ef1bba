"""`replay_open_loop`: a recording as the simulator of a driver, whose answers change nothing.

The driver receives the recorded states at their recorded times. Its commands go through the supervisor into a new
recording, beside the states; `trailbrake compare` then shows where they differ from what was driven.
"""

import math
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from trailbrake.cars.car_library import load_car
from trailbrake.drivers.loading.driver_registry import declared_course_needs, declared_needs, load_driver
from trailbrake.driving.loop.supervisor import Supervisor, decide_controls
from trailbrake.driving.options import OpenLoopOptions
from trailbrake.errors import DataError, DriverError, TrailbrakeError, UsageError, describe_value, raised_at
from trailbrake.laps import Rewind
from trailbrake.planning.course import Course, UnmappedCourse
from trailbrake.record.recorder import Recorder
from trailbrake.record.recording_reader import Recording
from trailbrake.roles import Driver
from trailbrake.state.fields import Quantity
from trailbrake.state.signals import Signal, SignalValues
from trailbrake.state.tables import STATE_COLUMNS, state_from_row
from trailbrake.tracks.track_library import load_track
from trailbrake.user_files import check_result

GAP = 1.0  # s without a row, after which the driver's dt is 0, as in a drive
BLOCK_ROWS = 20_000  # rows at a time
_NOT_RECORDED = ("image", "line_ahead", "others")


@dataclass(frozen=True)
class OpenLoopReplay:
    """What an open-loop replay did.

    Attributes:
        path: the new recording.
        rows: ticks that the driver has answered.
        ended: why it ended before the recording did; "" where it did not.
        rejected: answers with NaN or infinity.
        steer_rms: root mean square of the difference to the recorded steer, NaN where that was not recorded.
        throttle_rms: the same of the throttle.
        brake_rms: the same of the brake.
    """

    path: Path
    rows: int
    ended: str
    rejected: int
    steer_rms: float
    throttle_rms: float
    brake_rms: float


def replay_open_loop(recording: Recording, options: OpenLoopOptions) -> OpenLoopReplay:
    """Drive a recording open loop.

    Raises:
        UsageError: there is no such driver, track or car; or the recording lacks what the driver needs.
        DataError: nothing was recorded.
        DriverError: the driver's reset failed.
    """
    if not len(recording):
        raise DataError("nothing was recorded, so there is nothing to drive by", where=str(recording.path))
    check_result(options.out, ".mcap")
    driver = load_driver(options.driver, options.config, options.gain)
    _check_needs(recording, driver, options.driver)
    course = _make_course(recording, driver, options)
    try:
        driver.reset(course)
    except TrailbrakeError:
        raise
    except (Exception, SystemExit) as error:
        raise DriverError(f"reset() raised {type(error).__name__}: {describe_value(error)}",
                          where=raised_at(error) or options.driver) from error  # fmt: skip
    name = Path(options.driver).stem
    out = options.out or recording.path.with_name(f"{recording.path.stem}_open-loop_{name}.mcap")
    recorder = Recorder(
        out, signals=[Signal(name, Quantity("", "as recorded", -math.inf, math.inf, "")) for name in recording.signals]
    )
    try:
        recorder.start({**recording.about, "driver": options.driver, "open_loop": recording.path.name})
        _copy_road(recording, recorder)
        return _answer_rows(recording, driver, recorder)
    finally:
        recorder.close()


def _check_needs(recording: Recording, driver: Driver, name: str) -> None:
    block = recording.read_rows(slice(0, BLOCK_ROWS)).state
    known = {column.name for column in STATE_COLUMNS if np.isfinite(block[column.name]).any()} | {*recording.signals}
    missing = sorted(
        need
        for need in declared_needs(driver, name)
        if need in _NOT_RECORDED or need.replace("wheels.", "fl_") not in known
    )
    if missing:
        raise UsageError(f"driver {name} needs what the recording does not have: {', '.join(missing)}",
                         where=str(recording.path), hint="replay a drive of a simulator that supplies it")  # fmt: skip


def _make_course(recording: Recording, driver: Driver, options: OpenLoopOptions) -> Course:
    """Return the course of the recorded drive, as far as the driver needs it."""
    needs = declared_course_needs(driver, options.driver)
    track, car = (given or recording.about.get(key) or "" for given, key in
                  ((options.track, "track"), (options.car, "car")))  # fmt: skip
    if not (isinstance(track, str) and isinstance(car, str) and track and car):
        if not needs:
            return UnmappedCourse()
        raise UsageError(f"{options.driver} plans on a road with a car, and the recording does not name them",
                         where=str(recording.path), hint="name them by --track and --car")  # fmt: skip
    try:
        return Course(load_track(track), load_car(car))
    except TrailbrakeError:
        if needs or options.track or options.car:
            raise
    return UnmappedCourse()


def _copy_road(recording: Recording, recorder: Recorder) -> None:
    road, plan = recording.road_map, recording.plan
    if road is not None:
        recorder.store_map(road.centre, road.left, road.right, road.closed)
    if plan is not None:
        recorder.store_plan(plan.s, plan.x, plan.y, plan.speed)


def _answer_rows(recording: Recording, driver: Driver, recorder: Recorder) -> OpenLoopReplay:
    supervisor = Supervisor()
    laps = {lap.row: lap for lap in recording.laps}
    rewinds = {each.stop: Rewind(each.stop - each.first, each.seconds) for each in recording.rewinds}
    places = {name: place for place, name in enumerate(recording.signals)}
    names = [column.name for column in STATE_COLUMNS]
    sums, counts = np.zeros(3), np.zeros(3)
    last, row = math.nan, 0
    driven = ("steer", "throttle", "brake")
    for block in recording.iterate_rows(BLOCK_ROWS):
        # What was driven: the commands, or what a car without commands of ours reported.
        wanted = [np.where(np.isfinite(block.controls[k]), block.controls[k], block.state[k]) for k in driven]
        answers = np.full((len(wanted[0]), 3), math.nan)
        signals = np.column_stack([block.signals[name] for name in places]).tolist() if places else ()
        for number, values in enumerate(np.column_stack([block.state[name] for name in names]).tolist()):
            if row in laps:
                recorder.store_lap(laps[row])
            state = state_from_row(values)
            if signals:
                state.signals = SignalValues(places, tuple(signals[number]))
            gap = state.time - last
            answer = decide_controls(driver.act, supervisor, state, gap if 0.0 <= gap < GAP else 0.0)
            if supervisor.stop_reason:
                break
            recorder.tick(state, answer)
            if row in rewinds:
                recorder.store_rewind(rewinds[row])
            if not recording.undone[row]:
                answers[number] = answer.steer, answer.throttle, answer.brake
            last, row = state.time, row + 1
        differences = answers - np.column_stack(wanted)
        known = np.isfinite(differences)
        sums += np.where(known, differences**2, 0.0).sum(axis=0)
        counts += known.sum(axis=0)
        if supervisor.stop_reason:
            recorder.store_event(last if last == last else 0.0, supervisor.stop_reason)
            break
    else:
        if row in laps:  # the last lap ended with the recording
            recorder.store_lap(laps[row])
    rms = np.where(counts > 0, np.sqrt(sums / np.maximum(counts, 1.0)), math.nan).tolist()
    return OpenLoopReplay(Path(recorder.path), row, supervisor.stop_reason, supervisor.counters.rejected, *rms)
