"""A trial of a search for gains as a task: what `GainSearch.trial_cost` returns, from bytes to bytes."""

import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Literal

import msgspec

from trailbrake.errors import SimulatorError
from trailbrake.sims import registry
from trailbrake.tasks.pool_choice import open_pool
from trailbrake.tasks.sent_files import collect_files, place_files, rename_files, rename_files_in_pair
from trailbrake.tasks.task_pool import Stopped, TaskPool, count_jobs
from trailbrake.tuning.gain_search import GainSearch
from trailbrake.tuning.options import TuneOptions

TRIAL_TASK = "trailbrake.tuning.trial_task:run_trial_task"


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
