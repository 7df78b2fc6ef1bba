"""Finds better gains for a driver on the embedded world: one trial after the other, or some side by side.

Trials are kept beside the gains: a search that was broken off goes on from them.

Source of the search: Optuna's tree-structured Parzen estimator (Bergstra et al., Algorithms for hyper-parameter
optimization, NIPS 2011).
"""

from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict, is_dataclass
from pathlib import Path

from trailbrake.drivers import gains
from trailbrake.driving.run import INTERRUPTED
from trailbrake.errors import UsageError, describe_os_error
from trailbrake.json_types import JsonObject
from trailbrake.run.gain_search import GainSearch
from trailbrake.run.options import TuneOptions
from trailbrake.run.trial_journal import TrialJournal
from trailbrake.run.trial_task import open_trial_pool
from trailbrake.simulator import AnySimulator
from trailbrake.system import steady_clock
from trailbrake.system.signals import handle_stop_signals

DriveTrials = Callable[[Sequence[Mapping[str, float]]], list[float]]


def tune_gains(
    simulator: AnySimulator,
    options: TuneOptions,
    say: Callable[[str], None] = lambda text: None,
    show_share: Callable[[float], None] = lambda share: None,
) -> JsonObject:
    """Search, write the file of the best gains, and return what `trailbrake tune --json` prints.

    An interrupt ends the search; what it has found until then is written. The same call goes on from the trials that
    are done, and finds what it finds in one go.

    Args:
        simulator: whose wire to drive through.
        options: of the search.
        say: takes a line per trial.
        show_share: takes the share of the trials that are done, after each.

    Raises:
        UsageError: Optuna is missing, the driver has no gains, or a file cannot be written.
        KeyboardInterrupt: interrupted before the first trial was over.
    """
    try:
        import optuna
    except ImportError as error:
        raise UsageError("Optuna is missing", where="tune", hint='pip install "trailbrake[tune]"') from error
    _check_numbers(options)
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    search = GainSearch(simulator, options)
    out = options.out or Path(f"{search.name}.toml")
    trials = out.with_name(f"{out.stem}.trials.jsonl")
    return _search_gains(search, options, out, TrialJournal(trials, options), (say, show_share))


def _search_gains(
    search: GainSearch,
    options: TuneOptions,
    out: Path,
    journal: TrialJournal,
    watchers: tuple[Callable[[str], None], Callable[[float], None]],
) -> JsonObject:
    import optuna

    say, show_share = watchers
    sampler = optuna.samplers.TPESampler(seed=options.seed, multivariate=True, constant_liar=options.batch > 1)
    study = optuna.create_study(sampler=sampler)
    first = _gain_values(search.first)
    study.enqueue_trial({name: first[name] for name in search.searched})
    ranges = search.gain_ranges()
    with handle_stop_signals(search.request_stop), ExitStack() as closed:
        drive_trials: DriveTrials = search.trial_costs
        if options.batch > 1:
            drive_trials = closed.enter_context(open_trial_pool(options, lambda: search.stopped, say)).drive_trials
        tried = 0
        while tried < options.trials and not search.stopped:
            trials = [study.ask() for _ in range(min(options.batch, options.trials - tried))]
            values = [
                {name: trial.suggest_float(name, lo, hi) for name, (lo, hi) in ranges.items()} for trial in trials
            ]
            try:
                costs = _find_costs(values, journal, drive_trials)
            except KeyboardInterrupt:
                break
            for trial, cost in zip(trials, costs, strict=True):
                study.tell(trial, cost)
                tried += 1
                show_share(tried / options.trials)
                say(f"trial {tried}: {cost:.2f} s, best {study.best_value:.2f} s")
    driven = study.get_trials(deepcopy=False, states=[optuna.trial.TrialState.COMPLETE])
    if not driven:
        raise KeyboardInterrupt
    best = search.build_gains(study.best_params)
    about = f"{options.driver} on {options.track}, {options.cars}, {options.sim}: {len(driven)} trials"
    try:
        text = gains.format_gains(search.name, best, f"{about}, {steady_clock.iso_timestamp()}")
        out.write_text(text, encoding="utf-8")
    except OSError as error:
        raise UsageError("cannot write the gains", where=str(out), got=describe_os_error(error)) from error
    return {
        "driver": options.driver, "sim": options.sim, "track": options.track, "cars": options.cars.split(","),
        "trials": len(driven), "ended": INTERRUPTED if search.stopped else "done",
        "first_cost_s": driven[0].value, "best_cost_s": study.best_value, "gains": _gain_values(best), "out": str(out),
    }  # fmt: skip


def _find_costs(trials: Sequence[Mapping[str, float]], journal: TrialJournal, drive_trials: DriveTrials) -> list[float]:
    # Costs of trials; those that the journal has are not driven.
    known = [journal.find_cost(values) for values in trials]
    unknown = [values for values, cost in zip(trials, known, strict=True) if cost is None]
    driven = drive_trials(unknown) if unknown else []
    for values, cost in zip(unknown, driven, strict=True):
        journal.add_trial(values, cost)
    rest = iter(driven)
    return [next(rest) if cost is None else cost for cost in known]


def _gain_values(values: object) -> dict[str, float]:
    """Return {name: value} of a driver's gains."""
    assert is_dataclass(values)
    assert not isinstance(values, type)
    return asdict(values)


def _check_numbers(options: TuneOptions) -> None:
    if options.trials < 1:
        raise UsageError("no number of trials", where="--trials", expected="1 or more", got=str(options.trials))
    if options.batch < 1 or options.jobs < 0 or not options.patience > 0.0:
        raise UsageError("no number of trials or seconds", where="--batch, --jobs, --patience",
                         expected="1 or more, 0 or more, above 0",
                         got=f"{options.batch}, {options.jobs}, {options.patience:g}")  # fmt: skip
    if options.batch == 1 and (options.on or options.jobs > 1):
        raise UsageError("one trial after the other needs no processes", where="--jobs, --on",
                         hint="--batch 8 suggests eight trials at a time")  # fmt: skip
