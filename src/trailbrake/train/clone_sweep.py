"""`sweep_clones`: a policy for every combination of seeds and settings, several at a time, and the best of them.

Each finished one is a file: a sweep that was broken off goes on with the same call.
"""

import hashlib
import itertools
import math
import threading
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec

from trailbrake.errors import TrailbrakeError, UsageError, describe_os_error
from trailbrake.name_lists import expand_seeds, split_names
from trailbrake.record.file_names import safe_name
from trailbrake.system.signals import handle_stop_signals
from trailbrake.tasks.pool_choice import open_pool
from trailbrake.tasks.source_digest import hash_source
from trailbrake.tasks.task_pool import count_jobs
from trailbrake.train.clone import check_options
from trailbrake.train.clone_task import CLONE_TASK, MAX_FILE, CloneAnswer, encode_clone_job
from trailbrake.train.options import CloneOptions, CloneSweepOptions
from trailbrake.train.sources import find_sources
from trailbrake.user_files import is_regular_file, read_user_file, write_whole

FILE_KIND = "a training's file"  # for messages
SWEPT = {"seed": int, "epochs": int, "most": int, "rounds": int, "smoothing": float, "held_out": float}
MOST_CLONES = 1000

Values = dict[str, int | float]


class StoredClone(msgspec.Struct, frozen=True, kw_only=True):
    """A finished training of a sweep, as its file has it.

    Attributes:
        fingerprint: of what was learned from, how, and by which code.
        values: the settings that the sweep varies.
        pictures, loss, error, cpu_s: as in `CloneAnswer`.
    """

    fingerprint: str
    values: Values
    pictures: int
    loss: float | None
    error: float | None
    cpu_s: float


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
    if sweep.jobs < 0 or not sweep.patience > 0.0:
        raise UsageError("no number of trainings or seconds", where="--jobs, --patience", expected="0 or more, above 0",
                         got=f"{sweep.jobs}, {sweep.patience:g}")  # fmt: skip
    combinations = expand_sweep(sweep.sweep)
    planned = [replace(options, **values) for values in combinations]  # type: ignore[arg-type]
    for one in planned:
        check_options(one)
    paths = [path.resolve() for path in paths]
    learned_from = _describe_sources(paths)
    folder = options.out.with_name(f"{options.out.stem}_sweep")
    store = _CloneFolder(folder, learned_from)
    done = {i: kept for i, one in enumerate(planned) if (kept := store.read_clone(one, combinations[i]))}
    to_learn = [i for i in range(len(planned)) if i not in done]
    say(f"{len(planned)} trainings, {len(to_learn)} to do, results in {folder}")
    failed: dict[int, str] = {}
    stop = threading.Event()
    is_main = threading.current_thread() is threading.main_thread()
    with handle_stop_signals(stop.set) if is_main else nullcontext(), open_pool(
        sweep.on, min(count_jobs(sweep.jobs), max(len(to_learn), 1)), sweep.patience,
        lambda job: folder / f"worker-{job}.log", say,
    ) as pool:  # fmt: skip
        jobs = [encode_clone_job(paths, planned[i]) for i in to_learn]
        for number, (index, answer) in enumerate(pool.run_tasks(CLONE_TASK, jobs, stop.is_set), 1):
            i = to_learn[index]
            if answer.error:
                failed[i] = answer.error
                say(f"{_format_values(combinations[i])}: {answer.error}")
            else:
                learned = msgspec.msgpack.decode(answer.value, type=CloneAnswer)
                done[i] = store.store_clone(planned[i], combinations[i], learned)
                say(f"{_format_values(combinations[i])}: held-out steer error {_format_error(done[i])}")
            show_share(number / len(to_learn))
    ranked = sorted(done, key=lambda i: _rank_error(done[i].error))
    if not ranked:
        raise UsageError("no training has ended well", where=str(folder), got=next(iter(failed.values()), ""))
    best = store.find_policy(combinations[ranked[0]])
    _copy_best(best, options.out)
    rows = [{**msgspec.to_builtins(done[i]), "policy": str(store.find_policy(combinations[i]))} for i in ranked]
    return {
        "policy": str(options.out), "best": combinations[ranked[0]], "folder": str(folder), "clones": rows,
        "failed": [{"values": combinations[i], "error": error} for i, error in failed.items()],
        "learned": len(to_learn) - len(failed), "kept": len(planned) - len(to_learn),
    }  # fmt: skip


class _CloneFolder:
    # The files of a sweep: for each training a policy, its report, and its figures, which are written last.

    def __init__(self, folder: Path, learned_from: list[list[Any]]) -> None:
        self._folder, self._learned_from = folder, learned_from
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise UsageError("cannot make the folder", where=str(folder), got=describe_os_error(error)) from error

    def find_policy(self, values: Values) -> Path:
        return self._folder / f"{safe_name(_format_values(values).replace(', ', '_'))}.npz"

    def read_clone(self, options: CloneOptions, values: Values) -> StoredClone | None:
        policy = self.find_policy(values)
        if not (is_regular_file(policy) and is_regular_file(policy.with_suffix(".json"))):
            return None
        try:
            data = read_user_file(policy.with_suffix(".json"), "result of a training")
            stored = msgspec.json.decode(data, type=StoredClone)
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError, TrailbrakeError):
            return None  # it is learned again
        return stored if stored.fingerprint == self._fingerprint(options) else None

    def store_clone(self, options: CloneOptions, values: Values, answer: CloneAnswer) -> StoredClone:
        stored = StoredClone(
            fingerprint=self._fingerprint(options), values=values, pictures=answer.pictures, loss=answer.loss,
            error=answer.error, cpu_s=answer.cpu_s,
        )  # fmt: skip
        policy = self.find_policy(values)
        write_whole(policy, answer.policy, FILE_KIND)
        write_whole(policy.with_suffix(".html"), answer.report, FILE_KIND)
        write_whole(policy.with_suffix(".json"), msgspec.json.format(msgspec.json.encode(stored)), FILE_KIND)
        return stored

    def _fingerprint(self, options: CloneOptions) -> str:
        plain = CloneOptions()
        same = replace(options, out=plain.out, threads=plain.threads)
        return hashlib.sha256(msgspec.json.encode([same, self._learned_from, hash_source()], enc_hook=str)).hexdigest()[
            :24
        ]


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


def _format_error(stored: StoredClone) -> str:
    return "not known" if stored.error is None else f"{stored.error:.4f}"
