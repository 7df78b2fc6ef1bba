"""Fifteen laps of `line_track`: how soon they are at their best, and whether they stay: a section of docs/figures.md.

`python experiments/convergence.py measure` drives random circuits and maps that a survey has learned, through Forza's
wire in lockstep. NAME ... selects cells, `--again` repeats what is stored, `page` writes the section from it.
"""

import argparse
import json
import sys
from typing import Any

from figures_page import DETAILS, RESULTS, write_section

from trailbrake.evaluate.cell_task import drive_cell
from trailbrake.evaluate.plan import Cell
from trailbrake.learning.options import LearnOptions
from trailbrake.learning.road_mapping import map_road
from trailbrake.sims import registry

FIGURES = RESULTS / "convergence.json"
SIM, LAPS, LAP_SECONDS = "forza", 15, 400.0
EARLY = 4  # the lap by which the best is to be reached
CARS = ("gt3", "f1", "hatchback", "sports_awd", "random:811", "random:812")
CIRCUITS = tuple(f"gen:{seed}" for seed in (7402, 7403, 7408, 7414, 7415, 7417))  # from 7401 on, below 3 km
RANDOM = [(track, CARS[(i + shift) % 6]) for i, track in enumerate(CIRCUITS) for shift in (0, 3)]
MAPPED = [("kartwerk", "random:9005"), ("gen:7419", "random:813")]


def drive_laps(track: str, car: str, *, mapped: bool) -> dict[str, Any]:
    """Return what fifteen laps show: times (s), and what went wrong; `mapped`: on a map that a survey has made."""
    believed = ""
    if mapped:
        DETAILS.mkdir(parents=True, exist_ok=True)
        path = DETAILS / f"map_{track.replace(':', '_')}.csv"
        options = LearnOptions(sim=SIM, track=track, car=car, out=path)
        believed = str(map_road(registry.find(SIM), options)["track"])
    result = drive_cell(Cell(sim=SIM, track=track, car=car, believed_track=believed, driver="line_track", laps=LAPS,
                             seconds=LAPS * LAP_SECONDS), None, print)  # fmt: skip
    return {
        "laps_s": [round(lap.time_s, 3) for lap in result.laps],
        "off_s": round(sum(lap.off_track_s for lap in result.laps), 2),
        "contacts": [lap.contacts for lap in result.laps],
        "ended": result.ended,
    }


def describe(figures: dict[str, Any]) -> str:
    """Return the table of all cells."""
    lines = [
        f"| track and car | lap 2, s | lap {EARLY}, s | best, s (lap) | best by lap {EARLY}, % over the best | "
        "slowest later lap, % over the best before | off the road, s | contacts: all, last lap |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for name, found in figures.items():
        laps = found["laps_s"]
        best = min(laps)
        early = 100.0 * (min(laps[:EARLY]) / best - 1.0)
        later = max(100.0 * (laps[k] / min(laps[:k]) - 1.0) for k in range(EARLY, len(laps)))
        lines.append(f"| {name} | {laps[1]:.2f} | {laps[EARLY - 1]:.2f} | {best:.2f} ({laps.index(best) + 1}) | "
                     f"{early:.2f} | {later:+.2f} | {found['off_s']:.1f} | "
                     f"{sum(found['contacts'])}, {found['contacts'][-1]} |")  # fmt: skip
    return "\n".join(lines)


def main() -> None:
    """Measure what the arguments say, and write the page."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("what", choices=("measure", "page"), default="page", nargs="?")
    parser.add_argument("names", nargs="*", help="tracks and cars")
    parser.add_argument("--again", action="store_true", help="measure what is stored as well")
    given = parser.parse_args()
    figures = json.loads(FIGURES.read_text("utf-8")) if FIGURES.is_file() else {}
    for track, car in [*RANDOM, *MAPPED] if given.what == "measure" else []:
        mapped = (track, car) in MAPPED
        name = f"{track}{', a learned map' if mapped else ''}, {car}"
        if all(word in (track, car) for word in given.names) and (given.again or name not in figures):
            figures[name] = drive_laps(track, car, mapped=mapped)
            print(name, figures[name], flush=True)
            FIGURES.write_text(json.dumps(figures, indent=1) + "\n", "utf-8")
    write_section("convergence", describe(figures))


if __name__ == "__main__":
    sys.exit(main())
