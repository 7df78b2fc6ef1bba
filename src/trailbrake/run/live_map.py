"""Where a car drives, coloured by its speed, as a page that a browser shows while it drives.

A server of the standard library on this machine only; the page asks a few times a second for what is new. The one
who drives is never waited for: samples go into a list, and a slow browser gets them later.
"""

import json
import math
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.resources import files
from typing import Any
from urllib.parse import parse_qs, urlsplit

from trailbrake.errors import SimulatorError, UsageError
from trailbrake.run import rate
from trailbrake.run.connect import connected
from trailbrake.run.options import DriveOptions, WatchOptions
from trailbrake.run.signals import on_stop
from trailbrake.sims import registry
from trailbrake.state import CarState, Controls, Phase

STEP = 1.0  # m driven between points of the page
MOST = 200_000  # points kept: some hours of driving
PAGE = "live.html"


class LiveMap:
    """A Tap that keeps the path of a drive and serves the page.

    Args:
        port: to listen on, 0 for any free one.

    Attributes:
        url: where the page is.

    Raises:
        UsageError: no number of a port.
        SimulatorError: the port is taken.
    """

    def __init__(self, port: int = 0) -> None:
        self._points: list[tuple[float, float, float]] = []
        self._about: dict[str, Any] = {}
        self._last = (math.nan, math.nan)
        page = (files("trailbrake.analysis") / "page" / PAGE).read_bytes()
        points_since = self.since

        class Answer(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                parts = urlsplit(self.path)
                if parts.path == "/":
                    self._send(page, "text/html; charset=utf-8")
                elif parts.path == "/points":
                    since = parse_qs(parts.query).get("since", ["0"])[0]
                    found = points_since(int(since) if since.isdecimal() else 0)
                    self._send(json.dumps(found).encode(), "application/json")
                else:
                    self.send_error(404)

            def _send(self, data: bytes, kind: str) -> None:
                self.send_response(200)
                self.send_header("Content-Type", kind)
                self.send_header("Content-Length", str(len(data)))
                self.send_header("Cache-Control", "no-store")
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, format: str, *args: Any) -> None:
                """Say nothing: the terminal is the drive's."""

        try:
            self._server = ThreadingHTTPServer(("127.0.0.1", port), Answer)
        except OverflowError as error:
            raise UsageError("no port", where="--port", expected="0..65535", got=str(port)) from error
        except OSError as error:
            raise SimulatorError(f"cannot serve the page: {error.strerror}", where=f"--port {port}") from error
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}/"
        self._thread = threading.Thread(target=self._server.serve_forever, name="live map", daemon=True)
        self._thread.start()

    def start(self, about: dict[str, Any]) -> None:
        """Keep what is driven, for the page's title."""
        self._about = about

    def tick(self, state: CarState, controls: Controls) -> None:
        """Keep a point every STEP metres; a jump or a pause breaks the line."""
        x, y = state.x, state.y
        if not math.isfinite(x + y + state.speed) or len(self._points) >= MOST:
            return
        moved = math.dist((x, y), self._last)
        if moved < STEP:  # false for NaN: the first point is kept
            return
        self._last = (x, y)
        self._points.append((round(x, 2), round(y, 2), round(state.speed, 2)))

    def since(self, first: int) -> dict[str, Any]:
        """Return the points from number `first` on, as the page takes them: x, y in m, speed in m/s."""
        points = self._points
        return {"about": self._about, "first": first, "points": points[first : len(points)]}

    def close(self) -> None:
        """Stop serving."""
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


def watch(options: WatchOptions, live: Any, say: Callable[[str], None]) -> dict[str, Any]:
    """Show where the car of a live simulator drives, whoever drives it, until stopped.

    Args:
        options: what to watch.
        live: the simulator's `spec.LiveOptions`.
        say: takes lines for the user.

    Raises:
        UsageError: a simulator whose link takes the car as soon as it listens.
        SimulatorError: the simulator is not there, or the page's port is taken.
    """
    stopped = False

    def stop() -> None:
        nonlocal stopped
        stopped = True

    if not options.seconds >= 0.0:
        raise UsageError("no number of seconds", where="--seconds", expected="0 or more", got=f"{options.seconds:g}")
    live = live or registry.part(options.sim, "spec").LiveOptions()
    if not hasattr(live, "pad"):
        raise UsageError(
            f"{options.sim} cannot be watched without taking the car",
            where="--sim",
            hint="drive, and look at the report",
        )
    live.pad = "none"  # who watches does not drive
    page = LiveMap(options.port)
    page.start({"sim": options.sim})
    seen, samples = -1, 0
    try:
        say(f"the page is at {page.url}")
        with on_stop(stop), connected(DriveOptions(sim=options.sim, live=True), live, lambda: stopped) as connection:
            began = rate.now()
            while not stopped and not (options.seconds and rate.now() - began >= options.seconds):
                now = connection.pace.wait(connection.link)
                state = connection.link.read(now)
                if state.sequence != seen and state.phase is Phase.DRIVING:
                    seen, samples = state.sequence, samples + 1
                    page.tick(state, Controls())
    finally:
        page.close()
    return {"sim": options.sim, "samples": samples, "points": len(page.since(0)["points"]), "page": page.url}
