"""`pad-check`: does what we command reach the game?"""

from dataclasses import asdict
from typing import Annotated

from cyclopts import Parameter

from trailbrake.cli.output import JsonFlag, print_json, print_notice, print_table
from trailbrake.driving.options import PadCheckOptions
from trailbrake.sims import registry


def pad_check(*, options: Annotated[PadCheckOptions | None, Parameter(name="*")] = None, json: JsonFlag = False) -> int:
    """Move the steer and the throttle of a simulator and compare what it says that it took. The car will move."""
    from trailbrake.driving.pad_check import check_pad

    options = options or PadCheckOptions()
    found = check_pad(registry.find(options.sim), options, print_notice)
    if json:
        print_json(
            {"ok": all(f.all_matched for f in found), "axes": [asdict(f) | {"ok": f.all_matched} for f in found]}
        )
    else:
        print_table(
            "Commands and what came back",
            ["axis", "commanded", "came back", "worst", "after", ""],
            [[f.axis, str(f.sent), str(f.matched), f"{f.worst:.4f}", f"{f.delay * 1e3:.0f} ms", f.verdict]
             for f in found],
        )  # fmt: skip
    return 0 if all(f.all_matched for f in found) else 1
