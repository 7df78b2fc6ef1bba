"""One heat in this process: a world, its cars, and who drives them, up to the judge's verdicts.

Run as `python -m trailbrake.race.heat JOB`, so that a driver which hangs or ends the process stops no other heat.
Drivers of ours are driven in lockstep through the simulator's wire, external programs by the wire's own lockstep.

A `Heartbeat` names the entry whose driver is being called, in a file that outlives the process which writes it.
A driver that hangs cannot say so, and one that ends the process cannot either: the supervising process reads it here.
"""

import hashlib
import mmap
import struct
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import msgspec

from trailbrake.analysis.race_motion import RACE_FILES
from trailbrake.analysis.report import write_report
from trailbrake.drivers.loading.driver_registry import load_driver
from trailbrake.driving.loop.drive_loop import LOST_LIMIT
from trailbrake.driving.loop.supervisor import Supervisor
from trailbrake.driving.options import WorldOptions
from trailbrake.driving.road_monitor import RoadMonitor
from trailbrake.driving.run import CarWatch, NamedDriver, assemble_car
from trailbrake.driving.session.drive_setup import embedded_options, make_setup
from trailbrake.driving.session.driver_choice import check_driver_needs
from trailbrake.driving.session.embedded_worlds import build_host, build_world, settle_world
from trailbrake.driving.session.open_connection import open_connection
from trailbrake.driving.spec import CarSpec, DriveSpec, EmbeddedSite
from trailbrake.errors import TrailbrakeError, describe_value, raised_at
from trailbrake.planning.course import Course, UnmappedCourse
from trailbrake.race import competitor_process
from trailbrake.race.entry_result import EntryResult, build_result
from trailbrake.race.schedule import Heat
from trailbrake.record.parted_file import ONE_FILE
from trailbrake.record.recorder import Recorder
from trailbrake.roles import Driver, Plant, RoadPlant
from trailbrake.sims import registry
from trailbrake.simulator import AnySimulator
from trailbrake.state import CarState, Controls, applied_controls
from trailbrake.system import steady_clock
from trailbrake.system.signals import handle_stop_signals
from trailbrake.user_files import open_replacement
from trailbrake.version import __version__

RESULT, BOT_LOG = "result.json", "bot.log"
_ROW = struct.Struct("<7d")
_PROGRAM_POLL_S = 0.005  # s between looks for a program that is not there yet
NO_ENTRY = -1
_MARK = struct.Struct("<qq")


class Heartbeat:
    """A place in a file that two processes share.

    Args:
        path: the file; made where it is not there yet.
    """

    def __init__(self, path: Path) -> None:
        if not path.exists():
            path.write_bytes(_MARK.pack(NO_ENTRY, 0))
        with path.open("r+b") as file:
            self._map = mmap.mmap(file.fileno(), _MARK.size)

    def mark_entry(self, place: int, tick: int) -> None:
        """Store that the driver of entry `place` is called at `tick` (0: to be reset); NO_ENTRY: the world steps."""
        _MARK.pack_into(self._map, 0, place, tick)

    def read_mark(self) -> tuple[int, int]:
        """Return seat and tick of the last mark."""
        seat, tick = _MARK.unpack_from(self._map)
        return seat, tick

    def close(self) -> None:
        """Let go of the file."""
        self._map.close()


class Retirement(msgspec.Struct, frozen=True):
    """An entry whose driver is not called from `tick` on (0: not even loaded), and why."""

    tick: int
    reason: str


class HeatJob(msgspec.Struct, frozen=True, kw_only=True):
    """A heat to run.

    Attributes:
        heat: what; paths in it are whole.
        folder: where programs run.
        out: where recordings and the result go.
        names: of the recordings, one per place of the grid.
        report: write a report of each recording.
        retired: by place of the grid.
    """

    heat: Heat
    folder: str
    out: str
    names: tuple[str, ...]
    report: bool = True
    retired: dict[int, Retirement] = {}


class EntryObserver:
    """Follows one car by the world's own states until its race is over, and records them.

    The race's clock begins with the world and never goes back.

    Attributes:
        ended: why the race is over for this entry, "" = all laps driven; None: it goes on.
    """

    def __init__(self, job: HeatJob, plant: Plant, place: int) -> None:
        heat, entry = job.heat, job.heat.grid[place]
        self._job, self._plant, self._place = job, plant, place
        self._goal = heat.rules.make_goal(heat.laps)
        self.ended: str | None = None
        self.recorder = Recorder(Path(job.out) / f"{job.names[place]}.mcap", limits=ONE_FILE)
        self.recorder.start(
            {"sim": heat.sim, "driver": entry.name, "track": heat.track, "car": heat.car, "seed": heat.seed,
             "race": heat.race, "host": list(heat.host), "place_on_grid": place + 1, "trailbrake": __version__,
             RACE_FILES: [f"{name}.mcap" for name in job.names] if len(job.names) > 1 else None}
        )  # fmt: skip
        self.recorder.store_map(*plant.road_outline())
        road = plant.track.road if isinstance(plant, RoadPlant) else None
        self._monitor = RoadMonitor(road, on_lap=self.recorder.store_lap, began=0.0)
        self._states = hashlib.sha256()
        self._sequence = -1

    def observe_world(self) -> bool:
        """Read the newest state; return whether it is a new one."""
        state = self._plant.car_state(self._place)
        if state.sequence == self._sequence:
            return False
        self._sequence = state.sequence
        if self.ended is None:
            self.recorder.tick(state, applied_controls(state))
            row = state.time, state.x, state.y, state.yaw, state.speed, state.contacts, state.lap
            self._states.update(_ROW.pack(*row))
            self._monitor.observe_state(state, self._plant.laps(self._place))
            verdict = self._goal.judge(self._monitor)
            if verdict is not None:
                self.end_race(verdict)
        return True

    def end_race(self, reason: str) -> None:
        """End the race of this entry, "" = all laps driven; the first reason stays."""
        if self.ended is None:
            self.ended = reason
            self.recorder.store_event(self._monitor.time, reason or "finished")

    def build_result(self) -> EntryResult:
        """Return the verdict, with the names of the files that tell of it."""
        heat, report = self._job.heat, ""
        if self._job.report and self._monitor.clock > 0.0:
            try:
                report = write_report(self.recorder.path, self.recorder.path.with_suffix(".html")).name
            except TrailbrakeError as error:
                print(f"no report: {error}", flush=True)
        name, clean = heat.grid[self._place].name, heat.rules.clean
        result = build_result(name, self.ended, self._monitor, self._states, clean=clean)
        return msgspec.structs.replace(result, recording=self.recorder.path.name, report=report)


def run_heat(
    job: HeatJob, simulator: AnySimulator, heartbeat: Heartbeat, stopped: Callable[[], bool]
) -> list[EntryResult]:
    """Run a heat; return the results in the order of its grid.

    Args:
        job: the heat.
        simulator: that of the heat.
        heartbeat: marks the entry whose driver is called.
        stopped: tested now and then; True ends the heat without a result.

    Raises:
        TrailbrakeError: the world cannot be built.
        KeyboardInterrupt: `stopped`.
    """
    heat = job.heat
    with ExitStack() as closed:
        if heat.grid[0].command:
            plant, tick = closed.enter_context(_open_program_heat(job, simulator))
        else:
            plant, tick = closed.enter_context(_open_driver_heat(job, simulator, heartbeat))
        observers = [EntryObserver(job, plant, place) for place in range(len(heat.grid))]
        for observer in observers:
            closed.callback(observer.recorder.close)
        deadline, heard = steady_clock.now() + heat.rules.wall, steady_clock.now()
        while any(observer.ended is None for observer in observers):
            at = steady_clock.now()
            for observer, reason in zip(observers, tick(at - heard), strict=True):
                if reason:
                    observer.end_race(reason)
            gone_on = [observer.observe_world() for observer in observers]  # all of them, not only the first new one
            if any(gone_on):
                heard = at
            if stopped():
                raise KeyboardInterrupt
            if at > deadline:
                for observer in observers:
                    observer.end_race(f"the race took longer than {heat.rules.wall:g} s")
            elif at - heard > LOST_LIMIT and not heat.grid[0].command:
                for observer in observers:
                    observer.end_race(f"the simulator stood still for {LOST_LIMIT:g} s")
    return [observer.build_result() for observer in observers]


# Takes s of wall time without a step of the world, steps it, and returns for each entry why it is out ("" = it is not).
TickFunction = Callable[[float], list[str]]


@contextmanager
def _open_driver_heat(
    job: HeatJob, simulator: AnySimulator, heartbeat: Heartbeat
) -> Iterator[tuple[Plant, TickFunction]]:
    """Yield a world whose cars our drivers drive through the wire, and the function that steps it."""
    heat = job.heat
    supervisors = [Supervisor() for _ in heat.grid]
    drivers: list[Driver] = []
    for place, entry in enumerate(heat.grid):
        driver: Driver = _BrakingDriver()
        with _guarded_reset(job, heartbeat, place, supervisors[place]) as may:
            if may:
                driver = load_driver(entry.driver, Path(entry.config) if entry.config else None)
                check_driver_needs(driver, entry.driver, simulator)
        drivers.append(driver)
    site = EmbeddedSite(sim=heat.sim, track=heat.track, car=heat.car, seed=heat.seed, host=heat.host)
    spec = DriveSpec(site=site, cars=tuple(CarSpec(driver=entry.driver) for entry in heat.grid))
    with open_connection(make_setup(simulator, spec, None, drivers), lambda: False) as connection:
        plant, pacer = connection.plant, connection.pacer
        assert plant is not None  # an embedded world, in this process
        course: Course = UnmappedCourse()
        if isinstance(plant, RoadPlant) and {"x", "y"} <= simulator.supplies:
            course = Course(plant.track, plant.cars[0])
        for place, driver in enumerate(drivers):
            with _guarded_reset(job, heartbeat, place, supervisors[place]) as may:
                if may:
                    driver.reset(course)
        loops = [
            assemble_car(link, NamedDriver(driver, entry.driver), supervisor, CarWatch((), lambda: None))
            for link, driver, supervisor, entry in zip(connection.links, drivers, supervisors, heat.grid, strict=True)
        ]
        ticks = 0

        def tick(silent: float) -> list[str]:
            nonlocal ticks
            ticks += 1
            now = pacer.wait_for_sample(connection.link)
            for place, loop in enumerate(loops):
                out = job.retired.get(place)
                if out is not None and ticks >= out.tick:
                    loop.supervisor.request_stop(out.reason)
                if not loop.supervisor.stop_reason:
                    heartbeat.mark_entry(place, ticks)
                loop.run_tick(now)
            heartbeat.mark_entry(NO_ENTRY, ticks)
            return [supervisor.stop_reason for supervisor in supervisors]

        yield plant, tick


class _BrakingDriver:
    """Drives a car whose driver could not be loaded."""

    NEEDS: frozenset[str] = frozenset()

    def reset(self, course: Course) -> None:
        """Do nothing."""

    def act(self, state: CarState, dt: float) -> Controls:
        """Hold the brake."""
        return Controls(brake=1.0)


@contextmanager
def _guarded_reset(job: HeatJob, heartbeat: Heartbeat, place: int, supervisor: Supervisor) -> Iterator[bool]:
    """Guard the loading or the reset of a driver; yields whether it may be called. An entry that fails is out."""
    out = job.retired.get(place)
    if out is not None and out.tick == 0:
        supervisor.request_stop(out.reason)
    may = not supervisor.stop_reason
    if may:
        heartbeat.mark_entry(place, 0)
    try:
        yield may
    except TrailbrakeError as error:
        supervisor.request_stop(str(error))
    except (Exception, SystemExit) as error:
        where = raised_at(error)
        supervisor.request_stop(
            f"getting ready raised {type(error).__name__}{where and f' at {where}'}: {describe_value(error)}"
        )
    heartbeat.mark_entry(NO_ENTRY, 0)


@contextmanager
def _open_program_heat(job: HeatJob, simulator: AnySimulator) -> Iterator[tuple[Plant, TickFunction]]:
    """Yield a world whose car an external program drives, and the function that steps it."""
    heat, entry, rules = job.heat, job.heat.grid[0], job.heat.rules
    assert simulator.program_options is not None  # check_plan has checked it
    port, log = competitor_process.find_port(entry), Path(job.out) / BOT_LOG
    # It must not hang up, and call again, before this heat gives up: its patience is that of the whole heat.
    options = simulator.program_options(
        embedded_options(simulator, heat.host, simulator.live_options()),
        f"{competitor_process.ADDRESS}:{port}",
        rules.wall,
    )
    world = settle_world(WorldOptions(track=heat.track, car=heat.car, seed=heat.seed), simulator.world)
    plant = build_world(simulator, world, options)
    host = build_host(simulator, plant, options, None)
    with competitor_process.run_program(entry, port, Path(job.folder), log, heat.limits) as process:
        host.open(steady_clock.now())
        begun = False

        def tick(silent: float) -> list[str]:
            nonlocal begun
            now = steady_clock.now()
            host.tick(now)
            begun = begun or plant.car_state(0).sequence > 0
            if not begun:
                steady_clock.sleep_until(now + _PROGRAM_POLL_S)
            if silent > _PROGRAM_POLL_S and process.poll() is not None:
                said = competitor_process.read_last_line(log)
                return [f"the bot ended, {competitor_process.describe_exit(process.returncode)}{said and f': {said}'}"]
            if silent > (rules.patience if begun else rules.start):
                return [f"no answer for {rules.patience:g} s" if begun else f"not ready after {rules.start:g} s"]
            return [""]

        try:
            yield plant, tick
        finally:
            host.close()


def main(path: Path) -> int:
    """Run the job in a file; the result goes beside its recordings. Return the process' exit code."""
    job = msgspec.json.decode(path.read_bytes(), type=HeatJob)
    heartbeat = Heartbeat(path.with_name("pulse"))
    stop = threading.Event()
    try:
        with handle_stop_signals(stop.set):
            results = run_heat(job, registry.find(job.heat.sim), heartbeat, stop.is_set)
    except TrailbrakeError as error:
        print(f"trailbrake: {error}", flush=True)
        return 2
    except KeyboardInterrupt:
        return 130
    with open_replacement(Path(job.out) / RESULT) as file:
        file.write(msgspec.json.encode(results))
    return 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
