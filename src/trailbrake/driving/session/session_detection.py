"""Before a live drive: finds the track and the car that the user has not named, where the simulator can tell them."""

from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

from trailbrake.cars.car_library import load_car
from trailbrake.cars.params import CarParams
from trailbrake.driving.options import UNKNOWN_CAR, DriveOptions
from trailbrake.driving.session.connection import make_idle_wait
from trailbrake.json_types import JsonObject
from trailbrake.roles import DetectedSession
from trailbrake.simulator import AnySimulator, load_part
from trailbrake.tracks.track import Track
from trailbrake.tracks.track_library import load_track


class DriveSite(NamedTuple):
    """Where and with what a drive takes place: its options with track and car as far as they are known, live options.

    Attributes:
        options: of the drive.
        live: the simulator's live options.
        track: the road; None in a live drive where neither the user nor the game names it.
        car: a model of the car; None as for the track.
    """

    options: DriveOptions
    live: object
    track: Track | None
    car: CarParams | None


def detect_track_and_car(
    simulator: AnySimulator,
    options: DriveOptions,
    live: object,
    stopped: Callable[[], bool],
    say: Callable[[str], None],
) -> DriveSite:
    """Return the drive with its track and car. An embedded drive has defaults for both, a live one has not.

    Args:
        simulator: whose wire.
        options: of the drive; a track or a car named there is taken.
        live: the simulator's live options.
        stopped: whether the user has requested a stop, which ends the wait for a session.
        say: takes a line for everything that was found.

    Raises:
        TrailbrakeError: no session, or something that is named and cannot be found.
        KeyboardInterrupt: `stopped` while there was no session yet.
    """
    found = DetectedSession(None, None, live)
    track, car = not options.track, not options.car
    if options.live and (track or car) and simulator.session is not None:
        tool = load_part(simulator.session)
        found = tool.detect(live, track=track, car=car, idle=make_idle_wait(stopped), say=say)
    if found.track is not None:
        options = replace(options, track=found.track.name)
    if found.car is not None:
        options = replace(options, car=found.car.name)
    if not options.live:
        options = options.with_defaults(simulator.world)
    # The car first: it is the quicker one to find wrong.
    named = options.car not in ("", UNKNOWN_CAR)
    params = found.car or (load_car(options.car) if named else None)
    return DriveSite(options, found.live, found.track or (load_track(options.track) if options.track else None), params)


def report_game_session(simulator: AnySimulator, options: DriveOptions) -> JsonObject:
    """Return what the game of a live drive reports of its session; {} where it cannot."""
    if not options.live or simulator.session is None:
        return {}
    return load_part(simulator.session).report()
