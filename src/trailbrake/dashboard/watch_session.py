"""`watch`: a live page of a simulator's car that another program or person drives."""

import math

from trailbrake.dashboard.live_view import LiveView
from trailbrake.dashboard.options import WatchOptions
from trailbrake.driving.session.drive_setup import describe_signals, make_setup
from trailbrake.driving.session.open_connection import open_connection
from trailbrake.driving.session.progress import ProgressListener
from trailbrake.driving.spec import DriveSpec, KeepSpec, LiveSite
from trailbrake.errors import UsageError
from trailbrake.json_types import JsonObject
from trailbrake.laps import LapRecord
from trailbrake.simulator import AnySimulator
from trailbrake.state import Controls, Phase
from trailbrake.system import steady_clock
from trailbrake.system.signals import handle_stop_signals
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
        UsageError: no number of seconds or of a port, or a simulator whose link takes the car as soon as it listens.
        SimulatorError: the simulator is not there, or the page's port is taken.
    """
    if not 0.0 <= options.seconds < math.inf:
        raise UsageError("no number of seconds", where="--seconds", expected="0 or more", got=f"{options.seconds:g}")
    if not 0 <= options.port <= 65535:
        raise UsageError("no port", where="--port", expected="0..65535", got=str(options.port))
    stopped = False

    def stop() -> None:
        nonlocal stopped
        stopped = True

    if simulator.watch_options is None:
        raise UsageError(
            f"{simulator.name} cannot be watched without taking the car",
            where="--sim",
            hint="drive with --watch",
        )
    live = simulator.watch_options(live or simulator.live_options())
    site = LiveSite(sim=options.sim, camera=options.camera)
    watched = DriveSpec(site=site, keep=KeepSpec(signals=options.signals))
    setup = make_setup(simulator, watched, live)
    road = load_track(options.track).road if options.track else None
    seen, samples = -1, 0
    with (
        LiveView(listener, options.port, options) as page,
        handle_stop_signals(stop),
        open_connection(setup, lambda: stopped) as connection,
    ):
        about = {"sim": simulator.name, "track": options.track or None, "signals": describe_signals(setup.signals)}
        tap = page.start_view(about, connection.link, None, road, None)
        began, number, clock = steady_clock.now(), float("nan"), float("nan")
        while not stopped and not (options.seconds and steady_clock.now() - began >= options.seconds):
            now = connection.pacer.wait_for_sample(connection.link)
            state = connection.link.read(now)
            if state.sequence == seen or state.phase is not Phase.DRIVING:
                continue
            seen, samples = state.sequence, samples + 1
            if state.lap == number + 1 and clock == clock:  # without a scorer the wire's own clock counts
                page.show_lap(LapRecord(int(number), clock, True, (), "", 0.0, 0))
            number, clock = state.lap, state.lap_time
            tap.tick(state, Controls())
    return {"sim": simulator.name, "samples": samples, "points": len(tap.encode_path()) // 24, "page": page.url}
