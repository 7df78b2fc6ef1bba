"""`sweep_clones`: a policy for every combination of seeds and settings, several at a time, and the best of them.

Each finished one is a file: a sweep that was broken off goes on with the same call.

A cloning as a task: `clone_policy` from bytes to bytes. The recordings are read where it runs.
"""

import itertools
import math
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import msgspec

from trailbrake.analysis.comparison_page import known_or_none
from trailbrake.campaign.case_run import (
    CampaignListener,
    CaseStore,
    CaseTask,
    check_campaign,
    fingerprint_case,
    run_cases,
)
from trailbrake.errors import UsageError
from trailbrake.name_lists import expand_seeds, split_names
from trailbrake.record.file_names import safe_name
from trailbrake.tasks.task_worker import TaskAnswer
from trailbrake.train.clone import check_options, clone_policy
from trailbrake.train.options import CloneOptions, CloneSweepOptions
from trailbrake.train.sources import find_sources
from trailbrake.user_files import is_regular_file, read_user_file, write_whole

FILE_KIND = "a training's file"  # for messages
SWEPT = {"seed": int, "epochs": int, "most": int, "rounds": int, "smoothing": float, "held_out": float}
MOST_CLONES = 1000
CASES = "cases"  # folder of the figures, below that of the sweep

Values = dict[str, int | float]
CLONE_TASK = "trailbrake.train.clone_sweep:run_clone_task"
MAX_FILE = 256 << 20  # bytes of a policy or a report


class CloneJob(msgspec.Struct, frozen=True):
    """A policy to learn.

    Attributes:
        paths: of recordings and folders, the same on every node.
        options: values of `CloneOptions` by name, without `out`.
    """

    paths: list[str]
    options: dict[str, Any]


class CloneAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """What came out.

    Attributes:
        policy, report: the files, as bytes.
        pictures: learned from.
        loss, error: of the last epoch, on what was held out; None where nothing was.
        cpu_s: s of processor time.
    """

    policy: bytes
    report: bytes
    pictures: int
    loss: float | None
    error: float | None
    cpu_s: float


def encode_clone_job(paths: Sequence[Path], options: CloneOptions) -> bytes:
    """Return a training as the argument of a task; where its policy is to go does not count.

    Args:
        paths: recordings and folders.
        options: how.
    """
    values = asdict(options)
    del values["out"]
    return msgspec.msgpack.encode(CloneJob([str(path) for path in paths], values))


def run_clone_task(argument: bytes) -> bytes:
    """Learn the policy of an encoded `CloneJob` and return an encoded `CloneAnswer`."""
    job = msgspec.msgpack.decode(argument, type=CloneJob)
    with tempfile.TemporaryDirectory(prefix="trailbrake-clone-") as folder:
        options = CloneOptions(**job.options, out=Path(folder) / "policy.npz")
        result = clone_policy([Path(path) for path in job.paths], options, _print_line)
        last = result["epochs"][-1]
        return msgspec.msgpack.encode(CloneAnswer(
            policy=read_user_file(result["policy"], "policy", MAX_FILE),
            report=read_user_file(result["report"], "report", MAX_FILE),
            pictures=result["pictures"], loss=known_or_none(last["held_loss"]), error=known_or_none(last["held_error"]),
            cpu_s=result["cpu_s"],
        ))  # fmt: skip


def _print_line(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


class CloneResult(msgspec.Struct, frozen=True, kw_only=True):
    """A training of a sweep.

    Attributes:
        values: the settings that the sweep varies.
        failure: why there is no policy; "" where there is one.
        pictures, loss, error, cpu_s: as in `CloneAnswer`.
    """

    values: Values
    failure: str = ""
    pictures: int = 0
    loss: float | None = None
    error: float | None = None
    cpu_s: float = 0.0


def expand_sweep(texts: Sequence[str]) -> list[Values]:
    """Return the settings of each training: every combination of the values in KEY=VALUE,VALUE or KEY=FIRST-LAST.

    Raises:
        UsageError: no such setting, a value that is none, a setting twice, or too many combinations.
    """
    lists: dict[str, list[int | float]] = {}
    for text in texts:
        key, _, values = text.partition("=")
        name = key.strip().replace("-", "_")
        if name not in SWEPT or name in lists:
            what = "a setting twice" if name in lists else "no setting of a sweep"
            expected = f"KEY=VALUE,VALUE with KEY of {', '.join(SWEPT)}"
            raise UsageError(what, where="--sweep", expected=expected, got=text)
        if SWEPT[name] is int:
            lists[name] = [*expand_seeds(values, f"--sweep {key}")]
            continue
        try:
            lists[name] = [float(value) for value in split_names(values)]
        except ValueError:
            lists[name] = []
        if not lists[name] or not all(map(math.isfinite, lists[name])):
            raise UsageError("no numbers", where=f"--sweep {key}", expected="numbers with commas between", got=values)
    combinations = [dict(zip(lists, values, strict=True)) for values in itertools.product(*lists.values())]
    if len(combinations) > MOST_CLONES:
        raise UsageError("too many trainings", where="--sweep", expected=f"{MOST_CLONES} at most",
                         got=str(len(combinations)))  # fmt: skip
    return combinations


def sweep_clones(
    paths: list[Path],
    options: CloneOptions,
    sweep: CloneSweepOptions,
    say: Callable[[str], None] = lambda text: None,
    show_share: Callable[[float], None] = lambda share: None,
) -> dict[str, Any]:
    """Learn a policy for every combination of a sweep, and copy the one with the least held-out error to `options.out`.

    Args:
        paths: recordings and folders; with Ray, at the same place on every node.
        options: how; the sweep's settings replace those in it.
        sweep: what varies, and where it runs.
        say: takes lines for the user.
        show_share: takes the share of the trainings that are done, after each.

    Raises:
        UsageError, DataError: nothing to learn from, or an option that cannot be used; or no training succeeded.
        KeyboardInterrupt: stopped; finished trainings are kept, and the same call goes on from there.
    """
    check_campaign(sweep)
    combinations = expand_sweep(sweep.sweep)
    for values in combinations:
        check_options(_choose_values(options, values))
    folder = options.out.with_name(f"{options.out.stem}_sweep")
    store = CaseStore(folder / CASES, CloneResult)
    task = _make_clone_task(folder, [path.resolve() for path in paths], options)
    driven = run_cases(combinations, task, store, folder, options=sweep,
                       listener=CampaignListener(say, show_share))  # fmt: skip
    clones = [clone for clone in driven.results if clone is not None]
    ranked = sorted((clone for clone in clones if not clone.failure), key=lambda clone: _rank_error(clone.error))
    failed = [{"values": clone.values, "error": clone.failure} for clone in clones if clone.failure]
    if not ranked:
        raise UsageError(
            "no training has ended well", where=str(folder), got=next((clone.failure for clone in clones), "")
        )
    best = ranked[0].values
    _copy_best(_find_policy(folder, best), options.out)
    rows = [{**msgspec.to_builtins(clone), "policy": str(_find_policy(folder, clone.values))} for clone in ranked]
    return {
        "policy": str(options.out), "best": best, "folder": str(folder), "clones": rows, "failed": failed,
        "learned": driven.ran - len(failed), "kept": driven.kept,
    }  # fmt: skip


def _make_clone_task(folder: Path, paths: list[Path], options: CloneOptions) -> CaseTask[Values, CloneResult]:
    # Of each training a policy and its report are files of the folder.
    learned_from = _describe_sources(paths)
    plain = CloneOptions()

    def fingerprint(values: Values) -> str:
        same = replace(_choose_values(options, values), out=plain.out, threads=plain.threads)
        return fingerprint_case([asdict(same), learned_from])

    def decode(values: Values, answer: TaskAnswer) -> CloneResult:
        if answer.error:
            return CloneResult(values=values, failure=answer.error)
        learned = msgspec.msgpack.decode(answer.value, type=CloneAnswer)
        policy = _find_policy(folder, values)
        write_whole(policy, learned.policy, FILE_KIND)
        write_whole(policy.with_suffix(".html"), learned.report, FILE_KIND)
        return CloneResult(values=values, pictures=learned.pictures, loss=learned.loss, error=learned.error,
                           cpu_s=learned.cpu_s)  # fmt: skip

    return CaseTask(
        CLONE_TASK, "trainings", fingerprint,
        lambda values, is_remote: encode_clone_job(paths, _choose_values(options, values)), decode, _describe_clone,
        lambda clone: bool(clone.failure) or not is_regular_file(_find_policy(folder, clone.values)),
    )  # fmt: skip


def _choose_values(options: CloneOptions, values: Values) -> CloneOptions:
    return replace(options, **values)  # type: ignore[arg-type]


def _find_policy(folder: Path, values: Values) -> Path:
    return folder / f"{safe_name(_format_values(values).replace(', ', '_'))}.npz"


def _describe_clone(values: Values, clone: CloneResult) -> str:
    error = "not known" if clone.error is None else f"{clone.error:.4f}"
    return f"{_format_values(values)}: {clone.failure or f'held-out steer error {error}'}"


def _rank_error(error: float | None) -> float:
    return math.inf if error is None else error


def _describe_sources(paths: list[Path]) -> list[list[Any]]:
    # Name and size of each file that is learned from.
    found = []
    for source in find_sources(paths):
        path = Path(source.name)
        files = sorted(path.iterdir()) if path.is_dir() else [path]
        found += [[path.name, file.name, file.stat().st_size] for file in files if file.is_file()]
    return found


def _copy_best(policy: Path, out: Path) -> None:
    for suffix in (".npz", ".html"):
        data = read_user_file(policy.with_suffix(suffix), "file of a training", MAX_FILE)
        write_whole(out.with_suffix(suffix), data, FILE_KIND)


def _format_values(values: Values) -> str:
    return ", ".join(f"{name}={value:g}" for name, value in values.items())
