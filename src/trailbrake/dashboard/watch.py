"""`watch`: a live page of a simulator's car while somebody else drives."""

import math
from collections.abc import Callable
from typing import Any

from trailbrake.dashboard.options import WatchOptions
from trailbrake.dashboard.watching import Watching
from trailbrake.errors import UsageError
from trailbrake.laps import LapRecord
from trailbrake.run import rate
from trailbrake.run.connect import connected
from trailbrake.run.options import DriveOptions
from trailbrake.run.show import Quiet
from trailbrake.run.signals import on_stop
from trailbrake.sims import registry
from trailbrake.state import Controls, Phase
from trailbrake.tracks.load import load as load_track


class _Lines(Quiet):
    def __init__(self, say: Callable[[str], None]) -> None:
        self._say = say

    def say(self, text: str) -> None:
        self._say(text)


def watch(options: WatchOptions, live: Any, say: Callable[[str], None]) -> dict[str, Any]:
    """Show a live simulator's car, whoever drives it, until stopped.

    Args:
        options: what to watch.
        live: the simulator's `spec.LiveOptions`.
        say: takes lines for the user.

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

    live = live or registry.part(options.sim, "spec").LiveOptions()
    if not hasattr(live, "pad"):
        raise UsageError(
            f"{options.sim} cannot be watched without taking the car",
            where="--sim",
            hint="drive with --watch",
        )
    live.pad = "none"  # who watches does not drive
    road = load_track(options.track).road if options.track else None
    seen, samples = -1, 0
    with (
        Watching(_Lines(say), options.port, options.open) as page,
        on_stop(stop),
        connected(DriveOptions(sim=options.sim, live=True), live, lambda: stopped) as connection,
    ):
        tap = page.begin({"sim": options.sim, "track": options.track or None}, connection.link, None, road, None)
        began, number, clock = rate.now(), float("nan"), float("nan")
        while not stopped and not (options.seconds and rate.now() - began >= options.seconds):
            now = connection.pace.wait(connection.link)
            state = connection.link.read(now)
            if state.sequence == seen or state.phase is not Phase.DRIVING:
                continue
            seen, samples = state.sequence, samples + 1
            if state.lap == number + 1 and clock == clock:  # nobody scores here: the wire's own clock counts
                page.lap(LapRecord(int(number), clock, True, (), "", 0.0, 0))
            number, clock = state.lap, state.lap_time
            tap.tick(state, Controls())
    return {"sim": options.sim, "samples": samples, "points": len(tap.path) // 24, "page": page.url}
