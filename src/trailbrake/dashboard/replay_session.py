"""`replay --watch`: a recording on the live page."""

import math
import threading
from collections.abc import Callable
from pathlib import Path

from trailbrake.dashboard.coach_choice import CoachChoice, choose_target, find_sessions
from trailbrake.dashboard.live_coach import LocatedTarget
from trailbrake.dashboard.live_view import LiveView
from trailbrake.dashboard.options import ReplayPageOptions
from trailbrake.dashboard.recorded_frames import RecordedFrames
from trailbrake.dashboard.replay_player import ReplayPlayer
from trailbrake.driving.session.progress import MessagePrinter
from trailbrake.errors import TrailbrakeError, UsageError
from trailbrake.json_types import JsonObject
from trailbrake.record.recording_reader import Recording
from trailbrake.state import CarState
from trailbrake.system import steady_clock
from trailbrake.system.signals import handle_stop_signals
from trailbrake.tracks.road import Road
from trailbrake.tracks.track_library import load_track


def find_recorded_road(recording: Recording) -> Road | None:
    """Return the road that a recording was driven on; None where it names none that this machine has."""
    name = recording.about.get("track")
    if not isinstance(name, str) or not name:
        return None
    try:
        return load_track(name).road
    except TrailbrakeError:
        return None  # a file that is gone, or a track of the game: the recorded edges are shown


def choose_recorded_target(recording: Recording, names: tuple[str, ...], road: Road | None) -> CoachChoice:
    """Return by what the drive in a recording is coached; `names` is the flag's value, `road` that of the recording."""
    columns = [recording.state[name] for name in ("x", "y", "max_engine_speed")]
    x, y, limiter = (float(column[len(column) // 2]) if len(column) else math.nan for column in columns)
    return choose_target(find_sessions(names), CarState(x=x, y=y, max_engine_speed=limiter), road, is_named=bool(names))


def replay_on_page(file: Path, options: ReplayPageOptions, say: Callable[[str], None]) -> JsonObject:
    """Show a recording on the live page until stopped.

    Args:
        file: the recording, an .mcap file.
        options: of the page.
        say: takes lines for the user.

    Raises:
        UsageError: no number of seconds or of a port, no such file, or no such coached session.
        DataError: it is no recording, or has no rows.
        SimulatorError: the page's port is taken.
    """
    if not 0.0 <= options.seconds < math.inf:
        raise UsageError("no number of seconds", where="--seconds", expected="0 or more", got=f"{options.seconds:g}")
    if not 0 <= options.watch_port <= 65535:
        raise UsageError("no port", where="--watch-port", expected="0..65535", got=str(options.watch_port))
    began = steady_clock.now()
    recording = Recording.open(file, verify=False)
    road = find_recorded_road(recording)
    choice = None if options.coach is None else choose_recorded_target(recording, options.coach, road)
    road = road if choice is None else choice.road
    frames = RecordedFrames(recording, road)
    target = None if choice is None or road is None else LocatedTarget(road, choice.target)
    stopped = threading.Event()
    with LiveView(MessagePrinter(say), options.watch_port, options) as page, handle_stop_signals(stopped.set):
        page.start_replay(recording, ReplayPlayer(frames, steady_clock.now, road, target), road, choice)
        if choice is not None:
            say(choice.line or f"coached by the session {choice.name}")
        opened_s = steady_clock.now() - began
        if recording.truncated:
            say(f"{file}: the recording was cut off; the page shows what is left")
        stopped.wait(options.seconds or None)
    return {
        "recording": str(file), "seconds": frames.duration, "rows": len(frames.times), "laps": len(frames.laps),
        "opened_s": opened_s, "page": page.url,
    }  # fmt: skip
