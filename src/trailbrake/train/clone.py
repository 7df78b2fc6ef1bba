"""`clone`: from recordings to a policy, with correction rounds where they are asked for, and a report."""

import math
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from trailbrake import __version__
from trailbrake.drivers.policy_file import SUFFIX, Policy, write
from trailbrake.errors import UsageError
from trailbrake.observe.glance import Glance
from trailbrake.run import rate
from trailbrake.run.session import INTERRUPTED
from trailbrake.run.signals import on_stop
from trailbrake.train.dataset import Dataset, gather, joined
from trailbrake.train.fit import RATE, Epoch, Learner
from trailbrake.train.options import CloneOptions
from trailbrake.train.report import write_report
from trailbrake.train.rounds import drives_of, practised
from trailbrake.train.sources import Source, find

ROUND_EPOCHS, ROUND_RATE = 3, 0.5  # epochs of a correction round; its learning rate, share of the first one
MOST_EPOCHS, FEWEST_PICTURES = 1000, 500


def _check(options: CloneOptions) -> None:
    for name, good, expected in (
        ("epochs", 1 <= options.epochs <= MOST_EPOCHS, f"1 .. {MOST_EPOCHS}"),
        ("most", options.most >= FEWEST_PICTURES, f"{FEWEST_PICTURES} or more"),
        ("held-out", 0.0 <= options.held_out <= 0.5, "0 .. 0.5"),
        ("smoothing", 0.0 <= options.smoothing <= 2.0, "0 .. 2 s"),
        ("threads", options.threads >= 1, "1 or more"),
        ("rounds", options.rounds >= 0, "0 or more"),
        ("seconds", 0.0 < options.seconds < math.inf, "more than 0"),
        ("seed", options.seed >= 0, "0 or more"),
    ):
        if not good:
            got = str(getattr(options, name.replace("-", "_")))
            raise UsageError("cannot train so", where=f"--{name}", expected=expected, got=got)
    if options.out.suffix != SUFFIX:
        raise UsageError("a policy is a file of weights", where="--out", expected=f"a name that ends in {SUFFIX}",
                         got=options.out.name)  # fmt: skip


@dataclass
class _Work:
    """What training has come to so far."""

    sources: list[Source]
    data: Dataset
    learner: Learner
    epochs: list[Epoch]


def clone(
    paths: list[Path],
    options: CloneOptions,
    say: Callable[[str], None] = lambda text: None,
    progress: Callable[[float], None] = lambda share: None,
) -> dict[str, Any]:
    """Learn a policy, write it and its report, and return what was done.

    An interrupt ends the learning; what was learned so far is written.

    Args:
        paths: recordings and folders.
        options: how.
        say: takes lines for the user.
        progress: takes the share done of a stretch of learning.

    Raises:
        UsageError: nothing to learn from, a wrong option, or no PyTorch.
        DataError: a file that is no recording, or too few rows.
    """
    _check(options)
    glance, stopped = Glance(), False

    def stop() -> None:
        nonlocal stopped
        stopped = True

    def told(share: float, epoch: Epoch | None) -> bool:
        progress(share)
        if epoch is not None:
            say(f"epoch {len(work.epochs) + round(share * todo)}: loss {epoch.loss:.3f}, steer error {epoch.error:.4f};"
                f" held out {epoch.held_loss:.3f}, {epoch.held_error:.4f}")  # fmt: skip
        return not stopped

    began = rate.processor()
    learner = Learner(glance, options.seed, options.threads)  # first: it is soon known whether PyTorch is there
    sources = find(paths)
    practice = drives_of(sources, options) if options.rounds else []
    data = gather(sources, glance, most=options.most, smoothing=options.smoothing, share=options.held_out,
                  seed=options.seed, say=say)  # fmt: skip
    work, todo = _Work(sources, data, learner, []), options.epochs
    rounds: list[dict[str, Any]] = []
    with on_stop(stop):
        work.epochs += learner.fit(work.data, todo, told)
        for number in range(options.rounds):
            if stopped:
                break
            file = options.out.with_name(f"{options.out.stem}_round{number}{SUFFIX}")
            write(file, Policy(glance, learner.layers()))
            corrected, results = practised(file, practice, number, options, say)
            rounds += results
            more = gather(corrected, glance, most=options.most, smoothing=0.0, share=options.held_out,
                          seed=options.seed, say=say)  # fmt: skip
            work.data = joined(work.data, more)
            work.sources += corrected
            todo = ROUND_EPOCHS
            work.epochs += learner.fit(work.data, todo, told, RATE * ROUND_RATE)
    spent = rate.processor() - began
    about = _about(options, work, spent)
    write(options.out, Policy(glance, learner.layers(), about))
    report = write_report(options.out.with_suffix(".html"), options.out.name, about, work.sources, work.data,
                          learner.outputs(work.data.seen), work.epochs, glance)  # fmt: skip
    return {
        "policy": str(options.out),
        "report": str(report),
        "pictures": len(work.data),
        "skipped": dict(work.data.skipped),
        "epochs": [asdict(epoch) for epoch in work.epochs],
        "rounds": rounds,
        "cpu_s": spent,
        "ended": INTERRUPTED if stopped else "done",
    }


def _about(options: CloneOptions, work: _Work, spent: float) -> dict[str, Any]:
    last = work.epochs[-1] if work.epochs else Epoch(*[math.nan] * 4)
    figures = {"held_loss": last.held_loss, "held_error": last.held_error}
    return {
        "trailbrake": __version__, "made": rate.date(), "pictures": len(work.data),
        "held_out": int(np.count_nonzero(work.data.held)), "epochs": len(work.epochs), "seed": options.seed,
        "smoothing": options.smoothing, "rounds": options.rounds, "cpu_s": round(spent, 1),
        "from": [Path(name).name for name in work.data.names],
        **{name: round(value, 4) if math.isfinite(value) else None for name, value in figures.items()},
    }  # fmt: skip
