"""Finds better gains for a driver on the embedded world, through the simulator's own wire.

A trial is a drive in lockstep with the gains that the search suggests. Its cost is the time to the goal, with the
time for what is left of the road at `CRAWL` on top where the car left it, and a price for coming near the edge.
Source of the search: Optuna's tree-structured Parzen estimator (Bergstra et al., Algorithms for hyper-parameter
optimization, NIPS 2011).
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from trailbrake.cars.load import load as load_car
from trailbrake.drivers import gains
from trailbrake.drivers.load import find
from trailbrake.errors import UsageError
from trailbrake.planning.course import Course
from trailbrake.roles import Driver
from trailbrake.run import rate
from trailbrake.run.connect import connected, for_driver
from trailbrake.run.loop import Seat, run_loop
from trailbrake.run.needs import check_needs
from trailbrake.run.options import DriveOptions, TuneOptions
from trailbrake.run.session import INTERRUPTED
from trailbrake.run.signals import on_stop
from trailbrake.run.supervisor import Supervisor
from trailbrake.sims import registry
from trailbrake.state import CarState, Controls
from trailbrake.state.fields import of
from trailbrake.tracks.load import load as load_track
from trailbrake.tracks.road import Column, Road

CRAWL = 3.0  # m/s, the speed at which what is left of the road after leaving it is counted
NEAR = 0.65  # half roads off the middle from which it costs ...
NEAR_COST = 500.0  # s per half road
STANDS = 10.0  # s without getting on after which a trial is over
END = 15.0  # m before an open road's end at which it is driven


@dataclass(frozen=True)
class Outcome:
    """How one drive went.

    Attributes:
        time: s of simulator time until it ended.
        driven: share of the road that was driven.
        edge: half roads off the middle, the most.
        cost: s.
    """

    time: float
    driven: float
    edge: float
    cost: float


class Watch:
    """A Tap that watches one drive along a road and knows when it is over."""

    def __init__(self, road: Road) -> None:
        self._road, self._row = road, -1
        self._length = road.length if road.closed else road.length - END
        self._place = self._best = self._best_at = self._edge = 0.0
        self._s = self._first = self._time = math.nan
        self.ended = False

    def start(self, about: dict[str, Any]) -> None:
        """Nothing to prepare."""

    def tick(self, state: CarState, controls: Controls) -> None:
        """Follow the car."""
        s, offset, self._row = self._road.locate(state.x, state.y, self._row)
        if math.isnan(self._s):
            self._s, self._first = s, state.time
            self._best_at = state.time
        step = s - self._s
        if self._road.closed:
            step -= self._road.length * math.floor(step / self._road.length + 0.5)
        else:
            self._place = s - step
        self._place, self._s, self._time = self._place + step, s, state.time
        row = self._road.table[self._row]
        share = abs(offset) / float(row[Column.WIDTH_LEFT] if offset > 0.0 else row[Column.WIDTH_RIGHT])
        self._edge = max(self._edge, share)
        if self._place > self._best + 1.0:
            self._best, self._best_at = self._place, state.time
        stands = state.time - self._best_at > STANDS
        self.ended = self._place >= self._length or share > 1.0 or stands

    def close(self) -> None:
        """Nothing to end."""

    def outcome(self) -> Outcome:
        """Return how it went."""
        time = self._time - self._first if self._time == self._time else 0.0
        left = max(self._length - self._place, 0.0)
        cost = time + left / CRAWL + NEAR_COST * max(0.0, min(self._edge, 1.0) - NEAR)
        return Outcome(time, 1.0 - left / self._length, self._edge, cost)


def trial(
    driver: Driver, options: DriveOptions, course: Course, stopped: Callable[[], bool] = lambda: False
) -> Outcome:
    """Drive once in lockstep, until the end or until `stopped`, and return how it went."""
    watch = Watch(course.track.road)
    spec = registry.part(options.sim, "spec")
    driver.reset(course)
    supervisor = Supervisor()
    with connected(for_driver(options, driver), spec.LiveOptions(), lambda: False) as connection:
        seat = Seat(connection.link, driver, supervisor, [watch], lambda: "" if watch.ended or stopped() else None)
        result = run_loop(seat, connection.pace)
    if supervisor.stop_reason:
        raise UsageError(f"the trial broke off: {result.reason}", where=options.driver)
    return watch.outcome()


def tune(options: TuneOptions, say: Callable[[str], None] = lambda text: None) -> dict[str, Any]:
    """Search, write the file of the best gains, and return what `trailbrake tune --json` prints.

    An interrupt ends the search; what it has found until then is written.

    Raises:
        UsageError: Optuna is missing, the driver has no gains, or the file cannot be written.
        KeyboardInterrupt: interrupted before the first trial was over.
    """
    try:
        import optuna
    except ImportError as error:
        raise UsageError("Optuna is missing", where="tune", hint='pip install "trailbrake[tune]"') from error
    if options.trials < 1:
        raise UsageError("no number of trials", where="--trials", expected="1 or more", got=str(options.trials))
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    cls, where = find(options.driver)
    if not hasattr(cls, "Gains"):
        raise UsageError("this driver has no gains to tune", where=where, hint="see docs/forza.md, gains")
    name = Path(options.driver.removesuffix(".py")).stem if ".py" in options.driver else options.driver
    begin = {}
    if options.config is not None:
        begin = gains.read(options.config).get(name, {})
    first = gains.make(cls.Gains, begin, f"{options.config}, [gains.{name}]")
    searched = _searched(cls.Gains, options.only)
    track = load_track(options.track)
    drives = [
        (DriveOptions(sim=options.sim, driver=options.driver, track=options.track, car=car, host=options.host),
         Course(track, load_car(car)))
        for car in options.cars.split(",")
    ]  # fmt: skip
    check_needs(cls(first), options.driver, options.sim)
    out = options.out or Path(f"{name}.toml")

    stopped = False

    def stop() -> None:
        nonlocal stopped
        stopped = True

    def after(study: Any, asked: Any) -> None:
        if stopped:
            study.stop()
        else:
            say(_line(study, asked))

    def cost(values: dict[str, float]) -> float:
        made = cls(gains.make(cls.Gains, {**begin, **values}, "tune"))
        total = 0.0
        for drive, course in drives:
            outcome = trial(made, drive, course, lambda: stopped)
            if stopped:
                raise optuna.TrialPruned
            total += outcome.cost
            if outcome.driven < 1.0 and len(drives) > 1:  # the others will not save it
                return total * len(drives)
        return total

    def objective(asked: Any) -> float:
        return cost({n: asked.suggest_float(n, q.lo, q.hi) for n, q in of(cls.Gains).items() if n in searched})

    study = optuna.create_study(sampler=optuna.samplers.TPESampler(seed=options.seed, multivariate=True))
    study.enqueue_trial({n: getattr(first, n) for n in searched})
    with on_stop(stop):
        study.optimize(objective, n_trials=options.trials, callbacks=[after])
    driven = study.get_trials(deepcopy=False, states=[optuna.trial.TrialState.COMPLETE])
    if not driven:
        raise KeyboardInterrupt
    best = gains.make(cls.Gains, {**begin, **study.best_params}, "tune")
    about = f"{options.driver} on {options.track}, {options.cars}, {options.sim}: {len(driven)} trials, {rate.date()}"
    try:
        out.write_text(gains.text(name, best, about), encoding="utf-8")
    except OSError as error:
        raise UsageError("cannot write the gains", where=str(out), got=error.strerror or str(error)) from error
    return {
        "driver": options.driver, "sim": options.sim, "track": options.track, "cars": options.cars.split(","),
        "trials": len(driven),
        "ended": INTERRUPTED if stopped else "done", "first_cost_s": driven[0].value, "best_cost_s": study.best_value,
        "gains": {n: getattr(best, n) for n in of(cls.Gains)}, "out": str(out),
    }  # fmt: skip


def _searched(cls: Any, only: str) -> Sequence[str]:
    known = list(of(cls))
    if not only:
        return [name for name in known if name != "speed"]
    wanted = [name.strip() for name in only.split(",")]
    for name in wanted:
        if name not in known:
            raise UsageError("no such gain", where="--only", got=name, expected=", ".join(known))
    return wanted


def _line(study: Any, asked: Any) -> str:
    return f"trial {asked.number + 1}: {asked.value:.2f} s, best {study.best_value:.2f} s"
