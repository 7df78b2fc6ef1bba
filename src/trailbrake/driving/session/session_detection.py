"""Before a live drive: finds the track and the car that the user has not named, where the simulator can tell them."""

from collections.abc import Callable
from typing import NamedTuple

from trailbrake.cars.car_library import load_car
from trailbrake.cars.params import CarParams
from trailbrake.driving.session.open_connection import make_idle_wait
from trailbrake.driving.spec import UNKNOWN_CAR, DriveSpec
from trailbrake.json_types import JsonObject
from trailbrake.roles import DetectedSession
from trailbrake.simulator import AnySimulator, load_part
from trailbrake.tracks.track import Track
from trailbrake.tracks.track_library import load_track


class DrivePlace(NamedTuple):
    """Where and with what a drive takes place: track and car as far as they are known, and the live options.

    Attributes:
        spec: the drive, with the names that the game has supplied.
        live: the simulator's live options.
        track: the road; None in a live drive where neither the user nor the game names it.
        car: a model of the car; None as for the track.
    """

    spec: DriveSpec
    live: object
    track: Track | None
    car: CarParams | None


def detect_track_and_car(
    simulator: AnySimulator,
    spec: DriveSpec,
    live: object,
    stopped: Callable[[], bool],
    say: Callable[[str], None],
) -> DrivePlace:
    """Return the drive with its track and car. An embedded drive has defaults for both, a live one has not.

    Args:
        simulator: whose wire.
        spec: the drive; a track or a car named there is taken.
        live: the simulator's live options.
        stopped: whether the user has requested a stop, which ends the wait for a session.
        say: takes a line for everything that was found.

    Raises:
        TrailbrakeError: no session, or something that is named and cannot be found.
        KeyboardInterrupt: `stopped` while there was no session yet.
    """
    found = DetectedSession(None, None, live)
    track, car = not spec.track, not spec.car
    part = simulator.tools.get("session")
    if spec.is_live and (track or car) and part is not None:
        tool = load_part(part)
        found = tool.detect(live, track=track, car=car, idle=make_idle_wait(stopped), say=say)
    if found.track is not None:
        spec = spec.with_cars(track=found.track.name)
    if found.car is not None:
        spec = spec.with_cars(car=found.car.name)
    spec = spec.with_site_defaults(simulator.world)
    # The car first: it is the quicker one to find wrong.
    params = found.car or load_assumed_car(spec)
    return DrivePlace(spec, found.live, found.track or (load_track(spec.track) if spec.track else None), params)


def load_assumed_car(spec: DriveSpec) -> CarParams | None:
    """Return the car's file that the drivers get; None where they get none."""
    return load_car(spec.car) if spec.car not in ("", UNKNOWN_CAR) else None


def report_game_session(simulator: AnySimulator, spec: DriveSpec) -> JsonObject:
    """Return what the game of a live drive reports of its session; {} where it cannot."""
    part = simulator.tools.get("session")
    return load_part(part).report() if spec.is_live and part is not None else {}
