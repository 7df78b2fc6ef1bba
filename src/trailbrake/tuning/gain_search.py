"""A search for gains: what a trial drives and what it costs, on the embedded world through the simulator's own wire.

A trial is a drive in lockstep with the gains that the search suggests. Its cost is the time to the goal, with the
time for what is left of the road at `CRAWL_SPEED` on top where the car left it, and a price for coming near the edge
or, where the car may use all the road, beyond it.

A trial of a search for gains as a task: what `GainSearch.trial_cost` returns, from bytes to bytes.
"""

import math
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import msgspec

from trailbrake.cars.car_library import load_car
from trailbrake.drivers.loading import gains
from trailbrake.drivers.loading.driver_registry import find_driver_class
from trailbrake.driving.goals import NoHeadway, OffRoad, OnceAlong, Standstill
from trailbrake.driving.loop.supervisor import Supervisor
from trailbrake.driving.road_monitor import RoadMonitor
from trailbrake.driving.run import CarWatch, NamedDriver, drive_cars
from trailbrake.driving.session.drive_setup import DriveSetup, make_setup
from trailbrake.driving.session.driver_choice import check_driver_needs
from trailbrake.driving.spec import CarSpec, DriveSpec, EmbeddedSite
from trailbrake.errors import SimulatorError, UsageError
from trailbrake.planning.course import Course
from trailbrake.roles import Driver, Tunable
from trailbrake.sims import registry
from trailbrake.simulator import AnySimulator
from trailbrake.tasks.sent_files import collect_files, place_files, rename_files, rename_files_in_pair
from trailbrake.tasks.task_pool import Stopped, TaskPool, count_jobs, open_pool
from trailbrake.tracks.track_library import load_track
from trailbrake.tuning.options import TuneOptions

CRAWL_SPEED = 3.0  # m/s, the speed at which what is left of the road after leaving it is counted
NEAR_EDGE = 0.65  # half roads off the middle from which it costs to come near the edge; on a racing line, the edge ...
NEAR_EDGE_COST = 500.0  # s per half road
TRIAL_GOAL = OnceAlong().or_when(OffRoad(), Standstill(), NoHeadway())
TRIAL_TASK = "trailbrake.tuning.gain_search:run_trial_task"


@dataclass(frozen=True)
class TrialOutcome:
    """How one drive went.

    Attributes:
        time: s of simulator time until it ended.
        driven: share of the road that was driven.
        edge: half roads off the middle, the most; of the car's side where the car may use all the road.
        cost: s.
    """

    time: float
    driven: float
    edge: float
    cost: float


def measure_outcome(monitor: RoadMonitor, *, free_edge: bool) -> TrialOutcome:
    """Return how a trial went; `free_edge`: it costs nothing until the side of the car reaches the edge."""
    left = max(monitor.measure_rest(), 0.0)
    near_edge = 1.0 if free_edge else NEAR_EDGE
    highest = 1.0 + near_edge - NEAR_EDGE  # more says nothing: the drive is over then
    near = max(0.0, min(monitor.edge_share, highest) - near_edge)
    cost = monitor.elapsed + left / CRAWL_SPEED + NEAR_EDGE_COST * near
    return TrialOutcome(monitor.elapsed, 1.0 - left / monitor.length, monitor.edge_share, cost)


def run_trial(
    setup: DriveSetup,
    driver: Driver,
    course: Course,
    keep_to: Literal["middle", "road"] = "middle",
    stopped: Callable[[], bool] = lambda: False,
) -> TrialOutcome:
    """Drive once in lockstep, until the end or until `stopped`, and return how it went.

    Args:
        setup: of the drive.
        driver: with the gains of the trial.
        course: the road and the car.
        keep_to: the middle: coming near the edge has a price; the road: leaving it has.
        stopped: tested every tick.

    Raises:
        UsageError: the driver failed.
    """
    half_width = 0.5 * course.known_car().body.width if keep_to == "road" else 0.0
    monitor = RoadMonitor(course.track.road, half_width=half_width)
    driver.reset(course)
    supervisor, name = Supervisor(), setup.spec.first.driver
    watch = CarWatch([monitor], lambda: "" if stopped() else TRIAL_GOAL.judge(monitor))
    outcome = drive_cars(setup, [NamedDriver(driver, name)], lambda connection: [watch], supervisor)
    if supervisor.stop_reason:
        raise UsageError(f"the trial broke off: {outcome.loop.reason}", where=name)
    return measure_outcome(monitor, free_edge=keep_to == "road")


class GainSearch:
    """What a search tries: a driver's class, the gains to search, and the roads and cars of a trial.

    Args:
        simulator: whose wire to drive through.
        options: of the search.

    Raises:
        UsageError: no such driver, or it has no gains.
        TrailbrakeError: the file of gains, the track or a car cannot be used.
    """

    def __init__(self, simulator: AnySimulator, options: TuneOptions) -> None:
        cls, where = find_driver_class(options.driver)
        if not isinstance(cls, Tunable):
            raise UsageError("this driver has no gains to tune", where=where, hint="see docs/forza.md, gains")
        self.name = Path(options.driver.removesuffix(".py")).stem if ".py" in options.driver else options.driver
        self._cls, self._gains_class = cls, cls.Gains
        self._begin = {} if options.config is None else gains.read_gains(options.config).get(self.name, {})
        self.first = gains.build_gains(cls.Gains, self._begin, f"{options.config}, [gains.{self.name}]")
        self.searched = _searched_gains(cls.Gains, options.only)
        track = load_track(options.track)
        cars = options.cars.split(",")
        courses = [Course(track, load_car(car)) for car in cars]
        driver: Driver = cls(self.first)  # type: ignore[operator]
        check_driver_needs(driver, options.driver, simulator)
        drives = [
            DriveSpec(
                site=EmbeddedSite(sim=options.sim, track=options.track, car=car, host=options.host),
                cars=(CarSpec(driver=options.driver),),
            )
            for car in cars
        ]
        self._drives = [
            (make_setup(simulator, drive, None, [driver]), course)
            for drive, course in zip(drives, courses, strict=True)
        ]
        self._keep_to: Literal["middle", "road"] = options.keep_to
        self.stopped = False

    def request_stop(self) -> None:
        """End the search; a trial that is under way does not count."""
        self.stopped = True

    def build_gains(self, values: Mapping[str, float]) -> object:
        """Return the driver's gains with `values` for those that are searched."""
        return gains.build_gains(self._gains_class, {**self._begin, **values}, "tune")

    def trial_costs(self, trials: Sequence[Mapping[str, float]]) -> list[float]:
        """Return the cost of each set of gains, s, over all cars.

        Raises:
            KeyboardInterrupt: stopped.
        """
        return [self.trial_cost(values) for values in trials]

    def trial_cost(self, values: Mapping[str, float]) -> float:
        """Return the cost of a set of gains, s, over all cars.

        Raises:
            KeyboardInterrupt: stopped.
        """
        driver: Driver = self._cls(self.build_gains(values))  # type: ignore[operator]
        total = 0.0
        for setup, course in self._drives:
            outcome = run_trial(setup, driver, course, self._keep_to, lambda: self.stopped)
            if self.stopped:
                raise KeyboardInterrupt
            total += outcome.cost
            if outcome.driven < 1.0 and len(self._drives) > 1:  # the other cars will not save it
                return total * len(self._drives)
        return total

    def gain_ranges(self) -> dict[str, tuple[float, float]]:
        """Return the range of each gain that is searched."""
        declared = gains.declared_gains(self._gains_class)
        return {name: (q.lo, q.hi) for name, q in declared.items() if name in self.searched}


def _searched_gains(cls: type, only: str) -> Sequence[str]:
    """Return the names of the gains to search: those of `only`, else all but the speed."""
    known = gains.declared_gains(cls)
    wanted = [name.strip() for name in only.split(",")] if only else [name for name in known if name != "speed"]
    if not wanted:
        raise UsageError("this driver has no gain but its speed", where="tune", hint="search it by --only speed")
    for name in wanted:
        if name not in known:
            raise UsageError("no such gain", where="--only", got=name, expected=", ".join(known))
        if not math.isfinite(known[name].hi - known[name].lo):
            raise UsageError(f"{name} has no range", where="Gains",
                             expected=f'{name}: float = quantity("1", "...", lo=0.1, hi=9.0, default=1.0)')  # fmt: skip
    return wanted


class TrialJob(msgspec.Struct, frozen=True, kw_only=True):
    """A trial to drive.

    Attributes:
        sim, driver, track, cars, keep_to, only, config, host: as in `TuneOptions`.
        files: contents of the files that these name, by the text that names them.
        values: the gains of the trial, by name.
    """

    sim: str
    driver: str
    track: str
    cars: str
    keep_to: Literal["middle", "road"]
    only: str
    config: str
    host: tuple[str, ...]
    files: dict[str, bytes]
    values: dict[str, float]


class TrialPool:
    """Drives the trials of a search, several at a time.

    Args:
        options: of the search.
        pool: of processes.
        stopped: tested now and then.
    """

    def __init__(self, options: TuneOptions, pool: TaskPool, stopped: Stopped) -> None:
        self._pool, self._stopped = pool, stopped
        config = "" if options.config is None else str(options.config)
        self._job = TrialJob(
            sim=options.sim, driver=options.driver, track=options.track, cars=options.cars, keep_to=options.keep_to,
            only=options.only, config=config, host=options.host, values={},
            files=collect_files(list_words(options)) if pool.is_remote else {},
        )  # fmt: skip

    def drive_trials(self, trials: Sequence[Mapping[str, float]]) -> list[float]:
        """Return the cost of each set of gains, s.

        Raises:
            SimulatorError: a trial has failed.
            KeyboardInterrupt: stopped.
        """
        jobs = [msgspec.structs.replace(self._job, values=dict(values)) for values in trials]
        costs = [0.0] * len(jobs)
        for index, answer in self._pool.run_tasks(TRIAL_TASK, list(map(msgspec.msgpack.encode, jobs)), self._stopped):
            if answer.error:
                raise SimulatorError(f"a trial failed: {answer.error}", where="tune")
            costs[index] = msgspec.msgpack.decode(answer.value, type=float)
        return costs


def list_words(options: TuneOptions) -> list[str]:
    """Return the texts of a search that may name files."""
    config = "" if options.config is None else str(options.config)
    return [options.driver, options.track, *options.cars.split(","), config,
            *(pair.partition("=")[2] for pair in options.host)]  # fmt: skip


@contextmanager
def open_trial_pool(options: TuneOptions, stopped: Stopped, say: Callable[[str], None]) -> Iterator[TrialPool]:
    """Open the pool that the options mean, and close it in the end.

    Args:
        options: of the search.
        stopped: tested now and then.
        say: takes lines for the user.

    Raises:
        UsageError, SimulatorError: as `open_pool`.
    """
    jobs = min(count_jobs(options.jobs), options.batch)
    with (
        tempfile.TemporaryDirectory(prefix="trailbrake-tune-", ignore_cleanup_errors=True) as folder,
        open_pool(options.on, jobs, options.patience, lambda job: Path(folder) / f"worker-{job}.log", say) as pool,
    ):
        yield TrialPool(options, pool, stopped)


def run_trial_task(argument: bytes) -> bytes:
    """Drive the trial of an encoded `TrialJob` and return its encoded cost, s."""
    job = msgspec.msgpack.decode(argument, type=TrialJob)
    with tempfile.TemporaryDirectory(prefix="trailbrake-trial-") as folder:
        names = place_files(job.files, Path(folder))
        config = rename_files(job.config, names)
        options = TuneOptions(
            sim=job.sim, driver=rename_files(job.driver, names), track=rename_files(job.track, names),
            cars=",".join(rename_files(car, names) for car in job.cars.split(",")), keep_to=job.keep_to, only=job.only,
            config=Path(config) if config else None, host=tuple(rename_files_in_pair(pair, names) for pair in job.host),
        )  # fmt: skip
        return msgspec.msgpack.encode(GainSearch(registry.find(job.sim), options).trial_cost(job.values))
