"""Runs the embedded world behind a game's wire, for any client."""

import math
import os
import sys
from contextlib import nullcontext
from typing import Any

from trailbrake.errors import UsageError
from trailbrake.histogram import Durations
from trailbrake.kernels import COLD
from trailbrake.roles import Coupled, Host
from trailbrake.run import rate
from trailbrake.run.options import WorldOptions
from trailbrake.run.pilots import make_pilots
from trailbrake.run.prompt import prompt
from trailbrake.run.punctual import punctual
from trailbrake.run.score import as_json
from trailbrake.run.signals import CHILD, on_stop
from trailbrake.run.worlds import build_world
from trailbrake.sims import registry

CATCH_UP = 0.015  # s behind at which real time gives up and starts counting from now
LOOK = 0.02  # s between looks for a stop while the host waits for its client


def build_host(sim: str, world: WorldOptions, options: Any, doors: str | None, plant: Any = None) -> Host:
    """Return an unopened host of `sim` in front of a world.

    Args:
        sim: the simulator's name.
        world: track, car and seed.
        options: the simulator's own `spec.ServeOptions`.
        doors: where the doors are (see the simulator's Host); None for the public ones.
        plant: what `build_world` made of the same options; a new one by default.
    """
    host, spec = registry.part(sim, "host"), registry.part(sim, "spec")
    plant = plant or build_world(sim, world, options)
    driver = spec.pilot(options) if hasattr(spec, "pilot") else ""
    if driver:
        pilots = make_pilots(driver, sim, plant.track, plant.cars)
        return host.Host(plant, options, doors=doors, pilots=pilots)  # type: ignore[no-any-return]
    return host.Host(plant, options, doors=doors)  # type: ignore[no-any-return]


def _private_doors() -> str | None:
    """Return the folder of doors that a drive has made for this process of its own; None in a user's process."""
    return os.environ.get("TRAILBRAKE_SHM") if os.environ.get(CHILD) else None


def serve(sim: str, world: WorldOptions, options: Any, doors: str | None = None, plant: Any = None) -> dict[str, Any]:
    """Serve until stopped, until the time is over or a race's laps are driven; return what happened, in figures.

    `plant` is what `build_world` makes of the same options, where somebody wants his own.

    Raises:
        UsageError: a number that means nothing.
        SimulatorError: the doors are taken.
    """
    if not world.seconds >= 0.0:
        raise UsageError("no number of seconds", where="--seconds", expected="0 or more", got=f"{world.seconds:g}")
    if COLD:
        print("compiling kernels (once, a few seconds)", file=sys.stderr, flush=True)
    world = world.named(sim)
    plant = plant or build_world(sim, world, options)
    host = build_host(sim, world, options, doors or _private_doors(), plant)
    spec = registry.part(sim, "spec")
    period, cars = spec.period(options), spec.cars(options)
    own = spec.speed(options) if hasattr(spec, "speed") else "real"
    real = (world.speed or own) == "real"
    coupled = host if isinstance(host, Coupled) else None
    work, late, ticks = Durations(), 0, 0
    stopped = False

    def stop() -> None:
        nonlocal stopped
        stopped = True

    with on_stop(stop), punctual() if real else nullcontext(), prompt():
        host.open(rate.now())
        try:
            host.tick(rate.now())  # compiles or loads the kernels before anybody waits for the doors
            served = f"{sim} track={world.track} car={world.car} cars={cars} rate_hz={1.0 / period:g}"
            print(f"ready {served}{_about(spec, options)}", file=sys.stderr, flush=True)
            began = due = rate.now()
            end = began + world.seconds if world.seconds else math.inf
            races = hasattr(host, "is_done")  # a host of a race is done when its laps are driven
            paced = hasattr(host, "wall_period")  # what a client has made of the session's pace, where its wire lets it
            now = began
            while not stopped and now < end and not (races and host.is_done):  # type: ignore[attr-defined]
                if coupled is not None and coupled.waits:  # its simulator time stands still: no tick is due
                    coupled.wait(LOOK)
                    now = rate.now()
                    host.tick(now)
                    if coupled.waits:
                        continue
                due += host.wall_period if paced else period  # type: ignore[attr-defined]
                if real:
                    at = rate.sleep_until(due)
                    if at - due > CATCH_UP:
                        late += 1
                        due = at
                start = rate.now()
                host.tick(start)
                now = rate.now()
                work.add(now - start)
                ticks += 1
        finally:
            counters = host.counters()
            host.close()
    return {
        "sim": sim,
        "track": world.track,
        "car": world.car,
        "seed": world.seed,
        "seconds": rate.now() - began,
        "loop": {
            "ticks": ticks,
            "p50_us": work.percentile(0.5) * 1e6,
            "p99_us": work.percentile(0.99) * 1e6,
            "p999_us": work.percentile(0.999) * 1e6,
            "longest_us": work.longest * 1e6,
        },
        **counters,
        "late": late,
        **({"world": plant.counters()} if hasattr(plant, "counters") else {}),
        "laps": [[as_json(lap) for lap in plant.laps(car)] for car in range(cars)],
    }


def _about(spec: Any, options: Any) -> str:
    """Return what the simulator's spec has to say about its options, if anything."""
    return f" ({spec.about(options)})" if hasattr(spec, "about") else ""
