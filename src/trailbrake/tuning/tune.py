"""Finds better gains for a driver on the embedded world: one trial after the other, or some side by side.

Trials are kept beside the gains: a search that was broken off goes on from them.

Source of the search: Optuna's tree-structured Parzen estimator (Bergstra et al., Algorithms for hyper-parameter
optimization, NIPS 2011).
"""

from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict, is_dataclass, replace
from pathlib import Path
from typing import NamedTuple

from trailbrake.campaign.case_run import CaseStore, check_campaign, fingerprint_case
from trailbrake.drivers.loading import gains
from trailbrake.driving.run import INTERRUPTED
from trailbrake.errors import OsErrors, UsageError
from trailbrake.json_types import JsonObject
from trailbrake.simulator import AnySimulator
from trailbrake.system import steady_clock
from trailbrake.system.signals import handle_stop_signals
from trailbrake.tuning.gain_search import GainSearch, list_words, open_trial_pool
from trailbrake.tuning.options import TuneOptions
from trailbrake.user_files import check_result

DriveTrials = Callable[[Sequence[Mapping[str, float]]], list[float]]


class TrialJournal(NamedTuple):
    """What the trials of a search cost: gains that have been driven are not driven again.

    The search suggests the same gains for equal costs, so one that resumes finds what one in one go finds.

    Attributes:
        store: of costs, s.
        search: `digest_search` of the search.
        again: whether to drive all of them again.
    """

    store: CaseStore[float]
    search: str
    again: bool = False

    def find_costs(self, trials: Sequence[Mapping[str, float]], drive_trials: DriveTrials) -> list[float]:
        """Return the costs of trials, s; those that are not known are driven and stored."""
        cases = [(self.search, sorted(values.items())) for values in trials]
        prints = [fingerprint_case(case) for case in cases]
        known = [None if self.again else self.store.read_result(each) for each in prints]
        unknown = [index for index, cost in enumerate(known) if cost is None]
        costs = drive_trials([trials[index] for index in unknown]) if unknown else []
        for index, cost in zip(unknown, costs, strict=True):
            known[index] = cost
            self.store.store_result(prints[index], cases[index], cost)
        return [cost for cost in known if cost is not None]


def digest_search(options: TuneOptions) -> str:
    """Return a text that is the same for searches whose trials may stand for each other."""
    plain = TuneOptions()
    same = replace(options, trials=plain.trials, out=None, batch=1, jobs=0, on="", patience=plain.patience, again=False)
    return fingerprint_case(asdict(same), list_words(options))


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
    check_result(options.out, ".toml")
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    search = GainSearch(simulator, options)
    out = options.out or Path(f"{search.name}.toml")
    store = CaseStore(out.with_name(f"{out.stem}.trials"), float)
    journal = TrialJournal(store, digest_search(options), again=options.again)
    return _search_gains(search, options, out, journal, (say, show_share))


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
                costs = journal.find_costs(values, drive_trials)
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
    with OsErrors("cannot write the gains", where=str(out)):
        text = gains.format_gains(search.name, best, f"{about}, {steady_clock.iso_timestamp()}")
        out.write_text(text, encoding="utf-8")
    return {
        "driver": options.driver, "sim": options.sim, "track": options.track, "cars": options.cars.split(","),
        "trials": len(driven), "ended": INTERRUPTED if search.stopped else "done",
        "first_cost_s": driven[0].value, "best_cost_s": study.best_value, "gains": _gain_values(best), "out": str(out),
    }  # fmt: skip


def _gain_values(values: object) -> dict[str, float]:
    """Return {name: value} of a driver's gains."""
    assert is_dataclass(values)
    assert not isinstance(values, type)
    return asdict(values)


def _check_numbers(options: TuneOptions) -> None:
    if options.trials < 1:
        raise UsageError("no number of trials", where="--trials", expected="1 or more", got=str(options.trials))
    if options.batch < 1:
        raise UsageError("no number of trials", where="--batch", expected="1 or more", got=str(options.batch))
    check_campaign(options)
    if options.batch == 1 and (options.on or options.jobs > 1):
        raise UsageError("one trial after the other needs no processes", where="--jobs, --on",
                         hint="--batch 8 suggests eight trials at a time")  # fmt: skip
