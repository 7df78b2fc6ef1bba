"""`pad-check`: does what we command reach the game?"""

import sys
from dataclasses import asdict
from typing import Annotated

from cyclopts import Parameter

from trailbrake.cli.output import Json, print_json, print_table
from trailbrake.run.options import CheckOptions


def pad_check(*, options: Annotated[CheckOptions | None, Parameter(name="*")] = None, json: Json = False) -> int:
    """Move the steer and the throttle of a simulator and compare what it says that it took. The car will move."""
    from trailbrake.run.pad_check import check

    found = check(options or CheckOptions(), lambda text: print(text, file=sys.stderr, flush=True))
    if json:
        print_json({"ok": all(f.ok for f in found), "axes": [asdict(f) | {"ok": f.ok} for f in found]})
    else:
        print_table(
            "Commands and what came back",
            ["axis", "commanded", "came back", "worst", "after", ""],
            [[f.axis, str(f.sent), str(f.matched), f"{f.worst:.4f}", f"{f.delay * 1e3:.0f} ms", f.verdict]
             for f in found],
        )  # fmt: skip
    return 0 if all(f.ok for f in found) else 1
