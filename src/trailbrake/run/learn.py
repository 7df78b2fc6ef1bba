"""Maps a road by driving it slowly: a drive, a recording, and from the recording a track file that `load` reads."""

import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from trailbrake.cars.load import load as load_car
from trailbrake.config import recordings_folder
from trailbrake.drivers.load import load as load_driver
from trailbrake.drivers.survey import SurveyGains
from trailbrake.errors import SimulatorError, UsageError
from trailbrake.planning.course import Course
from trailbrake.planning.survey import CLOSE, survey
from trailbrake.record.names import safe_name
from trailbrake.record.reader import Recording
from trailbrake.record.threaded import Threaded
from trailbrake.record.writer import Recorder
from trailbrake.run import rate
from trailbrake.run.connect import connected, for_driver
from trailbrake.run.loop import Seat, run_loop
from trailbrake.run.needs import check_needs
from trailbrake.run.options import DriveOptions, LearnOptions
from trailbrake.run.session import INTERRUPTED
from trailbrake.run.show import Quiet, Show
from trailbrake.run.signals import on_stop
from trailbrake.run.supervisor import Supervisor
from trailbrake.sims import registry
from trailbrake.state import CarState, Controls
from trailbrake.tracks import road_file
from trailbrake.tracks.load import load as load_track
from trailbrake.tracks.road import Road
from trailbrake.tracks.track import Track

LEFT = 200.0  # m from its start after which a car that comes back has been round
END = 15.0  # m before the end of an embedded open road at which it has been driven
STANDS_FOR = 15.0  # s without getting on after which the drive is over
NEEDS = frozenset({"x", "y", "z"})


class _Odometer:
    """A Tap that knows when the road has been driven: after `metres`, at the end of an open `road`, or round it."""

    def __init__(self, metres: float, road: Road | None) -> None:
        self._metres, self._road, self._row = metres, road, -1
        self._start: tuple[float, float] | None = None
        self._last = (0.0, 0.0)
        self._moved_at = math.nan
        self.driven = self._away = 0.0
        self.ended = False

    def start(self, about: dict[str, Any]) -> None:
        """Nothing to prepare."""

    def tick(self, state: CarState, controls: Controls) -> None:
        """Follow the car."""
        here = (state.x, state.y)
        if self._start is None:
            self._start, self._last, self._moved_at = here, here, state.time
        step = math.dist(here, self._last)
        if step > 0.05:
            self.driven, self._last, self._moved_at = self.driven + step, here, state.time
        gap = math.dist(here, self._start)
        self._away = max(self._away, gap)
        round_again = self._away > LEFT and gap < 0.5 * CLOSE
        at_end = False
        if self._road is not None:
            s, _, self._row = self._road.locate(state.x, state.y, self._row)
            at_end = s > self._road.length - END
        stands = state.time - self._moved_at > STANDS_FOR
        self.ended = round_again or at_end or stands or self.driven >= self._metres

    def close(self) -> None:
        """Nothing to end."""


def learn(options: LearnOptions, live: Any = None, show: Show | None = None) -> dict[str, Any]:
    """Map a road, write the track file, and return what `trailbrake learn --json` prints.

    Raises:
        TrailbrakeError: nobody supplies what is needed, too short a drive, a file that cannot be read or written.
    """
    show = show or Quiet()
    if not options.width > 0.0:
        raise UsageError("no width of a road", where="--width", expected="above 0 m", got=f"{options.width:g}")
    recording = options.source or _drive(options, live, show)
    opened = Recording.open(recording)
    columns = [opened.state[name] for name in ("x", "y", "z", "driving_line")]
    found = survey(*columns, width=options.width, wave=_wave(options))
    out = options.out or Path(f"{opened.path.stem if options.source else safe_name(Path(options.track).stem)}_map.csv")
    road_file.write(out, found.road)
    return {
        "recording": str(recording), "track": str(out), "length_m": found.road.length, "closed": found.road.closed,
        "width_m": 2.0 * found.half_width, "width_known": found.live, "rows": len(found.road.table),
    }  # fmt: skip


def _wave(options: LearnOptions) -> float:
    """Return the length of the drive's weaves, m, without which a place across tells no width."""
    gains = getattr(load_driver(options.driver, options.config), "gains", None)
    return gains.wave if isinstance(gains, SurveyGains) else SurveyGains().wave


def _drive(options: LearnOptions, live: Any, show: Show) -> Path:
    driver = load_driver(options.driver, options.config)
    check_needs(driver, options.driver, options.sim)
    spec = registry.part(options.sim, "spec")
    if not spec.SUPPLIES >= NEEDS:
        raise UsageError(f"{options.sim} does not tell where the car is", where="--sim")
    drive = DriveOptions(
        sim=options.sim,
        driver=options.driver,
        track=options.track,
        car=options.car,
        live=options.live,
        host=options.host,
    )
    track = load_track(options.track)
    driver.reset(_blank(track, options))
    # The world's own road says only where it ends: an embedded open road has nothing beyond.
    ends = track.road if not options.live and not track.road.closed else None
    supervisor, odometer = Supervisor(), _Odometer(options.metres or math.inf, ends)
    with (
        on_stop(lambda: supervisor.request_stop(INTERRUPTED)),
        connected(
            for_driver(drive, driver), live or spec.LiveOptions(), lambda: supervisor.stop_reason != ""
        ) as connection,
    ):
        plain = Recorder(recordings_folder() / f"{safe_name(Path(options.track).stem)}_survey_{rate.stamp()}.mcap")
        recorder = Threaded(plain) if options.live else plain
        recorder.start({"sim": options.sim, "driver": options.driver, "track": options.track, "car": options.car})
        try:
            seat = Seat(
                connection.link, driver, supervisor, [recorder, odometer], lambda: "" if odometer.ended else None
            )
            result = run_loop(seat, connection.pace, say=show.say)
        finally:
            recorder.close()
    show.say(f"drove {odometer.driven:.0f} m in {result.simulated:.0f} s")
    if result.reason not in ("", INTERRUPTED):
        raise SimulatorError(f"the drive broke off: {result.reason}", where=str(recorder.path))
    return Path(recorder.path)


def _blank(track: Track, options: LearnOptions) -> Course:
    """Return a course that tells a driver nothing: who maps a road must not know it."""
    table = np.zeros((2, track.road.table.shape[1]))
    table[1, 0] = 1.0
    empty = replace(track.road, table=table, spacing=1.0, closed=False)
    return Course(Track("unknown", "unknown", (empty,)), load_car(options.car))
