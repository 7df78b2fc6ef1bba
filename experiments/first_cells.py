"""What learned_limits.py and learned_recordings.py share: a campaign over the first cell of each car."""

import argparse
import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from figures_page import RESULTS, ROOT, write_details, write_section
from learned_cars import Case, find_revision, list_drives

from trailbrake.errors import TrailbrakeError

Figures = dict[str, Any]


@dataclass(frozen=True)
class Campaign:
    """A script that measures the first cell of each car in learned_cars.py, and writes its section of docs/figures.md.

    Args:
        name: of the script behind `learned_`, of its figures, and of its section behind `learned-`.
        about: what the script says of itself.
    """

    name: str
    about: str

    @property
    def figures_path(self) -> Path:
        """Return the file of what was measured."""
        return RESULTS / f"learned_{self.name}.json"

    def list_cases(self) -> list[Case]:
        """Return each car with the wire and the track of its first cell."""
        return [case._replace(step=self.name) for case in list_drives(0) if case.step == "learned"]

    def read_figures(self) -> Figures:
        """Return what was measured, by case."""
        return json.loads(self.figures_path.read_text("utf-8")) if self.figures_path.is_file() else {}

    def run(self, measure_case: Callable[[Case], Figures], describe: Callable[[Figures], str],
            summarize: Callable[[Figures], str]) -> None:  # fmt: skip
        """Measure what the command line says, store it, and write the section and the table of all rows."""
        parser = argparse.ArgumentParser(description=self.about.split("\n", maxsplit=1)[0])
        parser.add_argument("what", choices=("measure", "page"), default="page", nargs="?")
        parser.add_argument("names", nargs="*", help="simulators, cars and tracks")
        parser.add_argument("--again", action="store_true", help="measure what is stored as well")
        given = parser.parse_args()
        for case in self.list_cases() if given.what == "measure" else []:
            is_stored = "failed" not in self.read_figures().get(case.name, {"failed": ""})
            if not all(name in case for name in given.names) or (is_stored and not given.again):
                continue
            try:
                found = measure_case(case)
            except TrailbrakeError as error:
                found = {"failed": str(error).replace(str(ROOT), "")}
            print(case.name, found, flush=True)
            stored = self.read_figures() | {case.name: found | {"revision": find_revision()}}
            text = json.dumps(stored, indent=1, sort_keys=True, default=lambda value: value.item())
            self.figures_path.write_text(f"{text}\n", "utf-8")
        write_section(f"learned-{self.name}", summarize(self.read_figures()))
        write_details(f"learned_{self.name}", describe(self.read_figures()))
