"""Runs a race day from its plan to the stored results, several heats at a time."""

import threading
from collections.abc import Callable
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from trailbrake.analysis.lap_table import format_lap_time
from trailbrake.campaign.case_run import check_campaign
from trailbrake.config import recordings_folder
from trailbrake.drivers.loading.driver_registry import load_driver
from trailbrake.driving.options import WorldOptions
from trailbrake.driving.session.drive_setup import embedded_options
from trailbrake.driving.session.driver_choice import check_driver_needs
from trailbrake.driving.session.embedded_worlds import build_world, settle_world
from trailbrake.errors import UsageError
from trailbrake.planning.course import Course
from trailbrake.race import competitor_process, heat_supervisor, standings
from trailbrake.race.entry_confinement import describe_confinement, is_foreign
from trailbrake.race.heat_task import is_portable, run_heats_on_pool
from trailbrake.race.options import DayRunOptions
from trailbrake.race.plan import RaceDayPlan, RaceEntry
from trailbrake.race.result_store import ResultStore
from trailbrake.race.schedule import (
    Heat,
    fingerprint_heat,
    named_file,
    read_named_file,
    resolve_files,
    schedule_heats,
    split_command,
)
from trailbrake.record.file_names import safe_name
from trailbrake.roles import RoadPlant
from trailbrake.sims import registry
from trailbrake.simulator import AnySimulator
from trailbrake.system import steady_clock
from trailbrake.system.signals import handle_stop_signals
from trailbrake.tasks.task_pool import STOP_POLL_S, Stopped, count_jobs, open_pool

Say = Callable[[str], None]


def default_database() -> Path:
    """Return the default file of the results."""
    return recordings_folder() / "races.sqlite"


def run_day(
    plan: RaceDayPlan,
    folder: Path,
    options: DayRunOptions,
    say: Callable[[str], None],
    show_share: Callable[[float], None] = lambda share: None,
) -> dict[str, Any]:
    """Run what has not been run of a day, or all of it; return the day as stored, and what was done.

    Args:
        plan: the day.
        folder: where files that the plan names are looked for.
        options: how.
        say: takes lines for the user.
        show_share: takes the share of the heats to run that are done, after each.

    Raises:
        UsageError, DataError: something in the plan is not there, or the database cannot be used. Nothing has
            run.
        KeyboardInterrupt: stopped; what was finished is stored, and the same call goes on from there.
    """
    check_campaign(options)
    plan = msgspec.structs.replace(plan, day=plan.day or steady_clock.iso_timestamp()[:10])
    simulator = registry.find(plan.sim)
    plan = check_plan(plan, folder, simulator)
    path = options.db or default_database()
    out = options.out or path.parent / safe_name(plan.season) / safe_name(plan.day)
    return _run_stored_day(plan, folder, options, say, show_share, path=path, out=out)


def _run_stored_day(
    plan: RaceDayPlan,
    folder: Path,
    options: DayRunOptions,
    say: Callable[[str], None],
    show_share: Callable[[float], None],
    *,
    path: Path,
    out: Path,
) -> dict[str, Any]:
    began = steady_clock.now()
    stop = threading.Event()
    guard = handle_stop_signals(stop.set) if threading.current_thread() is threading.main_thread() else nullcontext()
    with ResultStore(path, make=True) as store, guard:
        heats = schedule_heats(plan)
        if not options.again:
            store.check_schedule(plan, heats)
        day = store.store_day(plan, steady_clock.iso_timestamp())
        stored = store.read_fingerprints(day)
        planned = [(heat, fingerprint_heat(heat, lambda text: read_named_file(text, folder))) for heat in heats]
        to_run = [pair for pair in planned if options.again or options.check or not _is_stored(*pair, stored)]
        differ: list[dict[str, Any]] = []
        done = 0
        if len(to_run) < len(planned):
            say(f"{len(planned) - len(to_run)} of {len(planned)} heats are stored already; --again runs them too")
        say(f"{len(to_run)} heats to run, results in {path}")
        if any(is_foreign(entry) for heat, _ in to_run for entry in heat.grid):
            say(describe_confinement(plan.limits))

        def finished(heat: Heat, print_: str, outcome: heat_supervisor.HeatOutcome) -> None:
            store.store_results(day, heat, print_, outcome.results, outcome.log)
            nonlocal done
            done += 1
            show_share(done / len(to_run))
            for result in outcome.results:
                old = stored.get((heat.race, result.entry))
                if old is not None and old[0] == print_ and old[1] != result.digest:
                    differ.append({"race": heat.race, "entry": result.entry})
                say(f"race {heat.race} on {' '.join((heat.track, *heat.host))}: {_format_result(result)}")

        try:
            _run_heats(to_run, _HeatRun(folder, out, options, stop.is_set, say, finished))
        except KeyboardInterrupt:
            say("what was finished is stored; the same command goes on from there")
            raise
        season, days = store.read_days(plan.season, plan.day)
    return {
        **standings.build_leaderboard(season, days), "day": plan.day, "db": str(path), "out": str(out),
        "ran": len(to_run), "kept": len(planned) - len(to_run), "differ": differ, "wall_s": steady_clock.now() - began,
    }  # fmt: skip


def _is_stored(heat: Heat, print_: str, stored: dict[tuple[int, str], tuple[str, str]]) -> bool:
    return all(stored.get((heat.race, entry.name), ("", ""))[0] == print_ for entry in heat.grid)


@dataclass(frozen=True)
class _HeatRun:
    """How the heats of a day run: where their files lie and go, what the user wants, and who gets the outcomes."""

    folder: Path
    out: Path
    options: DayRunOptions
    stopped: Stopped
    say: Say
    finished: Callable[[Heat, str, heat_supervisor.HeatOutcome], None]


def _run_heats(to_run: list[tuple[Heat, str]], how: _HeatRun) -> None:
    portable = [pair for pair in to_run if how.options.on and is_portable(pair[0])]
    if portable:
        with open_pool(how.options.on, 0, how.options.patience, lambda job: how.out / f"{job}.log", how.say) as pool:
            heats = [resolve_files(heat, how.folder) for heat, _ in portable]
            for index, outcome in run_heats_on_pool(heats, how.out, how.options.report, pool, how.stopped):
                how.finished(*portable[index], outcome)
    _run_heats_here([pair for pair in to_run if pair not in portable], how)


def _run_heats_here(to_run: list[tuple[Heat, str]], how: _HeatRun) -> None:
    ports = {entry.port: threading.Lock() for heat, _ in to_run for entry in heat.grid if entry.port}
    ended = threading.Event()

    def run(heat: Heat) -> heat_supervisor.HeatOutcome:
        own = ports.get(heat.grid[0].port)  # two programs with one fixed port take turns
        with own or nullcontext():
            if ended.is_set():
                raise KeyboardInterrupt
            return heat_supervisor.supervise_heat(
                resolve_files(heat, how.folder), how.folder, how.out, how.options.report, ended.is_set
            )

    with ThreadPoolExecutor(count_jobs(how.options.jobs), thread_name_prefix="heat") as pool:
        waiting: dict[Future[heat_supervisor.HeatOutcome], tuple[Heat, str]] = {}
        try:
            waiting = {pool.submit(run, heat): (heat, print_) for heat, print_ in to_run}
            while waiting:
                done, _ = wait(waiting, STOP_POLL_S, FIRST_COMPLETED)
                failed = None
                for future in done:  # what is there is stored before anything is raised
                    pair, error = waiting.pop(future), future.exception()
                    if error is None:
                        how.finished(*pair, future.result())
                    failed = failed or error
                if failed is not None:
                    raise failed
                if how.stopped():
                    raise KeyboardInterrupt
        finally:
            ended.set()
            for future in waiting:
                future.cancel()


def _format_result(result: Any) -> str:
    laps = f"{len(result.laps)} lap{'' if len(result.laps) == 1 else 's'}"
    best = f", best {format_lap_time(result.best_s)}" if result.best_s is not None else ""
    return f"{result.entry}: {laps}{best}" + (f"; {result.ended}" if result.ended else "")


def check_plan(plan: RaceDayPlan, folder: Path, simulator: AnySimulator) -> RaceDayPlan:
    """Check that everything is there that the day needs; return it with one lap on roads that are no circuits.

    Args:
        plan: the day.
        folder: of the files that the plan names.
        simulator: that of the plan.

    Raises:
        UsageError: a track, driver, file, program or option that is not there; a port that is taken.
        DataError: a track or car file that cannot be used.
    """
    if plan.cars > 1 and simulator.options_for_car is None:
        raise UsageError(f"one car only through the wire of {plan.sim}", where="cars", expected="1",
                         got=str(plan.cars))  # fmt: skip
    for entry in plan.entries:
        _check_entry(entry, plan, folder, simulator)
    seen, once = set(), set()
    for heat in schedule_heats(plan):
        if (key := (heat.track, heat.host, len(heat.grid))) not in seen:
            seen.add(key)
            whole = resolve_files(heat, folder)
            live = simulator.live_options()
            serve = embedded_options(simulator, heat.host, live, cars=len(heat.grid))
            world = settle_world(WorldOptions(track=whole.track, car=whole.car, seed=heat.seed), simulator.world)
            # Compiles too, before an entry's time counts.
            plant = build_world(simulator, world, serve)
            if isinstance(plant, RoadPlant) and any(is_foreign(entry) for entry in heat.grid):
                _ = Course(plant.track, plant.cars[0]).profile  # what a foreign driver compiles is not kept
            if not plant.road_outline().closed:
                once.add(heat.track)
    rounds = (msgspec.structs.replace(item, laps=1) if item.track in once else item for item in plan.schedule)
    return msgspec.structs.replace(plan, schedule=tuple(rounds))


def _check_entry(entry: RaceEntry, plan: RaceDayPlan, folder: Path, simulator: AnySimulator) -> None:
    where = f"entry {entry.name}"
    if entry.command:
        if simulator.program_options is None:
            able = [other.name for other in registry.list_simulators().simulators if other.program_options is not None]
            raise UsageError(f"{plan.sim} calls no programs", where=where, hint=f"these do: {', '.join(able)}")
        split_command(entry, competitor_process.find_port(entry), folder)
        return
    for text in (entry.driver, entry.config):
        path = named_file(text, folder)
        if path is not None and not path.is_file():
            raise UsageError("no such file", where=where, got=str(path))
    if named_file(entry.driver, folder) is None:
        check_driver_needs(load_driver(entry.driver), entry.driver, simulator)
