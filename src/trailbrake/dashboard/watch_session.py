"""`watch`: a live page of a simulator's car that another program or person drives.

`replay --watch`: a recording on the live page.
"""

import math
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path

from trailbrake.coaching.coached_sessions import CoachedSession
from trailbrake.dashboard.coach_choice import CoachChoice, choose_target, find_sessions, widen_road
from trailbrake.dashboard.live_coach import LocatedTarget
from trailbrake.dashboard.live_view import LiveView
from trailbrake.dashboard.options import ReplayPageOptions, WatchOptions
from trailbrake.dashboard.recorded_frames import RecordedFrames
from trailbrake.dashboard.replay_player import ReplayPlayer
from trailbrake.driving.road_monitor import RoadMonitor, WireLapScorer
from trailbrake.driving.session.connection import Connection
from trailbrake.driving.session.drive_setup import DriveSetup, describe_signals, make_setup
from trailbrake.driving.session.open_connection import open_connection
from trailbrake.driving.session.progress import MessagePrinter, ProgressListener
from trailbrake.driving.spec import DriveSpec, KeepSpec, LiveSite
from trailbrake.errors import SimulatorError, TrailbrakeError, UsageError
from trailbrake.json_types import JsonObject
from trailbrake.laps import LapRecord, Rewind
from trailbrake.record.recording_reader import Recording
from trailbrake.simulator import AnySimulator
from trailbrake.state import CarState, Controls, Phase
from trailbrake.system import steady_clock
from trailbrake.system.signals import handle_stop_signals
from trailbrake.tracks.road import Road
from trailbrake.tracks.track_library import load_track


def watch_simulator(
    simulator: AnySimulator, options: WatchOptions, live: object, listener: ProgressListener
) -> JsonObject:
    """Show a live simulator's car on the live page until stopped; another program or a person drives.

    Args:
        simulator: whose wire.
        options: what to watch.
        live: the simulator's live options; None for their defaults.
        listener: receives messages and laps, and the samples where it ShowsSamples.

    Raises:
        UsageError: no number of seconds or of a port, a simulator whose link takes the car as soon as it listens, or no
            such coached session.
        SimulatorError: the simulator is not there or sends nothing in that time, or the page's port is taken.
    """
    if not 0.0 <= options.seconds < math.inf:
        raise UsageError("no number of seconds", where="--seconds", expected="0 or more", got=f"{options.seconds:g}")
    if not 0 <= options.port <= 65535:
        raise UsageError("no port", where="--port", expected="0..65535", got=str(options.port))
    road = load_track(options.track).road if options.track else None
    sessions: Sequence[CoachedSession] | None = None if options.coach is None else find_sessions(options.coach)
    if simulator.watch_options is None:
        raise UsageError(
            f"{simulator.name} cannot be watched without taking the car", where="--sim", hint="drive with --watch"
        )
    live = simulator.watch_options(live or simulator.live_options())
    site = LiveSite(sim=options.sim, camera=options.camera)
    watched = DriveSpec(site=site, keep=KeepSpec(signals=options.signals))
    setup = make_setup(simulator, watched, live)
    about = {"sim": simulator.name, "track": options.track or None, "signals": describe_signals(setup.signals)}
    seen, samples, tap = -1, 0, None
    stop = threading.Event()
    with (
        LiveView(listener, options.port, options) as page,
        handle_stop_signals(stop.set),
        _open_within(setup, stop, options.seconds) as connection,
    ):
        if sessions is None:
            tap, monitor = page.start_view(about, connection.link, None, road, None), follow_laps(road, page.show_lap)
        began = steady_clock.now()
        while not stop.is_set() and not (options.seconds and steady_clock.now() - began >= options.seconds):
            now = connection.pacer.wait_for_sample(connection.link)
            state = connection.link.read(now)
            if state.sequence == seen or state.phase is not Phase.DRIVING:
                continue
            seen, samples = state.sequence, samples + 1
            if tap is None or tap.is_elsewhere:  # where the car is says which road it is
                choice = choose_target(sessions or [], state, road, is_named=bool(options.coach))
                page.show_message(choice.line or f"coached by the session {choice.name}")
                tap = page.start_view(about, connection.link, None, choice.road, None, coach=choice)
                monitor = follow_laps(choice.road if choice.width_known else widen_road(choice.road), page.show_lap)
                sessions = choice.others
            monitor.tick(state, Controls())
            tap.tick(state, Controls())
    points = 0 if tap is None else len(tap.encode_path()) // 24
    return {"sim": simulator.name, "samples": samples, "points": points, "page": page.url}


@contextmanager
def _open_within(setup: DriveSetup, stop: threading.Event, seconds: float) -> Iterator[Connection]:
    """Connect, as `open_connection` until `stop`; SimulatorError where nothing came in `seconds` (0: no limit)."""
    until = steady_clock.now() + (seconds or math.inf)
    with ExitStack() as closed:
        try:
            opened = open_connection(setup, lambda: stop.is_set() or steady_clock.now() >= until)
            connection = closed.enter_context(opened)
        except KeyboardInterrupt:
            if stop.is_set():
                raise
            raise SimulatorError("the simulator sends nothing", where=f"--seconds {seconds:g}",
                                 hint=f"ask `trailbrake doctor {setup.simulator.name}`") from None  # fmt: skip
        yield connection


def follow_laps(road: Road | None, show_lap: Callable[[LapRecord], None]) -> RoadMonitor:
    """Return what counts the laps of a car that another program or a person drives.

    Args:
        road: its edges count; None where it is not known: laps are those of the wire.
        show_lap: receives each lap; one in which the simulator was rewound is not valid.
    """
    is_rewound = False

    def mark_rewind(found: Rewind) -> None:
        nonlocal is_rewound
        is_rewound = found.samples > 0

    def finish_lap(lap: LapRecord) -> None:
        nonlocal is_rewound
        show_lap(replace(lap, valid=False, invalid_reason=lap.invalid_reason or "rewound") if is_rewound else lap)
        is_rewound = False

    if road is None:
        return WireLapScorer(finish_lap, mark_rewind)
    return RoadMonitor(road, on_lap=finish_lap, on_rewind=mark_rewind)


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
