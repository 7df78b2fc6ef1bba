"""`run_cases`: runs what has no result yet, stores each result when it is there, and returns all of them."""

import threading
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Generic, NamedTuple, TypeVar

from trailbrake.campaign.case_store import CaseStore
from trailbrake.campaign.options import CampaignOptions
from trailbrake.errors import UsageError
from trailbrake.system import steady_clock
from trailbrake.system.signals import handle_stop_signals
from trailbrake.tasks.pool_choice import open_pool
from trailbrake.tasks.task_pool import count_jobs
from trailbrake.tasks.task_worker import TaskAnswer

Case = TypeVar("Case")
Result = TypeVar("Result")


@dataclass(frozen=True)
class CaseTask(Generic[Case, Result]):
    """What is done with a case.

    Attributes:
        function: "MODULE:NAME" of the task that runs one.
        name: of several cases, for messages.
        fingerprint: returns what a case is stored under.
        encode: returns the task's argument, for a machine that may not have the files of this one where the second
            argument says so.
        decode: returns the result in a task's answer, whatever went wrong; it may write files beside it.
        describe: returns a line about a case and its result.
        failed: whether a result is a failure: its case is run again by the next call.
    """

    function: str
    name: str
    fingerprint: Callable[[Case], str]
    encode: Callable[[Case, bool], bytes]
    decode: Callable[[Case, TaskAnswer], Result]
    describe: Callable[[Case, Result], str]
    failed: Callable[[Result], bool] = lambda result: False


class CampaignListener(NamedTuple):
    """Who hears of a campaign.

    Attributes:
        say: takes lines for the user.
        show_share: takes the share of the cases to run that are done, after each.
    """

    say: Callable[[str], None]
    show_share: Callable[[float], None] = lambda share: None


class RunCases(NamedTuple, Generic[Result]):
    """The results of a campaign.

    Attributes:
        results: by case, in the order of the cases; None where one was not to be run.
        ran, kept: numbers of cases run now and taken from the store.
        wall_s: s of wall time.
    """

    results: list[Result | None]
    ran: int
    kept: int
    wall_s: float


def check_campaign(options: CampaignOptions) -> None:
    """Check the numbers of a campaign; UsageError where they are none."""
    if options.jobs < 0 or not options.patience > 0.0:
        raise UsageError("no number of processes or seconds", where="--jobs, --patience",
                         expected="0 or more, above 0", got=f"{options.jobs}, {options.patience:g}")  # fmt: skip


def run_cases(
    cases: Sequence[Case],
    task: CaseTask[Case, Result],
    store: CaseStore[Result],
    folder: Path,
    *,
    options: CampaignOptions,
    listener: CampaignListener,
) -> RunCases[Result]:
    """Run the cases that have no result in the store.

    Args:
        cases: what to run.
        task: what is done with each.
        store: of their results.
        folder: the campaign's, for the logs of its processes, and for messages.
        options: how.
        listener: who hears of it.

    Raises:
        UsageError: a wrong number, or a result cannot be written.
        KeyboardInterrupt: stopped; the results of finished cases are stored, and the same call resumes.
    """
    check_campaign(options)
    say, show_share = listener
    prints = [task.fingerprint(case) for case in cases]
    results = [None if options.again else store.read_result(each) for each in prints]
    results = [None if each is None or task.failed(each) else each for each in results]
    to_run = [index for index, result in enumerate(results) if result is None]
    say(f"{len(cases)} {task.name}, {len(to_run)} to run, results in {folder}")
    began, done = steady_clock.now(), 0
    stop = threading.Event()
    guard = handle_stop_signals(stop.set) if threading.current_thread() is threading.main_thread() else nullcontext()
    with guard, open_pool(options.on, min(count_jobs(options.jobs), max(len(to_run), 1)), options.patience,
                          lambda job: folder / f"worker-{job}.log", say) as pool:  # fmt: skip
        jobs = [task.encode(cases[index], pool.is_remote) for index in to_run]
        try:
            for number, answer in pool.run_tasks(task.function, jobs, stop.is_set):
                index = to_run[number]
                results[index] = result = task.decode(cases[index], answer)
                store.store_result(prints[index], cases[index], result)
                done += 1
                show_share(done / len(to_run))
                say(f"{len(cases) - len(to_run) + done}/{len(cases)} {task.describe(cases[index], result)}")
        except KeyboardInterrupt:
            left = len(to_run) - done
            say(f"{len(cases) - left} of {len(cases)} {task.name} are finished; the same command resumes")
            raise
    return RunCases(results, len(to_run), len(cases) - len(to_run), steady_clock.now() - began)
