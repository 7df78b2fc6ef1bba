"""Searches reference laps and drives beside them: the sections `laps` and `doubts` of docs/figures.md.

`python experiments/reference_laps.py laps` plans the line of each track and car and searches its reference lap,
`drives` has `line_track` drive on the lines through Assetto Corsa's wire in lockstep, `doubts` has it drive a `gt3`
with a delay and less grip than its file says. `--without-wire` has driver and world in one process, which is quicker.
NAME ... selects tracks and cars, `--jobs N` uses processes, `--again` repeats what is stored. What was measured is in
experiments/results: a call that was broken off goes on. Lines and reference laps are in build/reference-laps, or in the
folder REFERENCE_LAPS. Needs the extra "limit"; the measured tracks are beside the repository, and TRAILBRAKE_SHARED
names another folder.
"""

import argparse
import json
import os
import re
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path
from typing import Any

from figures_page import RESULTS, ROOT, SHARED, write_details, write_section

from trailbrake.cars.car_library import LIBRARY, load_car
from trailbrake.cli.drive_flags import DriveFlags
from trailbrake.drivers.line_track import Driver
from trailbrake.driving.session.drive_session import drive
from trailbrake.errors import TrailbrakeError
from trailbrake.optimal.line_session import plan_line
from trailbrake.optimal.options import LineOptions
from trailbrake.planning.line_file import load_line_course
from trailbrake.reference.options import ReferenceOptions
from trailbrake.reference.reference_session import make_reference_lap
from trailbrake.tracks.track_library import load_track
from trailbrake.world.plant import World

FIGURES = RESULTS / "reference_laps.json"
FOLDER = Path(os.environ.get("REFERENCE_LAPS") or ROOT / "build" / "reference-laps")
CARS = ("gt3", "f1", "sports_awd")
CIRCUITS = ("pinegrove", "hartmoor")
MEASURED = ("Berlin2018", "Nuerburgring", "Monza", "Silverstone", "Shanghai", "Spa")
LAPS = 6  # of a drive
DOUBTS = "gt3-less-grip"  # the car of the doubts
DOUBTED_GRIP, DOUBTED_DELAY = 0.9, 0.04  # of its tyres' friction, over that of gt3; s
DOUBTED_LAPS = 8

Case = tuple[str, str]
Figures = dict[str, Any]


def list_cases() -> list[Case]:
    """Return the names of track and car of each case."""
    return [(track, car) for track in (*CIRCUITS, *MEASURED) for car in CARS]


def list_doubts() -> list[Case]:
    """Return the cases of a car with a delay whose grip is not what its file says."""
    return [(track, DOUBTS) for track in MEASURED]


def track_argument(track: str) -> str:
    """Return what --track takes."""
    return str(SHARED / "tracks" / f"{track}.csv") if track in MEASURED else track


def write_late_car(grip: float, delay: float) -> str:
    """Write the file of `gt3` with a share of its tyres' friction and a delay in s; return its path."""
    text = (LIBRARY / "gt3.toml").read_text("utf-8")

    def scale(match: re.Match[str]) -> str:
        return f"{match[1]}{grip * float(match[2]):.6g}"

    text, count = re.subn(r"(?m)^(mu_[xy]\s*=\s*)([0-9.]+)", scale, text)
    if count != 4:
        raise SystemExit(f"gt3: expected the friction of two axles along and across, got {count} values")
    path = FOLDER / f"gt3-grip-{grip:g}-delay-{delay:g}.toml"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f'{text}\n[actuation]\nsource = "experiments/reference_laps.py"\ndelay = {delay}\n', "utf-8")
    return str(path)


def car_argument(car: str) -> str:
    """Return what --car takes."""
    return write_late_car(DOUBTED_GRIP, 0.0) if car == DOUBTS else car


def plan_case_line(case: Case, car: str = "") -> Figures:
    """Plan the line of a case, for another car file if one is given; return its figures."""
    car = car or car_argument(case[1])
    return plan_line(LineOptions(track=track_argument(case[0]), car=car, report=False, out=line_path(case, car)))


def line_path(case: Case, car: str) -> Path:
    """Return the line file of a case for a car's name or file."""
    return FOLDER / f"line-{case[0]}-{Path(car).stem}.csv"


def search_case(case: Case) -> Figures:
    """Return the figures of a reference lap."""
    track, car = case
    planned = plan_case_line(case)
    out = FOLDER / f"reference-{track}-{car}.csv"
    car = car_argument(car)
    began = time.process_time()
    options = ReferenceOptions(track=track_argument(track), car=car, line=line_path(case, car), out=out)
    found = make_reference_lap(options)
    return {
        "reference_s": found["time_s"],
        "laps_s": [round(lap, 3) for lap in found["laps_s"]],
        "generations": found["generations"],
        "count": found["count"],
        "seed": found["seed"],
        "cpu_s": round(time.process_time() - began, 1),
        "model_s": round(planned["time_s"], 3),
    }


def drive_case(case: Case, *, wire: bool = True) -> Figures:
    """Return the figures of a drive of `line_track`: by wire, or driver and world in this process."""
    track, car = case
    world_car, laps = "", LAPS
    if car == DOUBTS:
        car, laps = write_late_car(1.0, DOUBTED_DELAY), DOUBTED_LAPS
        world_car = write_late_car(DOUBTED_GRIP, DOUBTED_DELAY)
    plan_case_line(case, car)
    options = DriveFlags(driver="line_track", track=track_argument(track), car=car, laps=laps, report=False,
                           world=(f"car={world_car}",) if world_car else (), line=line_path(case, car),
                           out=FOLDER / "drives")  # fmt: skip
    if not wire:
        return drive_without_wire(options, world_car or car)
    summary = drive(options.make_spec())
    return {
        "driven_s": [round(lap["time_s"], 3) for lap in summary["laps"]],
        "not_valid": [lap["number"] for lap in summary["laps"] if not lap["valid"]],
        "off_track_s": round(summary["off_track_s"], 3),
        "contacts": int(summary["contacts"]),
        "wire": "assetto",
    }


def drive_without_wire(options: DriveFlags, world_car: str) -> Figures:
    """Return the figures of a drive whose driver gets the state that an ideal wire in lockstep supplies."""
    track, car = load_track(options.track), load_car(options.car)
    driver, world = Driver(), World(track, [load_car(world_car)])
    driver.reset(load_line_course(options.line, track, car))
    dt = 0.0
    while len(world.laps(0)) < options.laps:
        world.step([driver.act(world.car_state(0), dt)])
        dt = world.period
    laps = world.laps(0)
    return {
        "driven_s": [round(lap.time_s, 3) for lap in laps],
        "not_valid": [lap.number for lap in laps if not lap.valid],
        "off_track_s": round(sum(lap.off_track_s for lap in laps), 3),
        "contacts": sum(lap.contacts for lap in laps),
        "wire": "",
    }


def drive_case_without_wire(case: Case) -> Figures:
    """Return the figures of a drive without a wire."""
    return drive_case(case, wire=False)


def read_figures() -> Figures:
    """Return what was measured last, by track and car."""
    return json.loads(FIGURES.read_text("utf-8")) if FIGURES.is_file() else {}


def store_case(case: Case, figures: Figures) -> None:
    """Store the figures of a case beside what is stored of it."""
    stored = read_figures()
    name = " ".join(case)
    stored[name] = stored.get(name, {}) | figures
    FIGURES.write_text(json.dumps(stored, indent=1, sort_keys=True) + "\n", "utf-8")


def measure_cases(measure: Callable[[Case], Figures], cases: list[Case], jobs: int) -> Iterator[tuple[Case, Figures]]:
    """Measure cases in processes; yield each with its figures, or the reason why there are none."""
    with ProcessPoolExecutor(jobs, max_tasks_per_child=1) as pool:
        waiting = {pool.submit(measure, case): case for case in cases}
        for future in as_completed(waiting):
            try:
                yield waiting[future], future.result()
            except TrailbrakeError as error:
                yield waiting[future], {"failed": str(error)}


def describe_laps(figures: Figures) -> str:
    """Return the table of reference laps and of the drives beside them."""
    lines = [
        "| track | car | model, s | reference lap, s | lap 2, s | lap 3, s | lap 6, s | laps that do not count | gap |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for case in list_cases():
        found = figures.get(" ".join(case), {})
        lines.append(f"| {case[0]} | `{case[1]}` | " + " | ".join(describe_case(found, (2, 3, LAPS))) + " |")
    return "\n".join(lines)


def describe_doubts(figures: Figures) -> str:
    """Return the table of the drives with less grip and a delay."""
    lines = [
        f"| track | reference lap, s | lap 2, s | lap 4, s | lap {DOUBTED_LAPS}, s | laps that do not count | gap |",
        "|---|---|---|---|---|---|---|",
    ]
    for case in list_doubts():
        found = figures.get(" ".join(case), {})
        lines.append(f"| {case[0]} | " + " | ".join(describe_case(found, (2, 4, DOUBTED_LAPS))[1:]) + " |")
    return "\n".join(lines)


def describe_case(found: Figures, laps: tuple[int, ...]) -> list[str]:
    """Return the cells of a case: model, reference lap, some laps of the drive, those that do not count, the gap."""
    driven, reference = found.get("driven_s", []), found.get("reference_s")
    cells = [f"{found[name]:.2f}" if name in found else "" for name in ("model_s", "reference_s")]
    cells += [f"{driven[lap - 1]:.2f}" if lap <= len(driven) else "" for lap in laps]
    cells.append(", ".join(map(str, found.get("not_valid", []))) if driven else found.get("failed", ""))
    cells.append(f"{100.0 * (driven[laps[-1] - 1] / reference - 1.0):.2f} %" if driven and reference else "")
    return cells


def summarize_laps(figures: Figures) -> str:
    """Return a table of reference laps, and by how much the last lap of a drive is over them, tracks down."""
    lines = ["| track | " + " | ".join(f"`{car}`" for car in CARS) + " |", "|---|" + "---|" * len(CARS)]
    for track in (*CIRCUITS, *MEASURED):
        cells = []
        for car in CARS:
            found = figures.get(f"{track} {car}", {})
            reference, driven = found.get("reference_s"), found.get("driven_s", [])
            gap = (
                f", {100.0 * (driven[LAPS - 1] / reference - 1.0):+.2f} %" if reference and len(driven) >= LAPS else ""
            )
            cells.append(f"{reference:.2f}{gap}" if reference else "")
        lines.append(f"| {track} | {' | '.join(cells)} |")
    return "\n".join(lines)


def summarize_doubts(figures: Figures) -> str:
    """Return by how much the last lap of each drive with less grip is over the reference lap."""
    texts = []
    for track, car in list_doubts():
        found = figures.get(f"{track} {car}", {})
        if "reference_s" in found and len(found.get("driven_s", [])) >= DOUBTED_LAPS:
            gap = 100.0 * (found["driven_s"][DOUBTED_LAPS - 1] / found["reference_s"] - 1.0)
            texts.append(f"{track} {gap:.2f} %" + (f" (not valid: {found['not_valid']})" if found["not_valid"] else ""))
    return f"Lap {DOUBTED_LAPS} over the reference lap: {', '.join(texts)}."


def write_page() -> None:
    """Write the figures into docs/figures.md, and all laps beside the build."""
    figures = read_figures()
    write_section("laps", summarize_laps(figures))
    write_section("doubts", summarize_doubts(figures))
    write_details("reference_laps", f"{describe_laps(figures)}\n\n{describe_doubts(figures)}")


def main() -> None:
    """Measure what the arguments say, and write the page."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("what", choices=("laps", "drives", "doubts", "page"), default="page", nargs="?")
    parser.add_argument("names", nargs="*", help="tracks and cars")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--again", action="store_true", help="measure what is stored as well")
    parser.add_argument("--without-wire", action="store_true", help="drive with driver and world in one process")
    given = parser.parse_args()
    doubts = given.what == "doubts"
    drive_one = drive_case_without_wire if given.without_wire else drive_case
    steps: list[tuple[Callable[[Case], Figures], str]] = []
    if given.what == "laps" or doubts:
        steps.append((search_case, "reference_s"))
    if given.what == "drives" or doubts:
        steps.append((drive_one, "driven_s"))
    for measure, stored_name in steps:
        stored = read_figures()
        cases = [
            case
            for case in (list_doubts() if doubts else list_cases())
            if all(name in case for name in given.names)
            and (given.again or stored_name not in stored.get(" ".join(case), {}))
        ]
        for case, figures in measure_cases(measure, cases, given.jobs):
            print(*case, figures, flush=True)
            store_case(case, figures)
    write_page()


if __name__ == "__main__":
    sys.exit(main())
