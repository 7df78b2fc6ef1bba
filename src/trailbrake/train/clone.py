"""`clone_policy`: trains a policy on recordings, with optional correction rounds, and writes a report."""

import math
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from trailbrake.drivers.loading.policy_archive import SUFFIX
from trailbrake.drivers.loading.policy_file import ImagePolicy, write_policy
from trailbrake.driving.run import INTERRUPTED
from trailbrake.errors import UsageError
from trailbrake.observe.image_crop import CropSpec
from trailbrake.system import steady_clock
from trailbrake.system.signals import handle_stop_signals
from trailbrake.train.correction_rounds import plan_practice, run_correction_round
from trailbrake.train.dataset import Dataset, gather_dataset, join_datasets
from trailbrake.train.learner import LEARNING_RATE, Epoch, Learner
from trailbrake.train.options import CloneOptions
from trailbrake.train.report import write_report
from trailbrake.train.sources import TrainingSource, find_sources
from trailbrake.version import __version__

ROUND_EPOCHS, ROUND_RATE = 3, 0.5  # epochs of a correction round; its learning rate, share of the first one
MAX_EPOCHS, MIN_PICTURES = 1000, 500


def check_options(options: CloneOptions) -> None:
    """Check the options; UsageError names the one that is wrong."""
    for name, good, expected in (
        ("epochs", 1 <= options.epochs <= MAX_EPOCHS, f"1 .. {MAX_EPOCHS}"),
        ("most", options.most >= MIN_PICTURES, f"{MIN_PICTURES} or more"),
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
class _TrainingState:
    """The state of a training."""

    sources: list[TrainingSource]
    data: Dataset
    learner: Learner
    epochs: list[Epoch]


def clone_policy(
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
    check_options(options)
    glance, stopped = CropSpec(), False

    def stop() -> None:
        nonlocal stopped
        stopped = True

    def report_progress(share: float, epoch: Epoch | None) -> bool:
        progress(share)
        if epoch is not None:
            say(f"epoch {len(work.epochs) + round(share * todo)}: loss {epoch.loss:.3f}, steer error {epoch.error:.4f};"
                f" held out {epoch.held_loss:.3f}, {epoch.held_error:.4f}")  # fmt: skip
        return not stopped

    began = steady_clock.processor_time()
    learner = Learner(glance, options.seed, options.threads)  # first: it is soon known whether PyTorch is there
    sources = find_sources(paths)
    practice = plan_practice(sources, options) if options.rounds else []
    data = gather_dataset(sources, glance, most=options.most, smoothing=options.smoothing, share=options.held_out,
                  seed=options.seed, say=say)  # fmt: skip
    work, todo = _TrainingState(sources, data, learner, []), options.epochs
    rounds: list[dict[str, Any]] = []
    with handle_stop_signals(stop):
        work.epochs += learner.fit(work.data, todo, report_progress)
        for number in range(options.rounds):
            if stopped:
                break
            file = options.out.with_name(f"{options.out.stem}_round{number}{SUFFIX}")
            write_policy(file, ImagePolicy(glance, learner.export_layers()))
            corrected, results = run_correction_round(file, practice, number, options, say)
            rounds += results
            more = gather_dataset(corrected, glance, most=options.most, smoothing=0.0, share=options.held_out,
                          seed=options.seed, say=say)  # fmt: skip
            work.data = join_datasets(work.data, more)
            work.sources += corrected
            todo = ROUND_EPOCHS
            work.epochs += learner.fit(work.data, todo, report_progress, LEARNING_RATE * ROUND_RATE)
    spent = steady_clock.processor_time() - began
    about = _describe_training(options, work, spent)
    write_policy(options.out, ImagePolicy(glance, learner.export_layers(), about))
    report = write_report(options.out.with_suffix(".html"), options.out.name, about, work.sources, work.data,
                          learner.compute_outputs(work.data.pictures), work.epochs, glance)  # fmt: skip
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


def _describe_training(options: CloneOptions, state: _TrainingState, cpu_time: float) -> dict[str, Any]:
    last = state.epochs[-1] if state.epochs else Epoch(*[math.nan] * 4)
    figures = {"held_loss": last.held_loss, "held_error": last.held_error}
    return {
        "trailbrake": __version__, "made": steady_clock.iso_timestamp(), "pictures": len(state.data),
        "held_out": int(np.count_nonzero(state.data.held)), "epochs": len(state.epochs), "seed": options.seed,
        "smoothing": options.smoothing, "rounds": options.rounds, "cpu_s": round(cpu_time, 1),
        "from": [Path(name).name for name in state.data.names],
        **{name: round(value, 4) if math.isfinite(value) else None for name, value in figures.items()},
    }  # fmt: skip
