"""`train`: policies out of recordings, and out of driving in the embedded world.

`tune`: better gains for a driver.
"""

import sys
from pathlib import Path
from typing import Annotated, Any

from cyclopts import App, Parameter

from trailbrake.cli.output import JsonFlag, OpenFlag, answer, open_page, print_json, print_notice, print_table
from trailbrake.cli.terminal_progress import TaskProgress
from trailbrake.sims import registry
from trailbrake.train.options import CloneOptions, CloneSweepOptions
from trailbrake.train.rl.options import RlOptions
from trailbrake.tuning.options import TuneOptions


def build_train_app() -> App:
    """Return the verb with its methods."""
    made = App(name="train", help="Learn a driver from recordings, or by driving.")
    made.command(clone)
    made.command(rl)
    return made


def clone(
    *folders: Path,
    options: Annotated[CloneOptions | None, Parameter(name="*")] = None,
    sweep: Annotated[CloneSweepOptions | None, Parameter(name="*")] = None,
    open: OpenFlag = False,
    json: JsonFlag = False,
) -> int:
    """Learn to drive by pictures from recorded drives; `drive --driver policy:FILE` drives the policy.

    Args:
        folders: recordings (.mcap), folders with driving_log.csv, and folders of these.
        options: how.
        sweep: several policies with other seeds and settings.
        open: open the report in the browser.
        json: print one JSON object on stdout.
    """
    from trailbrake.errors import UsageError
    from trailbrake.train.clone import clone_policy as learn

    if not folders:
        raise UsageError("nothing to learn from", where="train clone", expected="recordings or folders",
                         hint="make some with: trailbrake drive --sim trend --driver lane_sign")  # fmt: skip
    sweep = sweep or CloneSweepOptions()
    if sweep.sweep:
        return _sweep_clones(list(folders), options or CloneOptions(), sweep, json)
    if sweep != CloneSweepOptions():
        raise UsageError("one policy needs no processes", where="--jobs, --on, --patience",
                         hint="--sweep seed=0-7 learns eight")  # fmt: skip
    with TaskProgress("learning", wanted=not json) as show:
        result = learn(list(folders), options or CloneOptions(), show.show_message, show.show_share)
    open_page(result["report"], open)
    answer(result, _print_result, json=json)
    return 0 if result["ended"] == "done" else 130


def _sweep_clones(folders: list[Path], options: CloneOptions, sweep: CloneSweepOptions, json: bool) -> int:
    from trailbrake.train.clone_sweep import sweep_clones

    with TaskProgress("learning", wanted=not json) as show:
        result = sweep_clones(folders, options, sweep, show.show_message, show.show_share)
    if json:
        print_json(result)
    else:
        rows = [[" ".join(f"{name}={value:g}" for name, value in row["values"].items()),
                 *("-" if row[key] is None else f"{row[key]:.4f}" for key in ("error", "loss")), str(row["pictures"]),
                 f"{row['cpu_s']:.0f} s", Path(row["policy"]).name] for row in result["clones"]]  # fmt: skip
        print_table("Cloned, best first", ["settings", "held-out steer error", "held-out loss", "pictures", "processor",
                                           "policy"], rows)  # fmt: skip
        print(f"{result['learned']} learned, {result['kept']} kept, {len(result['failed'])} failed;"
              f" all in {result['folder']}\npolicy {result['policy']}, the first one")  # fmt: skip
    return int(bool(result["failed"]))


def rl(*, options: Annotated[RlOptions | None, Parameter(name="*")] = None, json: JsonFlag = False) -> int:
    """Learn to drive from nothing, in the embedded world; `drive --driver policy:FILE` drives the best policy.

    Args:
        options: how.
        json: print one JSON object on stdout.
    """
    from trailbrake.train.rl.training import train_policy

    with TaskProgress("learning", wanted=not json) as show:
        result = train_policy(options or RlOptions(), show.show_message, show.show_share)
    answer(result, _print_laps, json=json)
    return 0 if result["ended"] == "done" else 130


def _print_laps(result: dict[str, Any]) -> None:
    rows = [
        [r["track"], f"{r['lap_time']:.2f}", f"{r['planned']:.2f}", f"{r['crashes']} of {r['cars']}"]
        for r in result["results"]
    ]
    print_table("Last evaluation", ["track", "flying lap s", "planned s", "cars crashed"], rows)
    wall, cpu = result["wall_time"] / 60.0, result["cpu_time"] / 60.0
    print(f"{result['steps'] / 1e6:.1f} M steps in {result['iteration']} iterations; {wall:.1f} min, {cpu:.1f} min of"
          " processor time")  # fmt: skip
    print(f"policy {result['policy']}, of iteration {result['best_iteration']}")


def _print_result(result: dict[str, Any]) -> None:
    rows = [
        [str(i), f"{e['loss']:.3f}", f"{e['error']:.4f}", f"{e['held_loss']:.3f}", f"{e['held_error']:.4f}"]
        for i, e in enumerate(result["epochs"], 1)
    ]
    print_table("Cloned", ["epoch", "loss", "steer error", "held-out loss", "held-out steer error"], rows)
    skipped = ", ".join(f"{count} {why}" for why, count in result["skipped"].items()) or "none"
    print(f"{result['pictures']} pictures; rows not used: {skipped}; {result['cpu_s']:.0f} s of processor time")
    print(f"policy {result['policy']}\nreport {result['report']}")
    if result["ended"] != "done":
        print(f"trailbrake: {result['ended']}; the policy is what was learned so far", file=sys.stderr)


def tune(*, options: Annotated[TuneOptions | None, Parameter(name="*")] = None, json: JsonFlag = False) -> int:
    """Search for better gains of a driver on the embedded world, and write them to a file for `drive --config`."""
    from trailbrake.tuning.tune import tune_gains as search

    options = options or TuneOptions()
    with TaskProgress("tuning", wanted=not json) as show:
        result = search(registry.find(options.sim), options, show.show_message, show.show_share)
    answer(result, _print_gains, json=json)
    return 0 if result["ended"] == "done" else 130


def _print_gains(result: dict[str, Any]) -> None:
    print_table("Gains", ["gain", "value"], [[name, f"{value:.4g}"] for name, value in result["gains"].items()])
    print(f"{result['first_cost_s']:.2f} s before, {result['best_cost_s']:.2f} s now; written to {result['out']}")
    if result["ended"] != "done":
        print_notice(f"trailbrake: {result['ended']} after {result['trials']} trials")
