"""Runs the embedded world behind a game's wire, for any client, with drivers for the cars that no client drives."""

import math
import os
import sys
from contextlib import nullcontext
from dataclasses import dataclass, field

from trailbrake.driving.options import WorldOptions
from trailbrake.driving.session.embedded_worlds import build_host, build_world, settle_world
from trailbrake.driving.world_view import ServeView, TickView, open_view
from trailbrake.errors import UsageError
from trailbrake.histogram import DurationHistogram
from trailbrake.json_types import JsonObject
from trailbrake.kernels import CACHE_IS_COLD, COMPILE_NOTICE
from trailbrake.laps import LapRecord, lap_summary
from trailbrake.roles import ClientPaced, Described, Host, Plant, RaceHost, Wakeable
from trailbrake.simulator import AnySimulator
from trailbrake.system import steady_clock
from trailbrake.system.realtime import high_resolution_timers, low_latency_interpreter
from trailbrake.system.signals import CHILD_VARIABLE, handle_stop_signals

RESYNC_AFTER_S = 0.015  # s behind at which real time gives up and starts counting from now
STOP_POLL_S = 0.02  # s between tests for a stop while the host waits for its client
LONG_WAIT_S = 0.1  # s to the next tick above which a stop is noticed before it: a client may slow the time down


def _private_folder() -> str | None:
    """Return the folder of the private wire that a drive has made for this process; None in a user's process."""
    return os.environ.get("TRAILBRAKE_SHM") if os.environ.get(CHILD_VARIABLE) else None


class LapArchive:
    """The laps of all cars of a plant, those before a restart too, which the plant forgets.

    Args:
        plant: the world.
        cars: the number of its cars.
    """

    def __init__(self, plant: Plant, cars: int) -> None:
        self._plant = plant
        self._earlier: list[list[LapRecord]] = [[] for _ in range(cars)]
        self._newest: list[list[LapRecord]] = [[] for _ in range(cars)]

    def update(self) -> None:
        """Take what the newest tick has brought. Between two calls a car may not restart twice."""
        for car, known in enumerate(self._newest):
            laps = self._plant.laps(car)
            if len(laps) < len(known):
                self._earlier[car] += known
            self._newest[car] = laps

    def laps(self, car: int) -> list[LapRecord]:
        """Return the finished laps of a car, numbered from the newest restart before each."""
        return self._earlier[car] + self._newest[car]


@dataclass
class _ServeLoop:
    """Ticks a host until it is stopped.

    Attributes:
        host: an open host.
        archive: keeps the laps that its cars finish.
        period: s of simulator time per tick.
        real: whether a tick takes its period of wall time; else as little as it can.
        views: what shows the world; each is called after every tick.
        stopped: whether the user has requested a stop.
        late: ticks from which real time had to be counted anew.
        durations: of the ticks, s.
    """

    host: Host
    archive: LapArchive
    period: float
    real: bool
    views: list[TickView] = field(default_factory=list)
    stopped: bool = False
    late: int = 0
    durations: DurationHistogram = field(default_factory=DurationHistogram)

    def request_stop(self) -> None:
        """End after the present tick."""
        self.stopped = True

    def run(self, began: float, seconds: float) -> None:
        """Tick from `began` (s, steady clock) for `seconds` of wall time, 0 = until stopped or a race is over."""
        host = self.host
        end = began + seconds if seconds else math.inf
        wakeable = host if isinstance(host, Wakeable) else None
        race = host if isinstance(host, RaceHost) else None
        paced = host if isinstance(host, ClientPaced) else None
        now = due = began
        while not self.stopped and now < end and not (race is not None and race.is_done):
            waited = False
            if wakeable is not None and wakeable.waits:  # its simulator time stands still: no tick is due
                waited = True
                wakeable.wait(STOP_POLL_S)
                now = steady_clock.now()
                host.tick(now)
                self.archive.update()
                for view in self.views:
                    view.update(now)
                if wakeable.waits:
                    continue
            due += self.period if paced is None else paced.wall_period
            if waited and paced is not None:  # the host sets the pace itself: a client's delay is not the loop's
                due = max(due, now)
            if self.real:
                if due - now > LONG_WAIT_S and not self._wait_interruptibly(due - LONG_WAIT_S, end):
                    break
                at = steady_clock.sleep_until(due)
                if at - due > RESYNC_AFTER_S:
                    self.late += 1
                    due = at
            start = steady_clock.now()
            host.tick(start)
            self.archive.update()
            now = steady_clock.now()
            self.durations.add_duration(now - start)
            for view in self.views:
                view.update(now)

    def _wait_interruptibly(self, until: float, end: float) -> bool:
        """Wait until `until` (s, steady clock) in short naps; return False when a stop or `end` has come before."""
        while (now := steady_clock.now()) < until:
            if self.stopped or now >= end:
                return False
            steady_clock.sleep_until(min(now + STOP_POLL_S, until, end))
        return not self.stopped

    def summary(self) -> JsonObject:
        """Return how long the ticks took."""
        return {
            "ticks": self.durations.count,
            "p50_us": self.durations.percentile(0.5) * 1e6,
            "p99_us": self.durations.percentile(0.99) * 1e6,
            "p999_us": self.durations.percentile(0.999) * 1e6,
            "longest_us": self.durations.longest * 1e6,
        }


def serve_world(
    simulator: AnySimulator,
    world: WorldOptions,
    options: object,
    doors: str | None = None,
    *,
    plant: Plant | None = None,
    page: ServeView | None = None,
) -> JsonObject:
    """Serve until stopped, until the time is over or a race's laps are driven; return what happened, in figures.

    Args:
        simulator: whose wire.
        world: track, car, seed, and for how long.
        options: the simulator's serve options.
        doors: folder of a private wire; None for the public addresses.
        plant: a world of the caller's own, of the same options; by default what `build_world` makes.
        page: shows the world: the live page.

    Raises:
        UsageError: a number out of its range.
        SimulatorError: another program has the addresses.
    """
    if not world.seconds >= 0.0:
        raise UsageError("no number of seconds", where="--seconds", expected="0 or more", got=f"{world.seconds:g}")
    if CACHE_IS_COLD:
        print(COMPILE_NOTICE, file=sys.stderr, flush=True)
    settled = settle_world(world, simulator.world)
    plant = plant or build_world(simulator, settled, options)
    host = build_host(simulator, plant, options, doors or _private_folder())
    period, cars = simulator.period(options), simulator.count_cars(options)
    real = (world.speed or simulator.choose_speed(options)) == "real"
    archive = LapArchive(plant, cars)
    loop = _ServeLoop(host, archive, period, real)
    title = f"trailbrake {simulator.name}: {settled.car} on {settled.track}"
    with (
        handle_stop_signals(loop.request_stop),
        high_resolution_timers() if real else nullcontext(),
        low_latency_interpreter(),
        open_view(world.view, plant, doors or _private_folder(), title) as view,
    ):
        loop.views += [view] if view is not None else []
        if page is not None:
            about = {"sim": simulator.name, "track": settled.track, "car": settled.car}
            loop.views.append(page.attach_world(about, plant, cars))
        host.open(steady_clock.now())
        try:
            host.tick(steady_clock.now())  # compiles or loads the kernels before a client waits for an answer
            served = f"{simulator.name} track={settled.track} car={settled.car} cars={cars} rate_hz={1.0 / period:g}"
            print(f"ready {served}{_describe_host(host)}", file=sys.stderr, flush=True)
            began = steady_clock.now()
            loop.run(began, world.seconds)
        finally:
            counters = host.read_counters()
            host.close()
    return {
        "sim": simulator.name,
        "track": settled.track,
        "car": settled.car,
        "seed": world.seed,
        "seconds": steady_clock.now() - began,
        "loop": loop.summary(),
        **counters,
        "late": loop.late,
        **count_world(plant),
        "laps": [[lap_summary(lap) for lap in archive.laps(car)] for car in range(cars)],
        "ended": _describe_end(host, loop),
    }


def count_world(plant: Plant) -> JsonObject:
    """Return what a world alone counts, as `world`; {} where that is nothing."""
    return {"world": dict(counted)} if (counted := plant.counters()) else {}


def _describe_end(host: Host, loop: _ServeLoop) -> str:
    """Return why serving ended: "done" (the laps of the options are driven), "stopped" or "out of time"."""
    if isinstance(host, RaceHost) and host.is_done:
        return "done"
    return "stopped" if loop.stopped else "out of time"


def _describe_host(host: Host) -> str:
    """Return the host's description of its options in brackets, "" where there is none."""
    return f" ({host.description})" if isinstance(host, Described) else ""
