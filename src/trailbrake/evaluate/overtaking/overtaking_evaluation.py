"""Runs a suite of overtaking: drives the scenes that have no result yet, several at a time, and scores the drivers."""

import functools
import math
import statistics
from collections.abc import Callable, Sequence

import msgspec

from trailbrake.campaign.case_run import CampaignListener, CaseStore, CaseTask, fingerprint_case, run_cases
from trailbrake.drivers.loading.driver_registry import load_driver
from trailbrake.errors import UsageError
from trailbrake.evaluate.evaluation import default_folder
from trailbrake.evaluate.options import EvaluationOptions, EvaluationRunOptions
from trailbrake.evaluate.overtaking.scene_drive import JudgedDriver, SceneResult, drive_scene
from trailbrake.evaluate.overtaking.scenes import OvertakingScene, OvertakingSuite, draw_scenes, load_overtaking_suite
from trailbrake.evaluate.suite_evaluation import check_suite_options
from trailbrake.json_types import JsonObject
from trailbrake.name_lists import expand_names, expand_seeds
from trailbrake.tasks.sent_files import collect_files
from trailbrake.tasks.task_worker import TaskAnswer
from trailbrake.user_files import write_whole

Z = statistics.NormalDist().inv_cdf(0.975)  # standard deviations, within which are 95 %


def wilson_interval(hits: int, count: int) -> tuple[float, float]:
    """Return the 95 % interval of a share: Wilson, J. Am. Stat. Assoc. 22 (1927); (0, 1) of nothing.

    Args:
        hits: times that it happened.
        count: of how many.
    """
    if count == 0:
        return 0.0, 1.0
    share, spread = hits / count, Z * Z / count
    middle = (share + 0.5 * spread) / (1.0 + spread)
    reach = Z * math.sqrt(share * (1.0 - share) / count + 0.25 * spread / count) / (1.0 + spread)
    return max(middle - reach, 0.0), min(middle + reach, 1.0)


def score_scenes(results: Sequence[SceneResult]) -> JsonObject:
    """Return the figures of the scenes of one class and driver; those with an error count as not passed."""
    count, driven = len(results), [result for result in results if not result.error]

    def share(hits: int) -> JsonObject:
        low, high = wilson_interval(hits, count)
        return {"count": hits, "share": hits / count if count else math.nan, "low": low, "high": high}

    return {
        "scenes": count, "errors": count - len(driven),
        "passed": share(sum(result.passed for result in driven)),
        "contact": share(sum(result.contact for result in driven)),
        "off_road": share(sum(result.off_road_s > 0.0 for result in driven)),
        "after_s": _median([result.after_s for result in driven if result.passed]),
        "lost_s": _median([result.lost_s for result in driven]),
        "rival_lost_s": _median([result.rival_lost_s for result in driven]),
        "ratio": _median([result.ratio for result in driven]),
    }  # fmt: skip


def _median(values: Sequence[float | None]) -> float:
    known = [value for value in values if value is not None]
    return statistics.median(known) if known else math.nan


SCENES_TASK = "trailbrake.evaluate.overtaking.overtaking_evaluation:run_scenes_task"
RESULT_FILE = "overtaking.json"
SCENES_PER_CASE = 5  # a driver practises once for each case
_FREE_OPTIONS = ("drivers", "gain", "config", "seeds")


class SceneCase(msgspec.Struct, frozen=True, kw_only=True):
    """Scenes of one venue, one driver: what a process drives at a time.

    Attributes:
        suite: name.
        judged: who is judged.
        scenes: what is driven.
    """

    suite: str
    judged: JudgedDriver
    scenes: tuple[OvertakingScene, ...]


def evaluate_overtaking(
    name: str,
    options: EvaluationOptions,
    running: EvaluationRunOptions,
    say: Callable[[str], None],
    show_share: Callable[[float], None] = lambda share: None,
) -> JsonObject:
    """Drive the scenes of a suite that have no result yet, write its result and return what `--json` prints.

    Args:
        name: of the suite.
        options: drivers, their gains and their file of gains, and the seeds of the scenes; nothing else.
        running: how; `scenes`: how many of each class.
        say: takes lines for the user.
        show_share: takes the share of the cases that are done, after each.

    Raises:
        UsageError, DataError: a name or an option that cannot be used. Nothing has been driven.
        KeyboardInterrupt: stopped; the results of finished cases are kept.
    """
    suite = load_overtaking_suite(name)
    check_suite_options(options, _FREE_OPTIONS, name)
    if running.check is not None or running.board or running.files_only:
        raise UsageError("results of scenes are not checked or ranked", where="--check, --board, --files-only",
                         hint=f"leave it out with {name}")  # fmt: skip
    if running.scenes < 0:
        raise UsageError("no number of scenes", where="--scenes", expected="0 or more", got=str(running.scenes))
    config = "" if options.config is None else str(options.config)
    drivers = [JudgedDriver(driver, options.gain, config) for driver in expand_names(options.drivers, "--drivers")]
    for judged in drivers:
        load_driver(judged.name, options.config, judged.gain)
    seeds = expand_seeds(options.seeds, "--seeds")
    cases = [case for driver in drivers for seed in seeds for case in list_cases(suite, driver, seed, running.scenes)]
    folder = running.out or default_folder()
    store = CaseStore(folder / "scenes", list[SceneResult], any_source=running.any_version)
    done = run_cases(cases, _make_task(), store, folder, options=running, listener=CampaignListener(say, show_share))
    rows = [
        {"driver": case.judged.name, **msgspec.to_builtins(scene), **msgspec.to_builtins(result)}
        for case, results in zip(cases, done.results, strict=True)
        for scene, result in zip(case.scenes, results or (), strict=True)
    ]
    result: JsonObject = {
        "suite": suite.name, "text": suite.text, "seeds": seeds, "scores": _score_rows(suite, rows), "scenes": rows,
        "drove": done.ran, "kept": done.kept, "wall_s": done.wall_s, "file": str(folder / RESULT_FILE),
    }  # fmt: skip
    write_whole(folder / RESULT_FILE, msgspec.json.format(msgspec.json.encode(result)), "the result")
    return result


def list_cases(suite: OvertakingSuite, judged: JudgedDriver, seed: int, count: int) -> list[SceneCase]:
    """Return the cases of a driver: scenes of one class and venue together, at most SCENES_PER_CASE.

    Args:
        suite: what is driven.
        judged: by whom.
        seed: of the scenes.
        count: scenes of each class; 0 = all.
    """
    cases = []
    for kind in suite.classes:
        scenes = draw_scenes(suite, kind, seed, count)
        for venue in suite.venues:
            here = [scene for scene in scenes if scene.venue == venue]
            for first in range(0, len(here), SCENES_PER_CASE):
                part = tuple(here[first : first + SCENES_PER_CASE])
                cases.append(SceneCase(suite=suite.name, judged=judged, scenes=part))
    return cases


def _score_rows(suite: OvertakingSuite, rows: list[JsonObject]) -> list[JsonObject]:
    groups = dict.fromkeys((row["driver"], row["kind"]) for row in rows)
    return [
        {"driver": driver, "kind": kind, **score_scenes([
            msgspec.convert({name: row[name] for name in SceneResult.__struct_fields__}, SceneResult)
            for row in rows if (row["driver"], row["kind"]) == (driver, kind)])}
        for driver, kind in groups
    ]  # fmt: skip


def _make_task() -> CaseTask[SceneCase, list[SceneResult]]:
    fingerprint = functools.cache(
        lambda case: fingerprint_case(case, [case.judged.name, case.judged.config, *case.judged.gain])
    )

    def encode(case: SceneCase, is_remote: bool) -> bytes:
        if is_remote and collect_files([case.judged.name, case.judged.config, *case.judged.gain]):
            raise UsageError("a file of a driver stays on this machine", where="--on", got=case.judged.name)
        return msgspec.msgpack.encode(case)

    def decode(case: SceneCase, answer: TaskAnswer) -> list[SceneResult]:
        if answer.error:
            return [SceneResult(error=answer.error) for _ in case.scenes]
        return msgspec.msgpack.decode(answer.value, type=list[SceneResult])

    return CaseTask(
        SCENES_TASK, "groups of scenes", fingerprint, encode, decode, _describe_results,
        lambda results: any(result.error for result in results),
    )  # fmt: skip


def _describe_results(case: SceneCase, results: list[SceneResult]) -> str:
    first = case.scenes[0]
    passed, touched = sum(result.passed for result in results), sum(result.contact for result in results)
    errors = dict.fromkeys(result.error for result in results if result.error)
    return (f"{case.judged.name}, {first.kind}, {first.venue.car} on {first.venue.track}: {passed} of {len(results)}"
            f" passed, {touched} contacts{''.join(f'; {error}' for error in errors)}")  # fmt: skip


def run_scenes_task(argument: bytes) -> bytes:
    """Drive the scenes of an encoded `SceneCase` and return encoded `SceneResult`s."""
    case = msgspec.msgpack.decode(argument, type=SceneCase)
    suite = load_overtaking_suite(case.suite)
    return msgspec.msgpack.encode([drive_scene(suite, scene, case.judged) for scene in case.scenes])
