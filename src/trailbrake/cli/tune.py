"""`tune`: better gains for a driver."""

from typing import Annotated, Any

from cyclopts import Parameter

from trailbrake.cli.output import JsonFlag, print_json, print_notice, print_table
from trailbrake.cli.terminal_progress import TaskProgress
from trailbrake.sims import registry
from trailbrake.tuning.options import TuneOptions


def tune(*, options: Annotated[TuneOptions | None, Parameter(name="*")] = None, json: JsonFlag = False) -> int:
    """Search for better gains of a driver on the embedded world, and write them to a file for `drive --config`."""
    from trailbrake.tuning.tune import tune_gains as search

    options = options or TuneOptions()
    with TaskProgress("tuning", wanted=not json) as show:
        result = search(registry.find(options.sim), options, show.show_message, show.show_share)
    if json:
        print_json(result)
    else:
        _print_result(result)
    return 0 if result["ended"] == "done" else 130


def _print_result(result: dict[str, Any]) -> None:
    print_table("Gains", ["gain", "value"], [[name, f"{value:.4g}"] for name, value in result["gains"].items()])
    print(f"{result['first_cost_s']:.2f} s before, {result['best_cost_s']:.2f} s now; written to {result['out']}")
    if result["ended"] != "done":
        print_notice(f"trailbrake: {result['ended']} after {result['trials']} trials")
