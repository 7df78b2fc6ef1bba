"""Where experiments keep what they measured, and where they show it: docs/figures.md and build/experiments."""

import os
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
RESULTS = ROOT / "experiments" / "results"
SHARED = Path(os.environ.get("TRAILBRAKE_SHARED") or ROOT.parent / "shared") / "data"
PAGE = ROOT / "docs" / "figures.md"
DETAILS = ROOT / "build" / "experiments"


def write_section(name: str, text: str) -> None:
    """Replace what docs/figures.md has between the marks of `name`."""
    begin, end = f"<!-- {name}: written by an experiment -->", f"<!-- end of {name} -->"
    page = PAGE.read_text("utf-8")
    if begin not in page:
        print(f"{PAGE.name}: no place for {name}")
        return
    head, rest = page.split(begin)
    PAGE.write_text(f"{head}{begin}\n{text}\n{end}{rest.split(end)[1]}", "utf-8")


def write_details(name: str, text: str) -> None:
    """Write all rows of an experiment to a page outside of the repository, and print its path."""
    DETAILS.mkdir(parents=True, exist_ok=True)
    path = DETAILS / f"{name}.md"
    path.write_text(f"{text}\n", "utf-8")
    print(f"wrote {path.relative_to(ROOT)}")
