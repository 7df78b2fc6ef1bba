"""What a live drive finds out by itself: the game's session, track and car, by its pages and its files.

Source: protocol page assetto-custom-ai, sections 6 and 7.
"""

import math
import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from trailbrake.cars import load as cars
from trailbrake.cars.params import CarParams
from trailbrake.errors import DataError, TrailbrakeError, UsageError
from trailbrake.roles import Surroundings
from trailbrake.sims.assetto import acpmf, install, spec
from trailbrake.sims.assetto.files import content, fast_lane, ui
from trailbrake.sims.assetto.guess import car_from_ui
from trailbrake.sims.assetto.road import track_from_lane
from trailbrake.sims.assetto.watch import Watch, await_session, session_text
from trailbrake.tracks import load as tracks
from trailbrake.tracks.track import Track
from trailbrake.transport.shm import SharedMemory


def survey(
    options: spec.LiveOptions,
    *,
    track: bool,
    car: bool,
    idle: Callable[[], float],
    say: Callable[[str], None],
    doors: "str | os.PathLike[str] | None" = None,
) -> Surroundings:
    """Wait for the session, and find the track and the car that are not named.

    Args:
        options: of the live drive.
        track: whether the track is wanted.
        car: whether the car is wanted.
        idle: lets time pass and returns the new `now`.
        say: told what was found, a line each.
        doors: where the pages are; None = the public names.

    Returns:
        What was found, with the options to drive by.

    Raises:
        SimulatorError: no session within the wait.
        UsageError: no game in the folder that the user named.
        DataError: its files are not there or cannot be used.
    """
    watch = Watch(SharedMemory(doors))
    try:
        now = idle()
        await_session(watch, now, options.wait, idle, say)
        static, graphics = watch.static(), watch.graphics()
    finally:
        watch.close()
    found = Surroundings(None, None, options)
    if not (track or car):
        return found
    if static is None:  # no game: it always has that page
        say(f"nobody tells the track and the car (no {acpmf.STATIC_NAME}): taking the embedded world's own")
        return found
    kind = "" if graphics is None else f", {session_text(graphics.session)}"
    say(f"the game: {static.car_model} on {acpmf.track_id(static)}{kind}")
    if track:
        found = replace(found, track=game_track(_root(options), static, say))
    if car:
        model, guessed = game_car(_root(options), static, say)
        found = replace(found, car=model)
        if guessed:  # its gears are not known: leave them to the game
            found = replace(found, live=replace(options, shifts="game"))
    return found


def _root(options: spec.LiveOptions) -> Path | None:
    """Return the game's folder; None where it is not to be found and nobody has said that it is."""
    try:
        return install.find(options.root).root
    except UsageError:
        if options.root is not None:
            raise
        return None


def game_track(root: Path | None, static: acpmf.Static, say: Callable[[str], None]) -> Track:
    """Return the road of the game's track, by its `fast_lane.ai`; one of ours without a file by its name.

    Args:
        root: the game's folder; None where it is not known.
        static: the session.
        say: told what was found.

    Raises:
        DataError: the file is not there or cannot be used.
    """
    expected = content.lane_path(root or Path(), static.track, static.track_configuration)
    path = None if root is None else _existing(expected)
    if path is None and static.track in tracks.names():
        say(f"track {static.track}: a track of our own")
        return tracks.load(static.track)
    if path is None:
        missing = "no such file" if root else "the game's folder is not known"
        raise DataError("the track's line is needed to drive on it", where=str(expected), got=missing,
                        hint="name the game's folder by --root, or a --track of your own")  # fmt: skip
    lane = fast_lane.read(path)
    made = track_from_lane(lane, acpmf.track_id(static), str(path))
    note = "" if lane.extras is not None else "; no widths in it, so the road is taken to be narrow"
    say(f"track by {path}: {made.road.length:.0f} m, {len(lane.points)} points{note}")
    return made


def game_car(root: Path | None, static: acpmf.Static, say: Callable[[str], None]) -> tuple[CarParams, bool]:
    """Return a model of the game's car, and whether it is a guess: ours where it has our name, else by its ui file.

    Args:
        root: the game's folder; None where it is not known.
        static: the session.
        say: told what was found.

    Raises:
        DataError: the file is not there or cannot be used.
    """
    name = static.car_model
    if name in cars.names():
        say(f"car {name}: a car of our own")
        return cars.load(name), False
    expected = content.car_ui_path(root or Path(), name)
    path = None if root is None else _existing(expected)
    if path is None:
        missing = "no such file" if root else "the game's folder is not known"
        raise DataError("the car's description is needed to drive it", where=str(expected), got=missing,
                        hint="name the game's folder by --root, or a --car that is like it")  # fmt: skip
    try:
        told = ui.decode_car(path.read_bytes(), str(path))
    except OSError as error:
        raise DataError(f"cannot read the description: {error.strerror}", where=str(path)) from None
    car, guessed = car_from_ui(name, told, static.max_rpm)
    say(
        f"car by {path}: {car.body.mass:.0f} kg, {car.engine.peak_power / 1e3:.0f} kW; a careful guess is "
        f"{', '.join(guessed)}; the game shifts. Quicker: name a --car"
    )
    return car, True


def _existing(path: Path) -> Path | None:
    """Return the file, or one whose names differ in case alone: the game's own system does not tell them apart."""
    if path.is_file():
        return path
    found = Path(path.anchor)
    for part in path.parts[1:] if path.anchor else path.parts:
        if (found / part).exists():
            found = found / part
            continue
        try:
            same = [entry for entry in found.iterdir() if entry.name.lower() == part.lower()]
        except OSError:
            return None
        if not same:
            return None
        found = same[0]
    return found if found.is_file() else None


def report(doors: "str | os.PathLike[str] | None" = None) -> dict[str, Any]:
    """Return what the game itself says of the session now: JSON-able; empty where it says nothing."""
    watch = Watch(SharedMemory(doors))
    try:
        static, graphics = watch.static(), watch.graphics()
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
        "last_lap_s": _seconds(graphics.i_last_time),
        "best_lap_s": _seconds(graphics.i_best_time),
    }


def _seconds(milliseconds: int) -> float:
    return milliseconds * 1e-3 if 0 < milliseconds < 0x7FFFFFFF else math.nan
