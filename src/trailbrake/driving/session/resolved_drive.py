"""`ResolvedDrive`: a drive whose names have become objects. `resolve_drive` does that, and nothing behind it loads.

Before a drive: finds its road and its car, those of a live drive where the simulator can supply their names.
"""

import platform
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import NamedTuple

from trailbrake.cars.car_library import load_car
from trailbrake.cars.params import CarParams
from trailbrake.drivers.loading.driver_registry import list_roadless_drivers, load_driver
from trailbrake.driving.goals import Laps
from trailbrake.driving.run import NamedDriver
from trailbrake.driving.session.drive_inputs import DriveContents, check_inputs, describe_inputs, hash_inputs
from trailbrake.driving.session.drive_setup import DriveSetup
from trailbrake.driving.session.driver_choice import (
    check_course_needs,
    check_driver_needs,
    choose_default_driver,
    make_drivers,
    make_stability_control,
    reset_drivers,
)
from trailbrake.driving.session.driver_memory import DriverMemory
from trailbrake.driving.session.line_choice import ChosenLine, choose_line
from trailbrake.driving.session.open_connection import make_idle_wait
from trailbrake.driving.spec import UNKNOWN_CAR
from trailbrake.errors import UsageError
from trailbrake.json_types import JsonObject
from trailbrake.planning.course import Course, UnmappedCourse
from trailbrake.roles import DetectedSession, Driver
from trailbrake.simulator import AnySimulator
from trailbrake.system import steady_clock
from trailbrake.tracks.track_library import load_track
from trailbrake.version import __version__


class ResolvedDrive(NamedTuple):
    """A drive that can begin.

    Attributes:
        setup: the simulator with its options, and what is driven, kept and reached.
        course: the road and the car, or an UnmappedCourse.
        line: that the drivers follow.
        drivers: one for each car, after reset.
        named: the same as `drive_cars` takes them.
        memory: of the first driver; None without one.
        about: what a recording says about the drive.
    """

    setup: DriveSetup
    course: Course
    line: ChosenLine
    drivers: Sequence[Driver]
    named: Sequence[NamedDriver]
    memory: DriverMemory | None
    about: JsonObject


def resolve_drive(
    setup: DriveSetup,
    *,
    own: Driver | type[Driver] | None = None,
    contents: DriveContents | None = None,
    stopped: Callable[[], bool] = lambda: False,
    say: Callable[[str], None] = lambda text: None,
) -> ResolvedDrive:
    """Find or load the road, the car, the line and the memory of a drive, and load and reset its drivers.

    Args:
        setup: the drive, without its drivers.
        own: a driver of the user's own, or its class, in place of those that the drive names.
        contents: what the drive had at its start, where it is driven again; None: files and caches are read.
        stopped: whether the user has requested a stop, which ends the wait for a game's session.
        say: takes lines for the user.

    Raises:
        TrailbrakeError: something is wrong or missing.
        KeyboardInterrupt: `stopped` while there was no session yet.
    """
    setup, course = find_course(setup, stopped, say)
    simulator, spec, live = setup.simulator, setup.spec, setup.live
    if not spec.first.driver:
        spec = spec.with_cars(driver=choose_default_driver(simulator, course))
    first = spec.first
    drivers = make_drivers(spec, own)
    names = [car.driver or first.driver for car in spec.cars]
    for driver, name in zip(drivers, names, strict=True):
        check_driver_needs(driver, name, simulator, live, spec.site.camera)
        check_course_needs(driver, name, simulator, course)
    setup = replace(setup, spec=spec).with_drivers(drivers)
    course, line = choose_line(course, drivers[0], first, say, contents and contents.line)
    named = [
        NamedDriver(driver, name, make_stability_control(simulator, live, course) if first.stability else None)
        for driver, name in zip(drivers, names, strict=True)
    ]
    reset_drivers(drivers, first.driver, course, say)
    hashes = hash_inputs(spec, course, drivers[0])
    if contents is not None:
        check_inputs(contents, spec, hashes)
    memory = None
    if first.memory:
        alike = [driver for driver, name in zip(drivers, names, strict=True) if name == first.driver]
        memory = DriverMemory(spec, course, *alike, replayed=contents is not None,
                              entry=contents and contents.memory)  # fmt: skip
        if said := memory.recall():
            say(said)
    laps = spec.goal.count if isinstance(spec.goal, Laps) else 0
    if laps and setup.world is not None and (missed := setup.world.conditions.describe_missed(laps)):
        say(f"--world: {missed}; this drive has {laps}")
    is_round = isinstance(course, UnmappedCourse) or course.track.road.closed
    about = {
        **setup.describe(),
        "laps": laps if is_round else 1,  # an open road has an end
        "line": line.describe(),
        "inputs": describe_inputs(hashes, line, memory),
        "trailbrake": __version__, "python": platform.python_version(), "system": platform.system(),
        "started": steady_clock.iso_timestamp(),
    }  # fmt: skip
    return ResolvedDrive(setup, course, line, drivers, named, memory, about)


def find_course(
    setup: DriveSetup, stopped: Callable[[], bool], say: Callable[[str], None]
) -> tuple[DriveSetup, Course]:
    """Return the drive with the names and options that a game has supplied, and its course, without a line.

    Args:
        setup: the drive; a track or a car that is named there is taken.
        stopped: whether the user has requested a stop, which ends the wait for a session.
        say: takes a line for everything that was found.

    Raises:
        TrailbrakeError: no session, something that is named and cannot be found, or a line without road and car.
        KeyboardInterrupt: `stopped` while there was no session yet.
    """
    simulator, spec = setup.simulator, setup.spec
    found, game = DetectedSession(None, None, setup.live), setup.session_tool
    is_mapped = {"x", "y"} <= simulator.list_supplied(setup.live)
    if is_mapped and game is not None and not (spec.track and spec.car):
        found = game.detect(setup.live, track=not spec.track, car=not spec.car, idle=make_idle_wait(stopped), say=say)
    if found.track is not None:
        spec = spec.with_cars(track=found.track.name)
    if found.car is not None:
        spec = spec.with_cars(car=found.car.name)
    # The car first: it is the quicker one to find wrong.
    is_named = spec.car not in ("", UNKNOWN_CAR) and simulator.world != "miniature"
    car = found.car or (load_car(spec.car) if is_named else None)
    setup = replace(setup, spec=spec, live=found.live)
    if not is_mapped:
        if spec.first.line:
            raise UsageError("a line needs a simulator that supplies positions", where="--line", got=simulator.name)
        return setup, UnmappedCourse(car)
    track = found.track or (load_track(spec.track) if spec.track else None)
    if spec.first.line and (track is None or car is None):
        raise UsageError("a line needs a known track and car", where="--line", hint="name them by --track and --car")
    return setup, make_unknown_course(simulator, car, found.live) if track is None else Course(track, car)


def make_unknown_course(simulator: AnySimulator, car: CarParams | None, live: object = None) -> UnmappedCourse:
    """Return the course of a live drive on a road that nobody has named; its hint says what to do for a map.

    Args:
        simulator: whose wire.
        car: a model of the car; None where it is not known.
        live: the simulator's live options; None for their defaults.
    """
    supplied = simulator.list_supplied(live or simulator.live_options())
    flags = f"--sim {simulator.name} --live"
    if not {"x", "y", "z"} <= supplied:
        ways = ["name it by --track"]
    elif supplied >= load_driver("survey").NEEDS:
        ways = [f"map it by `trailbrake learn {flags} --out MAP.csv` and add --track MAP.csv"]
    else:
        ways = [f"drive it once by `trailbrake drive {flags} --driver manual --watch`, map it by "
                "`trailbrake learn --source RECORDING --out MAP.csv` and add --track MAP.csv"]  # fmt: skip
    if roadless := list_roadless_drivers(supplied, simulator.accepts):
        ways.append(f"choose a --driver that needs no road: {', '.join(roadless)}")
    cause = "the road is not known: neither --track nor the game names it"
    return UnmappedCourse(car, cause=cause, hint="; or ".join(ways))
