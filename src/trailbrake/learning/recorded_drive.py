"""A drive that is only recorded, for the verbs that learn from it: no scoring, no report, a driver of the caller's.

`FaultMonitor`: follows laps with a learned car, and keeps the last seconds: how did they go wrong?
"""

import math
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import NamedTuple

from msgspec.structs import replace

from trailbrake.config import recordings_folder
from trailbrake.driving.goals import Goal, NoHeadway, OffRoad, OnceAlong, Standstill, TimeUp
from trailbrake.driving.loop.supervisor import Supervisor
from trailbrake.driving.road_monitor import RoadMonitor
from trailbrake.driving.run import INTERRUPTED, CarWatch, NamedDriver, drive_cars
from trailbrake.driving.session.car_session import store_road
from trailbrake.driving.session.connection import Connection
from trailbrake.driving.session.drive_setup import make_setup
from trailbrake.driving.session.progress import ProgressListener
from trailbrake.driving.spec import DriveSpec
from trailbrake.learning.identification.planned_car import (
    HISTORY_S,
    FaultSample,
    LapFault,
    classify_fault,
    measure_sideslip,
)
from trailbrake.record.recorder import Recorder
from trailbrake.record.writer_thread import write_in_thread
from trailbrake.roles import Driver
from trailbrake.simulator import AnySimulator
from trailbrake.state import CarState, Controls
from trailbrake.state.signals import find_learning_signals
from trailbrake.system import steady_clock
from trailbrake.system.breakable_call import BreakableCall
from trailbrake.system.signals import handle_stop_signals
from trailbrake.tracks.road import Road

USUAL_TO_REAR = 1.4  # m, from the centre of mass of a car to its rear axle
SAMPLE_S = 0.02  # s between samples that are kept
STUCK = Standstill().or_when(NoHeadway())


class DriveTarget(NamedTuple):
    """What is driven.

    Attributes:
        simulator: whose wire to drive through.
        spec: the world and its options.
        live: the simulator's live options; None for those of the spec.
        road: as the driver knows it, for the recording; None: it does not.
    """

    simulator: AnySimulator
    spec: DriveSpec
    live: object
    road: Road | None = None


class DriveEnd(NamedTuple):
    """When a drive is over.

    Attributes:
        monitor: follows the car.
        goal: by what the monitor has measured.
        has_finished: whether the driver has, before the goal.
    """

    monitor: RoadMonitor
    goal: Goal
    has_finished: Callable[[], bool] = lambda: False

    def is_over(self) -> bool:
        """Return whether the drive is over, for whatever reason."""
        return self.has_finished() or self.goal.judge(self.monitor) is not None


@dataclass(frozen=True)
class RecordedDrive:
    """A drive that was recorded.

    Attributes:
        path: the recording.
        seconds: of simulator time.
        reason: why it ended early; empty where it did not.
    """

    path: Path
    seconds: float
    reason: str

    @property
    def interrupted(self) -> bool:
        """Whether the user has ended it."""
        return self.reason == INTERRUPTED


def record_drive(
    target: DriveTarget, driver: Driver, end: DriveEnd, name: str, listener: ProgressListener
) -> RecordedDrive:
    """Drive until it is over, and return the recording.

    Args:
        target: what is driven.
        driver: after its reset.
        end: when the drive is over.
        name: of the recording's file; the time follows.
        listener: receives messages.

    Raises:
        TrailbrakeError: the simulator cannot be reached, or a file cannot be written.
    """
    supervisor, breakable = Supervisor(), BreakableCall()
    simulator, spec, live, road = target
    learning = find_learning_signals(simulator.list_signals(live))
    keep = replace(spec.keep, signals=(*spec.keep.signals, *chain(*learning.values())))
    spec = replace(spec, keep=keep)
    setup = make_setup(simulator, spec, live, [driver])
    path = recordings_folder() / f"{name}_{steady_clock.filename_timestamp()}.mcap"
    recorders: list[Recorder] = []

    def watch_cars(connection: Connection) -> Iterator[CarWatch]:
        recorder = Recorder(path, signals=setup.signals)
        if spec.is_real_time:
            write_in_thread(recorder)
        recorders.append(recorder)
        end.monitor.on_lap = recorder.store_lap
        recorder.start(setup.describe())
        if road is not None:
            store_road(recorder, road)

        def record(text: str) -> None:
            recorder.store_event(end.monitor.time, text)

        yield CarWatch([recorder, end.monitor], lambda: "" if end.is_over() else None, listener.show_message, record,
                       recorder.close)  # fmt: skip

    with handle_stop_signals(lambda: supervisor.request_stop(INTERRUPTED), breakable, supervisor.limit_stop):
        outcome = drive_cars(setup, [NamedDriver(driver, spec.first.driver)], watch_cars, supervisor,
                             say=listener.show_message, breakable=breakable)  # fmt: skip
    return RecordedDrive(Path(recorders[0].path), outcome.loop.simulated_s, outcome.loop.reason)


def make_stage_goal(rounds: float, seconds: float) -> Goal:
    """Return what ends laps of learning: rounds of a circuit or once along a road, a fault, or s of simulator time."""
    return OnceAlong(rounds).or_when(OffRoad(), STUCK, TimeUp(seconds))


class FaultMonitor(RoadMonitor):
    """A RoadMonitor that knows how the laps went wrong.

    Args:
        road: as the drivers know it.
    """

    def __init__(self, road: Road) -> None:
        super().__init__(road)
        self._was_on = False
        self._samples: deque[FaultSample] = deque(maxlen=round(HISTORY_S / SAMPLE_S) + 1)

    def tick(self, state: CarState, controls: Controls) -> None:
        """Follow the car."""
        super().tick(state, controls)
        self._was_on |= math.isnan(self._off_at)
        if self._samples and state.time - self._samples[-1].time < SAMPLE_S:
            return
        sideslip = measure_sideslip(state.velocity_x, state.velocity_y, state.yaw_rate, USUAL_TO_REAR)
        self._samples.append(FaultSample(
            state.time, state.speed, sideslip, state.acceleration_x, controls.throttle, controls.brake
        ))  # fmt: skip

    @property
    def off_road_s(self) -> float:
        """As of RoadMonitor, s; 0 until the car is on the road: a game's stands where the drive before has left it."""
        return super().off_road_s if self._was_on else 0.0

    def find_fault(self) -> LapFault | None:
        """Return how the drive went wrong; None where the car neither left the road nor got stuck."""
        if OffRoad().judge(self) is not None:
            return classify_fault(list(self._samples))
        return None if STUCK.judge(self) is None else LapFault("standstill", 0.0)
