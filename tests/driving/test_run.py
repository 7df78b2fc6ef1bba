"""The one assembly: what every drive has, whoever asks for it. Embedded, in lockstep."""

import errno

import pytest

from trailbrake.cars.car_library import load_car
from trailbrake.cli.drive_flags import DriveFlags
from trailbrake.drivers.loading.driver_registry import load_driver
from trailbrake.driving.loop.supervisor import Supervisor
from trailbrake.driving.run import CarWatch, NamedDriver, drive_cars
from trailbrake.driving.session.drive_setup import make_setup
from trailbrake.errors import DriverError
from trailbrake.planning.course import Course
from trailbrake.sims.registry import find
from trailbrake.state import Controls
from trailbrake.state.commands import SimCommand
from trailbrake.tracks.track_library import load_track

TICKS = 200


class Straight:
    """Half throttle, and `then` after 100 calls."""

    def __init__(self, then=lambda: Controls(throttle=0.5)):
        self.then, self.calls = then, 0

    def reset(self, course):
        self.calls = 0

    def act(self, state, dt):
        self.calls += 1
        return self.then() if self.calls > 100 else Controls(throttle=0.5)


class Watched:
    """Counts ticks, ends the drive after some, and keeps what it is told."""

    def __init__(self, ticks=TICKS):
        self.ticks, self.sent, self.said, self.recorded, self.closed = ticks, [], [], [], 0

    def tick(self, state, controls):
        self.sent.append(controls)

    def close(self):
        self.closed += 1

    def watch(self):
        return CarWatch([self], lambda: "" if len(self.sent) >= self.ticks else None, self.said.append,
                        self.recorded.append, self.close)  # fmt: skip


def drive(drivers, watches, supervisor=None, **options):
    spec = DriveFlags(track="pinegrove", cars=len(drivers), **options).make_spec()
    named = [NamedDriver(driver, f"driver {number}") for number, driver in enumerate(drivers)]
    return drive_cars(make_setup(find("assetto"), spec), named, lambda connection: [each.watch() for each in watches],
                      supervisor or Supervisor())  # fmt: skip


def test_a_drive_ends_by_its_goal_and_its_taps_are_closed():
    watched = Watched()
    outcome = drive([Straight()], [watched])
    assert (outcome.loop.reason, outcome.loop.ticks) == ("", TICKS)
    assert watched.sent[0].throttle == 0.5
    assert outcome.host_report["messages_out"] >= TICKS
    assert outcome.is_at_rest is None, "the embedded world ends with the drive: nothing brakes in it"
    assert watched.closed == 1


def test_each_car_has_its_driver_its_taps_and_a_supervisor_of_its_own():
    def fail():
        raise ValueError("of the second")

    watches = [Watched(300), Watched(300)]
    outcome = drive([Straight(), Straight(fail)], watches)
    assert outcome.loop.reason == ""
    first, second = outcome.cars
    assert first.supervisor is not second.supervisor
    assert "of the second" in second.supervisor.stop_reason
    assert first.supervisor.stop_reason == ""
    assert watches[1].sent[-1].brake > 0.0
    assert watches[0].sent[-1].throttle == 0.5


@pytest.mark.parametrize("body", [lambda: 1 / 0, lambda: exit(3)])
def test_what_a_driver_raises_ends_the_drive_with_the_brake_and_is_recorded(body):
    watched = Watched(2000)
    outcome = drive([Straight(body)], [watched])
    assert outcome.loop.reason
    assert watched.recorded == [outcome.loop.reason]
    assert watched.sent[-1].brake > 0.0
    assert watched.closed == 1


def test_a_request_to_stop_before_the_drive_ends_it():
    supervisor = Supervisor()
    supervisor.request_stop("enough")
    assert drive([Straight()], [Watched()], supervisor).loop.reason == "enough"


def test_two_cars_of_one_world_are_driven_at_once():
    course = Course(load_track("pinegrove"), load_car("gt3"))
    drivers = [load_driver("line_follow"), load_driver("line_follow")]
    for driver in drivers:
        driver.reset(course)
    watches = [Watched(1000), Watched(1000)]
    drive(drivers, watches)
    assert all(max(sent.throttle for sent in each.sent) > 0.3 for each in watches)


class Restarting(Straight):
    """Asks for a restart after 100 calls, once."""

    COMMANDS = frozenset({"restart"})

    def act(self, state, dt):
        controls = super().act(state, dt)
        controls.command = SimCommand(restart=True) if self.calls == 100 else None
        return controls


def test_what_a_driver_declares_is_sent_and_the_view_and_the_end_get_the_connection():
    watched, paced, finished, speeds = Watched(150), [], [], []
    watched.tick = lambda state, controls: (watched.sent.append(controls), speeds.append(state.speed))
    spec = DriveFlags(track="pinegrove").make_spec()
    outcome = drive_cars(
        make_setup(find("assetto"), spec), [NamedDriver(Restarting(), "restarts")],
        lambda connection: [watched.watch()] if connection.links else [], Supervisor(),
        adapt_pacer=lambda pacer: paced.append(pacer) or pacer,
        finish=lambda connection, outcome: finished.append((connection.pacer, outcome)),
    )  # fmt: skip
    assert finished == [(paced[0], outcome)]
    assert min(speeds[100:]) < 0.5 * speeds[99], "it stands at the start again"
    assert watched.said == []


def test_a_file_of_the_drive_that_a_driver_closes_is_named_with_the_driver():
    def fail(state, controls):
        raise OSError(errno.EBADF, "bad file descriptor")

    watched = Watched()
    watched.tick = fail
    with pytest.raises(DriverError, match=r"^driver 0: a file or socket of the drive was closed"):
        drive([Straight()], [watched])
    watched.tick = lambda state, controls: (_ for _ in ()).throw(OSError(errno.EIO, "of a disk"))
    with pytest.raises(OSError, match="disk"):
        drive([Straight()], [watched])
