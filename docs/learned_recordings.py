"""Writes the table of cars that were learned from somebody else's recording in docs/learn-car.md.

`python docs/learned_recordings.py measure` records three laps from rest on pinegrove by docs/person_driver.py, which
drives like a person with 90 % of the grip; learns the car from that recording alone, as `trailbrake learn car --source`
does; and has `line_follow`, learning, drive seven laps with the file. The drives with the true file are those of
docs/learned_cars.json. `page` writes the table alone. NAME ... selects simulators, cars and tracks, `--again` repeats
what is stored. What was measured is in docs/learned_recordings.json: a call that was broken off goes on.
"""

import argparse
import json
import statistics
import sys
from pathlib import Path
from typing import Any

from learned_cars import (
    CARS,
    FLYING,
    FOLDER,
    LEARNED_ON,
    ROOT,
    SIMS,
    Case,
    best_flying,
    describe_drive,
    drive_case,
    find_revision,
    list_drives,
)
from learned_cars import read_figures as read_true_figures

from trailbrake.cars.car_library import load_car
from trailbrake.errors import TrailbrakeError
from trailbrake.evaluate.car_comparison import compare_cars
from trailbrake.run.learn_car import learn_car_file
from trailbrake.run.options import DriveOptions, LearnCarOptions
from trailbrake.run.session.drive_session import drive
from trailbrake.sims import registry

FIGURES = ROOT / "docs" / "learned_recordings.json"
PAGE = ROOT / "docs" / "learn-car.md"
PERSON = ROOT / "docs" / "person_driver.py"
RECORDED_LAPS = 3
BAR = 1.08  # of the true file's lap
NAME = "recordings"

Figures = dict[str, Any]


def list_cases() -> list[Case]:
    """Return each car with the wire and the track of its first cell in docs/learned_cars.py."""
    return [case._replace(step=NAME) for case in list_drives(0) if case.step == "learned"]


def measure_case(case: Case) -> Figures:
    """Return how a car was recorded and learned, and the laps with its file."""
    folder = FOLDER / NAME
    folder.mkdir(parents=True, exist_ok=True)
    recorded = drive(DriveOptions(sim=case.sim, driver=str(PERSON), track=LEARNED_ON, car=case.car, laps=RECORDED_LAPS,
                                  gain=(f"seed={CARS.index(case.car)}",), report=False, out=folder))  # fmt: skip
    out = folder / f"{case.sim}_{case.car.replace(':', '_')}.toml"
    learned = learn_car_file(registry.find(case.sim), LearnCarOptions(source=(Path(recorded["recording"]),), out=out))
    return {
        "recorded": [[round(lap["time_s"], 3), lap["valid"]] for lap in recorded["laps"]],
        "missing": learned["missing"],
        "numbers": compare_cars(load_car(str(out)), load_car(case.car)),
        **drive_case(case._replace(step="learned"), out),
    }


def read_figures() -> Figures:
    """Return what was measured, by case."""
    return json.loads(FIGURES.read_text("utf-8")) if FIGURES.is_file() else {}


def describe_recordings(figures: Figures) -> str:
    """Return the table, and a line with the counts."""
    lines = [
        "| car | wire | track | best lap with the true file, after 3 and 6 | after 3 | after 6 | |",
        "|---|---|---|---|---|---|---|",
    ]
    true_figures = read_true_figures()
    ratios: dict[int, list[float]] = {laps: [] for laps in FLYING}
    cases = [case for case in list_cases() if case.name in figures]
    clean = 0
    for case in sorted(cases, key=lambda case: CARS.index(case.car)):
        found, true = figures[case.name], true_figures.get(case._replace(step="true").name, {})
        head = f"| {case.car} | {SIMS[case.sim]} | {case.track} |"
        if "failed" in found:
            lines.append(f"{head} | | | {found['failed']} |")
            continue
        clean += found["outcome"] == "clean"
        own = ", ".join(f"{best_flying(true, laps):.2f} s" for laps in FLYING)
        found_ratios = [best_flying(found, laps) / best_flying(true, laps) for laps in FLYING]
        for laps, ratio in zip(FLYING, found_ratios, strict=True):
            if ratio > 0.0:  # not NaN
                ratios[laps].append(ratio)
        cells = [f"{ratio:.3f}" if ratio > 0.0 else "" for ratio in found_ratios]
        lines.append(f"{head} {own} | {' | '.join(cells)} | {describe_drive(found)} |")
    if ratios[FLYING[0]]:
        sums = [f"{sum(ratio <= BAR for ratio in found)} of {len(found)} are within {100.0 * (BAR - 1.0):.0f} % after"
                f" {laps} flying laps (median {statistics.median(found):.3f}, most {max(found):.3f})"
                for laps, found in ratios.items()]  # fmt: skip
        lines += ["", f"{clean} of {len(cases)} are clean; {' and '.join(sums)}."]
    return "\n".join(lines)


def write_page() -> None:
    """Write the table into the page."""
    text = PAGE.read_text("utf-8")
    begin, end = f"<!-- {NAME}: written by docs/learned_recordings.py -->", f"<!-- end of {NAME} -->"
    head, rest = text.split(begin)
    PAGE.write_text(f"{head}{begin}\n{describe_recordings(read_figures())}\n{end}{rest.split(end)[1]}", "utf-8")


def main() -> None:
    """Measure what the arguments say, and write the page."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("what", choices=("measure", "page"), default="page", nargs="?")
    parser.add_argument("names", nargs="*", help="simulators, cars and tracks")
    parser.add_argument("--again", action="store_true", help="measure what is stored as well")
    given = parser.parse_args()
    for case in list_cases() if given.what == "measure" else []:
        if not all(name in case for name in given.names) or (case.name in read_figures() and not given.again):
            continue
        try:
            found = measure_case(case)
        except TrailbrakeError as error:
            found = {"failed": str(error)}
        print(case.name, found, flush=True)
        stored = read_figures() | {case.name: found | {"revision": find_revision()}}
        text = json.dumps(stored, indent=1, sort_keys=True, default=lambda value: value.item())
        FIGURES.write_text(f"{text}\n", "utf-8")
    write_page()


if __name__ == "__main__":
    sys.exit(main())
