"""Learns random cars and drives with their files: the sections `learned-files` and `learned-drives` of docs/figures.md.

`python experiments/learned_cars.py learn` learns random cars on the embedded pinegrove, as `trailbrake learn car` does,
`files` compares the files with the cars, `refit` does it with what the present code learns from the same drives:
twelve cars on three wires. `drive` has `line_follow`, learning, drive seven laps of three tracks with each file of
twelve other cars, and with the true one; `all` learns and compares them as well, each car on one wire, then on
another. `page` writes the figures alone, and all rows to build/experiments. NAME ... selects simulators, cars and
tracks, `--jobs N` uses processes, `--again` repeats what is stored. What was measured is in experiments/results: a call
that was broken off goes on. Files and journals are in build/learned-cars, or in the folder LEARNED_CARS. The measured
tracks are beside the repository, and TRAILBRAKE_SHARED names another folder.
"""

import argparse
import json
import math
import os
import shutil
import statistics
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
from figures_page import RESULTS, ROOT, SHARED, write_details, write_section

from trailbrake.cars.car_library import load_car
from trailbrake.errors import TrailbrakeError
from trailbrake.evaluate.car_comparison import compare_cars, summarize_coverage
from trailbrake.evaluate.cell_task import drive_cell
from trailbrake.evaluate.plan import Cell
from trailbrake.learning.car_learning import learn_car_file
from trailbrake.learning.identification.drive_table import join_tables
from trailbrake.learning.identification.learned_car import learn_car
from trailbrake.learning.identification.planned_car import plan_car
from trailbrake.learning.learning_drives import read_drive
from trailbrake.learning.learning_journal import LearningStep, journal_folder
from trailbrake.learning.options import LearnCarOptions
from trailbrake.learning.verification_laps import teaches
from trailbrake.sims import registry

FIGURES = RESULTS / "learned_cars.json"
FOLDER = Path(os.environ.get("LEARNED_CARS") or ROOT / "build" / "learned-cars")
SIMS = {"assetto": "Assetto Corsa", "forza": "Forza", "beamng": "BeamNG"}
CARS = tuple(f"random:{seed}" for seed in range(70, 82))  # that are driven
COMPARED = tuple(f"random:{seed}" for seed in range(170, 182))  # whose files are compared: nobody looked at them before
TRACKS = ("pinegrove", "Berlin2018", "Nuerburgring")
LEARNED_ON = TRACKS[0]
MEASURED = TRACKS[1:]
LAPS = 7  # of a drive, the first from rest
FLYING = (3, 6)  # flying laps after which lap times are compared
SHARES = (1.05, 1.03)  # of the true file's lap that are allowed after them
SECONDS_PER_LAP = 300.0  # s of simulator time after which a drive is over, as of `evaluate`
LEARNING_S = 600.0  # s of driving that a car may take
BARS = {
    "lateral_grip": 0.05, "braking": 0.05, "drive_force": 0.05, "downforce": 0.15, "steer_angle": 0.05,
    "delay_s": 0.005,
}  # fmt: skip

DRIVE = list(BARS).index("drive_force")

Figures = dict[str, Any]


class Case(NamedTuple):
    """What is measured: a car on a wire, and on a track where it is driven."""

    step: str
    sim: str
    car: str
    track: str = ""

    @property
    def name(self) -> str:
        """Return the name under which the figures are stored."""
        return " ".join(self).strip()


def list_files(step: str, turn: int, cars: Sequence[str] = COMPARED) -> list[Case]:
    """Return a case for each car, with another wire in each turn of three."""
    sims = list(SIMS)
    return [Case(step, sims[(index + turn) % 3], car) for index, car in enumerate(cars)]


def list_drives(turn: int) -> list[Case]:
    """Return the drives of a turn: each car with its learned file and the true one, on other wires and tracks.

    After three turns each car was driven on each wire, after nine on each track of each wire.
    """
    cases = []
    for index, learned in enumerate(list_files("learned", turn, CARS)):
        track = TRACKS[(index // 3 + index + turn + turn // 3) % 3]
        cases += [learned._replace(track=track), learned._replace(step="true", track=track)]
    return cases


def list_chains(what: str) -> list[list[Case]]:
    """Return the cases of a call: those of a chain are measured one after the other, chains side by side."""
    if what == "all":
        return [
            [*(Case(step, case.sim, case.car) for step in ("learn", "files")), case, case._replace(step="true")]
            for turn in range(9)
            for case in list_drives(turn)
            if case.step == "learned"
        ]
    if what == "drive":
        return [[case] for turn in range(9) for case in list_drives(turn)]
    if what == "page":
        return []
    return [[case] for turn in range(3) for case in list_files(what, turn)]


def file_path(case: Case) -> Path:
    """Return the car file of a car on a wire."""
    return FOLDER / f"{case.sim}_{case.car.replace(':', '_')}.toml"


def read_steps(case: Case) -> list[LearningStep]:
    """Return what the learning of a case has driven."""
    for path in journal_folder(file_path(case)).glob("*.json"):
        return msgspec.convert(json.loads(path.read_text("utf-8"))["result"], list[LearningStep])
    return []


def learn_case(case: Case) -> Figures:
    """Learn a car and write its file; return what the learning took."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    options = LearnCarOptions(sim=case.sim, track=LEARNED_ON, car=case.car, out=file_path(case))
    failed, found = "", {}
    try:
        found = learn_car_file(registry.find(case.sim), options.with_defaults())
    except TrailbrakeError as error:
        failed = str(error).replace(str(FOLDER), "").replace(str(ROOT), "")
    steps = read_steps(case)
    return {
        "failed": failed,
        "driven_s": round(sum(step.seconds for step in steps), 1),
        "steps": [[step.name, round(step.seconds, 1), step.outcome] for step in steps],
        "class": found.get("class", ""),
        "missing": found.get("missing", []),
    }


def compare_case(case: Case) -> Figures:
    """Compare the file of a car with the car."""
    if not file_path(case).is_file():
        return {"failed": "no file"}
    return compare_cars(load_car(str(file_path(case))), load_car(case.car))


def refit_case(case: Case) -> Figures:
    """Learn a car again from what was driven of it, and compare the numbers with the car."""
    steps = read_steps(case)
    if not steps:
        return {"failed": "nothing was driven"}
    tables = [read_drive(Path(step.recording), number) for number, step in enumerate(filter(teaches, steps))]
    try:
        car = plan_car(learn_car(join_tables(tables)), steps[-1].reduction)
    except TrailbrakeError as error:
        return {"failed": str(error)}
    return compare_cars(car, load_car(case.car))


def drive_case(case: Case, file: Path | None = None) -> Figures:
    """Drive the laps of a case with the learned file, `file` if one is given, or the true one."""
    learned, file = case.step == "learned", file or file_path(case)
    if learned and not file.is_file():
        return {"outcome": "no file", "laps": []}
    track = str(SHARED / "tracks" / f"{case.track}.csv") if case.track in MEASURED else case.track
    cell = Cell(sim=case.sim, track=track, car=case.car, driver="line_follow", gain=("learn=1",), laps=LAPS,
                seconds=LAPS * SECONDS_PER_LAP, believed_car=str(file) if learned else "")  # fmt: skip
    result = drive_cell(cell, None, lambda text: None)
    return {
        "outcome": result.outcome,
        "ended": result.ended,
        "laps": [[round(lap.time_s, 3), lap.valid] for lap in result.laps],
        "off_track_count": result.off_track_count,
        "off_track_s": round(result.off_track_s, 2),
        "contacts": result.contacts,
        "processor_s": round(result.processor_s, 1),
    }


MEASUREMENTS: dict[str, Callable[[Case], Figures]] = {
    "learn": learn_case, "files": compare_case, "refit": refit_case, "learned": drive_case, "true": drive_case,
}  # fmt: skip


def measure_chain(cases: Sequence[Case]) -> list[tuple[Case, Figures]]:
    """Return the cases with their figures and the revision of the code."""
    return [(case, {**MEASUREMENTS[case.step](case), "revision": find_revision()}) for case in cases]


def find_revision() -> str:
    """Return the short name of the commit that is checked out."""
    command = ["git", "rev-parse", "--short", "HEAD"]
    found = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    return found.stdout.strip()


def read_figures() -> Figures:
    """Return what was measured, by case."""
    return json.loads(FIGURES.read_text("utf-8")) if FIGURES.is_file() else {}


def store_case(case: Case, figures: Figures) -> None:
    """Store the figures of a case."""
    stored = read_figures() | {case.name: figures}
    draft = FIGURES.with_suffix(".tmp")
    draft.write_text(json.dumps(stored, indent=1, sort_keys=True, default=lambda value: value.item()) + "\n", "utf-8")
    draft.replace(FIGURES)


def measure_chains(chains: Sequence[Sequence[Case]], jobs: int) -> Iterator[tuple[Case, Figures]]:
    """Measure chains of cases in processes; yield each case with its figures."""
    with ProcessPoolExecutor(jobs) as pool:
        for future in as_completed([pool.submit(measure_chain, chain) for chain in chains]):
            yield from future.result()


def best_flying(found: Figures, laps: int) -> float:
    """Return the best valid time of the first flying laps, s; NaN without one."""
    return min((time for time, valid in found.get("laps", [])[1 : 1 + laps] if valid), default=math.nan)


def list_cells(figures: Figures) -> list[tuple[Case, Figures, Figures]]:
    """Return the cells whose two drives are stored: case, with the learned file, with the true one."""
    cells = []
    for case in (case for turn in range(9) for case in list_drives(turn)):
        other = case._replace(step="true")
        if case.step == "learned" and case.name in figures and other.name in figures:
            cells.append((case, figures[case.name], figures[other.name]))
    return sorted(cells, key=lambda cell: (CARS.index(cell[0].car), list(SIMS).index(cell[0].sim)))


def describe_drives(figures: Figures) -> str:
    """Return the table of laps."""
    lines = [
        "| car | wire | track | true file, after 3 and 6 | after 3 | after 6 | |",
        "|---|---|---|---|---|---|---|",
    ]
    for case, learned, true in list_cells(figures):
        ratios = [best_flying(learned, laps) / best_flying(true, laps) for laps in FLYING]
        cells = [f"{ratio:.3f}" if math.isfinite(ratio) else "" for ratio in ratios]
        own = ", ".join(f"{best_flying(true, laps):.2f} s" for laps in FLYING)
        lines.append(f"| {case.car} | {SIMS[case.sim]} | {case.track} | {own} | {' | '.join(cells)} |"
                     f" {describe_outcome(learned, true)} |")  # fmt: skip
    return "\n".join(lines)


def summarize_drives(figures: Figures) -> str:
    """Return a line with the counts of the drives."""
    cells = list_cells(figures)
    if not cells:
        return "None driven."
    clean = sum(learned["outcome"] == "clean" for _, learned, _ in cells)
    parts = [f"Of {len(SIMS) * len(CARS) * len(TRACKS)} cells {len(cells)} were driven; {clean} are clean"]
    for laps, share in zip(FLYING, SHARES, strict=True):
        found = [best_flying(learned, laps) / best_flying(true, laps) for _, learned, true in cells]
        found = [ratio for ratio in found if math.isfinite(ratio)]
        held = sum(ratio <= share for ratio in found)
        parts.append(f"{held} are within {100.0 * (share - 1.0):.0f} % of the true file after {laps} flying laps"
                     f" (median {statistics.median(found):.3f}, most {max(found):.3f})")  # fmt: skip
    return "; ".join(parts) + "."


def describe_outcome(learned: Figures, true: Figures) -> str:
    """Return what happened to the learned file's drive, and to the true one's where that is not clean."""
    text = describe_drive(learned)
    return text if true["outcome"] == "clean" else f"{text}; true file: {describe_drive(true)}"


def describe_drive(found: Figures) -> str:
    """Return the outcome of a drive and its reason."""
    text = str(found["outcome"])
    if found.get("off_track_s"):
        text += f", {found['off_track_s']:.1f} s off the road in {found['off_track_count']} places"
    if found.get("contacts"):
        text += f", {found['contacts']} contacts"
    return text + (f", {found['ended']}" if found.get("ended") else "")


def describe_files(figures: Figures) -> str:
    """Return the table of car files."""
    lines = [
        "| car | wire | driven | lateral grip | braking | drive force | downforce | steer angle | delay | numbers"
        " | planned grip |",
        "|---|---|---|---|---|---|---|---|---|---|---|",
    ]
    files = [case for turn in range(3) for case in list_files("files", turn)]
    for case in sorted(files, key=lambda case: (COMPARED.index(case.car), list(SIMS).index(case.sim))):
        learning, row = figures.get(case._replace(step="learn").name), figures.get(case.name)
        if learning is None or row is None:
            continue
        head = f"| {case.car} | {SIMS[case.sim]} | {learning['driven_s']:.0f} s |"
        if "lateral_grip" not in row:
            lines.append(f"{head} no file: {learning['failed'] or row['failed']} |" + " |" * 7)
            continue
        cells = [describe_figure(row, name) for name in BARS]
        cells += [f"{row['numbers_within']} of {row['numbers']}", f"{100.0 * row['planned_share']:.0f} %"]
        lines.append(f"{head} {' | '.join(cells)} |")
    return "\n".join(lines)


def summarize_files(figures: Figures, cars: Sequence[str]) -> str:
    """Return the table of counts of the files of some cars."""
    found: dict[str, list[Figures]] = {sim: [] for sim in SIMS}
    for case in (case for turn in range(3) for case in list_files("files", turn, cars)):
        row = figures.get(case.name, {})
        if "lateral_grip" in row:
            found[case.sim].append(row)
    return "\n".join(describe_bars(found))


def describe_figure(row: Figures, name: str) -> str:
    """Return the error of a figure, with a star where the truth is outside of its interval."""
    scale, unit = (1e3, " ms") if name == "delay_s" else (100.0, " %")
    text = f"{scale * row[name]:+.1f}{unit}" + ("" if row["within"].get(name, True) else "*")
    return text + (f" ({scale * row['usable_drive_force']:+.1f})" if name == "drive_force" else "")


def describe_bars(found: dict[str, list[Figures]]) -> list[str]:
    """Return a table: how many files of each wire are within the bars, and the truth in the intervals."""
    lines = [
        "| wire | files | lateral grip 5 % | braking 5 % | drive force 5 % | downforce 15 % | steer angle 5 %"
        " | delay 5 ms | figures in their intervals | numbers in theirs |",
        "|---|---|---|---|---|---|---|---|---|---|",
    ]
    groups = [(SIMS[sim], rows) for sim, rows in found.items()]
    groups.append(("all", [row for _, rows in groups for row in rows]))
    for wire, rows in groups:
        if not rows:
            continue
        held = [str(sum(abs(row[name]) <= bar for row in rows)) for name, bar in BARS.items()]
        held[DRIVE] += f" ({sum(row['usable_drive_force'] <= BARS['drive_force'] for row in rows)})"
        coverage = summarize_coverage(rows)
        inside = [f"{100.0 * coverage[name]:.0f} %" if coverage else "" for name in ("figures", "numbers")]
        lines.append(f"| {wire} | {len(rows)} | {' | '.join([*held, *inside])} |")
    return lines


def write_pages() -> None:
    """Write the counts into docs/figures.md, and all rows beside the build."""
    figures = read_figures()
    write_section("learned-files", summarize_files(figures, COMPARED))
    write_section("learned-drives", summarize_drives(figures))
    driven = f"## Files of the cars that are driven\n\n{summarize_files(figures, CARS)}"
    write_details("learned_cars", "\n\n".join([describe_files(figures), driven, describe_drives(figures)]))


def main() -> None:
    """Measure what the arguments say, and write the pages."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("what", choices=("learn", "files", "refit", "drive", "all", "page"), default="page", nargs="?")
    parser.add_argument("names", nargs="*", help="simulators, cars and tracks")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--again", action="store_true", help="measure what is stored as well")
    given = parser.parse_args()
    figures = read_figures()
    stored = set() if given.again else set(figures)
    chains = []
    for chain in list_chains(given.what):
        known = {case.name for case in chain} | stored | set(figures)
        chosen = [
            case
            for case in chain
            if case.name not in stored
            and all(name in chain[-1] for name in given.names)
            and (case.step in ("learn", "true") or case._replace(step="learn", track="").name in known)
        ]
        stored |= {case.name for case in chosen}
        chains.append(chosen)
    for case in (case for chain in chains for case in chain):
        if given.again and case.step == "learn":
            shutil.rmtree(journal_folder(file_path(case)), ignore_errors=True)
    for case, found in measure_chains([chain for chain in chains if chain], given.jobs):
        print(case.name, found, flush=True)
        store_case(case, found)
    write_pages()


if __name__ == "__main__":
    sys.exit(main())
