"""`run_cases`: runs what has no result yet, stores each result when it is there, and returns all of them.

`CaseStore`: one file per finished case, written whole or not at all, so that a campaign that ended early resumes.

How a campaign runs, of all verbs that have one. Declarations: help imports it.
"""

import hashlib
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, NamedTuple, TypeVar

import msgspec

from trailbrake.errors import TrailbrakeError, UsageError
from trailbrake.system import steady_clock
from trailbrake.system.signals import handle_stop_signals
from trailbrake.tasks.sent_files import collect_files, hash_source
from trailbrake.tasks.task_pool import count_jobs, open_pool
from trailbrake.tasks.task_worker import TaskAnswer
from trailbrake.user_files import is_regular_file, make_folder, read_user_file, write_whole
from trailbrake.version import __version__


@dataclass(frozen=True, kw_only=True)
class CampaignOptions:
    """How a campaign runs.

    Attributes:
        jobs: cases at a time, in processes; 0 = one per two cores.
        on: where processes run: this machine; ray = this machine's Ray cluster or a new one; ray://HOST:PORT = another:
            docs/scale.md.
        again: run finished cases again.
        patience: s of wall time after which a case is given up.
    """

    jobs: int = 0
    on: str = ""
    again: bool = False
    patience: float = 3600.0


Case = TypeVar("Case")
_DIGITS = 24  # of a fingerprint, in a file's name

Result = TypeVar("Result")


class StoredCase(msgspec.Struct, frozen=True):
    """A finished case, as its file has it.

    Attributes:
        case: what was run, for people who read the file.
        result: what came out of it.
        trailbrake: the version that ran it.
        source: `hash_source` of the code that ran it.
    """

    case: Any
    result: msgspec.Raw
    trailbrake: str
    source: str


def fingerprint_case(case: object, words: Iterable[str] = ()) -> str:
    """Return a text that changes with anything that a result may depend on.

    Args:
        case: plain values, structs, dataclasses and paths.
        words: texts of the case that may name files, whose contents count.
    """
    hashed = hashlib.sha256(msgspec.json.encode(case, enc_hook=str))
    for data in collect_files(words).values():
        hashed.update(hashlib.sha256(data).digest())
    return hashed.hexdigest()


class CaseStore(Generic[Result]):
    """A folder of results.

    Args:
        folder: made where it is not there.
        kind: the type of a result.
        any_source: whether results of other code than the present count, too.

    Raises:
        UsageError: the folder cannot be made.
    """

    def __init__(self, folder: Path, kind: type[Result], *, any_source: bool = False) -> None:
        self._folder, self._kind = folder, kind
        self._source, self._any_source = hash_source(), any_source
        make_folder(folder)

    def read_result(self, fingerprint: str) -> Result | None:
        """Return the result of a case; None where it has none, or none that can be used: it is run again."""
        return self._read_file(self._find_file(fingerprint))

    def list_results(self) -> Iterator[Result]:
        """Yield the results in the folder; files that hold none that can be used are left out."""
        for path in sorted(self._folder.glob("*.json")):
            if (result := self._read_file(path)) is not None:
                yield result

    def _read_file(self, path: Path) -> Result | None:
        if not is_regular_file(path):
            return None
        try:
            stored = msgspec.json.decode(read_user_file(path, "result of a case"), type=StoredCase)
            result = msgspec.json.decode(stored.result, type=self._kind)
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError, TrailbrakeError):
            return None
        return result if self._any_source or stored.source == self._source else None

    def store_result(self, fingerprint: str, case: object, result: Result) -> None:
        """Write the file of a finished case.

        Raises:
            UsageError: it cannot be written; what was there stays.
        """
        encoded = msgspec.json.encode(result, enc_hook=str)
        stored = StoredCase(msgspec.to_builtins(case, enc_hook=str), msgspec.Raw(encoded), __version__, self._source)
        write_whole(self._find_file(fingerprint), msgspec.json.format(msgspec.json.encode(stored)), "a result")

    def _find_file(self, fingerprint: str) -> Path:
        return self._folder / f"{fingerprint[:_DIGITS]}.json"


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
