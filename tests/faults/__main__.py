"""Run the matrix and keep its figures: `python -m tests.faults --measure`, with parts of names to choose cells."""

import argparse
import datetime
import json
import os
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from faults.matrix import RigPool, list_cells  # the path above comes first
from faults.outcomes import ENDS
from faults.page import MEASURED_FILE, load_measured


def main():
    parser = argparse.ArgumentParser(prog="python -m tests.faults", description=__doc__)
    parser.add_argument("words", nargs="*", help="only cells whose names contain all of these, as forza client NaN")
    parser.add_argument("--measure", action="store_true", help=f"keep the figures in {MEASURED_FILE.name}")
    parser.add_argument("--suspend", type=float, default=30.0, help="s that a machine is suspended")
    parser.add_argument("--patience", type=float, default=1.0, help="factor on all limits, for a busy machine")
    options = parser.parse_args()
    cells = [cell for cell in list_cells() if not cell.outcome.not_meaningful]
    cells = [cell for cell in cells if all(is_meant(cell, word) for word in options.words)]
    pool, failed = RigPool(), 0
    try:
        for cell in cells:
            began = time.monotonic()
            try:
                findings = pool.run(cell, options.suspend, options.patience)
                failures, times = findings.failures, findings.times
            except (AssertionError, OSError) as error:
                failures, times = [str(error)], {}
            failed += bool(failures)
            print(f"{cell.name:48} {'fails' if failures else 'passes':6} {time.monotonic() - began:5.1f} s {times}",
                  *failures, sep="\n    " if failures else " ", flush=True)  # fmt: skip
            if options.measure:
                keep(cell, failures, times)
    finally:
        pool.close()
    print(f"{len(cells) - failed} of {len(cells)} cells pass")
    return 1 if failed else 0


def is_meant(cell, word):
    return word in (cell.wire, cell.end) or (word not in ENDS and word in cell.fault)


def keep(cell, failures, times):
    """Write the figures of one cell at once: a run that is broken off keeps those before."""
    measured = load_measured()
    measured[cell.name] = {"passes": not failures, "date": datetime.date.today().isoformat(), **times}
    part = MEASURED_FILE.with_suffix(".part")
    rows = [f"{json.dumps(name)}: {json.dumps(measured[name])}" for name in sorted(measured)]
    part.write_text("{\n" + ",\n".join(rows) + "\n}\n", encoding="utf-8")
    os.replace(part, MEASURED_FILE)


if __name__ == "__main__":
    sys.exit(main())
