"""Before a live drive: the track and the car that the user has not named, found by the simulator's own `live.py`."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from trailbrake.cars.load import load as load_car
from trailbrake.cars.params import CarParams
from trailbrake.roles import Surroundings
from trailbrake.run.connect import nap
from trailbrake.run.options import DriveOptions
from trailbrake.sims import registry
from trailbrake.tracks.load import load as load_track
from trailbrake.tracks.track import Track


def surveyed(
    options: DriveOptions, live: Any, stopped: Callable[[], bool], say: Callable[[str], None]
) -> tuple[DriveOptions, Any, Track, CarParams]:
    """Return the drive with its track and car named, the live options to drive by, the track and the car.

    Args:
        options: of the drive; a track or a car named there is taken.
        live: the simulator's `spec.LiveOptions`.
        stopped: whether the user has asked to stop; ends the wait for a session.
        say: told what was found.

    Raises:
        TrailbrakeError: no session, or something that cannot be found out and is not named.
        KeyboardInterrupt: `stopped` while there was no session yet.
    """
    found = Surroundings(None, None, live)
    wanted = {"track": not options.track, "car": not options.car}
    if options.live and any(wanted.values()) and options.sim in registry.having("live"):
        survey = registry.part(options.sim, "live").survey
        found = survey(live, **wanted, idle=nap(stopped), say=say)
    if found.track is not None:
        options = replace(options, track=found.track.name)
    if found.car is not None:
        options = replace(options, car=found.car.name)
    options = options.named()
    # The car first: it is the quicker one to find wrong.
    car = found.car or load_car(options.car)
    return options, found.live, found.track or load_track(options.track), car


def told_by(options: DriveOptions) -> dict[str, Any]:
    """Return what the game of a live drive says of its session; empty where it cannot say."""
    if not options.live or options.sim not in registry.having("live"):
        return {}
    report: dict[str, Any] = registry.part(options.sim, "live").report()
    return report
