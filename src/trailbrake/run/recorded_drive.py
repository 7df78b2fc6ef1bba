"""A drive that is only recorded, for the verbs that learn from it: no scoring, no report, a driver of the caller's."""

from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

from trailbrake.config import recordings_folder
from trailbrake.driving.goals import Goal
from trailbrake.driving.loop.drive_loop import CarLoop, run_loop
from trailbrake.driving.loop.standstill import brake_to_standstill
from trailbrake.driving.loop.supervisor import Supervisor
from trailbrake.driving.options import DriveOptions
from trailbrake.driving.road_monitor import RoadMonitor
from trailbrake.driving.session.car_session import store_road
from trailbrake.driving.session.connection import open_connection
from trailbrake.driving.session.drive_protection import protect_cars
from trailbrake.driving.session.drive_session import INTERRUPTED
from trailbrake.driving.session.drive_setup import make_setup
from trailbrake.driving.session.driver_needs import describe_signals
from trailbrake.driving.session.progress import ProgressListener
from trailbrake.record.format import WIRE_DELAY
from trailbrake.record.recorder import Recorder
from trailbrake.record.threaded_recorder import ThreadedRecorder
from trailbrake.roles import Driver
from trailbrake.simulator import AnySimulator
from trailbrake.system import steady_clock
from trailbrake.system.breakable_call import BreakableCall
from trailbrake.system.signals import handle_stop_signals
from trailbrake.tracks.road import Road


class DriveTarget(NamedTuple):
    """What is driven.

    Attributes:
        simulator: whose wire to drive through.
        options: the world and its options.
        live: the simulator's live options; None for their defaults.
        road: as the driver knows it, for the recording; None: it does not.
    """

    simulator: AnySimulator
    options: DriveOptions
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
    simulator, drive, live, road = target
    drive = replace(drive, signals=(*drive.signals, *simulator.learning_signals))
    setup = make_setup(simulator, drive, live, driver)
    with (
        handle_stop_signals(lambda: supervisor.request_stop(INTERRUPTED), breakable, supervisor.limit_stop),
        open_connection(setup, lambda: supervisor.stop_reason != "") as connection,
    ):
        path = recordings_folder() / f"{name}_{steady_clock.filename_timestamp()}.mcap"
        plain = Recorder(path, signals=setup.signals)
        recorder = ThreadedRecorder(plain) if drive.live else plain
        recorder.start({"sim": drive.sim, "driver": drive.driver, "track": drive.track, "car": drive.car,
                        WIRE_DELAY: setup.wire_delay, "signals": describe_signals(setup.signals)})  # fmt: skip
        if road is not None:
            store_road(recorder, road)
        say = listener.show_message
        try:
            seat = CarLoop(
                connection.link, driver, supervisor, [recorder, end.monitor], lambda: "" if end.is_over() else None
            )
            guard = (
                protect_cars([seat], say, lambda text: None, recorder.close, breakable, guard=connection.guard)
                if drive.live
                else nullcontext()
            )
            with guard:
                result = run_loop(seat, connection.pacer, say=say)
                if drive.live and not result.reason and not brake_to_standstill([seat], connection.pacer):
                    say("the car was given back rolling: it did not come to a stand")
        finally:
            recorder.close()
    return RecordedDrive(Path(recorder.path), result.simulated_s, result.reason)
