"""Runs a race day from its plan to the stored results, several heats at a time."""

import os
import threading
from collections.abc import Callable
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import nullcontext
from dataclasses import fields
from pathlib import Path
from typing import Any

import msgspec

from trailbrake.config import recordings_folder
from trailbrake.drivers.load import driver_class
from trailbrake.drivers.load import names as driver_names
from trailbrake.errors import UsageError
from trailbrake.race import bot, marshal, standings
from trailbrake.race.files import content, file_of, located, words
from trailbrake.race.options import DayOptions
from trailbrake.race.plan import Entry, Plan
from trailbrake.race.schedule import Heat, fingerprint, heats
from trailbrake.race.store import Store
from trailbrake.record.names import safe_name
from trailbrake.run import rate
from trailbrake.run.connect import embedded
from trailbrake.run.needs import check_needs
from trailbrake.run.options import DriveOptions, WorldOptions
from trailbrake.run.signals import on_stop
from trailbrake.run.worlds import build_world
from trailbrake.sims import registry

_LOOK = 0.2  # s between looks for a stop


def database() -> Path:
    """Return where results are kept unless somebody says otherwise."""
    return recordings_folder() / "races.sqlite"


def run_day(plan: Plan, folder: Path, options: DayOptions, say: Callable[[str], None]) -> dict[str, Any]:
    """Run what has not been run of a day, or all of it; return the day as stored, and what was done.

    Args:
        plan: the day.
        folder: where files that the plan names are looked for.
        options: how.
        say: takes lines for the user.

    Raises:
        UsageError, DataError: something in the plan is not there, or the database cannot be used. Nothing has run.
        KeyboardInterrupt: stopped; what was finished is stored, and the same call goes on from there.
    """
    if options.jobs < 0:
        raise UsageError("no number of heats", where="--jobs", expected="0 or more", got=str(options.jobs))
    plan = msgspec.structs.replace(plan, day=plan.day or rate.date()[:10])
    plan = check(plan, folder)
    path = options.db or database()
    out = options.out or path.parent / safe_name(plan.season) / safe_name(plan.day)
    began = rate.now()
    stop = threading.Event()
    guard = on_stop(stop.set) if threading.current_thread() is threading.main_thread() else nullcontext()
    with Store(path, make=True) as store, guard:
        day = store.begin(plan, rate.date())
        stored = store.fingerprints(day)
        asked = [(heat, fingerprint(heat, lambda text: content(text, folder))) for heat in heats(plan)]
        to_run = [pair for pair in asked if options.again or not _is_stored(*pair, stored)]
        differ: list[dict[str, Any]] = []
        if len(to_run) < len(asked):
            say(f"{len(asked) - len(to_run)} of {len(asked)} heats are stored already; --again runs them too")
        say(f"{len(to_run)} heats to run, results in {path}")

        def finished(heat: Heat, print_: str, outcome: marshal.Outcome) -> None:
            store.put(day, heat, print_, outcome.results, outcome.log)
            for result in outcome.results:
                old = stored.get((heat.race, result.entry))
                if old is not None and old[0] == print_ and old[1] != result.digest:
                    differ.append({"race": heat.race, "entry": result.entry})
                say(f"race {heat.race} on {' '.join((heat.track, *heat.host))}: {_line(result)}")

        try:
            _run_all(to_run, folder, out, options, stop.is_set, finished)
        except KeyboardInterrupt:
            say("what was finished is stored; the same command goes on from there")
            raise
        season, days = store.days(plan.season, plan.day)
    return {
        **standings.leaderboard(season, days), "day": plan.day, "db": str(path), "out": str(out), "ran": len(to_run),
        "kept": len(asked) - len(to_run), "differ": differ, "wall_s": rate.now() - began,
    }  # fmt: skip


def _is_stored(heat: Heat, print_: str, stored: dict[tuple[int, str], tuple[str, str]]) -> bool:
    return all(stored.get((heat.race, entry.name), ("", ""))[0] == print_ for entry in heat.grid)


def _run_all(
    to_run: list[tuple[Heat, str]],
    folder: Path,
    out: Path,
    options: DayOptions,
    stopped: Callable[[], bool],
    finished: Callable[[Heat, str, marshal.Outcome], None],
) -> None:
    ports = {entry.port: threading.Lock() for heat, _ in to_run for entry in heat.grid if entry.port}
    ended = threading.Event()

    def run(heat: Heat) -> marshal.Outcome:
        own = ports.get(heat.grid[0].port)  # two programs with one fixed port take turns
        with own or nullcontext():
            if ended.is_set():
                raise KeyboardInterrupt
            return marshal.run(located(heat, folder), folder, out, options.report, ended.is_set)

    jobs = options.jobs or max((os.cpu_count() or 1) // 2, 1)
    with ThreadPoolExecutor(jobs, thread_name_prefix="heat") as pool:
        waiting: dict[Future[marshal.Outcome], tuple[Heat, str]] = {}
        try:
            waiting = {pool.submit(run, heat): (heat, print_) for heat, print_ in to_run}
            while waiting:
                done, _ = wait(waiting, _LOOK, FIRST_COMPLETED)
                failed = None
                for future in done:  # what is there is stored before anything is raised
                    pair, error = waiting.pop(future), future.exception()
                    if error is None:
                        finished(*pair, future.result())
                    failed = failed or error
                if failed is not None:
                    raise failed
                if stopped():
                    raise KeyboardInterrupt
        finally:
            ended.set()
            for future in waiting:
                future.cancel()


def _line(result: Any) -> str:
    laps = f"{len(result.laps)} lap{'' if len(result.laps) == 1 else 's'}"
    best = f", best {result.best_s:.3f} s" if result.best_s is not None else ""
    return f"{result.entry}: {laps}{best}" + (f"; {result.ended}" if result.ended else "")


def check(plan: Plan, folder: Path) -> Plan:
    """Look for everything that the day needs before it begins; return it with one lap on roads that are no circuits.

    Raises:
        UsageError: a simulator, track, driver, file, program or option that is not there; a port that is taken.
        DataError: a track or car file that cannot be used.
    """
    spec = registry.part(plan.sim, "spec")
    if plan.cars > 1 and not hasattr(spec, "seat"):
        raise UsageError(f"one car only through the wire of {plan.sim}", where="cars", expected="1",
                         got=str(plan.cars))  # fmt: skip
    for entry in plan.entries:
        _check_entry(entry, plan, spec, folder)
    seen, once = set(), set()
    for heat in heats(plan):
        if (key := (heat.track, heat.host, len(heat.grid))) not in seen:
            seen.add(key)
            whole = located(heat, folder)
            drive = DriveOptions(sim=heat.sim, track=whole.track, car=whole.car, cars=len(heat.grid), host=heat.host)
            world = WorldOptions(track=whole.track, car=whole.car, seed=heat.seed)
            # Compiles too, before anybody is timed.
            plant = build_world(heat.sim, world, embedded(drive, spec.LiveOptions()))
            if not getattr(getattr(plant.track, "road", None), "closed", True):
                once.add(heat.track)
    rounds = (msgspec.structs.replace(item, laps=1) if item.track in once else item for item in plan.schedule)
    return msgspec.structs.replace(plan, schedule=tuple(rounds))


def _check_entry(entry: Entry, plan: Plan, spec: Any, folder: Path) -> None:
    where = f"entry {entry.name}"
    if entry.command:
        if "connect" not in {item.name for item in fields(spec.ServeOptions)}:
            able = [sim for sim in registry.names() if hasattr(registry.part(sim, "spec").ServeOptions(), "connect")]
            raise UsageError(f"{plan.sim} calls no programs", where=where, hint=f"these do: {', '.join(able)}")
        words(entry, bot.port_for(entry), folder)
        return
    for text in (entry.driver, entry.config):
        path = file_of(text, folder)
        if path is not None and not path.is_file():
            raise UsageError("no such file", where=where, got=str(path))
    if file_of(entry.driver, folder) is None:
        if entry.driver not in driver_names():
            driver_class(entry.driver)  # raises, with the nearest names
        check_needs(driver_class(entry.driver)(), entry.driver, plan.sim)
