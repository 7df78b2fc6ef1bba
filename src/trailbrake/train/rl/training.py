"""`train_policy`: samples, learns, judges and keeps, until time or iterations are over."""

from collections.abc import Callable
from contextlib import ExitStack, suppress
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from trailbrake.drivers.loading.race_policy import RacePolicy, write_race_policy
from trailbrake.driving.run import INTERRUPTED
from trailbrake.errors import DataError, OsErrors, UsageError, describe_os_error
from trailbrake.system import steady_clock
from trailbrake.system.signals import handle_stop_signals
from trailbrake.tasks.task_pool import open_team
from trailbrake.train.pytorch import choose_device, import_torch
from trailbrake.train.rl.checkpoint import TrainingProgress, read_checkpoint, write_checkpoint
from trailbrake.train.rl.curves import PAGE_FILE, CurveWriter, write_curves_page
from trailbrake.train.rl.evaluation import LapEvaluator, TrackResult, score_results
from trailbrake.train.rl.iteration import IterationOutcome, build_sampler, run_iteration
from trailbrake.train.rl.options import RlOptions, check_options, race_options
from trailbrake.train.rl.ppo import PpoLearner
from trailbrake.train.rl.worker_crew import WorkerCrew
from trailbrake.version import __version__

POLICY_FILE, CHECKPOINT_FILE = "policy.npz", "checkpoint.npz"
CHECKPOINT_SECONDS = 60.0  # of wall time between checkpoints, about
WORKER_PATIENCE_S = 900.0  # of wall time for an iteration of several workers


def _choose_device(options: RlOptions, say: Callable[[str], None] = lambda text: None) -> str:
    # Of this process: several workers choose their own, and the state is kept here.
    return choose_device(options.device, say) if options.workers == 1 else "cpu"


def build_learner(options: RlOptions) -> PpoLearner:
    """Return a new learner of the observation that options name."""
    import_torch().set_num_threads(options.threads)
    width, device = race_options(options).build_task().width, _choose_device(options)
    return PpoLearner(width, options.hidden, options.seed, target_divergence=options.divergence, device=device)


def export_policy(learner: PpoLearner, options: RlOptions, about: dict[str, Any]) -> RacePolicy:
    """Return the learner's deterministic policy."""
    layers, mean, scale = learner.export_layers()
    return RacePolicy(
        options.observed_parts,
        options.command_limits,
        mean,
        scale,
        layers,
        about,
        on_kerbs=options.kerbs,
        plan_car=options.plan_car,
    )


@dataclass
class _Run:
    # A training under way.
    options: RlOptions
    learner: PpoLearner
    run_iteration: Callable[[int], IterationOutcome]
    evaluator: LapEvaluator
    curves: CurveWriter
    progress: TrainingProgress
    say: Callable[[str], None]
    results: list[TrackResult] = field(default_factory=list)
    saved_at: float = 0.0
    save_error: str = ""

    def iterate(self) -> None:
        """Sample, learn, and judge where it is time."""
        options, iteration = self.options, self.progress.iteration + 1
        wall = steady_clock.now()
        try:
            outcome = self.run_iteration(iteration)
        except FloatingPointError as error:
            raise DataError(
                "learning diverged", where=f"{options.out}, iteration {iteration}", expected="finite numbers",
                got=str(error), hint="the checkpoint and the best policy so far are kept; try another --seed",
            ) from error  # fmt: skip
        wall_spent, cpu_spent = steady_clock.now() - wall, outcome.cpu_time
        self.progress = replace(
            self.progress, iteration=iteration, steps=self.progress.steps + outcome.steps,
            wall_time=self.progress.wall_time + wall_spent, cpu_time=self.progress.cpu_time + cpu_spent,
        )  # fmt: skip
        shares = {f"{name}_share": value / max(cpu_spent, 1e-9) for name, value in outcome.times.items()}
        figures = {
            "steps": self.progress.steps, "wall_s": round(self.progress.wall_time, 2),
            "cpu_s": round(self.progress.cpu_time, 2), "steps_per_s": outcome.steps / max(wall_spent, 1e-9),
            "steps_per_cpu_s": outcome.steps / max(cpu_spent, 1e-9), **outcome.figures, **shares,
        }  # fmt: skip
        if iteration % options.evaluate_every == 0:
            figures = self.judge() | figures
        self.curves.add(iteration, figures)

    def judge(self) -> dict[str, float]:
        """Judge the policy, keep it if it is the best so far, and return figures for the curves."""
        options, progress = self.options, self.progress
        about = {
            "trailbrake": __version__, "method": "ppo", "car": options.car, "track": options.track,
            "seed": options.seed, "iteration": progress.iteration, "steps": progress.steps,
            "cpu_s": round(progress.cpu_time, 1), "wall_s": round(progress.wall_time, 1),
        }  # fmt: skip
        policy = export_policy(self.learner, options, about)
        self.results = self.evaluator.evaluate(policy)
        score = score_results(self.results)
        if score < progress.best_score:
            self.progress = replace(progress, best_score=score, best_iteration=progress.iteration)
            policy.about["laps"] = {result.track: round(result.lap_time, 3) for result in self.results}
            try:
                write_race_policy(options.out / POLICY_FILE, policy)
            except UsageError as error:
                self.say(str(error))
                self.save_error = str(error)
        is_best = " (best)" if self.progress.best_iteration == progress.iteration else ""
        crashes, cars = (sum(getattr(result, name) for result in self.results) for name in ("crashes", "cars"))
        laps = ", ".join(f"{r.track} {r.lap_time:.2f} s ({100.0 * (r.ratio - 1.0):+.1f} %)" for r in self.results[:6])
        minutes = progress.wall_time / 60.0
        self.say(f"iteration {progress.iteration}, {progress.steps / 1e6:.1f} M steps, {minutes:.1f} min: {laps};"
                 f" {crashes} of {cars} cars crashed{is_best}")  # fmt: skip
        return {"steps": progress.steps, "wall_s": about["wall_s"], "cpu_s": about["cpu_s"], "score": score,
                "crashes": crashes, **{f"lap_s/{r.track}": r.lap_time for r in self.results}}  # fmt: skip

    def save(self) -> None:
        """Write the checkpoint; where that fails the last good one stays, and the training goes on."""
        try:
            write_checkpoint(
                self.options.out / CHECKPOINT_FILE, self.options, self.progress, self.learner.export_state()
            )
            self.save_error = ""
        except OSError as error:
            self.save_error = f"cannot write the checkpoint: {describe_os_error(error)}; the last good one stays"
            self.say(self.save_error)
        with suppress(UsageError):  # a disk without room for the page has none for the checkpoint, which says so
            write_curves_page(self.options.out / PAGE_FILE, self.options.out.name, self.curves.read_rows())
        self.saved_at = steady_clock.now()


def _open_workers(
    options: RlOptions, learner: PpoLearner, say: Callable[[str], None], stack: ExitStack
) -> Callable[[int], IterationOutcome]:
    # What runs an iteration and leaves the new state in the learner: this process, or several.
    if options.workers > 1:
        team = stack.enter_context(open_team(
            options.on, options.workers, WORKER_PATIENCE_S, lambda number: options.out / f"worker-{number}.log", say
        ))  # fmt: skip
        crew = WorkerCrew(options, team, say)
        return lambda iteration: crew.run_iteration(learner, iteration)
    sampler = build_sampler(options, learner.actor, _choose_device(options, say))
    stack.callback(sampler.close)
    return lambda iteration: run_iteration(learner, sampler, [options.seed, iteration], iteration)


def train_policy(
    options: RlOptions,
    say: Callable[[str], None] = lambda text: None,
    progress: Callable[[float], None] = lambda share: None,
) -> dict[str, Any]:
    """Learn a policy, keep the best one and checkpoints in the run's folder, and return what was done.

    An interrupt ends the learning after the iteration under way; a checkpoint is written.

    Args:
        options: how.
        say: takes lines for the user.
        progress: takes the share done.

    Raises:
        UsageError: a wrong option, no PyTorch or Ray, a folder that is taken, or one that cannot be written; a mirror
            that cannot be used.
        SimulatorError: no cluster, or workers that are lost again and again.
        DataError: a checkpoint that cannot be read, or learning that diverged.
    """
    check_options(options)
    learner = build_learner(options)  # first: it is soon known whether PyTorch is there
    done = _prepare_folder(options, learner)
    stopped = False

    def stop() -> None:
        nonlocal stopped
        stopped = True

    with ExitStack() as stack:
        say(f"planning {len({track for track, _ in options.road_groups[0]} | set(options.judged_tracks))} tracks")
        run_one = _open_workers(options, learner, say, stack)
        evaluator = LapEvaluator(options)
        stack.callback(evaluator.close)
        curves = CurveWriter(options.out, done.iteration)
        stack.callback(curves.close)
        if not curves.has_tensorboard:
            say("no TensorBoard: curves go to progress.jsonl alone; pip install tensorboard")
        run = _Run(options, learner, run_one, evaluator, curves, done, say)
        stack.enter_context(handle_stop_signals(stop))
        began = run.saved_at = steady_clock.now()
        while not stopped:
            spent = (steady_clock.now() - began) / (60.0 * options.minutes)
            most = options.iterations
            progress(min(max(spent, run.progress.iteration / most if most else 0.0), 1.0))
            if spent >= 1.0 or (most and run.progress.iteration >= most):
                break
            run.iterate()
            if steady_clock.now() - run.saved_at >= CHECKPOINT_SECONDS:
                run.save()
        if run.progress.iteration % options.evaluate_every and run.progress.iteration > done.iteration:
            run.curves.add(run.progress.iteration, run.judge())
        run.save()
    if run.save_error:
        raise UsageError(run.save_error, where=str(options.out), hint="make room, then go on with --resume")
    return {
        "policy": str(options.out / POLICY_FILE), "ended": INTERRUPTED if stopped else "done",
        **asdict(run.progress), "results": [asdict(result) for result in run.results],
    }  # fmt: skip


def _prepare_folder(options: RlOptions, learner: PpoLearner) -> TrainingProgress:
    path: Path = options.out / CHECKPOINT_FILE
    if options.resume:
        done, state = read_checkpoint(path, options)
        try:
            learner.import_state(state)
        except (KeyError, RuntimeError, TypeError, ValueError) as error:
            got = " ".join(str(error).split())[:160]
            raise DataError("the checkpoint does not fit the learner", where=str(path), got=got) from error
        return done
    if path.exists():
        raise UsageError("a training is there already", where=str(options.out), hint="--resume, or another --out")
    with OsErrors("cannot make the folder", where=str(options.out)):
        options.out.mkdir(parents=True, exist_ok=True)
    return TrainingProgress()
