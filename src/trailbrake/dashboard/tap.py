"""`LiveTap`: looks at every tick and keeps the newest, so that pages can be told at a pace of their own."""

import math
import sys
from array import array
from collections.abc import Callable
from typing import Any

from trailbrake.dashboard import wire
from trailbrake.roles import Driver, Link
from trailbrake.state import CarState, Controls

STEP = 2.0  # m driven between points of the path
MOST = 50_000  # points kept: 100 km
RATE_OVER = 1.0  # s over which the loop's rate is counted


class LiveTap:
    """A Tap. A tick costs it some microseconds: what it sees is kept by reference and packed by whoever asks.

    Args:
        clock: steady time, s.
        link: whose counters are shown; None without one.
        driver: whose `debug` picture is shown, where it has one.

    Attributes:
        newest: the newest state and controls, and when they came; None before the first.
        ticks: seen so far.
        lap_began: simulator time at which the lap under way began, for wires that tell no lap time.
        restarts: how often the simulator's time ran back.
    """

    def __init__(self, clock: Callable[[], float], link: Link | None = None, driver: Driver | None = None) -> None:
        self._clock, self._link, self._driver = clock, link, driver
        self.newest: tuple[CarState, Controls, float] | None = None
        self.ticks = 0
        self.lap_began = math.nan
        self.restarts = 0
        self._path = array("d")
        self._last = (math.nan, math.nan)
        self._time = math.nan
        self._counted = (clock(), 0)  # when, and the ticks then
        self._rate = math.nan

    def start(self, about: dict[str, Any]) -> None:
        """Nothing to prepare."""

    def tick(self, state: CarState, controls: Controls) -> None:
        """Keep what there is."""
        if not state.time >= self._time:  # the first, or a restart: what was driven before is another drive
            self.restarts += not math.isnan(self._time)
            self.lap_began = state.time
            self._path, self._last = array("d"), (math.nan, math.nan)
        self._time = state.time
        self.newest = (state, controls, self._clock())
        self.ticks += 1
        x, y, speed = state.x, state.y, state.speed
        # NaN is not less: the first is kept.
        if math.dist((x, y), self._last) < STEP or not math.isfinite(x + y + speed):
            return
        self._last = (x, y)
        if len(self._path) >= 3 * MOST:
            self._path = self._path[3 * MOST // 2 :]
        self._path.extend((x, y, speed))

    def lap(self) -> None:
        """Take note that a lap has ended at the newest state."""
        self.lap_began = self._time

    def close(self) -> None:
        """Nothing to end."""

    @property
    def path(self) -> bytes:
        """The points driven: x, y (m), speed (m/s) as little-endian doubles."""
        points = self._path[:]  # a copy first: to look into an array forbids its owner to extend it
        if sys.byteorder == "big":
            points.byteswap()
        return points.tobytes()

    @property
    def debug(self) -> Any:
        """The driver's picture, (h, w, 3) uint8; None without one."""
        return getattr(self._driver, "debug", None)

    def health(self) -> wire.Health:
        """Return how the connection is now."""
        now = self._clock()
        since, ticks = self._counted
        if now - since >= RATE_OVER:
            self._rate = (self.ticks - ticks) / (now - since)
            self._counted = (now, self.ticks)
        health = wire.Health(loop_rate=self._rate)
        if self.newest is not None:
            state, _, came = self.newest
            health.silent = now - came + state.age
            own = state.lap_time
            health.lap_clock = own if own == own else state.time - self.lap_began
        if self._link is not None:
            counters = self._link.counters
            health.received, health.lost = float(counters.received), float(counters.lost)
            health.stale, health.resyncs = float(counters.stale), float(counters.resyncs)
        return health
