"""`drive_cars`: connects, assembles each car's loop, drives until a goal is reached, and brings the cars to rest.

All verbs that drive go through here. Supervisor, sample check and command gate are always there; the watchdog in real
time, where a driver that hangs does not stop time; the standstill at the end of a drive in a game, which goes on.
"""

import errno
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from dataclasses import dataclass, field
from functools import partial
from typing import NamedTuple

from trailbrake.control.vehicle.stability_control import StabilityControl
from trailbrake.drivers.loading.driver_registry import (
    declared_commands,
    declared_custom_values,
    declared_optional_commands,
)
from trailbrake.driving.loop.command_gate import CommandGate
from trailbrake.driving.loop.drive_loop import CarLoop, LoopResult, SamplePacer, run_loop
from trailbrake.driving.loop.driver_pace import DriverPace
from trailbrake.driving.loop.driver_watchdog import protect_cars
from trailbrake.driving.loop.standstill import brake_to_standstill
from trailbrake.driving.loop.supervisor import Supervisor
from trailbrake.driving.session.connection import Connection
from trailbrake.driving.session.drive_setup import DriveSetup
from trailbrake.driving.session.open_connection import open_connection
from trailbrake.errors import DriverError
from trailbrake.json_types import JsonObject
from trailbrake.roles import Driver, Link, TickObserver
from trailbrake.system.breakable_call import BreakableCall

INTERRUPTED = "interrupted"


class NamedDriver(NamedTuple):
    """A driver after its reset, its name for messages, and what limits its controls in a slide."""

    driver: Driver
    name: str
    stability: StabilityControl | None = None


class CarWatch(NamedTuple):
    """What watches one car and ends its drive.

    Attributes:
        taps: see each tick, in this order.
        goal: called every tick: None goes on, "" is reached, a text is another end.
        say: takes lines about this car.
        record: takes the same lines for the recording, with what the protection says.
        close: ends the taps; also called where the process has to end with a driver that cannot be interrupted.
    """

    taps: Sequence[TickObserver]
    goal: Callable[[], str | None]
    say: Callable[[str], None] = lambda text: None
    record: Callable[[str], None] = lambda text: None
    close: Callable[[], None] = lambda: None


def assemble_car(
    link: Link, driver: NamedDriver, supervisor: Supervisor, watch: CarWatch, pace: DriverPace | None = None
) -> CarLoop:
    """Return the loop of one car: its commands are those that the driver declares and the simulator accepts."""
    made, name, supervisor.stability = driver
    commands = CommandGate(link, declared_commands(made, name), watch.say, custom=declared_custom_values(made, name),
                           optional=declared_optional_commands(made, name))  # fmt: skip
    return CarLoop(link, made, supervisor, watch.taps, watch.goal, commands=commands, pace=pace, say=watch.say)


@dataclass
class DriveOutcome:
    """A drive that is over.

    Attributes:
        loop: figures of the first car's loop, and why it ended.
        cars: the loops.
        host_report: counters of the embedded host.
        is_at_rest: whether the cars of a game came to a standstill; None: the drive was broken off, or no game.
    """

    loop: LoopResult = field(default_factory=LoopResult)
    cars: Sequence[CarLoop] = ()
    host_report: JsonObject = field(default_factory=dict)
    is_at_rest: bool | None = None


def drive_cars(
    setup: DriveSetup,
    drivers: Sequence[NamedDriver],
    watch_cars: Callable[[Connection], Iterable[CarWatch]],
    supervisor: Supervisor,
    *,
    say: Callable[[str], None] = lambda text: None,
    breakable: BreakableCall | None = None,
    adapt_pacer: Callable[[SamplePacer], SamplePacer] = lambda pacer: pacer,
    finish: Callable[[Connection, DriveOutcome], None] = lambda connection, outcome: None,
) -> DriveOutcome:
    """Drive until the first car's goal is reached, a stop is requested, or the simulator is gone.

    Args:
        setup: which simulator, embedded or live, at which pace.
        drivers: one for each car, after reset.
        watch_cars: yields what watches each car, on the open connection.
        supervisor: of the first car; `request_stop` ends the drive with a safe stop.
        say: takes lines for the user.
        breakable: breaks off a driver's call in real time; made in the thread that calls this.
        adapt_pacer: returns the pacer that a view wants instead.
        finish: called when the cars are at rest, before the wire is closed.

    Raises:
        TrailbrakeError: the simulator cannot be reached.
    """
    outcome = DriveOutcome()
    with (
        _name_closed_files(drivers),
        open_connection(setup, lambda: supervisor.stop_reason != "") as connection,
        ExitStack() as closed,
    ):
        watches: list[CarWatch] = []
        for watch in watch_cars(connection):
            closed.callback(watch.close)
            watches.append(watch)
        supervisors = [supervisor, *(Supervisor() for _ in drivers[1:])]
        outcome.cars = cars = [
            assemble_car(link, driver, each, watch, None if number else connection.pace)
            for number, (link, driver, each, watch) in enumerate(
                zip(connection.links, drivers, supervisors, watches, strict=True)
            )
        ]
        protection: AbstractContextManager[None] = nullcontext()  # in lockstep time waits for the drivers
        if setup.spec.is_real_time:
            protection = protect_cars(cars, say, watches[0].record, partial(_close_all, watches),
                                      breakable or BreakableCall(), guard=connection.guard,
                                      waits=setup.spec.site.pace == "driver")  # fmt: skip
        with protection:
            result = outcome.loop = run_loop(cars[0], adapt_pacer(connection.pacer), cars[1:], say)
            if result.reason:
                watches[0].record(result.reason)
            elif setup.spec.is_live:  # the embedded world ends with the drive; the game goes on
                outcome.is_at_rest = brake_to_standstill(cars, connection.pacer)
                if not outcome.is_at_rest:
                    say("the car was given back rolling: it did not come to a stand")
        finish(connection, outcome)
    outcome.host_report = connection.host_report
    return outcome


@contextmanager
def _name_closed_files(drivers: Sequence[NamedDriver]) -> Iterator[None]:
    """Raise DriverError where a file of ours is closed: a driver's code has done that, as by os.closerange."""
    try:
        yield
    except OSError as error:
        if error.errno != errno.EBADF:
            raise
        raise DriverError("a file or socket of the drive was closed, as os.closerange does: the drive ends",
                          where=", ".join(dict.fromkeys(driver.name for driver in drivers))) from error  # fmt: skip


def _close_all(watches: Iterable[CarWatch]) -> None:
    for watch in watches:
        watch.close()
