"""Learns a road and a car in one go: the map, the car on it, and laps with both."""

from pathlib import Path

from trailbrake.driving.run import INTERRUPTED
from trailbrake.driving.session.drive_session import drive
from trailbrake.driving.session.progress import ProgressListener, SilentListener
from trailbrake.driving.spec import list_changes, make_spec
from trailbrake.errors import TrailbrakeError
from trailbrake.json_types import JsonObject
from trailbrake.learning.car_learning import learn_car_file
from trailbrake.learning.learning_drives import LAPS_BY
from trailbrake.learning.options import LearnCarOptions, LearnOptions
from trailbrake.learning.road_mapping import map_path, map_road
from trailbrake.simulator import AnySimulator
from trailbrake.tracks.track_library import load_track

FAST_LAPS = 4  # the first from rest; the plan rises in those after it


def learn_road_and_car(
    simulator: AnySimulator, options: LearnOptions, live: object = None, listener: ProgressListener | None = None
) -> JsonObject:
    """Map a road, learn the car on it, drive laps with both, and return what `trailbrake learn --json` prints.

    Each part goes on where an earlier call has ended. A part that was broken off ends the call.

    Args:
        simulator: whose wire to drive through.
        options: of the map; with recordings, only the map is made.
        live: the simulator's live options; None for their defaults.
        listener: receives messages.

    Returns:
        That of the map, with `learned_car` and `laps` as far as they were driven.

    Raises:
        TrailbrakeError: nothing could be learned of the road, or nothing of the car.
    """
    listener = listener or SilentListener()
    result = map_road(simulator, options, live, listener)
    if options.source is not None or options.left_edge is not None or result["interrupted"]:
        return result
    car = car_options(options, result["track"])
    learned = learn_car_file(simulator, car, live, listener)
    result = {**result, "learned_car": learned}
    if learned["interrupted"]:
        return result
    return {**result, "laps": drive_learned_car(car, learned["car"], live, listener)}


def car_options(options: LearnOptions, track_file: str) -> LearnCarOptions:
    """Return the options for the car of a drive that has just mapped its road.

    Args:
        options: of the map.
        track_file: the map.
    """
    options = options.with_defaults()
    out = map_path(options).with_suffix(".toml")
    return LearnCarOptions(
        sim=options.sim, track=options.track, map=Path(track_file), car=options.car, live=options.live,
        host=options.host, out=out, again=options.again,
        verify=options.verify,
    )  # fmt: skip


def drive_learned_car(
    options: LearnCarOptions, car_file: str, live: object, listener: ProgressListener
) -> JsonObject | None:
    """Drive laps by the learned map and car; what the driver learns is kept beside the car file.

    Args:
        options: of the car's learning.
        car_file: the file that was written.
        live: the simulator's live options.
        listener: receives messages.

    Returns:
        Lap times (s), the best valid one and how the drive ended; None where they could not be driven.
    """
    road = str(options.map or options.track)
    world = options.world if options.live else (*options.world, f"car={options.car}", f"track={options.track}")
    laps = FAST_LAPS if load_track(road).road.closed else 1
    memory = str(Path(car_file).with_suffix(".memory.json"))
    spec = make_spec(
        sim=options.sim, driver=LAPS_BY, track=road, car=car_file, live=options.live, host=options.host, world=world,
        laps=laps, memory=memory, report=False, options=None if live is None else list_changes(live),
    )  # fmt: skip
    try:
        summary = drive(spec, listener=listener)
    except TrailbrakeError as error:
        listener.show_message(f"no laps: {error}")
        return None
    if summary["ended"] == INTERRUPTED:
        listener.show_message("stopped: the same command drives the laps again")
    return {"laps": summary["laps"], "best_s": summary["best_s"], "ended": summary["ended"], "memory": memory}
