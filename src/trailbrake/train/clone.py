"""`clone_policy`: trains a policy on recordings, with optional correction rounds, and writes a report.

Correction rounds: the policy drives, and an expert labels each of its pictures with its own controls.

Source: Ross, Gordon, Bagnell, A reduction of imitation learning and structured prediction to no-regret online learning
(DAgger), AISTATS 2011. The expert runs afterwards on the recorded states.
"""

import math
import threading
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, fields
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trailbrake.drivers.loading.driver_registry import load_driver
from trailbrake.drivers.loading.policy import PREFIX, ImagePolicy, write_policy
from trailbrake.drivers.loading.policy_archive import SUFFIX
from trailbrake.driving.run import INTERRUPTED
from trailbrake.driving.session.drive_session import drive
from trailbrake.errors import UsageError
from trailbrake.observe.image_crop import CropSpec
from trailbrake.planning.course import UnmappedCourse
from trailbrake.record.recording_reader import Recording
from trailbrake.sims import registry
from trailbrake.state import CarState, Image
from trailbrake.system import steady_clock
from trailbrake.system.signals import handle_stop_signals
from trailbrake.train.dataset import Dataset, gather_dataset, join_datasets
from trailbrake.train.learner import LEARNING_RATE, Epoch, Learner
from trailbrake.train.options import CloneOptions
from trailbrake.train.report import write_report
from trailbrake.train.sources import RecordingSource, TrainingSource, find_sources
from trailbrake.transport.image_codec import decode_pixels
from trailbrake.user_files import check_result
from trailbrake.version import __version__

ROUND_EPOCHS, ROUND_RATE = 3, 0.5  # epochs of a correction round; its learning rate, share of the first one
MAX_EPOCHS, MIN_PICTURES = 1000, 500
DRIVES_PER_ROUND = 4  # the next round continues in the list where this one ends
# What a camera's expert may ask for: a recording has it in its columns.
EXPERT_FIELDS = ("time", "speed", "steer", "throttle", "brake", "lap", "lap_time")


@dataclass(frozen=True)
class PracticeDrive:
    """A drive of the policy: a track, and the host's options."""

    track: str
    host: tuple[str, ...]


def plan_practice(sources: Sequence[TrainingSource], options: CloneOptions) -> list[PracticeDrive]:
    """Return the drives of which the rounds take theirs: every track in every paint.

    Raises:
        UsageError: no track is known; the expert cannot drive by what is recorded.
    """
    expert = load_driver(options.expert)
    beyond = set(expert.NEEDS) - {*EXPERT_FIELDS, "image"}
    if beyond:
        raise UsageError("this expert needs more than pictures", where="--expert", expected="one like lane_sign",
                         got=f"{options.expert}, which needs {', '.join(sorted(beyond))}")  # fmt: skip
    tracks = [track for track in options.tracks.split(",") if track]
    if not tracks:
        known = [
            source.open_recording().about.get("track", "") for source in sources if isinstance(source, RecordingSource)
        ]
        tracks = [track for track in dict.fromkeys(known) if track]
    if not tracks:
        raise UsageError("no track to practise on", where="--rounds", expected="--tracks NAME,NAME",
                         hint="a driving_log.csv does not say where it was driven")  # fmt: skip
    serve = registry.find(options.sim).serve_options
    painted = any(item.name == "look" for item in fields(serve))
    looks = [(f"look={look}",) for look in options.look.split(",") if look] if painted else [()]
    return [PracticeDrive(track, host) for track in tracks for host in looks or [()]]


def run_correction_round(
    policy: Path, practice: Sequence[PracticeDrive], number: int, options: CloneOptions, say: Callable[[str], None]
) -> tuple[list[TrainingSource], list[dict[str, Any]]]:
    """Let the policy drive and the expert label its drives; return them as sources, and a result of each drive."""
    corrected: list[TrainingSource] = []
    results: list[dict[str, Any]] = []
    for i in range(min(DRIVES_PER_ROUND, len(practice))):
        task = practice[(number * DRIVES_PER_ROUND + i) % len(practice)]
        summary = drive(
            sim=options.sim, driver=f"{PREFIX}{policy}", track=task.track, host=task.host, laps=1,
            seconds=options.seconds, report=False, out=options.out.parent / f"{options.out.stem}_rounds",
        )  # fmt: skip
        result = {"round": number + 1, "track": task.track, "host": list(task.host), "contacts": summary["contacts"],
                  "laps": len(summary["laps"]), "recording": summary["recording"]}  # fmt: skip
        say(f"round {number + 1}: {task.track} {' '.join(task.host)}: {result['laps']} laps, {result['contacts']:g} "
            "contacts")  # fmt: skip
        results.append(result)
        path = Path(summary["recording"])
        corrected.append(RecordingSource(path, compute_expert_answers(Recording.open(path), options.expert)))
    return corrected, results


def compute_expert_answers(recording: Recording, expert: str) -> NDArray[np.float64]:
    """Return the steer and the pedal (n, 2) that an expert answers at each row; NaN where no picture can be read."""
    driver = load_driver(expert)
    driver.reset(UnmappedCourse())
    columns = {name: recording.state[name] for name in EXPERT_FIELDS}
    answers = np.full((len(recording), 2), np.nan)
    last = np.nan
    for picture in recording.pictures():
        image = Image(picture.data, decode_pixels)
        if image.pixels is None:
            continue
        state = CarState(image=image)
        for name, column in columns.items():
            setattr(state, name, float(column[picture.row]))
        dt = state.time - last
        controls = driver.act(state, dt if 0.0 < dt < 1.0 else 0.0)
        last = state.time
        backs = controls.gear is not None and controls.gear < 0
        answers[picture.row] = controls.steer, -controls.throttle if backs else controls.throttle - controls.brake
    return answers


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
    check_result(options.out, SUFFIX)


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
    glance, stop = CropSpec(), threading.Event()

    def report_progress(share: float, epoch: Epoch | None) -> bool:
        progress(share)
        if epoch is not None:
            say(f"epoch {len(work.epochs) + round(share * todo)}: loss {epoch.loss:.3f}, steer error {epoch.error:.4f};"
                f" held out {epoch.held_loss:.3f}, {epoch.held_error:.4f}")  # fmt: skip
        return not stop.is_set()

    began = steady_clock.processor_time()
    learner = Learner(glance, options.seed, options.threads)  # first: it is soon known whether PyTorch is there
    sources = find_sources(paths)
    practice = plan_practice(sources, options) if options.rounds else []
    gather = partial(gather_dataset, crop=glance, most=options.most, share=options.held_out, seed=options.seed, say=say)
    data = gather(sources, smoothing=options.smoothing)
    work, todo = _TrainingState(sources, data, learner, []), options.epochs
    rounds: list[dict[str, Any]] = []
    with handle_stop_signals(stop.set):
        work.epochs += learner.fit(work.data, todo, report_progress)
        for number in range(options.rounds):
            if stop.is_set():
                break
            file = options.out.with_name(f"{options.out.stem}_round{number}{SUFFIX}")
            write_policy(file, ImagePolicy(glance, learner.export_layers()))
            corrected, results = run_correction_round(file, practice, number, options, say)
            rounds += results
            work.data = join_datasets(work.data, gather(corrected, smoothing=0.0))
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
        "ended": INTERRUPTED if stop.is_set() else "done",
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
