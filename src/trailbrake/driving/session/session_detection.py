"""Before a drive: finds its road and its car, those of a live drive where the simulator can supply their names."""

from collections.abc import Callable
from dataclasses import replace

from trailbrake.cars.car_library import load_car
from trailbrake.cars.params import CarParams
from trailbrake.drivers.loading.driver_registry import list_roadless_drivers, load_driver
from trailbrake.driving.session.drive_setup import DriveSetup
from trailbrake.driving.session.open_connection import make_idle_wait
from trailbrake.driving.spec import UNKNOWN_CAR
from trailbrake.errors import UsageError
from trailbrake.planning.course import Course, UnmappedCourse
from trailbrake.roles import DetectedSession
from trailbrake.simulator import AnySimulator
from trailbrake.tracks.track_library import load_track


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
