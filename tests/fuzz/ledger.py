"""The ledger of fuzzing, `tests/fuzz/ledger.json`: how many cases each target has had; and its sums as text."""

import json
import os
from pathlib import Path
from typing import Any

LEDGER_FILE = Path(__file__).with_name("ledger.json")
Counts = dict[str, dict[str, float]]


def read_ledger(path: Path = LEDGER_FILE) -> Counts:
    """Return {target: {"cases", "accepted", "seconds"}}; empty if there is no ledger yet."""
    return dict(json.loads(path.read_text(encoding="utf-8"))) if path.is_file() else {}


def add_result(path: Path, name: str, result: dict[str, Any]) -> None:
    """Add the report of a worker to the counts of its target."""
    ledger = read_ledger(path)
    counts = ledger.setdefault(name, {"cases": 0, "accepted": 0, "seconds": 0})
    for key in ("cases", "accepted"):
        counts[key] += result[key]
    counts["seconds"] = round(counts["seconds"] + result["seconds"])
    # Written whole and then renamed: a campaign that is killed leaves the old one.
    new = path.with_name(path.name + ".new")
    lines = ",\n".join(f'  "{name}": {json.dumps(ledger[name])}' for name in sorted(ledger))
    new.write_text(f"{{\n{lines}\n}}\n", encoding="utf-8")
    os.replace(new, path)


def describe_fuzzing(least: int = 5) -> str:
    """Return the section of docs/figures.md on fuzzing: the sums, and the targets with the fewest cases."""
    from fuzz.fuzz_target import SEEDS

    ledger = read_ledger()
    cases = {path.name: int(ledger.get(path.name, {"cases": 0})["cases"]) for path in sorted(SEEDS.iterdir())}
    found = len(list(SEEDS.glob("*/found_*")))
    fewest = sorted(cases, key=lambda name: cases[name])[:least]
    hours = sum(counts["seconds"] for counts in ledger.values()) / 3600.0
    return (
        f"{len(cases)} targets have had {sum(cases.values()):,} cases in {hours:.1f} h; {found} findings, all fixed."
        f" Fewest cases: {', '.join(f'`{name}` {cases[name]:,}' for name in fewest)}."
    )
