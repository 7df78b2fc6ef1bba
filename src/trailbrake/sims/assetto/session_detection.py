"""Detects the game's session, track and car, from its pages and its files.

Source: protocol page assetto-custom-ai, sections 6 and 7.
"""

import math
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from trailbrake.cars import car_library as cars
from trailbrake.cars.params import CarParams
from trailbrake.errors import DataError, SimulatorError, TrailbrakeError, UsageError
from trailbrake.roles import DetectedSession
from trailbrake.sims.assetto import spec
from trailbrake.sims.assetto.install import content, fast_lane, installation, ui_json
from trailbrake.sims.assetto.install.car_estimate import estimate_car
from trailbrake.sims.assetto.install.lane_conversion import track_from_lane
from trailbrake.sims.assetto.wire import acpmf
from trailbrake.sims.assetto.wire.classic_reader import ClassicPageReader, await_session, session_text
from trailbrake.simulator_tools import Doors, Idle, SessionTool
from trailbrake.tracks import track_library as tracks
from trailbrake.tracks.track import Track
from trailbrake.transport.shm import SharedMemory
from trailbrake.user_files import read_user_file


def detect_session(
    options: spec.LiveOptions, *, track: bool, car: bool, idle: Idle, say: Callable[[str], None], doors: Doors = None
) -> DetectedSession:
    """Wait for the session, and find the track and the car that the user has not named.

    Args:
        options: of the live drive.
        track: whether the track is wanted.
        car: whether the car is wanted.
        idle: lets time pass and returns the new `now`.
        say: receives a line for each finding.
        doors: folder of the pages; None = the public names.

    Returns:
        The track, the car, and the live options to drive with.

    Raises:
        SimulatorError: no session within the wait.
        UsageError: no game in the folder that the user has named.
        DataError: its files are missing or cannot be used.
    """
    memory = SharedMemory(doors)
    watch = ClassicPageReader(memory)
    try:
        now = _await_game(watch, memory, options.wait, idle, say) if track or car else idle()
        await_session(watch, now, options.wait, idle, say)
        static, graphics = watch.read_static(), watch.read_graphics()
    finally:
        watch.close()
    found = DetectedSession(None, None, options)
    if not (track or car):
        return found
    if static is None:  # the game always has that page: this is a host
        say(f"no {acpmf.STATIC_NAME} names the track and the car")
        return found
    kind = "" if graphics is None else f", {session_text(graphics.session)}"
    say(f"the game: {static.car_model} on {acpmf.track_id(static)}{kind}")
    if track:
        found = replace(found, track=load_game_track(_find_game_folder(options), static, say))
    if car:
        model, guessed = load_game_car(_find_game_folder(options), static, say)
        found = replace(found, car=model)
        if guessed:  # its gears are unknown: the game shifts
            found = replace(found, live=replace(options, shifts="game"))
    return found


def _await_game(
    watch: ClassicPageReader, memory: SharedMemory, wait: float, idle: Idle, say: Callable[[str], None]
) -> float:
    """Wait until a game, or a host, has made a page; return `now` at the end of the wait.

    Raises:
        SimulatorError: there is none after `wait` s.
    """
    now = idle()
    deadline, said = now + wait, False
    while watch.read_static() is None:
        public = memory.open_page(spec.public_name(0))
        if public is not None:
            public.close()
            break
        if now >= deadline:
            raise SimulatorError("no game is there", where=acpmf.STATIC_NAME, expected=f"a session within {wait:g} s",
                                 hint="start the game, or trailbrake serve assetto")  # fmt: skip
        if not said:
            said = True
            say("waiting for the game")
        now = idle()
    return now


def _find_game_folder(options: spec.LiveOptions) -> Path | None:
    """Return the game's folder; None if it cannot be found and the user has not named one."""
    try:
        return installation.find_installation(options.root).root
    except UsageError:
        if options.root is not None:
            raise
        return None


def load_game_track(root: Path | None, static: acpmf.Static, say: Callable[[str], None]) -> Track:
    """Return the track of the session from its `fast_lane.ai`; without that file, our own track of the same name.

    Args:
        root: the game's folder; None = unknown.
        static: constants of the session.
        say: receives lines for the user.

    Raises:
        DataError: the file is missing or cannot be used.
    """
    expected = content.lane_path(root or Path(), static.track, static.track_configuration)
    path = None if root is None else content.find_ignoring_case(expected)
    if path is None and static.track in tracks.track_names():
        say(f"track {static.track}: a track of our own")
        return tracks.load_track(static.track)
    if path is None:
        missing = "no such file" if root else "the game's folder is not known"
        raise DataError("the track's line is needed to drive on it", where=str(expected), got=missing,
                        hint="name the game's folder by --root, or a --track of your own")  # fmt: skip
    lane = fast_lane.read_fast_lane(path)
    made = track_from_lane(lane, acpmf.track_id(static), str(path))
    note = "" if lane.extras is not None else "; no widths in it, so the road is taken to be narrow"
    say(f"track by {path}: {made.road.length:.0f} m, {len(lane.points)} points{note}")
    return made


def load_game_car(root: Path | None, static: acpmf.Static, say: Callable[[str], None]) -> tuple[CarParams, bool]:
    """Return a model of the session's car, and whether it is an estimate.

    A car with the name of one of ours is ours; any other is estimated from its ui_car.json.

    Args:
        root: the game's folder; None = unknown.
        static: constants of the session.
        say: receives lines for the user.

    Raises:
        DataError: the file is missing or cannot be used.
    """
    name = static.car_model
    if name in cars.car_names():
        say(f"car {name}: a car of our own")
        return cars.load_car(name), False
    expected = content.car_ui_path(root or Path(), name)
    path = None if root is None else content.find_ignoring_case(expected)
    if path is None:
        missing = "no such file" if root else "the game's folder is not known"
        raise DataError("the car's description is needed to drive it", where=str(expected), got=missing,
                        hint="name the game's folder by --root, or a --car that is like it")  # fmt: skip
    description = ui_json.decode_car_ui(read_user_file(path, "description", ui_json.MAX_BYTES), str(path))
    car, guessed = estimate_car(name, description, static.max_rpm)
    say(
        f"car by {path}: {car.body.mass:.0f} kg, {car.engine.peak_power / 1e3:.0f} kW; a careful guess is "
        f"{', '.join(guessed)}; the game shifts. Quicker: name a --car"
    )
    return car, True


def report_session(doors: Doors = None) -> dict[str, Any]:
    """Return what the game reports of the session now, as JSON values; empty if it reports nothing."""
    watch = ClassicPageReader(SharedMemory(doors))
    try:
        static, graphics = watch.read_static(), watch.read_graphics()
    except TrailbrakeError:
        return {}
    finally:
        watch.close()
    if static is None or graphics is None:
        return {}
    return {
        "track": acpmf.track_id(static),
        "car": static.car_model,
        "cars": static.num_cars,
        "session": session_text(graphics.session),
        "completed_laps": graphics.completed_laps,
        "last_lap_s": _to_seconds(graphics.i_last_time),
        "best_lap_s": _to_seconds(graphics.i_best_time),
    }


def _to_seconds(milliseconds: int) -> float:
    return milliseconds * 1e-3 if 0 < milliseconds < 0x7FFFFFFF else math.nan


SESSION = SessionTool(detect_session, report_session)
