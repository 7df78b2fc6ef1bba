"""One heat in this process: a world, its cars, and who drives them, up to the judge's verdicts.

Run as `python -m trailbrake.race.heat JOB`, so that a driver which hangs or ends the process takes nobody along.
Drivers of ours are driven in lockstep through the simulator's wire, external programs by the wire's own lockstep.
"""

import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import msgspec

from trailbrake import __version__
from trailbrake.analysis.report import write_report
from trailbrake.drivers.load import load as load_driver
from trailbrake.errors import TrailbrakeError, raised_at
from trailbrake.planning.course import Course, Unmapped
from trailbrake.race import bot
from trailbrake.race.judge import Judge, Result
from trailbrake.race.pulse import NOBODY, Pulse
from trailbrake.race.schedule import Heat
from trailbrake.record.writer import Recorder
from trailbrake.roles import Driver
from trailbrake.run import rate
from trailbrake.run.connect import connected, embedded, for_driver
from trailbrake.run.loop import LOST_LIMIT, Seat
from trailbrake.run.needs import check_needs
from trailbrake.run.options import DriveOptions, WorldOptions
from trailbrake.run.serve import build_host
from trailbrake.run.signals import on_stop
from trailbrake.run.supervisor import Supervisor
from trailbrake.run.worlds import build_world
from trailbrake.sims import registry
from trailbrake.state import CarState, Controls
from trailbrake.tracks.columns import Column
from trailbrake.tracks.miniature.track import MiniatureTrack

RESULT, BOT_LOG = "result.json", "bot.log"
_WAKE_S = 0.005  # s between looks for a program that is not there yet


class Retired(msgspec.Struct, frozen=True):
    """Who is not asked any more from `tick` on (0: not even loaded), and why."""

    tick: int
    reason: str


class Job(msgspec.Struct, frozen=True, kw_only=True):
    """A heat to run.

    Attributes:
        heat: what; paths in it are whole.
        folder: where programs run.
        out: where recordings and the result go.
        names: of the recordings, one per place of the grid.
        report: whether to write a report of each recording.
        retired: by place of the grid.
    """

    heat: Heat
    folder: str
    out: str
    names: tuple[str, ...]
    report: bool = True
    retired: dict[int, Retired] = {}


class Observer:
    """Shows the world's truth about one car to its judge and to its recording."""

    def __init__(self, job: Job, plant: Any, place: int) -> None:
        heat, entry = job.heat, job.heat.grid[place]
        self._plant, self._place, self._report = plant, place, job.report
        self.judge = Judge(entry.name, heat.laps, heat.rules)
        self.recorder = Recorder(Path(job.out) / f"{job.names[place]}.mcap")
        self.recorder.start(
            {"sim": heat.sim, "driver": entry.name, "track": heat.track, "car": heat.car, "seed": heat.seed,
             "race": heat.race, "host": list(heat.host), "place_on_grid": place + 1, "trailbrake": __version__}
        )  # fmt: skip
        self.recorder.map(*_map(plant.track))
        self._sequence = -1
        self._over = False

    def look(self) -> bool:
        """Look at the world; return whether it has gone on."""
        state = self._plant.state(self._place)
        if state.sequence == self._sequence:
            return False
        self._sequence = state.sequence
        if not self._over:
            self.recorder.tick(state, _echo(state))
            for lap in self.judge.look(state, self._plant.laps(self._place)):
                self.recorder.lap(lap)
        if self.judge.over and not self._over:
            self._over = True
            self.recorder.event(state.time, self.judge.ended or "finished")
        return True

    def close(self) -> None:
        """End the recording."""
        self.recorder.close()

    def result(self) -> Result:
        """Return the verdict, with the names of the files that tell of it."""
        report = ""
        if self._report and self.judge.clock > 0.0:
            try:
                report = write_report(self.recorder.path, self.recorder.path.with_suffix(".html")).name
            except TrailbrakeError as error:
                print(f"no report: {error}", flush=True)
        return self.judge.result(self.recorder.path.name, report)


def _map(track: Any) -> tuple[Any, Any, Any, bool]:
    """Return a road's centre, left and right edge, and whether it is a circuit, as a recording has them."""
    if isinstance(track, MiniatureTrack):
        return track.centre(), *track.edges(), True
    road = track.road
    left, right = road.edges()
    return road.table[:, [Column.X, Column.Y]], left[:, :2], right[:, :2], road.closed


def _echo(state: CarState) -> Controls:
    """Return the controls as the world has taken them, whoever gave them."""
    return Controls(state.steer, state.throttle, state.brake, state.clutch, state.handbrake, state.gear)


def run(job: Job, pulse: Pulse, stopped: Callable[[], bool]) -> list[Result]:
    """Run a heat; return the results in the order of its grid.

    Args:
        job: the heat.
        pulse: told who is being asked.
        stopped: asked now and then; True ends the heat without a result.

    Raises:
        TrailbrakeError: the world cannot be built.
        KeyboardInterrupt: `stopped`.
    """
    heat = job.heat
    with ExitStack() as closed:
        if heat.grid[0].command:
            plant, tick = closed.enter_context(_with_bot(job))
        else:
            plant, tick = closed.enter_context(_with_drivers(job, pulse))
        observers = [Observer(job, plant, place) for place in range(len(heat.grid))]
        for observer in observers:
            closed.callback(observer.close)
        judges = [observer.judge for observer in observers]
        deadline, heard = rate.now() + heat.rules.wall, rate.now()
        while not all(judge.over for judge in judges):
            at = rate.now()
            for judge, reason in zip(judges, tick(at - heard), strict=True):
                if reason:
                    judge.retire(reason)
            gone_on = [observer.look() for observer in observers]  # all of them look
            if any(gone_on):
                heard = at
            if stopped():
                raise KeyboardInterrupt
            if at > deadline:
                for judge in judges:
                    judge.retire(f"the race took longer than {heat.rules.wall:g} s")
            elif at - heard > LOST_LIMIT and not heat.grid[0].command:
                for judge in judges:
                    judge.retire(f"the simulator stood still for {LOST_LIMIT:g} s")
    return [observer.result() for observer in observers]


Tick = Callable[[float], list[str]]  # takes s of wall time without a step of the world; returns who is out, and why


@contextmanager
def _with_drivers(job: Job, pulse: Pulse) -> Iterator[tuple[Any, Tick]]:
    """Yield a world whose cars drivers of ours drive through the wire, and what lets it make a step."""
    heat, spec = job.heat, registry.part(job.heat.sim, "spec")
    supervisors = [Supervisor() for _ in heat.grid]
    drivers: list[Driver] = []
    for place, entry in enumerate(heat.grid):
        driver: Driver = _Nobody()
        with _asked(job, pulse, place, supervisors[place]) as may:
            if may:
                driver = load_driver(entry.driver, Path(entry.config) if entry.config else None)
                check_needs(driver, entry.driver, heat.sim)
        drivers.append(driver)
    options = DriveOptions(
        sim=heat.sim, track=heat.track, car=heat.car, cars=len(heat.grid), seed=heat.seed, host=heat.host
    ).named()
    with connected(for_driver(options, drivers[0]), spec.LiveOptions(), lambda: False) as connection:
        plant, pace = connection.plant, connection.pace
        course = Course(plant.track, plant.cars[0]) if {"x", "y"} <= spec.SUPPLIES else Unmapped()
        for place, driver in enumerate(drivers):
            with _asked(job, pulse, place, supervisors[place]) as may:
                if may:
                    driver.reset(course)
        seats = [
            Seat(link, driver, supervisor, (), lambda: None)
            for link, driver, supervisor in zip(connection.links, drivers, supervisors, strict=True)
        ]
        ticks = 0

        def tick(silent: float) -> list[str]:
            nonlocal ticks
            ticks += 1
            now = pace.wait(connection.link)
            for place, seat in enumerate(seats):
                out = job.retired.get(place)
                if out is not None and ticks >= out.tick:
                    seat.supervisor.request_stop(out.reason)
                if not seat.supervisor.stop_reason:
                    pulse.mark(place, ticks)
                seat.follow(now)
            pulse.mark(NOBODY, ticks)
            return [supervisor.stop_reason for supervisor in supervisors]

        yield plant, tick


class _Nobody:
    """Who sits in a car whose driver could not be loaded."""

    NEEDS: frozenset[str] = frozenset()

    def reset(self, course: Course) -> None:
        """Do nothing."""

    def act(self, state: CarState, dt: float) -> Controls:
        """Hold the brake."""
        return Controls(brake=1.0)


@contextmanager
def _asked(job: Job, pulse: Pulse, place: int, supervisor: Supervisor) -> Iterator[bool]:
    """Ask a driver to get ready; yields whether it may be asked. Who fails is out, and that is all."""
    out = job.retired.get(place)
    if out is not None and out.tick == 0:
        supervisor.request_stop(out.reason)
    may = not supervisor.stop_reason
    if may:
        pulse.mark(place, 0)
    try:
        yield may
    except TrailbrakeError as error:
        supervisor.request_stop(str(error))
    except (Exception, SystemExit) as error:
        where = raised_at(error)
        supervisor.request_stop(f"getting ready raised {type(error).__name__}{where and f' at {where}'}: {error}")
    pulse.mark(NOBODY, 0)


@contextmanager
def _with_bot(job: Job) -> Iterator[tuple[Any, Tick]]:
    """Yield a world whose car an external program drives, and what lets it make a step."""
    heat, entry, rules = job.heat, job.heat.grid[0], job.heat.rules
    port, log = bot.port_for(entry), Path(job.out) / BOT_LOG
    given = DriveOptions(sim=heat.sim, host=(*heat.host, f"connect={bot.ADDRESS}:{port}"))
    options = embedded(given, registry.part(heat.sim, "spec").LiveOptions())
    if hasattr(options, "patience"):  # it must not hang up, and call again, before we have given up
        options.patience = rules.wall
    world = WorldOptions(track=heat.track, car=heat.car, seed=heat.seed).named(heat.sim)
    plant = build_world(heat.sim, world, options)
    host = build_host(heat.sim, world, options, None, plant)
    with bot.running(entry, port, Path(job.folder), log) as process:
        host.open(rate.now())
        begun = False

        def tick(silent: float) -> list[str]:
            nonlocal begun
            now = rate.now()
            host.tick(now)
            begun = begun or plant.state(0).sequence > 0
            if not begun:
                rate.sleep_until(now + _WAKE_S)
            if silent > _WAKE_S and process.poll() is not None:
                said = bot.last_words(log)
                return [f"the bot ended, {bot.exit_text(process.returncode)}{said and f': {said}'}"]
            if silent > (rules.patience if begun else rules.start):
                return [f"no answer for {rules.patience:g} s" if begun else f"not ready after {rules.start:g} s"]
            return [""]

        try:
            yield plant, tick
        finally:
            host.close()


def main(path: Path) -> int:
    """Run the job in a file; the result goes beside its recordings. Return the process' exit code."""
    job = msgspec.json.decode(path.read_bytes(), type=Job)
    pulse = Pulse(path.with_name("pulse"))
    asked_to_stop = False

    def stop() -> None:
        nonlocal asked_to_stop
        asked_to_stop = True

    try:
        with on_stop(stop):
            results = run(job, pulse, lambda: asked_to_stop)
    except TrailbrakeError as error:
        print(f"trailbrake: {error}", flush=True)
        return 2
    except KeyboardInterrupt:
        return 130
    part = Path(job.out) / f"{RESULT}.part"
    part.write_bytes(msgspec.json.encode(results))
    part.replace(part.with_name(RESULT))
    return 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
